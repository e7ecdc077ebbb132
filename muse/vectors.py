"""Vectors: the words of one language, most frequent first, with one row each, or rows in no order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.word_index import WordIndex

if TYPE_CHECKING:
    import torch

Matrix = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Vectors:
    """The words of one language and their vectors, most frequent first.

    `matrix` is (n, d) float32, row i belongs to `words[i]`; no word occurs twice.
    `repeated` counts the lines dropped on reading because their word was a duplicate.
    `lengths` (n,) are the lengths of the rows before normalisation. Rows that are not of words, such as the
    vectors of texts, are not `ranked`: their order means nothing, and `words` are their ids. `texts` are what
    they stand for, in the same order, None if it is not known.

    >>> v = Vectors("en", ["the", "cat"], np.eye(2, dtype=np.float32))
    >>> len(v), v.dimension, v.index["cat"]
    (2, 2, 1)
    """

    language: str
    words: Sequence[str]
    matrix: Matrix
    repeated: int = 0
    lengths: Matrix | None = None
    ranked: bool = True
    texts: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.words) != len(self.matrix):
            raise Mismatch(
                f"{self.language}: every word needs one row, got {len(self.words)} words "
                f"for an array of shape {self.matrix.shape}"
            )
        if self.texts is not None and len(self.texts) != len(self.words):
            raise Mismatch(
                f"{self.language}: every row needs one text, got {len(self.texts)} for {len(self.words)} rows"
            )

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Vectors({self.summary}, {self.dimension} dimensions)"

    @property
    def summary(self) -> str:
        """The language and the number of its words or rows: "fr: 8887 words"."""
        return f"{self.language}: {len(self)} {self.noun}"

    @property
    def noun(self) -> str:
        """What the rows are called: words, or rows if they are not ranked."""
        return "words" if self.ranked else "rows"

    @property
    def dimension(self) -> int:
        """The number of columns d."""
        return int(self.matrix.shape[1])

    @cached_property
    def index(self) -> WordIndex:
        """The row of each word, looked up in whatever Unicode form."""
        return WordIndex(self.words)

    def text_of(self, word: str) -> str | None:
        """The text of the row with this id; None without texts, or if there is no such row."""
        return None if self.texts is None or word not in self.index else self.texts[self.index[word]]

    def tensor(self, device: str = "cpu") -> torch.Tensor:
        """The matrix (n, d) as a tensor on `device`, on the CPU without a copy if possible."""
        import torch  # not above: files are read, and completed on the command line, without it

        return torch.from_numpy(np.require(self.matrix, requirements=["C", "W"])).to(device)

    def nonzero(self) -> Vectors:
        """The words whose vectors are not all zeros; itself if these are all.

        >>> Vectors("en", ["the", "cat"], np.float32([[0, 0], [0, 1]])).nonzero().words
        ['cat']
        """
        perhaps = np.flatnonzero(self.matrix[:, 0] == 0)  # one column is looked through much faster than all
        zeros = perhaps[~self.matrix[perhaps].any(axis=1)]
        return self.chosen(np.delete(np.arange(len(self)), zeros)) if len(zeros) else self

    def most_frequent(self, k: int | None) -> Vectors:
        """The first k words, or all, and their rows (a view, no copy); of rows that are not ranked, any k."""
        lengths = None if self.lengths is None else self.lengths[:k]
        texts = None if self.texts is None else self.texts[:k]
        return replace(self, words=self.words[:k], matrix=self.matrix[:k], lengths=lengths, texts=texts)

    def chosen(self, rows: NDArray[np.int64]) -> Vectors:
        """The rows with these numbers (c,), in their order, as a copy."""
        lengths = None if self.lengths is None else self.lengths[rows]
        words = [self.words[row] for row in rows.tolist()]
        texts = None if self.texts is None else [self.texts[row] for row in rows.tolist()]
        return replace(self, words=words, matrix=self.matrix[rows], lengths=lengths, texts=texts)
