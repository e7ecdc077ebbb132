"""Bags: sentences as the numbers of their words, all in one array, so that they are pooled in bulk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muse.tokens import Tokeniser

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bags:
    """The known words of s sentences: `ids` (t,), those of sentence i at `offsets[i]` to `offsets[i + 1]`.

    `unknown` tokens had no word in the vocabulary and are left out.
    """

    ids: Ids
    offsets: Ids
    unknown: int

    def __len__(self) -> int:
        return len(self.offsets) - 1


class Vocabulary:
    """Turns sentences of one language into Bags: tokens by Moses' rules, as they are or in lower case.

    >>> bags = Vocabulary("en", {"cat": 0, "sat": 1}).bags(["The cat sat.", ""])
    >>> bags.ids.tolist(), bags.offsets.tolist(), bags.unknown
    ([0, 1], [0, 2, 2], 2)
    """

    def __init__(self, language: str, index: Mapping[str, int]) -> None:
        self._tokeniser = Tokeniser(language)
        self._index = index

    def bags(self, sentences: Iterable[str]) -> Bags:
        """The bags of the sentences, in order."""
        ids: list[int] = []
        offsets = [0]
        unknown = 0
        for sentence in sentences:
            tokens = self._tokeniser.tokens(sentence)
            known = [row for row in map(self._row, tokens) if row is not None]
            unknown += len(tokens) - len(known)
            ids += known
            offsets.append(len(ids))
        return Bags(np.array(ids, dtype=np.int64), np.array(offsets, dtype=np.int64), unknown)

    def _row(self, token: str) -> int | None:
        row = self._index.get(token)
        return self._index.get(token.lower()) if row is None else row
