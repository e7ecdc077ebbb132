"""The networks of CMLM: a Transformer whose mean state is the sentence vector, and a prediction head."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.encoders.ragged import Padded, Ragged
from muse.encoders.reading import Limited, Reader
from muse.errors import BadSetting
from muse.systems.cmlm.words import Words
from muse.systems.network_encoder import SentenceNetwork
from muse.systems.networks.masked_prediction import Cloze
from muse.systems.networks.token_table import TokenTable, random_rows
from muse.systems.networks.transformer import Inputs, TransformerConfig, TransformerLayers, draw_

# The stages of each strategy: S3, S1 and S2 of section 4.2. Without translations, only "cmlm" is trained.
STRATEGIES = {"staged": ("cmlm", "cmlm+br"), "joint": ("cmlm+br",), "sequential": ("cmlm", "br")}


@dataclass(frozen=True)
class CmlmConfig:
    """The sizes of a model, its prediction task, and how translations are added.

    With `pieces` 0 it reads the words of the space with frozen rows, and predicts only the `asked` most
    frequent of each language; otherwise it learns that many word pieces. At most `longest` tokens are read at
    once, of which a `share` is hidden. One of the `projections` is the sentence vector itself; 0 projections
    leave out the neighbour, which gives a masked language model.
    """

    pieces: int = 0
    asked: int = 10_000
    layers: int = 1
    heads: int = 6
    hidden: int = 300
    feed_forward: int = 600
    dropout: float = 0.0
    longest: int = 32
    projections: int = 4
    share: float = 0.3125
    alpha: float = 0.2
    margin: float = 0.3
    scale: float = 20.0
    strategy: str = "staged"
    warmup: int = 100

    def __post_init__(self) -> None:
        for name in ("pieces", "asked", "projections", "warmup"):
            if getattr(self, name) < 0:
                raise BadSetting(f"{name} must be 0 or more, got {getattr(self, name)}")
        if not 0 < self.share <= 1:
            raise BadSetting(f"the share of hidden words must be above 0 and at most 1, got {self.share:g}")
        if not 0 < self.alpha < math.inf:
            raise BadSetting(f"alpha, the weight of translations, must be above 0, got {self.alpha:g}")
        if self.strategy not in STRATEGIES:
            raise BadSetting(f"strategy must be one of {', '.join(STRATEGIES)}; got {self.strategy!r}")
        self.transformer(1)

    def transformer(self, words: int) -> TransformerConfig:
        """The sizes of the Transformer for `words` words; BadSetting if they are inconsistent."""
        return TransformerConfig(
            words, self.layers, self.heads, self.hidden, self.feed_forward, self.dropout, self.longest
        )


class CmlmEncoder(SentenceNetwork):
    """v = mean_t f(s)_t, f a Transformer: the part of the model that is kept after training."""

    def __init__(self, config: CmlmConfig, words: Words, generator: torch.Generator) -> None:
        super().__init__()
        frozen, hidden = words.rows is not None, config.hidden
        rows = random_rows(words.count, hidden, generator) if words.rows is None else words.rows
        table = TokenTable(rows, hidden, frozen=frozen, generator=generator)
        self.transformer = TransformerLayers(config.transformer(words.count), generator, table)
        self.words = words
        self.longest = config.longest

    @property
    def dimension(self) -> int:
        """The hidden dimensions h."""
        return self.transformer.config.hidden

    def reader(self, language: str) -> Reader:
        """The reader of a language, which cuts sentences to the maximum length."""
        return Limited(self.words.readers[language], self.longest)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, h) of sentences; ids are unique over all languages."""
        return self.rows(batch.padded())

    def rows(self, sentences: Padded) -> Tensor:
        """The rows (b, h) of sentences."""
        states = self.transformer(Inputs(sentences.ids, sentences.mask))  # (b, t, h)
        mask = sentences.mask[..., None]
        mean: Tensor = (states * mask).sum(dim=1) / mask.sum(dim=1)
        return mean


class Cmlm(nn.Module):
    """The encoder with the parts used in training: projections of a neighbour, and BERT's prediction head.

    `counts` (v,) are the counts of the words in the text, which initialise the bias of the head.
    """

    def __init__(
        self, encoder: CmlmEncoder, config: CmlmConfig, counts: Tensor, generator: torch.Generator
    ) -> None:
        super().__init__()
        h, more = encoder.dimension, config.projections - 1
        self.encoder = encoder
        self._config = config
        self._projections = nn.Sequential(
            nn.Linear(h, h), nn.GELU(), nn.Linear(h, h), nn.GELU(), nn.Linear(h, more * h)
        ) if more > 0 else None  # fmt: skip
        self._dense, self._norm = nn.Linear(h, h), nn.LayerNorm(h)
        draw_(self._dense, generator)
        if self._projections is not None:
            draw_(self._projections, generator)
        self._odds = nn.Parameter((counts.float() + 1).log() - math.log(float(counts.sum()) + len(counts)))

    def forward(self, cloze: Cloze, mask: Tensor, neighbours: Padded | None, asked: range) -> Tensor:
        """The scores (p, a) of the `asked` words for each hidden word.

        Without `neighbours`, words are predicted only from the rest of their sentence (b, t).
        """
        prefix = None
        if neighbours is not None and self._config.projections:
            prefix = self.projected(self.encoder.rows(neighbours))
        inputs = Inputs(cloze.ids, mask, prefix=prefix)
        states = self.encoder.transformer(inputs)[cloze.asked]  # (p, h)
        states = self._norm(functional.gelu(self._dense(states)))
        among = slice(asked.start, asked.stop)
        scores: Tensor = self.encoder.transformer.table.scores(states, among) + self._odds[among]
        return scores

    def projected(self, rows: Tensor) -> Tensor:
        """The N projections (b, N, h) of sentence vectors (b, h); the first is the vector itself."""
        itself = rows[:, None]
        if self._projections is None:
            return itself
        return torch.cat([itself, self._projections(rows).unflatten(1, (-1, rows.shape[1]))], dim=1)
