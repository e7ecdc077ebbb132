"""Contexts: rows of units from the words that stand around them, without training anew.

The mean u of the rows around a word is mapped to its own row y by one matrix A, learned on words that have
rows, A = argmin sum_w log(1 + n_w) |y_w - A u_w|^2 + ridge; a unit has A u (Khodak et al., 2018). Here
u is two means, of what stands before and behind. Words around weigh a / (a + p), p their frequency (Arora et
al., 2017), since those that stand everywhere say little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from muse.normalise import unit
from muse.terms.sequences import BREAK, LINE, Ids, NumberedText
from muse.vectors import Doubles, Matrix, Numbers, ShortRepr

WINDOW = 5  # words on either side
RARITY = 1e-3  # a: a word of this frequency weighs half
RIDGE = 1e-2  # times the mean of the diagonal
MOST = 1_000  # occurrences of a word whose contexts are summed: about so many, evenly over the text
_GOLDEN = 0.6180339887498949  # multiples of it are even between 0 and 1
BLOCK = 1 << 19  # tokens at a time
_BITS = 32


@dataclass(frozen=True, eq=False, repr=False)
class UnitIndex(ShortRepr):
    """Finds units of several words in numbered text.

    They are a trie: level l has the sorted `keys` of its nodes, each a node of the level before (at first a
    word) and the word that follows, and the `units` that end there, -1 for none.
    """

    keys: Sequence[Numbers]
    units: Sequence[Numbers]

    @classmethod
    def of(cls, units: Sequence[Sequence[int]]) -> UnitIndex:
        """The index of units, by the numbers of their words.

        >>> index = UnitIndex.of([(1, 2), (1, 2, 3)])
        >>> [found.tolist() for found in index.find(np.array([1, 2, 1, 2, 3, 1], np.int32))]
        [[0, 2], [2, 5], [0, 1]]
        """
        levels, ends = list[Numbers](), list[Numbers]()
        number = {tuple(words): place for place, words in enumerate(units)}
        nodes: dict[tuple[int, ...], int] = {words[:1]: words[0] for words in number}
        for length in range(2, max(map(len, number), default=1) + 1):
            prefixes = sorted({words[:length] for words in number if len(words) >= length})
            keys = np.array([nodes[one[:-1]] << _BITS | one[-1] for one in prefixes], np.int64)
            order = np.argsort(keys)
            nodes = {prefixes[old]: place for place, old in enumerate(order.tolist())}
            levels.append(keys[order])
            ends.append(np.array([number.get(prefixes[old], -1) for old in order.tolist()], np.int64))
        return cls(levels, ends)

    def find(self, ids: Ids) -> tuple[Numbers, Numbers, Numbers]:
        """Where the units in a text (t,) begin and end, and which they are: (f,) each, from left to right.

        Where several begin, the longest is found, and what it has is no part of another.
        """
        state = np.asarray(ids, np.int64)
        length, found = np.ones(len(ids), np.int64), np.full(len(ids), -1)
        for level, (keys, units) in enumerate(zip(self.keys, self.units, strict=True), 1):
            following = np.full(len(ids), BREAK, np.int64)
            following[:-level] = ids[level:] if level < len(ids) else BREAK
            wanted = state << _BITS | following
            places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            there = (state >= 0) & (following >= 0) & (keys[places] == wanted)
            state = np.where(there, places, -1)
            ends = there & (units[places] >= 0)
            length[ends], found[ends] = level + 1, units[places][ends]
        kept, free = list[int](), 0
        for place in np.flatnonzero(found >= 0).tolist():
            if place >= free:
                kept.append(place)
                free = place + int(length[place])
        begin = np.array(kept, np.int64)
        return begin, begin + length[begin], found[begin]


@dataclass(frozen=True, eq=False, repr=False)
class ContextSums(ShortRepr):
    """What stands around e entries: the weighted sums of rows before and behind, (e, 2 d), of `counts` (e,).

    `weights` (e, 2) are the sums of their weights.
    """

    sums: Matrix
    weights: Matrix
    counts: Numbers

    def means(self) -> Matrix:
        """The mean rows before and behind, (e, 2 d); zeros where nothing is known of a side."""
        d = self.sums.shape[1] // 2
        return np.asarray(self.sums / np.repeat(np.maximum(self.weights, 1e-9), d, axis=1))


def rarity_weights(text: NumberedText) -> Matrix:
    """The weight a / (a + p) of each word (v,), p its frequency in the text."""
    return np.asarray(RARITY / (RARITY + text.counts / text.tokens), np.float32)


def sum_contexts(
    text: NumberedText, rows: Matrix, weights: Matrix, units: UnitIndex, entries: int, window: int = WINDOW
) -> ContextSums:
    """The contexts of the first `entries` words of a text, and of the units behind them.

    `rows` (v, d) and `weights` (v,) are those of its words; the weight is 0 of one that has no row.
    """
    count = entries + 1 + max((int(one.max()) for one in units.units), default=-1)
    v, d = rows.shape
    found = ContextSums(
        np.zeros((count, 2 * d), np.float32), np.zeros((count, 2), np.float32), np.zeros(count, np.int64)
    )
    weighted = np.concatenate([rows * weights[:, None], weights[:, None]], axis=1)  # (v, d + 1)
    for ids, begin, end, which, line in _occurrences(text, units, entries):
        entry = np.where(which < 0, entries - 1 - which, which)
        found.counts[:] += np.bincount(entry, minlength=count)
        for side, first, step in ((0, begin - 1, -1), (1, end, 1)):
            near = first[:, None] + step * np.arange(window)  # (o, w)
            near = np.where((near >= line[0][:, None]) & (near < line[1][:, None]), near, -1)
            words = np.where(near >= 0, ids[near], BREAK)
            known = words >= 0
            keys = np.broadcast_to(entry[:, None], words.shape)[known] * v + words[known]
            keys, times = np.unique(keys, return_counts=True)
            pairs = scipy.sparse.csr_matrix((times.astype(np.float32), (keys // v, keys % v)), (count, v))
            some = np.flatnonzero(np.diff(pairs.indptr))
            sums = pairs[some] @ weighted
            found.sums[some, side * d : (side + 1) * d] += sums[:, :d]
            found.weights[some, side] += sums[:, d]
    return found


def _occurrences(
    text: NumberedText, units: UnitIndex, entries: int
) -> Iterator[tuple[Ids, Numbers, Numbers, Numbers, tuple[Numbers, Numbers]]]:
    """Yields whole lines: ids (t,); begin, end and entry (o,) of what stands there, its line's ends.

    A unit u is the entry -1 - u.
    """
    start = 0
    while start < len(text.ids):
        ids = np.asarray(text.ids[start : start + BLOCK])
        ends = np.flatnonzero(ids == LINE) + 1
        if not len(ends):  # of a line that is longer
            ends = np.array([len(ids)])
        ids = ids[: ends[-1]]
        words = np.flatnonzero((ids >= 0) & (ids < entries))
        words = words[(start + words) * _GOLDEN % 1 < MOST / text.counts[ids[words]]]
        begin, end, which = units.find(ids)
        begin, end = np.concatenate([words, begin]), np.concatenate([words + 1, end])
        which = np.concatenate([ids[words].astype(np.int64), -1 - which])
        line = np.searchsorted(ends, begin, "right")
        yield ids, begin, end, which, (np.append(0, ends)[line], ends[line])
        start += len(ids)


def learn_context_map(means: Matrix, rows: Matrix, counts: Numbers) -> Matrix:
    """The matrix A (d, 2 d) from the contexts (n, 2 d) of words to their rows (n, d)."""
    weights = np.log1p(counts)[:, None]
    gram: Doubles = means.T.astype(np.float64) @ (means * weights)
    gram += RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
    return np.asarray(np.linalg.solve(gram, means.T @ (rows * weights)).T, np.float32)


def context_rows(means: Matrix, map_: Matrix) -> Matrix:
    """The rows (e, d), of unit length, that the contexts (e, 2 d) of entries stand for."""
    return unit(means @ map_.T)
