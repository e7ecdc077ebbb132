"""Alignment: a copy of a tuned model learns to give translations the rows of the original, which is fixed.

The loss is L_align (Conneau, 2019, 4.2.4), which trains a BiLSTM in the thesis. Where the rows of
translations coincide, the classifier of the original works in their language too.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Self

from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader
from muse.systems.nli.pair_classes import PairClassifier, RowPairNetwork, WithClassifier


class AlignedCopy(RowPairNetwork):
    """A network with a classifier, both fixed, and a copy of the network for the `learned` languages."""

    def __init__(self, original: WithClassifier, learned: Sequence[str]) -> None:
        super().__init__()
        self.copied = deepcopy(original.network)  # before it is fixed
        self.original = original.requires_grad_(False)
        self._learned = frozenset(learned)

    @property
    def dimension(self) -> int:
        """The number of columns d'."""
        return self.original.dimension

    @property
    def classifier(self) -> PairClassifier:
        """The classifier of the original."""
        return self.original.classifier

    def reader(self, language: str) -> Reader:
        """The reader of the original."""
        return self.original.reader(language)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of sentences, by the copy if it learned their language."""
        rows: Tensor = (self.copied if language in self._learned else self.original)(batch, language)
        return rows

    def train(self, mode: bool = True) -> Self:
        """Training mode for the copy alone: dropout would blur the rows that it learns to match."""
        super().train(mode)
        self.original.eval()
        return self
