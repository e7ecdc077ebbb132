"""The language model: one Transformer over the pieces of all languages, its settings, and its masked batches.

Input and output embeddings are tied. It learns from streams in one language (CLM, MLM) and from pairs of
translations (TLM).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import Padded, Ragged
from muse.sentences.systems.corpora import BATCH_EXPONENT, language_shares
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks.masked_prediction import (
    Masking,
    Predicted,
    hide,
    left_to_right,
    predicted,
    prediction_loss,
)
from muse.sentences.systems.networks.sentence_rows import masked_mean
from muse.sentences.systems.networks.transformer import (
    Inputs,
    TokenTable,
    TransformerConfig,
    TransformerLayers,
)
from muse.sentences.systems.pieces import (
    INITIAL,
    MASK,
    SPECIALS,
    PieceReader,
    Pieces,
    check_piece_count,
    space_of_words,
    word_rows,
)
from muse.sentences.training.checks import beside, check_choices, check_least
from muse.space import Space

TLM = "mlm+tlm"  # the objective that uses parallel text
OBJECTIVES = ("clm", "mlm", TLM)
POOLINGS = ("mean", "first")


@dataclass(frozen=True)
class XlmConfig:
    """The settings of a model with `pieces` word pieces, and of its training.

    `length`: the number of pieces in a stream, and the maximum in one side of a pair or an encoded sentence.
    `pair_tokens`: the number of pieces in a batch of pairs; a batch of streams has the trainer's batch size.
    `initial`: the initialisation of the embedding table, from the space (aligned) or random. `pooling`: the
    row of a sentence, the mean of the last states or the first of them. `warmup`: steps until the highest
    rate. `judged`: the language whose held-out text decides when to stop; all of them by default. `exponent`:
    the exponent of language sampling; 0 samples all languages equally. `share`: the share of
    pieces that mlm and tlm predict. `documents`: text has lines document<TAB>paragraph, and no stream crosses
    the end of a document.
    """

    objective: str = TLM
    pieces: int = 8_000
    layers: int = 2
    heads: int = 4
    hidden: int = 128
    length: int = 64
    pair_tokens: int = 2_048
    initial: str = "aligned"
    pooling: str = "mean"
    dropout: float = 0.1
    warmup: int = 100
    judged: str = ""
    exponent: float = BATCH_EXPONENT
    share: float = 0.15
    documents: bool = False

    def __post_init__(self) -> None:
        check_choices(self, objective=OBJECTIVES, initial=INITIAL, pooling=POOLINGS)
        if self.length < 4:
            raise BadSetting(
                f"length must be at least 4, for two pieces with <bos> and <eos>; got {self.length}"
            )
        if self.objective == TLM and self.pair_tokens < 2 * self.length:
            raise BadSetting(
                f"pair_tokens must hold the longest pair, {2 * self.length} pieces; got {self.pair_tokens}"
            )
        check_piece_count(self.pieces)
        check_least(self, 1, "warmup")
        if self.pooling == "first" and self.causal:
            raise BadSetting("the first state of clm does not depend on the sentence; set pooling=mean")
        language_shares({"any": 1}, self.exponent)  # checks it
        self.network(self.pieces, 1)  # checks the sizes
        self.masking(self.pieces)  # checks the share

    def ineffective_settings(self) -> dict[str, str]:
        """The settings that have no effect given the others, each with the reason."""
        found: dict[str, str] = {}
        if self.causal:
            found["share"] = beside(self, "objective")
        if self.objective != TLM:
            found["pair_tokens"] = beside(self, "objective")
        return found

    @property
    def causal(self) -> bool:
        """Whether it reads from left to right."""
        return self.objective == "clm"

    def network(self, vocabulary: int, languages: int) -> TransformerConfig:
        """The sizes of the Transformer, which adds a vector for each language."""
        return TransformerConfig(
            vocabulary,
            self.layers,
            self.heads,
            self.hidden,
            dropout=self.dropout,
            positions=self.length,
            causal=self.causal,
            languages=languages,
        )

    def masking(self, vocabulary: int) -> Masking:
        """The masking of a share of the pieces; of these 80 % become <mask>, 10 % another piece."""
        return Masking(vocabulary, MASK, len(SPECIALS), share=self.share)


class MaskedSide(NamedTuple):
    """Text of one language: input `ids`, True in `target_mask` where the id in `right` is to be predicted.

    All are (b, t); `mask` is False at padding.
    """

    ids: Tensor
    target_mask: Tensor
    right: Tensor
    mask: Tensor
    language: int

    def without_targets(self) -> MaskedSide:
        """The side as context only, with nothing to predict."""
        return self._replace(target_mask=torch.zeros_like(self.target_mask))


class MaskedBatch(NamedTuple):
    """The inputs, the positions to predict (b, t), and the right `answers` (p,) there."""

    inputs: Inputs
    target_mask: Tensor
    answers: Tensor


class Hiding(NamedTuple):
    """A masking whose pieces are drawn by `generator`, more often with larger `weights` (v,)."""

    masking: Masking
    weights: Tensor
    generator: torch.Generator


def masked(text: Padded, language: int, hiding: Hiding) -> MaskedSide:
    """The text with pieces hidden: MLM."""
    cloze = hide(text.ids, hiding.masking, hiding.generator, hiding.weights)
    return MaskedSide(cloze.ids, cloze.target_mask, text.ids, text.mask, language)


def following(text: Padded, language: int) -> MaskedSide:
    """The unchanged text, in which each piece predicts the next one: CLM."""
    cloze = left_to_right(*text)
    return MaskedSide(cloze.ids, cloze.target_mask, text.ids.roll(-1, dims=1), text.mask, language)


def side_by_side(*sides: MaskedSide) -> MaskedBatch:
    """The masked batch of one side, or of two that attend to each other (TLM); positions restart at 0."""
    device = sides[0].ids.device
    widths = [side.ids.shape[1] for side in sides]
    languages = torch.tensor([side.language for side in sides], device=device)
    target_mask = torch.cat([side.target_mask for side in sides], dim=1)
    inputs = Inputs(
        torch.cat([side.ids for side in sides], dim=1),
        torch.cat([side.mask for side in sides], dim=1),
        torch.cat([torch.arange(width, device=device) for width in widths]),
        languages.repeat_interleave(torch.tensor(widths, device=device))[None],
    )
    return MaskedBatch(inputs, target_mask, torch.cat([side.right for side in sides], dim=1)[target_mask])


class XlmModel(nn.Module):
    """The Transformer, with scores of all v pieces from the same embedding table and a bias."""

    def __init__(self, config: XlmConfig, rows: Tensor, languages: int, generator: torch.Generator) -> None:
        super().__init__()
        sizes = config.network(len(rows), languages)
        self.transformer = TransformerLayers(sizes, generator, TokenTable(rows, config.hidden))
        self.bias = nn.Parameter(torch.zeros(len(rows)))

    def forward(self, batch: MaskedBatch) -> Tensor:
        """The scores (p, v) of all pieces at the positions to predict."""
        states = self.transformer(batch.inputs)
        scores: Tensor = self.transformer.table.scores(states[batch.target_mask]) + self.bias
        return scores

    def loss(self, batch: MaskedBatch) -> Tensor:
        """The loss () of a masked batch."""
        return prediction_loss(self(batch), batch.answers)

    @torch.no_grad()
    def predict(self, batch: MaskedBatch) -> Predicted:
        """The counts of correct predictions of the masked pieces of a batch."""
        return predicted(self(batch), batch.answers)


class XlmNetwork(SentenceNetwork):
    """The model as an encoder: the mean of a sentence's last states, or the first of them."""

    def __init__(self, config: XlmConfig, pieces: Pieces, languages: Sequence[str], model: XlmModel) -> None:
        super().__init__()
        self.config, self.pieces, self.languages = config, pieces, tuple(languages)
        self.model = model

    @property
    def dimension(self) -> int:
        """The width of the states."""
        return self.config.hidden

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
        states: Tensor = self.model.transformer(Inputs(padded.ids, padded.mask, languages=number))
        return states

    def word_rows(self, words: Sequence[str]) -> Tensor:
        """The rows (n, h) of words: the mean embeddings of their pieces."""
        return word_rows(self.pieces, words, self.embed)

    def word_space(self, space: Space) -> Space:
        """The words of a space with unit-length rows from the embeddings, in the languages of the model."""
        return space_of_words(self.pieces, self.languages, space, self.embed)

    def embed(self, ids: Tensor) -> Tensor:
        """The embeddings (t, h) of pieces."""
        found: Tensor = self.model.transformer.table(ids.to(self.model.bias.device))
        return found


def network_of(settings: Mapping[str, Any]) -> XlmNetwork:
    """The network of a saved model, before its parameters are restored."""
    config, pieces = XlmConfig(**settings["network"]), Pieces.from_json(settings["pieces"])
    languages = tuple(settings["languages"])
    rows = torch.zeros(len(pieces), config.hidden)
    model = XlmModel(config, rows, len(languages), torch.Generator())
    return XlmNetwork(config, pieces, languages, model)
