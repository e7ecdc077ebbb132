"""The language model: one Transformer over the pieces of all languages, its settings, and its masked batches.

Input and output embeddings are tied. It learns from streams in one language (CLM, MLM) and from pairs of
translations (TLM).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import Padded, Ragged
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks import masked_prediction, transformer
from muse.sentences.systems.networks.sentence_rows import masked_mean
from muse.sentences.systems.pieces import INITIAL, MASK, SPECIALS, PieceReader, Pieces, space_of_words
from muse.sentences.training.pairs import BATCH_EXPONENT
from muse.sentences.training.settings import TEXT_OF_MORE, Settings, Unused, setting
from muse.space import Space

TLM = "mlm+tlm"  # the objective that uses parallel text


@dataclass(frozen=True)
class XlmConfig(Settings):
    """The settings of a model with word pieces, and of its training.

    `length` also limits one side of a pair, and an encoded sentence. A batch of streams has the trainer's
    batch size. With `documents`, text has lines document<TAB>paragraph, and no stream crosses the end of one.
    """

    objective: str = setting(TLM, "mlm, clm, or mlm+tlm", choices=("clm", "mlm", TLM))
    pieces: int = setting(8_000, "word pieces, which all languages share", above=len(SPECIALS))
    layers: int = setting(2, "Transformer layers")
    heads: int = setting(4, "attention heads")
    hidden: int = setting(128, "width of the states")
    length: int = setting(64, "pieces of a stream or a sentence", least=4)  # two, with <bos> and <eos>
    pair_tokens: int = setting(2_048, "pieces in a batch of pairs")
    initial: str = setting(
        "aligned", "where the table begins: aligned (the space) or random", choices=INITIAL
    )
    pooling: str = setting("mean", "of a sentence: mean or first state", choices=("mean", "first"))
    dropout: float = setting(0.1, "share of values left out")
    warmup: int = setting(100, "steps until the highest rate", least=1)
    judged: str = setting("", "language whose text decides when to stop; empty: all", needs=TEXT_OF_MORE)
    exponent: float = setting(
        BATCH_EXPONENT, "of language sampling; 0: all alike", least=0, most=1, needs=TEXT_OF_MORE
    )
    share: float = setting(0.15, "share of pieces that are predicted by mlm and tlm", above=0, most=1)
    documents: bool = setting(False, "text has lines document<TAB>paragraph")

    def check(self) -> None:
        """Raise BadSetting for sizes that do not go together."""
        if self.objective == TLM and self.pair_tokens < 2 * self.length:
            raise BadSetting(
                f"pair_tokens must hold the longest pair, {2 * self.length} pieces; got {self.pair_tokens}"
            )
        if self.pooling == "first" and self.causal:
            raise BadSetting("the first state of clm does not depend on the sentence; set pooling=mean")
        self.network(self.pieces, 1)

    def unused(self) -> tuple[Unused | None, ...]:
        """What only masked models, or only pairs, have."""
        return (
            Unused("share", "objective") if self.causal else None,
            Unused("pair_tokens", "objective") if self.objective != TLM else None,
        )

    @property
    def causal(self) -> bool:
        """Whether it reads from left to right."""
        return self.objective == "clm"

    def network(self, vocabulary: int, languages: int) -> transformer.TransformerConfig:
        """The sizes of the Transformer, which adds a vector for each language."""
        return transformer.TransformerConfig(
            vocabulary, self.layers, self.heads, self.hidden, dropout=self.dropout,
            positions=self.length, causal=self.causal, languages=languages,
        )  # fmt: skip

    def masking(self, vocabulary: int) -> masked_prediction.Masking:
        """The masking of a share of the pieces; of these 80 % become <mask>, 10 % another piece."""
        return masked_prediction.Masking(vocabulary, MASK, len(SPECIALS), share=self.share)


class MaskedBatch(NamedTuple):
    """The inputs, the positions to predict (b, t), and the right `answers` (p,) there."""

    inputs: transformer.Inputs
    target_mask: Tensor
    answers: Tensor


def masked_batch(
    sides: Sequence[tuple[Padded, int]],
    masking: masked_prediction.Masking | None,
    weights: Tensor,
    generator: torch.Generator,
) -> MaskedBatch:
    """Text with pieces hidden by their `weights` (v,), in a language (MLM) or two read together (TLM).

    Without a masking, each piece of a text predicts the next one (CLM). The positions of a side start at 0.
    """
    texts = [text for text, _ in sides]
    clozes = [
        masked_prediction.left_to_right(*text)
        if masking is None
        else masked_prediction.hide(text.ids, masking, generator, weights)
        for text in texts
    ]
    device, widths = texts[0].ids.device, [text.ids.shape[1] for text in texts]
    languages = torch.tensor([language for _, language in sides], device=device)
    inputs = transformer.Inputs(
        torch.cat([cloze.ids for cloze in clozes], dim=1),
        torch.cat([text.mask for text in texts], dim=1),
        torch.cat([torch.arange(width, device=device) for width in widths]),
        languages.repeat_interleave(torch.tensor(widths, device=device))[None],
    )
    target_mask = torch.cat([cloze.target_mask for cloze in clozes], dim=1)
    right = torch.cat([text.ids for text in texts], dim=1)
    return MaskedBatch(inputs, target_mask, right.roll(-1 if masking is None else 0, dims=1)[target_mask])


class XlmModel(nn.Module):
    """The Transformer, with scores of all v pieces from the same embedding table and a bias."""

    def __init__(self, config: XlmConfig, rows: Tensor, languages: int, generator: torch.Generator) -> None:
        super().__init__()
        sizes = config.network(len(rows), languages)
        self.transformer = transformer.TransformerLayers(
            sizes, generator, transformer.TokenTable(rows, config.hidden)
        )
        self.bias = nn.Parameter(torch.zeros(len(rows)))

    def forward(self, batch: MaskedBatch) -> Tensor:
        """The scores (p, v) of all pieces at the positions to predict."""
        states = self.transformer(batch.inputs)
        return self.transformer.table.scores(states[batch.target_mask]) + self.bias

    def loss(self, batch: MaskedBatch) -> Tensor:
        """The loss () of a masked batch."""
        return masked_prediction.prediction_loss(self(batch), batch.answers)

    @torch.no_grad()
    def predict(self, batch: MaskedBatch) -> masked_prediction.Predicted:
        """The counts of correct predictions of the masked pieces of a batch."""
        return masked_prediction.predicted(self(batch), batch.answers)


class XlmNetwork(SentenceNetwork):
    """The model as an encoder: the mean of a sentence's last states, or the first of them."""

    def __init__(self, config: XlmConfig, pieces: Pieces, languages: Sequence[str], model: XlmModel) -> None:
        super().__init__()
        self.config, self.pieces, self.languages = config, pieces, tuple(languages)
        self.model, self.dimension = model, config.hidden

    def reader(self, language: str) -> PieceReader:
        """The reader of pieces, the same for all languages."""
        return PieceReader(self.pieces, self.config.length)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, h) of sentences."""
        padded = batch.padded()
        states = self.states(padded, language)
        if self.config.pooling == "first":
            return states[:, 0]
        return masked_mean(states, padded.mask)

    def states(self, padded: Padded, language: str) -> Tensor:
        """The last states (b, t, h) of sentences."""
        number = torch.full((1, 1), self.languages.index(language), device=padded.ids.device)
        return self.model.transformer(transformer.Inputs(padded.ids, padded.mask, languages=number))

    def word_space(self, space: Space) -> Space:
        """The words of a space with unit-length rows from the embeddings, in the languages of the model."""
        return space_of_words(self.pieces, self.languages, space, self.embed)

    def embed(self, ids: Tensor) -> Tensor:
        """The embeddings (t, h) of pieces."""
        return self.model.transformer.table(ids.to(self.model.bias.device))


def network_of(settings: Mapping[str, Any], _: Space | None = None) -> XlmNetwork:
    """The network of a saved model, before its parameters are restored."""
    config, pieces = XlmConfig(**settings["network"]), Pieces.from_json(settings["pieces"])
    languages = tuple(settings["languages"])
    rows = torch.zeros(len(pieces), config.hidden)
    model = XlmModel(config, rows, len(languages), torch.Generator())
    return XlmNetwork(config, pieces, languages, model)
