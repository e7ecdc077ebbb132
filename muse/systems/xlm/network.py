"""The model: one Transformer over the pieces of all languages, with tied input and output embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from muse.encoders.ragged import Padded, Ragged
from muse.space import AlignedSpace
from muse.systems.network_encoder import SentenceNetwork
from muse.systems.networks.masked_prediction import Predicted, predicted, prediction_loss
from muse.systems.networks.pooling import masked_mean
from muse.systems.networks.token_table import TokenTable
from muse.systems.networks.transformer import Inputs, TransformerLayers
from muse.systems.piece_rows import space_of_words, word_rows
from muse.systems.pieces import PieceReader, Pieces
from muse.systems.xlm.config import XlmConfig
from muse.systems.xlm.masked_batches import MaskedBatch


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
        scores: Tensor = self.transformer.table.scores(states[batch.asked]) + self.bias
        return scores

    def loss(self, batch: MaskedBatch) -> Tensor:
        """The loss () of a masked batch."""
        return prediction_loss(self(batch), batch.answers)

    @torch.no_grad()
    def predict(self, batch: MaskedBatch) -> Predicted:
        """How well it predicts the masked pieces of a batch."""
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

    def word_space(self, space: AlignedSpace) -> AlignedSpace:
        """The words of a space with unit-length rows from the embeddings, in the languages of the model."""
        return space_of_words(self.pieces, self.languages, space, self.embed)

    def embed(self, ids: Tensor) -> Tensor:
        """The embeddings (t, h) of pieces."""
        found: Tensor = self.model.transformer.table(ids.to(self.model.bias.device))
        return found


def network_of(settings: Mapping[str, Any]) -> XlmNetwork:
    """The network of a saved model, with rows of nothing yet."""
    config, pieces = XlmConfig(**settings["network"]), Pieces.from_json(settings["pieces"])
    languages = tuple(settings["languages"])
    rows = torch.zeros(len(pieces), config.hidden)
    model = XlmModel(config, rows, len(languages), torch.Generator())
    return XlmNetwork(config, pieces, languages, model)
