"""Word tables: trainable encoders that pool one row for each word."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor, nn
from torch.nn import functional

from muse.encoders.ragged import Ragged
from muse.training.two_sides import TwoSides


class WordTables(TwoSides):
    """A trainable encoder that gives each word one row, independent of its sentence, and pools the rows."""

    pooling: str  # mean or sum

    @abstractmethod
    def pivot_table(self) -> Tensor | None:
        """The rows (n, d') of the pivot's words; None if they are those of the space."""

    @abstractmethod
    def other_table(self) -> Tensor:
        """The rows (m, d') of the other language's words."""


def trainable(rows: Tensor, pooling: str) -> nn.EmbeddingBag:
    """A trainable copy of `rows` (n, d) with sparse gradients, updated only for the words of a batch."""
    return nn.EmbeddingBag.from_pretrained(
        rows.clone(), freeze=False, mode=pooling, sparse=True, include_last_offset=True
    )


def pooled(batch: Ragged, table: Tensor, pooling: str) -> Tensor:
    """The mean or sum (b, d) of the rows of each sentence's words in a table (n, d)."""
    return functional.embedding_bag(batch.ids, table, batch.offsets, mode=pooling, include_last_offset=True)
