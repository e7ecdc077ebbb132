"""Evidence: which words and units of the other language a unit may be translated by, and what says so.

Candidates are the nearest by CSLS, of rows by contexts and of rows mixed with those of the parts; the units
whose parts translate the unit's best; and compounds. What is known of each is listed by FEATURES, and
`muse.terms.model` says how probable that makes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
import torch

from muse.normalise import unit
from muse.ranking.canonical import dots
from muse.search.exact import nearest
from muse.terms.parts import Sparse, best_in_rows, coverage
from muse.vectors import Doubles, Matrix, Numbers, ShortRepr

NEAREST = 10  # candidates by each of three kinds of rows, among words and among units
BY_PARTS = 20
HUBNESS_K = 10
OCCURRENCES = 50.0  # of a unit, in whose row contexts count as much as the parts
FEATURES = (
    "csls by contexts", "behind the best by contexts", "behind the best back by contexts",
    "csls mixed", "behind the best mixed", "behind the best back mixed",
    "cosine of the parts", "covered", "covering", "compound", "parts like its", "its like the parts",
    "the part least like its", "one word",
    "apart in length", "apart in frequency", "occurrences", "csls by contexts and occurrences",
)  # fmt: skip
CONTENT = 0.2  # the least share of a part that must have a counterpart
_BLOCK = 1 << 13  # pairs at a time
_UNITS = 1 << 10  # at a time


@dataclass(frozen=True, eq=False, repr=False)
class Entries(ShortRepr):
    """The n words of a space in one language and u units behind them: all have `names` (n + u,).

    `shares` (u, n) are those of the words in each unit (`muse.terms.parts`). `word_rows` (n, d) are of unit
    length, `word_contexts` (n, d) and `context_rows` (u, d) those of words and units by their contexts, zeros
    where there are none. `counts` (u,) are the occurrences of units.
    `frequency` (n + u,) is the log of the relative frequency, `word_hubness` (n,) that of words against
    those of the other language.
    """

    names: Sequence[str]
    shares: Sparse
    lengths: Numbers
    word_rows: Matrix
    word_contexts: Matrix
    context_rows: Matrix
    counts: Numbers
    frequency: Doubles
    word_hubness: Matrix

    @cached_property
    def every(self) -> Sparse:
        """The shares (n + u, n) of words in words and units."""
        return Sparse(scipy.sparse.vstack([scipy.sparse.eye(len(self.word_rows)), self.shares]))

    @cached_property
    def parts(self) -> tuple[Numbers, Matrix]:
        """The words of each word and unit, -1 for none, and their shares: (n + u, l) each."""
        counts = np.diff(self.every.indptr)
        within = np.arange(int(counts.max(initial=1))) < counts[:, None]
        places, shares = np.full(within.shape, -1, np.int64), np.zeros(within.shape, np.float32)
        places[within], shares[within] = self.every.indices, self.every.data
        return places, shares

    @cached_property
    def by_parts(self) -> Matrix:
        """The rows (n + u, d) of words, and of units by the mean of their words'."""
        return np.concatenate([self.word_rows, unit(np.asarray(self.shares @ self.word_rows))])

    @cached_property
    def by_contexts(self) -> Matrix:
        """The rows (n + u, d) of words and units by their contexts."""
        return np.concatenate([self.word_contexts, self.context_rows])

    @cached_property
    def mixed(self) -> Matrix:
        """The rows (n + u, d) of words, of units by contexts and parts, of rare ones more by parts."""
        parts = self.by_parts[len(self.word_rows) :]
        return np.concatenate([self.word_rows, mixed_rows(self.context_rows, parts, self.counts)])


def mixed_rows(by_contexts: Matrix, by_parts: Matrix, counts: Numbers) -> Matrix:
    """The rows (u, d) of units that stand `counts` (u,) times: of rare ones more those by their parts."""
    trust = (counts / (counts + OCCURRENCES)).astype(np.float32)[:, None]
    return unit(trust * by_contexts + (1 - trust) * by_parts)


def hubness_of(rows: Matrix, others: Matrix) -> Matrix:
    """The mean cosine (u,) of rows (u, d) to the HUBNESS_K nearest of the `others` (m, d)."""
    found = nearest(torch.from_numpy(rows), torch.from_numpy(others), min(HUBNESS_K, len(others)))
    return np.asarray(found.scores.mean(dim=1).numpy(), np.float32)


@dataclass(frozen=True, eq=False, repr=False)
class UnitCandidates(ShortRepr):
    """Of the unit `places` (p,), in order, the entries `columns` (p,) of the other language.

    `values` (p, f) are their evidence, by FEATURES.
    """

    places: Numbers
    columns: Numbers
    values: Matrix


def gather(
    source: Entries, target: Entries, translations: tuple[Sparse, Sparse], compounds: Sparse
) -> UnitCandidates:
    """The candidates of all units of the source.

    `translations` (n, m) and (m, n) have the probabilities of those of single words, `compounds` (u, m) those
    that a word of the target is made of a unit's parts.
    """
    u, e, n = source.shares.shape[0], len(target.names), len(source.word_rows)
    made_of = Sparse((compounds.data, compounds.indices, compounds.indptr), (u, e))
    found = [best_in_rows(made_of, BY_PARTS)]
    evidence, best = list[Doubles | Matrix](), []
    m = len(target.word_rows)
    x, y = source.by_contexts, target.by_contexts
    kinds = [(x, y, hubness_of(x, y[m:]), hubness_of(y, x[n:]))]
    x, y = source.mixed, target.mixed
    kinds.append((x, y, _hubness(source, x, y), _hubness(target, y, x)))
    for x, y, own, other in kinds:
        first, near = _nearest(x[n:], y, other, len(target.word_rows))
        found += near
        best.append((x, y, own, other, first))
    none = np.zeros(e, np.float32)
    found += _nearest(source.by_parts[n:], target.by_parts, none, len(target.word_rows))[1]
    others = np.unique(np.concatenate([places * e + columns for places, columns in found]))
    places, columns, covered, covering = _with_parts(source, target, translations, others)
    for x, y, own, other, first in best:
        evidence += _by_rows(x, y, (own, other), first, n + places, columns, n)
    evidence.append(dots(source.by_parts, target.by_parts, n + places, columns))
    evidence += [covered, covering, np.sqrt(_at(made_of, places, columns))]
    evidence += [*_alike(source, target, n + places, columns)]
    evidence += _by_form(source, target, places, columns)
    evidence.append(evidence[0] * evidence[-1])
    return UnitCandidates(places, columns, np.stack(evidence, axis=1).astype(np.float32))


def _with_parts(
    source: Entries, target: Entries, translations: tuple[Sparse, Sparse], others: Numbers
) -> tuple[Numbers, Numbers, Doubles, Doubles]:
    """Candidates `others` (c,), by row, and those by parts: places, columns, covered, covering."""
    found, e = [], len(target.names)
    for begin in range(0, source.shares.shape[0], _UNITS):  # where all have a word in common, it is dense
        own = source.shares[begin : begin + _UNITS]
        covered = coverage(own, target.every, translations[0])
        covering = Sparse(coverage(target.every, own, translations[1]).T)
        rows, columns = best_in_rows(Sparse(covered + covering), BY_PARTS)
        some = slice(*np.searchsorted(others, (begin * e, (begin + _UNITS) * e)))
        both = np.union1d(others[some], (begin + rows) * e + columns)
        at = both // e - begin, both % e
        found.append((begin + at[0], at[1], _at(covered, *at), _at(covering, *at)))
    places, columns, one, other = map(np.concatenate, zip(*found, strict=True))
    return places, columns, one, other


def _at(values: Sparse, rows: Numbers, columns: Numbers) -> Doubles:
    return np.asarray(values[rows, columns]).ravel()


def _hubness(entries: Entries, rows: Matrix, others: Matrix) -> Matrix:
    """The hubness (n + u,) of words, and of units by these rows (n + u, d) against all `others`.

    Rows with contexts are closer to one another than to those of words: hubs among them are found by both.
    """
    units = rows[len(entries.word_rows) :]
    return np.concatenate([entries.word_hubness, hubness_of(units, others)])


def _nearest(
    queries: Matrix, keys: Matrix, hubness: Matrix, words: int
) -> tuple[Matrix, list[tuple[Numbers, Numbers]]]:
    """The score (u,) of the best key, and the nearest among the first `words` keys and among the others."""
    scores, found = [np.full(len(queries), -np.inf, np.float32)], []
    for begin, end in ((0, words), (words, len(keys))):
        if begin < end:
            sides = (torch.from_numpy(one) for one in (queries, keys[begin:end], hubness[begin:end] / 2))
            x, y, bias = sides
            near = nearest(x, y, min(NEAREST, end - begin), bias=bias)
            columns = begin + near.indices.numpy().ravel()
            found.append((np.repeat(np.arange(len(queries)), near.indices.shape[1]), columns))
            scores.append(near.scores[:, 0].numpy())
    return np.max(scores, axis=0), found


def _alike(source: Entries, target: Entries, rows: Numbers, columns: Numbers) -> Matrix:
    """How like each part of one is to the likest of the other: the mean both ways, and the least (3, p).

    It is half of their CSLS. What has no known part is like nothing.
    """
    found = np.zeros((3, len(rows)), np.float32)
    for begin in range(0, len(rows), _BLOCK):
        some, sides = slice(begin, begin + _BLOCK), []
        for entries, at in ((source, rows), (target, columns)):
            places, shares = (one[at[some]] for one in entries.parts)
            hubs = np.where(places < 0, np.inf, entries.word_hubness[places] / 2)
            sides.append((torch.from_numpy(entries.word_rows[places]), shares, hubs))
        (x, own, x_hubs), (y, other, y_hubs) = sides
        like = torch.bmm(x, y.transpose(1, 2)).numpy() - x_hubs[:, :, None] - y_hubs[:, None]  # (b, l, m)
        forward, back = (np.maximum(like.max(axis=axis), -1) for axis in (2, 1))
        found[0, some], found[1, some] = (own * forward).sum(axis=1), (other * back).sum(axis=1)
        found[2, some] = np.where(own >= CONTENT, forward, 1).min(axis=1)
    return found


def _by_rows(
    x: Matrix,
    y: Matrix,
    hubness: tuple[Matrix, Matrix],
    first: Matrix,
    rows: Numbers,
    columns: Numbers,
    n: int,
) -> Iterator[Doubles | Matrix]:
    """CSLS, and how far behind the best of the unit, and of the candidate among all, it is."""
    cosines = dots(x, y, rows, columns)
    own, other = hubness[0][rows], hubness[1][columns]
    some, back = np.unique(columns, return_inverse=True)
    bias = torch.from_numpy(hubness[0] / 2)
    reverse = nearest(torch.from_numpy(y[some]), torch.from_numpy(x), 1, bias=bias).scores[:, 0].numpy()
    yield 2 * cosines - own - other
    yield 2 * (first[rows - n] - cosines) + other
    yield 2 * (reverse[back] - cosines) + own


def _by_form(source: Entries, target: Entries, places: Numbers, columns: Numbers) -> Iterator[Doubles]:
    """What lengths and frequencies say."""
    own = places + len(source.word_rows)
    alone = (columns < len(target.word_rows)).astype(np.float64)
    apart = np.abs(source.frequency[own] - target.frequency[columns])
    yield alone
    yield np.abs(source.lengths[own] - target.lengths[columns]).astype(np.float64)
    yield apart
    yield np.log(source.counts[places])
