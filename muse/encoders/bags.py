"""Bags: sentences as the numbers of their words, all in one array, so that they are pooled in bulk."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from muse.text.tokens import Tokeniser, what_follows

Ids = NDArray[np.int64]

BLOCK = 2_048  # sentences read and pooled at once: their rows stay in the cache
REMEMBERED = 1 << 19  # parts of lines whose words are kept: some 100 MB


@dataclass(frozen=True, eq=False)
class Bags:
    """The known words of s sentences: `ids` (t,), those of sentence i at `offsets[i]` to `offsets[i + 1]`.

    `unknown` tokens had no word in the vocabulary and are left out, but for those that are `marked`, which
    have an id that says so. `truncated` sentences were longer than what reads them takes, and lost their end.
    """

    ids: Ids
    offsets: Ids
    unknown: int
    truncated: int = 0
    marked: int = 0

    @classmethod
    def joined(cls, parts: Sequence[Bags]) -> Bags:
        """The sentences of all parts, one or more, in order."""
        lengths = np.concatenate([np.zeros(1, np.int64), *(part.lengths for part in parts)])
        ids = np.concatenate([part.ids for part in parts])
        unknown, truncated, marked = (
            sum(getattr(part, name) for part in parts) for name in ("unknown", "truncated", "marked")
        )
        return cls(ids, lengths.cumsum(), unknown, truncated, marked)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def tokens(self) -> int:
        """The number of all tokens, known or not."""
        return len(self.ids) + self.unknown - self.marked

    @cached_property
    def lengths(self) -> Ids:
        """The number of known words (s,) of each sentence."""
        return np.diff(self.offsets)

    def cut(self, longest: int) -> Bags:
        """The same with no more than the first `longest` words of each sentence."""
        long = self.lengths > longest  # (s,)
        if not long.any():
            return self
        places = np.arange(len(self.ids)) - np.repeat(self.offsets[:-1], self.lengths)  # (t,)
        offsets = np.concatenate([[0], np.minimum(self.lengths, longest).cumsum()])
        return Bags(self.ids[places < longest], offsets, self.unknown, int(long.sum()), self.marked)


def blocks(sentences: Iterable[str]) -> Iterator[list[str]]:
    """The sentences, BLOCK at a time."""
    rest = iter(sentences)
    while block := list(islice(rest, BLOCK)):
        yield block


class Reader(Protocol):
    """What makes bags of the sentences of one language."""

    def bags(self, sentences: Iterable[str]) -> Bags:
        """The bags of the sentences, in order."""


class Vocabulary:
    """Turns sentences of one language into Bags: tokens by Moses' rules, as they are or in lower case.

    `other` may give a row for a token that is in `index` neither way; `forget` is called where its rows are
    not needed any more.

    >>> bags = Vocabulary("en", {"cat": 0, "sat": 1}).bags(["The cat sat.", ""])
    >>> bags.ids.tolist(), bags.offsets.tolist(), bags.unknown
    ([0, 1], [0, 2, 2], 2)
    """

    def __init__(
        self,
        language: str,
        index: Mapping[str, int],
        other: Callable[[str], int | None] | None = None,
        forget: Callable[[], None] | None = None,
    ) -> None:
        self._parts = _Parts(Tokeniser(language), index, other)
        self._forget = forget
        self._lock = Lock()  # two threads may share it: a server's do

    def bags(self, sentences: Iterable[str]) -> Bags:
        """The bags of the sentences, in order."""
        lines = [sentence.split() for sentence in sentences]
        parts = list(chain.from_iterable(lines))
        sizes = np.fromiter(map(len, lines), np.int64, len(lines))
        with self._lock:
            if len(self._parts) > REMEMBERED:
                self._parts.forget()
                if self._forget is not None:
                    self._forget()
            numbers = np.fromiter(map(self._parts.__getitem__, parts), np.int64, len(parts))
            self._at_full_stops_(numbers, parts, np.cumsum(sizes))
            return self._parts.bags(numbers, sizes)

    def _at_full_stops_(self, numbers: Ids, parts: list[str], ends: Ids) -> None:
        # Where a part with a full stop is not the last of its line, what follows has a say: see Tokeniser.
        stops = self._parts.ends_in_full_stop(numbers)
        stops[ends[ends > 0] - 1] = False
        for place in np.flatnonzero(stops).tolist():
            part = parts[place]
            numbers[place] = self._parts[f"{part} {what_follows(part, parts[place + 1])}"]


class _Parts(dict[str, int]):
    """The number of each part of a line, and by that number the rows of its words.

    A part before others that ends in a full stop has what follows after a space, which no part holds.
    """

    def __init__(
        self, tokeniser: Tokeniser, index: Mapping[str, int], other: Callable[[str], int | None] | None
    ) -> None:
        super().__init__()
        self._tokeniser, self._index, self._other = tokeniser, index, other
        self.forget()

    def forget(self) -> None:
        """Begins anew."""
        self.clear()
        self._rows = array("q")  # of all parts, one after the other
        self._ends = array("q", [0])  # of part i, where its rows end in `_rows`, at i + 1
        self._unknown = array("q")  # the tokens of each part that have no row
        self._stop = array("b")

    def __missing__(self, part: str) -> int:
        alone, _, follows = part.partition(" ")
        tokens = self._tokeniser.part_tokens(alone, follows)
        rows = [row for row in map(self._row, tokens) if row is not None]
        self._rows.extend(rows)
        self._ends.append(len(self._rows))
        self._unknown.append(len(tokens) - len(rows))
        self._stop.append(alone.endswith("."))
        self[part] = number = len(self._stop) - 1
        return number

    def _row(self, token: str) -> int | None:
        row = self._index.get(token)
        if row is None:
            row = self._index.get(token.lower())
        return self._other(token) if row is None and self._other is not None else row

    def ends_in_full_stop(self, numbers: Ids) -> NDArray[np.bool_]:
        """Whether each part of these numbers (p,) does."""
        return np.frombuffer(self._stop, np.bool_)[numbers] if len(numbers) else np.zeros(0, np.bool_)

    def bags(self, numbers: Ids, sizes: Ids) -> Bags:
        """The bags of s sentences, which are `sizes` (s,) of the parts of these numbers (p,) each."""
        offsets = np.zeros(len(sizes) + 1, np.int64)
        if not len(numbers):
            return Bags(np.zeros(0, np.int64), offsets, 0)
        rows, ends = (np.frombuffer(numbers, np.int64) for numbers in (self._rows, self._ends))
        counts = (ends[1:] - ends[:-1])[numbers]  # (p,)
        after = np.cumsum(counts)  # (p,)
        # The words of part i are those of its number from its start on: all these runs in one array.
        places = np.repeat(ends[numbers] - (after - counts), counts) + np.arange(after[-1])
        offsets[1:] = np.insert(after, 0, 0)[np.cumsum(sizes)]
        return Bags(rows[places], offsets, int(np.frombuffer(self._unknown, np.int64)[numbers].sum()))
