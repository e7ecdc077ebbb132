"""CVM-add: the sum of word rows, trained in both languages (Hermann and Blunsom, 2014).

It starts from the aligned space (the paper: at random) and stops early (the paper: an L2 penalty).
"""

from __future__ import annotations

from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.systems.words.word_tables import WordTables, trainable


class CvmAdd(WordTables):
    """Sums rows that are initialised from the aligned space, pivot (n, d) and other (m, d)."""

    pooling = "sum"

    def __init__(self, pivot: Tensor, other: Tensor) -> None:
        super().__init__()
        self._pivot = trainable(pivot, self.pooling)
        self._other = trainable(other, self.pooling)

    def pivot(self, batch: Ragged) -> Tensor:
        """The summed rows (b, d) of pivot sentences."""
        rows: Tensor = self._pivot(batch.ids, batch.offsets)
        return rows

    def other(self, batch: Ragged) -> Tensor:
        """The summed rows (b, d) of sentences of the other language."""
        rows: Tensor = self._other(batch.ids, batch.offsets)
        return rows

    def pivot_table(self) -> Tensor | None:
        """The trained rows (n, d)."""
        return self._pivot.weight.detach()

    def other_table(self) -> Tensor:
        """The trained rows (m, d)."""
        return self._other.weight.detach()
