"""The networks of CMLM: a Transformer whose mean state is the sentence vector, and a prediction head.

The tokens that they read are words of the space, with frozen rows, or word pieces.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.sentences.encoders.ragged import Padded, Ragged
from muse.sentences.encoders.reading import Limited, Reader, Vocabulary
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks.masked_prediction import Cloze
from muse.sentences.systems.networks.sentence_rows import masked_mean
from muse.sentences.systems.networks.transformer import (
    Inputs,
    TokenTable,
    TransformerConfig,
    TransformerLayers,
    draw_,
    random_rows,
)
from muse.sentences.systems.pieces import SPECIALS, Pieces
from muse.sentences.training.optimising import OPTIMISER_NAMES
from muse.sentences.training.settings import Settings, Unused, setting
from muse.space import Space

# The stages of each strategy: S3, S1 and S2 of section 4.2. Without translations, only "cmlm" is trained.
STRATEGIES = {"staged": ("cmlm", "cmlm+br"), "joint": ("cmlm+br",), "sequential": ("cmlm", "br")}


@dataclass(frozen=True)
class CmlmConfig(Settings):
    """The sizes of a model, its prediction task, and how translations are added.

    With `pieces` 0 it reads the words of the space with frozen rows, and predicts only the `asked` most
    frequent of each language. One of the `projections` is the mean state itself. With `skip` the head reads
    them too, beside the state of a hidden word (section 5.2).
    """

    pieces: int = setting(0, "word pieces; 0: the words of the space, frozen", least=0)
    asked: int = setting(10_000, "the most frequent words of a language, which are predicted", least=0)
    layers: int = setting(1, "Transformer layers")
    heads: int = setting(6, "attention heads")
    hidden: int = setting(300, "width of the states")
    feed_forward: int = setting(600, "width of the inner layers")
    dropout: float = setting(0.0, "share of values left out")
    longest: int = setting(32, "tokens of a sentence that are read")
    projections: int = setting(4, "N: vectors of the neighbour that a sentence reads", least=0)
    share: float = setting(0.3125, "share of words that are hidden", above=0, most=1)
    alpha: float = setting(0.2, "weight of the loss of translations", above=0, needs="parallel")
    margin: float = setting(0.3, "of the softmax over translations", needs="parallel")
    scale: float = setting(20.0, "factor of the cosines in that softmax", needs="parallel")
    strategy: str = setting(
        "staged",
        "of the stages: staged (S3), joint (S1), sequential (S2)",
        choices=(*STRATEGIES,),
        needs="parallel",
    )
    warmup: int = setting(100, "steps until the highest rate", least=0)
    objective: str = setting(
        "cmlm", "cmlm, or mlm: the same words without a neighbour", choices=("cmlm", "mlm")
    )
    neighbour: str = setting(
        "true", "true, or shuffled: that of another passage", choices=("true", "shuffled")
    )
    skip: bool = setting(False, "the head reads the projections too")
    vector: str = setting("mean", "of a sentence: mean, or projected", choices=("mean", "projected"))
    tuning_rate: float = setting(0.0, "rate with `--nli`; 0: as before", least=0, needs="nli")
    tuning_optimiser: str = setting(
        "", "optimiser with `--nli`; empty: as before", choices=("", *OPTIMISER_NAMES), needs="nli"
    )

    def check(self) -> None:
        """Raise BadSetting for sizes that are inconsistent."""
        self.transformer(1)

    def unused(self) -> tuple[Unused | None, ...]:
        """What only words, or only neighbours, or only stages of one loss have."""
        projected, mlm = self.vector == "projected", self.objective == "mlm"
        return (
            Unused("asked", "pieces") if self.pieces else None,
            Unused("vector", "projections") if projected and self.projections < 2 else None,
            Unused("neighbour skip", "projections") if not self.projections else None,
            Unused("neighbour skip projections", "objective") if mlm else None,
            Unused("vector", "objective") if mlm and projected else None,
            Unused("alpha", "strategy") if self.strategy == "sequential" else None,
        )

    @property
    def spaces(self) -> int:
        """The number of vectors of a neighbour that are read; 0 for a masked language model."""
        return 0 if self.objective == "mlm" else self.projections

    def transformer(self, words: int) -> TransformerConfig:
        """The sizes of the Transformer for `words` words; BadSetting if they are inconsistent."""
        return TransformerConfig(
            words, self.layers, self.heads, self.hidden, self.feed_forward, self.dropout, self.longest
        )


@dataclass(frozen=True, eq=False)
class Words:
    """The reader of each language, and the range of ids in each language that may be predicted.

    Words of the space have its `rows` (v, d), with 0 for special tokens. The rows of pieces are learned.
    """

    count: int
    readers: Mapping[str, Reader]
    predictable: Mapping[str, range]
    rows: Tensor | None = None
    pieces: Pieces | None = None

    @classmethod
    def of(cls, config: CmlmConfig, space: Space, languages: Sequence[str], pieces: Pieces | None) -> "Words":
        """The pieces, which all languages share, or else all words of these languages in the space.

        Of words only the most frequent may be predicted, as many as `config` asks for (0: all).
        """
        if pieces is not None:
            everything = range(len(SPECIALS), len(pieces))
            readers = dict.fromkeys(languages, pieces)
            return cls(len(pieces), readers, dict.fromkeys(languages, everything), pieces=pieces)
        vocabularies, predictable = dict[str, Reader](), dict[str, range]()
        rows, begin = [torch.zeros(len(SPECIALS), space.vectors(space.pivot).dimension)], len(SPECIALS)
        for language in languages:
            vectors = space.vectors(language)
            vocabularies[language] = Vocabulary(language, vectors.index, first=begin)
            predictable[language] = range(begin, begin + min(config.asked or len(vectors), len(vectors)))
            rows.append(torch.tensor(vectors.matrix))  # a copy: the folder may be replaced while it is in use
            begin += len(vectors)
        return cls(begin, vocabularies, predictable, torch.cat(rows))


class Projections(nn.Module):
    """The N projections (b, N, h) of mean states (b, h): the state itself, and N - 1 of a 3-layer network."""

    def __init__(self, hidden: int, count: int, generator: torch.Generator) -> None:
        super().__init__()
        h, more = hidden, count - 1
        self._layers = nn.Sequential(
            nn.Linear(h, h), nn.GELU(), nn.Linear(h, h), nn.GELU(), nn.Linear(h, more * h)
        ) if more > 0 else None  # fmt: skip
        if self._layers is not None:
            draw_(self._layers, generator)

    def forward(self, rows: Tensor) -> Tensor:
        """The projections (b, N, h) of mean states (b, h)."""
        itself = rows[:, None]
        if self._layers is None:
            return itself
        return torch.cat([itself, self._layers(rows).unflatten(1, (-1, rows.shape[1]))], dim=1)


class CmlmEncoder(SentenceNetwork):
    """v = mean_t f(s)_t, f a Transformer: the part of the model that is kept after training.

    With vector=projected, v is the mean of the projections of that mean, which are then kept too.
    """

    def __init__(self, config: CmlmConfig, words: Words, generator: torch.Generator) -> None:
        super().__init__()
        frozen, hidden = words.rows is not None, config.hidden
        rows = random_rows(words.count, hidden, generator) if words.rows is None else words.rows
        table = TokenTable(rows, hidden, frozen=frozen, generator=generator)
        self.transformer = TransformerLayers(config.transformer(words.count), generator, table)
        self.words, self.longest, self.dimension = words, config.longest, hidden
        kept = config.vector == "projected" and config.spaces > 0
        self.projections = Projections(hidden, config.spaces, generator) if kept else None

    def reader(self, language: str) -> Reader:
        """The reader of a language, which cuts sentences to the maximum length."""
        return Limited(self.words.readers[language], self.longest)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, h) of sentences; ids are unique over all languages."""
        rows = self.rows(batch.padded())
        return rows if self.projections is None else self.projections(rows).mean(dim=1)

    def rows(self, sentences: Padded) -> Tensor:
        """The mean states (b, h) of sentences."""
        return masked_mean(self.transformer(Inputs(sentences.ids, sentences.mask)), sentences.mask)


class Cmlm(nn.Module):
    """The encoder with the parts used in training: projections of a neighbour, and BERT's prediction head.

    `counts` (v,) are the counts of the words in the text, which initialise the bias of the head.
    """

    def __init__(
        self, encoder: CmlmEncoder, config: CmlmConfig, counts: Tensor, generator: torch.Generator
    ) -> None:
        super().__init__()
        h, beside = encoder.dimension, config.spaces if config.skip else 0
        self.encoder = encoder
        self.config, self._beside = config, beside * h
        self._dense, self._norm = nn.Linear(h + self._beside, h), nn.LayerNorm(h)
        draw_(self._dense, generator)
        own = encoder.projections is None and config.spaces > 0
        self._projections = Projections(h, config.spaces, generator) if own else None
        self._odds = nn.Parameter((counts.float() + 1).log() - math.log(float(counts.sum()) + len(counts)))

    def forward(self, cloze: Cloze, mask: Tensor, neighbours: Padded | None, predictable: range) -> Tensor:
        """The scores (p, a) of the `predictable` words for each hidden word.

        Without `neighbours`, words are predicted only from the rest of their sentence (b, t).
        """
        prefix = None
        if neighbours is not None and self.config.spaces:
            prefix = self.projected(self.encoder.rows(neighbours))  # (b, N, h)
        inputs = Inputs(cloze.ids, mask, prefix=prefix)
        states = self.encoder.transformer(inputs)[cloze.target_mask]  # (p, h)
        if self._beside:
            beside = states.new_zeros(len(mask), self._beside) if prefix is None else prefix.flatten(1)
            states = torch.cat([states, beside[cloze.target_mask.nonzero()[:, 0]].to(states.dtype)], dim=1)
        states = self._norm(functional.gelu(self._dense(states)))
        among = slice(predictable.start, predictable.stop)
        return self.encoder.transformer.table.scores(states, among) + self._odds[among]

    def projected(self, rows: Tensor) -> Tensor:
        """The N projections (b, N, h) of mean states (b, h); the first is the state itself."""
        project = self._projections if self.encoder.projections is None else self.encoder.projections
        found: Tensor = rows[:, None] if project is None else project(rows)
        return found
