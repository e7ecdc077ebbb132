"""X-CBOW: the mean of word rows, fixed for the pivot and trained for the other language.

Conneau (2019), section 4.2.4: the mean of a sentence's words should match the mean of its English
translation. The pivot stays fixed, so that models trained on its sentences work for every language.
"""

from __future__ import annotations

from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.systems.words.word_tables import WordTables, pooled, trainable


class XCbow(WordTables):
    """Averages the rows of the aligned space, fixed for the pivot (n, d) and trained for the other (m, d)."""

    pooling = "mean"

    def __init__(self, pivot: Tensor, other: Tensor) -> None:
        super().__init__()
        self.register_buffer("_pivot", pivot, persistent=False)
        self._other = trainable(other, self.pooling)

    def pivot(self, batch: Ragged) -> Tensor:
        """The mean rows (b, d) of pivot sentences, without gradients."""
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
