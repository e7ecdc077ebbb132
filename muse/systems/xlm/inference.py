"""Inference by a cross-lingual language model: it reads premise and hypothesis in one sequence.

(Lample and Conneau, 2019, section 4.1: a linear layer on the first state, and the whole model fine-tuned.)
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader
from muse.files.nli import LABELS
from muse.systems.networks.transformer import Inputs, draw_
from muse.systems.nli.pair_classes import PairNetwork
from muse.systems.pieces import PieceReader
from muse.systems.xlm.network import XlmNetwork


class XlmInference(PairNetwork):
    """A trained model with a linear layer on one state of a pair of sentences."""

    def __init__(self, xlm: XlmNetwork, generator: torch.Generator) -> None:
        super().__init__()
        self.xlm = xlm
        self.head = nn.Sequential(nn.Dropout(xlm.config.dropout), nn.Linear(xlm.dimension, len(LABELS)))
        draw_(self.head, generator)

    @property
    def dimension(self) -> int:
        """The width of the states."""
        return self.xlm.dimension

    @property
    def classes(self) -> int:
        """The number of labels."""
        return len(LABELS)

    def reader(self, language: str) -> Reader:
        """The reader of pieces; each sentence of a pair has half of the positions."""
        return PieceReader(self.xlm.pieces, self.xlm.config.length // 2)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, h) of single sentences."""
        rows: Tensor = self.xlm(batch, language)
        return rows

    def logits(self, first: Ragged, second: Ragged, languages: tuple[str, str]) -> Tensor:
        """The logits (b, 3) of the labels of premises and hypotheses in these languages."""
        ids, mask = first.beside(second).padded()
        ours, theirs = (self.xlm.languages.index(name) for name in languages)
        own = torch.arange(ids.shape[1], device=ids.device) < first.lengths[:, None]  # (b, t)
        numbers = torch.where(own, ours, theirs)
        states: Tensor = self.xlm.model.transformer(Inputs(ids, mask, languages=numbers))  # (b, t, h)
        found: Tensor = self.head(states[torch.arange(len(ids)), self._place(mask)])
        return found

    def _place(self, mask: Tensor) -> Tensor:
        """The place (b,) of the state that has read both sentences: the first, or with CLM the last."""
        last = mask.sum(dim=1) - 1
        return last if self.xlm.config.causal else torch.zeros_like(last)
