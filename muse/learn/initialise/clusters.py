"""Clusters: centroids of both sides, matched by how similar they are to one another.

Rows of two models need not be of the same texts, so no row has a counterpart; regions of the spaces do. Each
run clusters both sides anew (spherical k-means, by faiss) and matches the centroids by quadratic assignment:
the permutations under which the two similarity matrices agree best (matched centroids, over many runs: Dar,
2025). On rows as they are, a few wide directions decide which permutation is best, and it is wrong; on partly
whitened rows the right one is among the best. It is found by a tournament: all candidates are refined by
transport for a few rounds, and those that transport the rows at the least cost reach the next round.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.pair import Criterion, LanguagePair
from muse.learn.transport import (
    TransportConfig,
    rounds_of_transport,
    transfer_mapping,
    transport_value,
    whiten,
)
from muse.procrustes import rotation
from muse.progress import Progress
from muse.vectors import Vectors

KMEANS_ITERATIONS = 20
FRANK_WOLFE_STEPS = 40  # of Frank-Wolfe, at most
INITIAL_SPREAD = 3.0  # of the random initialisations, before they are made doubly stochastic
BALANCING = 10  # rounds that make them so
LEAST_SLOPE = 1e-3  # times k: a slope below it is none
Square = NDArray[np.float64]
SEEDS = 1 << 30


def centroids(rows: Tensor, k: int, *, seed: int) -> Tensor:
    """The centroids (min(k, n), d) of rows (n, d) of unit length, also of unit length, on their device.

    Spherical k-means (Dhillon and Modha, 2001), by inner product, on the CPU.
    """
    import faiss

    found = faiss.Kmeans(
        rows.shape[1], min(k, len(rows)), niter=KMEANS_ITERATIONS, seed=seed, spherical=True,
        min_points_per_centroid=1, max_points_per_centroid=len(rows),
    )  # fmt: skip
    found.train(rows.cpu().numpy())
    return normalize(torch.from_numpy(found.centroids)).to(rows)


def agreeing_orders(
    own: Square, other: Square, *, tries: int, most: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """At most `most` orders (k,), best first, of large sum_ij own_ij other_order(i)order(j).

    `own` and `other` are symmetric (k, k). Quadratic assignment has no fast exact solution. FAQ (Vogelstein
    et al., 2015) climbs over the doubly stochastic matrices by Frank-Wolfe and ends at a permutation; of
    `tries` random initialisations the best ends are taken. (scipy's takes a fifth longer on matrices of this
    size, and finds no better ones, from its own initial plans or from these.)
    """
    found = {}
    for _ in range(tries):
        order = _climbed(own, other, _initial_plan(len(own), rng))
        found[order.tobytes()] = float((own * other[np.ix_(order, order)]).sum()), order
    ranked = sorted(found.values(), key=lambda one: -one[0])
    return [order for _, order in ranked[:most]]


def _climbed(own: Square, other: Square, plan: Square) -> NDArray[np.int64]:
    """The order (k,) at the local maximum of tr(A P B P^T) that is reached from a plan P (k, k)."""
    for _ in range(FRANK_WOLFE_STEPS):
        slope = 2 * (own @ plan @ other)
        best = np.zeros_like(slope)
        best[scipy.optimize.linear_sum_assignment(-slope)] = 1
        step = best - plan
        gain, bend = float((step * slope).sum()), float((step * (own @ step @ other)).sum())
        if gain < LEAST_SLOPE * len(plan):
            break
        plan = plan + (1.0 if bend >= 0 else min(1.0, -gain / (2 * bend))) * step
    return np.asarray(scipy.optimize.linear_sum_assignment(-plan)[1], np.int64)


def _initial_plan(k: int, rng: np.random.Generator) -> Square:
    """Halfway between the barycentre and a random doubly stochastic matrix (k, k)."""
    random = np.exp(INITIAL_SPREAD * rng.standard_normal((k, k)))
    for _ in range(BALANCING):
        random /= random.sum(axis=1, keepdims=True)
        random /= random.sum(axis=0, keepdims=True)
    return 0.5 / k + 0.5 * random


@dataclass(frozen=True)
class Round:
    """A round of the tournament: the number of best mappings that are refined, and how."""

    best: int
    transport: TransportConfig


SMALL = TransportConfig(rounds=20, rows=1_000, dimensions=64, weighted=True)
LARGE = TransportConfig(rounds=30, rows=2_000, epsilon=0.02, dimensions=128, weighted=True)
ROUNDS = (Round(60, SMALL), Round(15, SMALL), Round(5, LARGE), Round(2, replace(LARGE, rounds=40)))


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
    rounds: tuple[Round, ...] = ROUNDS


Sides = tuple[Tensor, Tensor]


def clusters(
    pair: LanguagePair, score: Criterion, rng: np.random.Generator, *, config: ClustersConfig
) -> Iterator[Alignment]:
    """Yields one Alignment: the mapping that wins the tournament.

    The sides may have different dimensions: only similarities within one are compared, then means of rows.
    """
    rows, progress = pair.rows(config.rows), pair.runtime.progress
    before = _whitened(rows, config.rounds[0].transport)
    mappings = _matched(rows, before, config, rng, progress)
    for number, this_round in enumerate(config.rounds, start=1):
        chosen, how = mappings[: this_round.best], this_round.transport
        sides, valued = _whitened(rows, how), list[tuple[float, Tensor]]()
        seed = rng.integers(SEEDS)
        with progress.stage(f"comparing, round {number}", len(chosen), "mappings") as tick:
            for done, mapping in enumerate(chosen, start=1):
                # The first are mappings between rows of this round's own whitening.
                here = mapping if number == 1 else transfer_mapping(mapping, before, sides, how, rng)
                *_, refined = rounds_of_transport(*sides, here, how, rng)
                same = np.random.default_rng(seed)  # all are valued on the same rows
                valued.append((transport_value(*sides, refined, how, same), refined))
                tick(done)
        mappings, before = [one for _, one in sorted(valued, key=lambda one: -one[0])], sides
    found = transfer_mapping(mappings[0], before, rows, how, rng).cpu().numpy()
    yield Alignment(found, method="clusters", criterion=score(found))


def _matched(
    rows: Sides, sides: Sides, config: ClustersConfig, rng: np.random.Generator, progress: Progress
) -> list[Tensor]:
    """The best matches of all runs, in no order: mappings (k, k) between the rows as `sides` has them."""
    clustered = tuple(whiten(side, config.whitening, config.dimensions) for side in rows)
    found = []
    with progress.stage("clusters", config.runs, "runs") as tick:
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
    return found


def _whitened(rows: Sides, config: TransportConfig) -> Sides:
    """Both sides whitened, in the same number of dimensions."""
    x, y = rows
    dimensions = min(config.dimensions or max(x.shape[1], y.shape[1]), x.shape[1], y.shape[1])
    return replace(config, dimensions=dimensions).whiten(x, y)


def _clustered(rows: Tensor, inside: Tensor, k: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """The centroids (k, p) of rows (n, p), and the means (k, q) of the same clusters of rows (n, q)."""
    found = centroids(rows, k, seed=int(rng.integers(SEEDS)))
    nearest = (rows @ found.T).argmax(dim=1)  # (n,)
    return found, normalize(inside.new_zeros(len(found), inside.shape[1]).index_add_(0, nearest, inside))


def _similarities(rows: Tensor) -> NDArray[np.float64]:
    """The cosines (k, k) of rows (k, d), standardised over all pairs, 0 on the diagonal."""
    cosines = (rows @ rows.T).double().cpu().numpy()
    apart = ~np.eye(len(cosines), dtype=bool)
    mean, deviation = cosines[apart].mean(), max(float(cosines[apart].std()), 1e-12)
    return np.where(apart, (cosines - mean) / deviation, 0.0)


def centroids_of(side: Vectors, count: int, rng: np.random.Generator) -> Vectors:
    """The centroids of a side, (count, d), as rows without order."""
    rows = centroids(side.tensor(), min(count, len(side)), seed=int(rng.integers(SEEDS))).numpy()
    return Vectors(side.language, [str(number) for number in range(len(rows))], rows, frequency_ordered=False)
