"""Neighbourhoods: what is known of a candidate where words are not spelled alike, from vectors and ranks.

One mapping of all words is not exact anywhere. The neighbours of a word in its own language that have mutual
translations (its anchors) tell how far, and in what direction, the mapping misses here: their translations
less themselves, weighted by how near they are, are added to the word (Glavaš and Vulić, 2020, "Non-Linear
Instance-Based Cross-Lingual Mapping", equation 3). They also tell how frequent a translation would be: in
texts of other subjects whole fields of words are rarer.

The vectors are refined first (`muse.ranking.canonical.refine`); their dimensions are in the order of how far
both languages agree in them, and a candidate is compared in each quarter of them as well.

No column depends on the number of words, and all are the same if both spaces are rotated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from muse.normalise import unit
from muse.ranking.candidates import Candidates, NeighbourLists, TwoWay, by_neighbours
from muse.ranking.canonical import dots, refine
from muse.ranking.features import of_vectors
from muse.search.exact import nearest
from muse.vectors import Doubles, Matrix, Numbers

KINDS = {
    "vectors": (
        "csls", "margin", "margin back", "rank", "rank back", "best margin",
        "first quarter", "second quarter", "third quarter", "last quarter",
    ),
    "neighbours": ("moved", "moved rank", "moved back", "moved back rank", "both moved", "both moved rank"),
    "frequency": (
        "rank difference", "unexpected difference", "difference of neighbours", "rarer than neighbours",
        "rarer than neighbours back", "difference of both",
    ),
}  # fmt: skip
NAMES = tuple(name for names in KINDS.values() for name in names)
COLUMNS = {kind: [NAMES.index(name) for name in names] for kind, names in KINDS.items()}
ANCHORS = 4_000  # the most frequent words with mutual translations
NEAR = 20  # of them, to a word
TEMPERATURE = 0.1  # of the softmax of cosines by which they weigh
AT_ONCE = 256  # words whose anchors are averaged: the rows of more leave the cache
MAPPED = 10  # of a word by the mapped rows that are candidates, beside those by the refined ones


@dataclass(frozen=True, eq=False)
class Neighbourhoods(TwoWay):
    """Both languages by refined rows, `source` (n, d) and `target` (m, d), and by their anchors.

    `lists` are the neighbours by these rows, `mapped` those before. `moved` (n, d) and (m, d) are the rows
    moved as the anchors' translations are; `ranks` (n, 2) and (m, 2) the mean logarithms of the ranks of
    anchors and of their translations.
    """

    source: Matrix
    target: Matrix
    lists: NeighbourLists
    mapped: NeighbourLists
    moved: tuple[Matrix, Matrix]
    ranks: tuple[Matrix, Matrix]

    @classmethod
    def of(
        cls, rows: tuple[Matrix, Matrix], mapped: NeighbourLists, pairs: Numbers, weights: Doubles
    ) -> Neighbourhoods:
        """The neighbourhoods by rows (n, k) and (m, k), refined by weighted pairs (p, 2)."""
        source, target, _ = refine(rows, pairs, weights)
        lists = mapped.again(source, target)
        anchors = lists.mutual()
        anchors = anchors[np.argsort(anchors.sum(axis=1), kind="stable")[:ANCHORS]]
        own, ranks = (source[anchors[:, 0]], target[anchors[:, 1]]), np.log1p(anchors).astype(np.float32)
        moved, expected = [], []
        for side, there, back in ((source, 0, 1), (target, 1, 0)):
            near = _near(side, own[there], anchors[:, there])
            moved.append(unit(side + _mean(own[back] - own[there], *near)))
            expected.append(_mean(ranks[:, [there, back]], *near))
        return cls(source, target, lists, mapped, (moved[0], moved[1]), (expected[0], expected[1]))

    def candidates(self, words: Numbers) -> Candidates:
        """The candidates of some source words (w,), ascending."""
        mapped = self.mapped.columns[words][:, :MAPPED]
        more = np.repeat(words, mapped.shape[1]), mapped.ravel()
        return Candidates.of(words, [*by_neighbours(self.lists, words), more], len(self.target))

    def evidence(self, candidates: Candidates) -> Matrix:
        """The evidence (c, f) for each candidate, columns as in NAMES."""
        rows, columns = candidates.rows, candidates.columns
        found = of_vectors((self.source, self.target), self.lists, rows, columns)
        width = self.source.shape[1]
        for quarter, name in enumerate(KINDS["vectors"][-4:]):
            part = slice(quarter * width // 4, (quarter + 1) * width // 4)
            source, target = (np.ascontiguousarray(side[:, part]) for side in (self.source, self.target))
            found[name] = margins(candidates, dots(source, target, rows, columns))[0]
        there = dots(self.moved[0], self.target, rows, columns)
        back = dots(self.source, self.moved[1], rows, columns)
        for name, values in (("moved", there), ("moved back", back), ("both moved", there + back)):
            found[name], found[f"{name} rank"] = margins(candidates, values)
        own, other = (np.log1p(side).astype(np.float32) for side in (rows, columns))
        of_own, of_other = self.ranks[0][rows], self.ranks[1][columns]
        expected = np.float32(0.5) * (of_own[:, 1] - of_own[:, 0] - of_other[:, 1] + of_other[:, 0])
        rarer, rarer_back = own - of_own[:, 0], other - of_other[:, 0]
        found |= {
            "rank difference": other - own, "unexpected difference": other - own - expected,
            "difference of neighbours": of_other[:, 0] - of_own[:, 0],
            "rarer than neighbours": rarer, "rarer than neighbours back": rarer_back,
            "difference of both": rarer_back - rarer,
        }  # fmt: skip
        return np.stack([found[name] for name in NAMES], axis=1)


def _near(rows: Matrix, anchors: Matrix, places: Numbers) -> tuple[Numbers, Matrix]:
    """The nearest of the anchors (a, d), rows `places` (a,), to rows (n, d): names and weights, each (n, k).

    A word is not its own anchor.
    """
    found = nearest(torch.from_numpy(rows), torch.from_numpy(anchors), NEAR + 1)
    cosines, names = (side.numpy() for side in found)
    itself = places[names] == np.arange(len(rows))[:, None]
    order = np.argsort(itself, axis=1, kind="stable")[:, :NEAR]
    cosines, names = (np.take_along_axis(side, order, 1) for side in (cosines, names))
    weights = np.exp((cosines - cosines.max(axis=1, keepdims=True)) / TEMPERATURE)
    return names, weights / weights.sum(axis=1, keepdims=True)


def _mean(values: Matrix, names: Numbers, weights: Matrix) -> Matrix:
    """The weighted means (n, v) of the values (a, v) of named anchors (n, k)."""
    found = np.empty((len(names), values.shape[1]), np.float32)
    for begin in range(0, len(names), AT_ONCE):
        block = slice(begin, begin + AT_ONCE)
        found[block] = np.matmul(weights[block, None], values[names[block]])[:, 0]
    return found


def margins(candidates: Candidates, values: Matrix) -> tuple[Matrix, Matrix]:
    """How far each candidate's value (c,) is above the best other one of its word, and its rank, from 0.

    A word's only candidate has a margin of 0.
    """
    order, ranks = candidates.order(values), candidates.ranks
    rank, best = np.empty(len(values), np.float32), np.zeros((len(candidates.words), 2), np.float32)
    rank[order] = ranks
    for place in (1, 0):  # the first is also the second where there is no other
        some = order[ranks == place]
        best[candidates.places[some], place] = values[some]
    single = np.diff(candidates.pointers) == 1
    best[single, 1] = best[single, 0]
    other = best[candidates.places, (rank == 0).astype(int)]
    return values - other, rank
