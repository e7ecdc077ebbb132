"""Word tables: encoders of pairs that end as a row for each word, which pooling makes sentences of."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor, nn
from torch.nn import functional

from muse.encoders.ragged import Ragged
from muse.training.two_sides import TwoSides


class WordTables(TwoSides):
    """An encoder of pairs whose words have rows of their own, whatever their sentence."""

    pooling: str  # mean or sum

    @abstractmethod
    def pivot_table(self) -> Tensor | None:
        """The rows (n, d') of the pivot's words; None where they are those of the space."""

    @abstractmethod
    def other_table(self) -> Tensor:
        """The rows (m, d') of the other language's words."""


def trainable(rows: Tensor, pooling: str) -> nn.EmbeddingBag:
    """A table that starts as a copy of `rows` (n, d), of which a step moves only the words of its batch."""
    return nn.EmbeddingBag.from_pretrained(
        rows.clone(), freeze=False, mode=pooling, sparse=True, include_last_offset=True
    )


def pooled(batch: Ragged, table: Tensor, pooling: str) -> Tensor:
    """The mean or the sum (b, d) of the rows of each sentence's words, table (n, d)."""
    return functional.embedding_bag(batch.ids, table, batch.offsets, mode=pooling, include_last_offset=True)
