"""Candidates: the target words among which the translations of each word are chosen.

They come from CSLS in both directions, from the spelling, and from words that both languages share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from muse.search.approximate import Demand
from muse.search.bidirectional_search import BidirectionalSearch, BothDirections
from muse.search.clusters import compared, nearest_both_by_clusters
from muse.search.exact import at_once, nearest
from muse.vectors import Doubles, Flags, Matrix, Numbers

NEIGHBOURS = 20  # of a word, by CSLS
BACK_SOURCES = 2  # the best sources of a target have it as a candidate
SPELLED = 5  # targets with the most similar spelling
COUNTED = 5  # best targets of a source, counted for each target
NEAREST = 40  # by cosine: the best by CSLS are hardly ever beyond them
HUBNESS_K = 10
BLOCK = 2_048
EXACT = 12_000**2  # products: among more, few of the nearest are missed
# Of either direction; the other may find what it misses. With .97, P@1 on the training list of en-it fell.
NEAR = Demand(0.99, 0.98)
ALIKE = Demand(0.98, 0.96)


# A field `one_back` is the other direction of `one`; these are of one language and of the other.
_OTHER = {"source": "target", "target": "source", "columns": "rows", "rows": "columns"}


class TwoWay:
    """A dataclass of what is known of a source and a target; `reversed` exchanges the languages.

    Its fields are named as `_OTHER` says, or are tuples for source and target, pairs (p, 2), or such classes
    themselves, alone or in a tuple.
    """

    def reversed(self) -> Self:
        """The same from target to source."""
        names, found = [one.name for one in fields(self)], {}  # type: ignore[arg-type]  # it is a dataclass
        for name in names:
            back = name.removesuffix("_back") if name.endswith("_back") else f"{name}_back"
            back = _OTHER.get(name, back)
            value = getattr(self, back if back in names else name)
            found[name] = value[:, ::-1] if name in ("pairs", "given") else _exchanged(value)
        return replace(self, **found)  # type: ignore[type-var]


def _exchanged(value: Any) -> Any:
    if isinstance(value, TwoWay):
        return value.reversed()
    if not isinstance(value, tuple):
        return value
    two_way = all(isinstance(one, TwoWay) for one in value)
    return tuple(one.reversed() for one in value) if two_way else value[::-1]


def best_of_groups(group: Numbers, values: NDArray[Any]) -> Numbers:
    """The place of the highest of the values (c,) of each of the groups (c,), by ascending group: (g,)."""
    order = np.lexsort((-values, group))
    return np.asarray(order[np.unique(group[order], return_index=True)[1]])


@dataclass(frozen=True, eq=False)
class NeighbourLists(TwoWay):
    """The k best words of the other language by CSLS, best first, for every source and every target.

    Sources have the targets `columns` (n, k) with scores `csls` (n, k), targets the sources `rows` (m, k)
    with `csls_back` (m, k); `hubness` (n,) and `hubness_back` (m,) are the mean cosines to the 10 nearest.
    `named` (m, 2) counts the sources that have a target as their first, and among their COUNTED best,
    and `named_back` (n, 2) the targets that so have a source. `near` (n, j) and (m, j) are the nearest by
    cosine; `exact` is whether none of them was missed.
    """

    columns: Numbers
    csls: Matrix
    rows: Numbers
    csls_back: Matrix
    hubness: Matrix
    hubness_back: Matrix
    named: Numbers
    named_back: Numbers
    near: tuple[Numbers, Numbers]
    exact: bool = True

    @classmethod
    def of(cls, source: Matrix, target: Matrix) -> NeighbourLists:
        """The neighbours among unit rows (n, d) and (m, d) of two languages in one space."""
        found = nearest_both(source, target, NEAREST, NEAR)
        cosines, names = zip(*((one.scores.numpy(), one.indices.numpy()) for one in found), strict=True)
        return replace(cls._of_nearest(cosines, names), exact=len(source) * len(target) <= EXACT)

    @property
    def exact_hubness(self) -> Matrix | None:
        """The hubness (n,) of the sources, None where a neighbour may have been missed."""
        return self.hubness if self.exact else None

    def again(self, source: Matrix, target: Matrix, anew: Numbers | None = None) -> NeighbourLists:
        """The neighbours, among those that were near, by other unit rows (n, e) and (m, e), alike enough.

        Those of the words of `anew` (p, 2) are searched among all: to be near may be a hint.
        """

        def searched(side: int, own: Matrix, others: Matrix) -> tuple[Matrix, Numbers]:
            near = self.near[side]
            if anew is not None:
                words, near = np.unique(anew[:, side]), near.copy()
                asked = torch.from_numpy(own[words]), torch.from_numpy(others)
                near[words] = nearest(*asked, near.shape[1]).indices.numpy()
            return compared(own, others, near)

        found = at_once(searched, (0, 1), (source, target), (target, source))
        cosines, names = zip(*found, strict=True)
        return replace(self._of_nearest(cosines, names), exact=False)

    @classmethod
    def _of_nearest(cls, cosines: Sequence[Matrix], names: Sequence[Numbers]) -> NeighbourLists:
        """The neighbours among the nearest `names` (n, j) and (m, j) by cosine, nearest first."""
        own, other = (side[:, :HUBNESS_K].mean(axis=1) for side in cosines)
        columns, csls = best_by_csls(cosines[0], names[0], own, other)
        rows, csls_back = best_by_csls(cosines[1], names[1], other, own)
        named, named_back = (
            np.stack([np.bincount(one[:, :count].ravel(), minlength=len(of)) for count in (1, COUNTED)], 1)
            for one, of in ((columns, rows), (rows, columns))
        )
        return cls(columns, csls, rows, csls_back, own, other, named, named_back, (names[0], names[1]))

    def csls_of(self, cosines: Matrix, rows: Numbers, columns: Numbers) -> Matrix:
        """The CSLS (c,) of sources `rows` (c,) and targets `columns` (c,) with these cosines (c,)."""
        return 2 * cosines - self.hubness[rows] - self.hubness_back[columns]

    def hubness_of(
        self, source: Matrix, target: Matrix, rows: Numbers, columns: Numbers
    ) -> tuple[Matrix, Matrix]:
        """The hubness of sources `rows` (c,) and of targets `columns` (c,), as in `again`."""
        found = list[Matrix]()
        sides = (source, target, rows), (target, source, columns)
        for near, (own, others, asked) in zip(self.near, sides, strict=True):
            words, places = np.unique(asked, return_inverse=True)
            cosines = compared(own[words], others, near[words])[0]
            found.append(cosines[:, :HUBNESS_K].mean(axis=1)[places])
        return found[0], found[1]

    def mutual(self) -> Numbers:
        """The pairs (p, 2) of words that are each other's first."""
        return mutual_pairs(self.columns[:, 0], self.rows[:, 0])


def mutual_pairs(there: Numbers, back: Numbers) -> Numbers:
    """The pairs (p, 2) of words that are each other's first, by `there` (n,) and `back` (m,), -1 for none.

    >>> mutual_pairs(np.array([1, 1, -1, 7]), np.array([2, 1]))
    array([[1, 1]])
    """
    sources = np.flatnonzero((there >= 0) & (there < len(back)))
    chosen = sources[back[there[sources]] == sources]
    return np.stack([chosen, there[chosen]], axis=1)


def share_no_word(pairs: Numbers, others: Numbers) -> Flags:
    """Whether neither word of each of some pairs (p, 2) is in one of the `others` (o, 2): (p,)."""
    return ~(np.isin(pairs[:, 0], others[:, 0]) | np.isin(pairs[:, 1], others[:, 1]))


def nearest_both(source: Matrix, target: Matrix, k: int, demand: Demand) -> BothDirections:
    """The k nearest targets (n, k) of every source, and sources (m, k) of every target.

    Among many words, as many are missed as the `demand` lets.
    """
    x, y = torch.from_numpy(source), torch.from_numpy(target)
    if len(x) * len(y) <= EXACT:
        return BidirectionalSearch(x, y).nearest(k)
    return nearest_both_by_clusters(x, y, k, demand)


def best_by_csls(cosines: Matrix, names: Numbers, own: Matrix, other: Matrix) -> tuple[Numbers, Matrix]:
    """The NEIGHBOURS best (n, k) of the nearest (n, j) and their CSLS, by hubness (n,) and (m,)."""
    csls = 2 * cosines - own[:, None] - other[names]
    order = np.argsort(-csls, axis=1, kind="stable")[:, :NEIGHBOURS]
    return np.take_along_axis(names, order, 1), np.take_along_axis(csls, order, 1)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of each of w words: word i has `columns[pointers[i]:pointers[i + 1]]`.

    `words` (w,) are row numbers of the sources, ascending, and `columns` (c,) row numbers of the targets,
    ascending for each word; `pointers` is (w + 1,). A word may have no candidate.
    """

    words: Numbers
    pointers: Numbers
    columns: Numbers

    @classmethod
    def of(cls, words: Numbers, found: Sequence[tuple[Numbers, Numbers]], targets: int) -> Candidates:
        """The union of pairs found in several ways, each (rows, columns) (f,); other words are left out."""
        rows, columns = (
            np.concatenate([np.zeros(0, np.int64), *sides]) for sides in zip(*found, strict=True)
        )
        known = np.isin(rows, words)
        numbers = np.sort(rows[known].astype(np.int64) * targets + columns[known])
        numbers = numbers[np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)]]
        rows, columns = numbers // targets, numbers % targets
        return cls(words, np.append(np.searchsorted(rows, words), len(rows)), columns)

    def only(self, kept: Flags) -> tuple[Candidates, Flags]:
        """The candidates of some of the words (w,), and which of all candidates these are (c,)."""
        of_kept = kept[self.places]
        pointers = np.append(0, np.cumsum(np.diff(self.pointers)[kept]))
        return Candidates(self.words[kept], pointers, self.columns[of_kept]), of_kept

    def drawn(self, count: int, rng: np.random.Generator) -> tuple[Candidates, Flags]:
        """The candidates of so many words, drawn at random, and which of all candidates these are (c,)."""
        kept = np.zeros(len(self.words), bool)
        kept[rng.permutation(len(kept))[:count]] = True
        return self.only(kept)

    @property
    def places(self) -> Numbers:
        """The place (c,) of each candidate's word among `words`."""
        return np.repeat(np.arange(len(self.words)), np.diff(self.pointers))

    @property
    def rows(self) -> Numbers:
        """The row (c,) of each candidate's word."""
        return self.words[self.places]

    def most(self, values: Doubles | Matrix) -> Doubles:
        """The largest of the `values` (c,) of each word's candidates, (w,); -inf for a word without any."""
        found = np.full(len(self.words), -np.inf)
        some = np.diff(self.pointers) > 0
        if some.any():
            found[some] = np.maximum.reduceat(values, self.pointers[:-1][some])
        return found

    def order(self, values: Doubles | Matrix) -> Numbers:
        """The places (c,) of the candidates, word by word, by descending value for each."""
        # The bits of numbers, of negative ones reversed, are in their order: one key, which takes a sixth of
        # the time of two; stable, for columns are ascending.
        bits = (np.float32(0) - np.asarray(values, np.float32)).view(np.int32).astype(np.int64)
        bits = np.where(bits < 0, -(2**31) - 1 - bits, bits)
        return np.argsort((self.places << 32) + bits, kind="stable")

    def firsts(self, values: Doubles | Matrix) -> Numbers:
        """The place of the candidate of the highest value, of each word that has candidates."""
        return np.asarray(self.order(values)[self.ranks == 0])

    @property
    def ranks(self) -> Numbers:
        """The rank (c,), from 0, among its word's candidates, of what stands at each place of an `order`."""
        return np.arange(len(self.columns)) - self.pointers[:-1][self.places]

    def are(self, pairs: Numbers, targets: int) -> Flags:
        """Whether each candidate and its word are among pairs (p, 2): (c,)."""
        return np.isin(self.rows * targets + self.columns, pairs[:, 0] * targets + pairs[:, 1])


def by_neighbours(lists: NeighbourLists, words: Numbers) -> list[tuple[Numbers, Numbers]]:
    """The best of some words by CSLS, and the targets of whose best each is one."""
    forward = np.repeat(words, lists.columns.shape[1]), lists.columns[words].ravel()
    named = lists.rows[:, :BACK_SOURCES]
    back = named.ravel(), np.repeat(np.arange(len(named)), named.shape[1])
    return [forward, back]


def by_spelling(source: Matrix, target: Matrix, words: Numbers) -> tuple[Numbers, Numbers]:
    """The targets (m, k) that are nearest to some of the sources (n, k) in coordinates of their spelling."""
    count, other = min(SPELLED, len(target)), torch.from_numpy(target)
    known = words[source[words].any(axis=1)]
    found = [
        (torch.from_numpy(source[known[begin : begin + BLOCK]]) @ other.T).topk(count, dim=1).indices
        for begin in range(0, len(known), BLOCK)
    ]
    columns = torch.cat(found).numpy().ravel() if found else np.zeros(0, np.int64)
    return np.repeat(known, count), columns
