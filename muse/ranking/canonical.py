"""Canonical correlation: coordinates in which the rows of words that translate each other correspond.

Canonical correlation analysis (Hotelling, 1936), regularised (Vinod, 1976), finds the directions in which the
rows of pairs correspond, each weighted by how far both languages agree in it, as no rotation can. The rows
are those of n-grams (`muse.ranking.spelling`), or of the space, which are refined (`refine`): all the
evidence finds more right translations than nearest neighbours do, and thousands of words are each other's
answer. The space keeps its own mapping, and the CSLS that is shown is of that.

A wrong pair confirms itself a little. To learn the maps of either half of the words from the other half would
prevent that, and was worse on each of four pairs of languages: the maps need the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.normalise import unit
from muse.ranking.candidates import TwoWay
from muse.search.exact import at_once
from muse.vectors import Doubles, Matrix, Numbers

LEAST_PAIRS = 10  # pairs: with fewer, nothing is learned
DOTS = 512  # inner products at a time: the rows of more leave the cache


@dataclass(frozen=True, eq=False)
class CanonicalMap:
    """How rows (q, d) of one language become coordinates: by `map_` (d, k), less `offset` (k,)."""

    map_: NDArray[np.floating[Any]]
    offset: NDArray[np.floating[Any]]

    def __call__(self, rows: Matrix) -> Matrix:
        """The coordinates (q, k) of rows (q, d), of unit length."""
        # The pairs need double precision; all words would take twice as long.
        return unit(rows @ self.map_.astype(np.float32) - self.offset.astype(np.float32))

    def refined(self, rows: Matrix) -> Matrix:
        """The coordinates (q, k) of rows (q, d), zeros where these are."""
        return np.where(rows.any(axis=1, keepdims=True), self(rows), np.float32(0))

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The map as named arrays, for an .npz."""
        return {f"{name}.map": self.map_.astype("f4"), f"{name}.offset": self.offset.astype("f4")}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], name: str) -> CanonicalMap:
        """The map from named arrays."""
        return cls(arrays[f"{name}.map"], arrays[f"{name}.offset"])


Maps = tuple[CanonicalMap, ...]  # of the source and of the target


@dataclass(frozen=True)
class CoordinatesConfig:
    """How canonical coordinates are learned.

    `ridge` times the mean variance is added to each, coordinates are multiplied by this `power` of their
    correlation, and at most `most` of them are kept.
    """

    ridge: float = 1e-2
    power: float = 1.0
    most: int = 100


@dataclass(frozen=True, eq=False)
class Correspondences(TwoWay):
    """The canonical coordinates of all words of both languages, (n, k) and (m, k), of unit length.

    They are zeros where nothing is known to correspond. `maps` give those of other words.
    """

    source: Matrix
    target: Matrix
    maps: Maps = ()

    @classmethod
    def learned(
        cls,
        source: Matrix,
        target: Matrix,
        pairs: Numbers,
        weights: Doubles | None = None,
        config: CoordinatesConfig | None = None,
    ) -> Correspondences:
        """The coordinates learned from weighted pairs (p, 2) of rows (n, c) and (m, e)."""
        config, sides = config or CoordinatesConfig(), (source, target)
        if len(pairs) < LEAST_PAIRS:
            x, y = (np.zeros((len(side), 1), np.float32) for side in sides)
            none, other = (CanonicalMap(np.zeros((side.shape[1], 1)), np.zeros(1)) for side in sides)
            return cls(x, y, (none, other))
        weights = np.ones(len(pairs)) if weights is None else weights
        share = weights / weights.sum()
        rows = source[pairs[:, 0]].astype(np.float64), target[pairs[:, 1]].astype(np.float64)
        means = [share @ side for side in rows]
        x, y = (side - mean for side, mean in zip(rows, means, strict=True))
        whiten_x, whiten_y = at_once(
            lambda side: _whitening(side.T @ (side * share[:, None]), config.ridge), (x, y)
        )
        left, correlations, right = np.linalg.svd(whiten_x @ (x.T @ (y * share[:, None])) @ whiten_y)
        count = min(config.most, len(correlations))
        scale = correlations[:count] ** config.power
        turned = whiten_x @ left[:, :count] * scale, whiten_y @ right[:count].T * scale
        first, second = (CanonicalMap(map_, mean @ map_) for map_, mean in zip(turned, means, strict=True))
        mapped, others = at_once(CanonicalMap.__call__, (first, second), sides)
        return cls(mapped, others, (first, second))

    def similarity(self, rows: Numbers, columns: Numbers) -> Matrix:
        """The cosine (c,) of each source of `rows` (c,) and target of `columns` (c,)."""
        return dots(self.source, self.target, rows, columns)


def _whitening(covariance: Doubles, ridge: float) -> Doubles:
    values, vectors = np.linalg.eigh(covariance)
    floor = ridge * max(float(values.mean()), 1e-12)
    return np.asarray(vectors / np.sqrt(np.maximum(values, 0) + floor) @ vectors.T)


def dots(left: Matrix, right: Matrix, rows: Numbers, columns: Numbers) -> Matrix:
    """The inner products (c,) of some rows of two matrices, in bounded memory."""
    found = np.empty(len(rows), np.float32)
    own, others = (np.empty((DOTS, side.shape[1]), side.dtype) for side in (left, right))
    for begin in range(0, len(rows), DOTS):
        block = slice(begin, min(begin + DOTS, len(rows)))
        count = block.stop - begin
        left.take(rows[block], 0, own[:count], "clip")  # to memory at hand, in a quarter of the time
        right.take(columns[block], 0, others[:count], "clip")
        np.einsum("cd,cd->c", own[:count], others[:count], out=found[block])
    return found


def refine(rows: tuple[Matrix, Matrix], pairs: Numbers, weights: Doubles) -> tuple[Matrix, Matrix, Maps]:
    """The rows (n, d) and (m, d), refined by weighted pairs (p, 2), and the maps that refined them."""
    # Chosen on the training lists of four pairs.
    config = CoordinatesConfig(ridge=1.0, power=0.5, most=min(side.shape[1] for side in rows))
    learned = Correspondences.learned(*rows, pairs, weights, config)
    source, target = (
        np.where(side.any(axis=1, keepdims=True), mapped, np.float32(0))
        for side, mapped in zip(rows, (learned.source, learned.target), strict=True)
    )
    return source, target, learned.maps
