"""X-CBOW: the mean of word rows, the pivot's as the space has them, the other language's trained.

Conneau (2019), section 4.2.4: the mean of a sentence's words is to meet that of its English translation. The
pivot stays fixed, so that whatever was learned on its sentences holds for those of every language.
"""

from __future__ import annotations

from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.training.word_tables import WordTables, pooled, trainable


class XCbow(WordTables):
    """Starts as the mean of the aligned space's rows, pivot (n, d) and other (m, d)."""

    pooling = "mean"

    def __init__(self, pivot: Tensor, other: Tensor) -> None:
        super().__init__()
        self.register_buffer("_pivot", pivot, persistent=False)
        self._other = trainable(other, self.pooling)

    def pivot(self, batch: Ragged) -> Tensor:
        """The mean rows (b, d) of pivot sentences, no gradient behind them."""
        return pooled(batch, self.get_buffer("_pivot"), self.pooling)

    def other(self, batch: Ragged) -> Tensor:
        """The mean rows (b, d) of sentences of the other language."""
        rows: Tensor = self._other(batch.ids, batch.offsets)
        return rows

    def pivot_table(self) -> Tensor | None:
        """None: the pivot's rows are those of the space."""
        return None

    def other_table(self) -> Tensor:
        """The trained rows (m, d)."""
        return self._other.weight.detach()
