"""Clusters: centroids of both sides, matched by how similar they are to one another.

Rows of two models need not be of the same texts, so no row has a counterpart; regions of the spaces do. Each
run clusters both sides anew and matches the centroids by quadratic assignment: the permutations under which
the two similarity matrices agree best (matched centroids, over many runs: Dar, 2025). On rows as they are, a
few wide directions decide which permutation is best, and it is wrong; on partly whitened rows the right one
is among the best. It is found by a tournament: all candidates are refined by transport for a few rounds, and
those that transport the rows at the least cost reach the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.criterion import Criterion
from muse.learn.transport import (
    TransportConfig,
    both_whitened,
    carried,
    rounds_of_transport,
    transport_value,
)
from muse.learn.whitening import whitened
from muse.procrustes import rotation
from muse.progress import Tick
from muse.run.runtime import Runtime
from muse.search.assignment import agreeing_orders
from muse.search.clusters import centroids
from muse.vectors import Vectors

SEEDS = 1 << 30


@dataclass(frozen=True)
class Heat:
    """A round of the tournament: so many of the best mappings are refined, and valued."""

    best: int
    transport: TransportConfig


SMALL = TransportConfig(rounds=20, rows=1_000, dimensions=64, weighted=True)
LARGE = TransportConfig(rounds=30, rows=2_000, epsilon=0.02, dimensions=128, weighted=True)
HEATS = (Heat(60, SMALL), Heat(15, SMALL), Heat(5, LARGE), Heat(2, replace(LARGE, rounds=40)))


@dataclass(frozen=True)
class ClustersConfig:
    """The rows that are clustered, how often, and the tournament between the matches."""

    rows: int = 20_000  # of each side, at most
    clusters: int = 60
    runs: int = 15
    tries: int = 100  # random initialisations of the assignment in each run
    matches: int = 4  # of each run, the best of its tries
    whitening: float = 0.75  # of the rows that are clustered
    dimensions: int = 32
    heats: tuple[Heat, ...] = HEATS


Sides = tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class _Field:
    """Whitened rows of both sides, (n, k) and (m, k), and mappings (k, k) between them.

    Once played, the best come first; before, the rows are as the first heat whitens them.
    """

    sides: Sides
    mappings: list[Tensor]
    played: bool = False


def clusters(
    source: Vectors,
    target: Vectors,
    *,
    config: ClustersConfig,
    criterion: Criterion,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields one Alignment: the mapping that wins the tournament.

    `source` and `target` are normalised, and may have different dimensions: only similarities within a
    side are compared, and then means of rows.
    """
    x, y = (side.most_frequent(config.rows).tensor(runtime.device) for side in (source, target))
    field = _matched((x, y), config, rng, runtime)
    for number, heat in enumerate(config.heats, start=1):
        count = min(heat.best, len(field.mappings))
        with runtime.progress.stage(f"comparing, round {number}", count, "mappings") as tick:
            field = _played(field, (x, y), heat, rng, tick)
    last = config.heats[-1].transport
    mapping = carried(field.mappings[0], field.sides, (x, y), last, rng).cpu().numpy()
    yield Alignment(mapping, method="clusters", criterion=criterion(mapping))


def _matched(rows: Sides, config: ClustersConfig, rng: np.random.Generator, runtime: Runtime) -> _Field:
    """The best matches of all runs, in no order, between rows as the first heat whitens them."""
    clustered = tuple(whitened(side, config.whitening, config.dimensions) for side in rows)
    sides, found = _whitened(rows, config.heats[0].transport), []
    with runtime.progress.stage("clusters", config.runs, "runs") as tick:
        for done in range(config.runs):
            (own, own_means), (other, other_means) = (
                _clustered(side, inside, config.clusters, rng)
                for side, inside in zip(clustered, sides, strict=True)
            )
            orders = agreeing_orders(
                _similarities(own), _similarities(other), tries=config.tries, most=config.matches, rng=rng
            )
            for order in orders:
                inside = other_means[torch.from_numpy(order).to(other_means.device)]
                found.append(rotation(inside.T @ own_means))
            tick(done + 1)
    return _Field(sides, found)


def _whitened(rows: Sides, config: TransportConfig) -> Sides:
    """Both sides whitened, in the same number of dimensions."""
    x, y = rows
    dimensions = min(config.dimensions or max(x.shape[1], y.shape[1]), x.shape[1], y.shape[1])
    return both_whitened(x, y, replace(config, dimensions=dimensions))


def _clustered(rows: Tensor, inside: Tensor, k: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """The centroids (k, p) of rows (n, p), and the means (k, q) of the same clusters of rows (n, q)."""
    found = centroids(rows, k, seed=int(rng.integers(SEEDS)))
    nearest = (rows @ found.T).argmax(dim=1)  # (n,)
    return found, normalize(inside.new_zeros(len(found), inside.shape[1]).index_add_(0, nearest, inside))


def _played(field: _Field, rows: Sides, heat: Heat, rng: np.random.Generator, tick: Tick) -> _Field:
    """The best mappings of the field after a heat: refined between rows as it whitens them, and in order."""
    config, sides, valued = heat.transport, _whitened(rows, heat.transport), []
    seed = rng.integers(SEEDS)
    for done, mapping in enumerate(field.mappings[: heat.best], start=1):
        here = carried(mapping, field.sides, sides, config, rng) if field.played else mapping
        *_, refined = rounds_of_transport(*sides, here, config, rng)
        same = np.random.default_rng(seed)  # all are valued on the same rows
        valued.append((transport_value(*sides, refined, config, same), refined))
        tick(done)
    return _Field(sides, [mapping for _, mapping in sorted(valued, key=lambda one: -one[0])], played=True)


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
