"""Clusters: centroids of both sides, matched by how similar they are to one another.

Rows of two models need not be of the same texts, so no row has a counterpart; regions of the spaces do. Each
run clusters both sides anew and matches the centroids by quadratic assignment: the permutation under which
the two similarity matrices agree best. One run is right in a few regions only, and its mistakes depend on the
clustering, so Procrustes is fitted to the matches of all runs together, where they cancel out. (Matched
centroids, over many runs: Dar, 2025; here as pairs of one fit, without relative representations.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.alignment import Alignment
from muse.learn.criterion import Criterion
from muse.procrustes import procrustes
from muse.run.runtime import Runtime
from muse.search.assignment import agreeing_order
from muse.search.clusters import centroids
from muse.vectors import Vectors

SEEDS = 1 << 30


@dataclass(frozen=True)
class ClustersConfig:
    """The rows that are clustered, and how often; one candidate for each number of clusters."""

    rows: int = 20_000  # of each side, at most
    clusters: tuple[int, ...] = (60, 30)
    runs: int = 60
    tries: int = 20  # random beginnings of the assignment in each run


def clusters(
    source: Vectors,
    target: Vectors,
    *,
    config: ClustersConfig,
    criterion: Criterion,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields one Alignment for each number of clusters: Procrustes on the matched centroids of all runs.

    `source` and `target` are normalised, and may have different dimensions: only similarities within a
    side are compared.
    """
    x, y = (side.most_frequent(config.rows).tensor(runtime.device) for side in (source, target))
    for number in config.clusters:
        matched = []
        with runtime.progress.stage(f"clusters:{number}", config.runs, "runs") as tick:
            for done in range(config.runs):
                matched.append(_matched(x, y, min(number, len(x), len(y)), config.tries, rng))
                tick(done + 1)
        own, other = (torch.cat(sides) for sides in zip(*matched, strict=True))
        mapping = procrustes(own, other).cpu().numpy()
        yield Alignment(mapping, method=f"clusters:{number}", criterion=criterion(mapping))


def _matched(x: Tensor, y: Tensor, k: int, tries: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """The centroids (k, d) of x (n, d) and, in the order that matches them, those of y, (k, e)."""
    own, other = (centroids(rows, k, seed=int(rng.integers(SEEDS))) for rows in (x, y))
    order = agreeing_order(_similarities(own), _similarities(other), tries=tries, rng=rng)
    return own, other[torch.from_numpy(order).to(other.device)]


def _similarities(rows: Tensor) -> NDArray[np.float64]:
    """The cosines (k, k) of rows (k, d), standardised over all pairs, 0 on the diagonal."""
    cosines = (rows @ rows.T).double().cpu().numpy()
    apart = ~np.eye(len(cosines), dtype=bool)
    mean, deviation = cosines[apart].mean(), max(float(cosines[apart].std()), 1e-12)
    return np.where(apart, (cosines - mean) / deviation, 0.0)


def centroids_of(side: Vectors, count: int, rng: np.random.Generator) -> Vectors:
    """The centroids of a side, (count, d), as rows without order."""
    rows = centroids(side.tensor(), min(count, len(side)), seed=int(rng.integers(SEEDS))).numpy()
    return Vectors(side.language, [str(number) for number in range(len(rows))], rows, ranked=False)
