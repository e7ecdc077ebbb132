"""Refined rows: the vectors of both languages, mapped once more by the answers of a first choice.

A mapping is learned from nearest neighbours, or from the pairs that there are. All the evidence finds more
right translations than nearest neighbours do, and thousands of words are each other's answer: pairs for a
regularised canonical correlation (Vinod, 1976), which weights each direction by how far both languages agree
in it, as no rotation can. The vectors of the second choice are those refined rows. The space keeps its own
mapping, and the CSLS that is shown is of that.

A wrong pair confirms itself a little. To learn the maps of either half of the words from the other half would
prevent that, and was worse on each of four pairs of languages: the maps need the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.ranking.candidates import TwoWay, mutual_pairs, share_no_word
from muse.ranking.spelling import CoordinatesConfig, Correspondences, unit
from muse.space.answer_table import AnswerTable
from muse.vectors import Doubles, Flags, Matrix, Numbers

_SIDES = "source", "target"
LEAST_ANSWERED = 1_000  # pairs that canonical directions are learned from
# Of the mean variance, and of the correlations on either side; chosen on the training lists of four pairs.
RIDGE, POWER = 1.0, 0.5


@dataclass(frozen=True, eq=False)
class AnsweredPairs(TwoWay):
    """The pairs (p, 2) of words that are each other's answer, and how probable the less probable is (p,)."""

    pairs: Numbers
    probability: Doubles

    @classmethod
    def of(cls, there: AnswerTable, back: AnswerTable) -> AnsweredPairs:
        """The pairs of the words that both tables answer, the most frequent of either language."""
        pairs = mutual_pairs(there.first(), back.first())
        sides = (of.probability[of.pointers[own]] for of, own in zip((there, back), pairs.T, strict=True))
        return cls(pairs, np.minimum(*sides).astype(np.float64))

    def __len__(self) -> int:
        return len(self.pairs)

    def with_given(
        self, pairs: Numbers, weights: Doubles, without: Flags | None = None
    ) -> tuple[Numbers, Doubles]:
        """These pairs, but for words of the given pairs (g, 2), and given pairs that are not `without` (g,).

        Given pairs have `weights` (g,), the others their probability.
        """
        kept = share_no_word(self.pairs, pairs)
        if without is not None:
            pairs, weights = pairs[~without], weights[~without]
        every = np.concatenate([self.pairs[kept], pairs])
        return every, np.concatenate([self.probability[kept], weights])


@dataclass(frozen=True, eq=False)
class CcaProjection(TwoWay):
    """How rows of both languages in the space are refined: by maps (d, k) and (e, k), less offsets (k,)."""

    maps: tuple[Matrix, Matrix]
    offsets: tuple[Matrix, Matrix]

    @classmethod
    def of(cls, learned: Correspondences) -> CcaProjection:
        """The maps that were learned."""
        pairs = zip(learned.means, learned.maps, strict=True)
        first, second = (np.asarray(mean @ map_, np.float32) for mean, map_ in pairs)
        source, target = (np.asarray(one, np.float32) for one in learned.maps)
        return cls((source, target), (first, second))

    def source(self, rows: Matrix) -> Matrix:
        """Rows (q, d) of the source, refined: (q, k), of unit length but for zeros."""
        return _refined(rows, self.maps[0], self.offsets[0])

    def target(self, rows: Matrix) -> Matrix:
        """Rows (m, e) of the target, refined: (m, k), of unit length but for zeros."""
        return _refined(rows, self.maps[1], self.offsets[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The maps as named arrays, for an .npz."""
        sides = zip(_SIDES, self.maps, self.offsets, strict=True)
        return {
            f"refined.{side}.{name}": part
            for side, *parts in sides
            for name, part in zip(("map", "offset"), parts, strict=True)
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> CcaProjection | None:
        """The maps from named arrays; None if the rows were not refined."""
        if "refined.source.map" not in arrays:
            return None
        first, second = ([arrays[f"refined.{side}.{name}"] for name in ("map", "offset")] for side in _SIDES)
        return cls((first[0], second[0]), (first[1], second[1]))


def refine(
    rows: tuple[Matrix, Matrix], pairs: Numbers, weights: Doubles
) -> tuple[Matrix, Matrix, CcaProjection]:
    """The rows (n, d) and (m, d), refined by weighted pairs (p, 2), and the maps that refined them."""
    directions = min(side.shape[1] for side in rows)
    learned = Correspondences.learned(*rows, pairs, weights, CoordinatesConfig(RIDGE, POWER, directions))
    source, target = map(_with_zeros, (learned.source, learned.target), rows)
    return source, target, CcaProjection.of(learned)


def _refined(rows: Matrix, map_: Matrix, offset: Matrix) -> Matrix:
    return _with_zeros(unit(rows @ map_ - offset), rows)


def _with_zeros(refined: Matrix, rows: Matrix) -> Matrix:
    """The refined rows (n, k), zeros where the rows (n, d) are."""
    return np.where(rows.any(axis=1, keepdims=True), refined, np.float32(0))
