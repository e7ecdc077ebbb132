"""Matched centroids: a rotation between two disjoint samples of one mixture is found from nothing."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.optimize import quadratic_assignment
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.initialise.clusters import (
    ClustersConfig,
    Round,
    Square,
    agreeing_orders,
    centroids,
    centroids_of,
    clusters,
)
from muse.learn.pair import LanguagePair
from muse.learn.schedule import FAR
from muse.learn.transport import TransportConfig, refine_by_transport
from muse.vectors import Matrix, Vectors
from tests.support.references import Rows, unit
from tests.support.toys import mixture, shuffled

FEW = TransportConfig(rounds=10, rows=400, dimensions=16, weighted=True)
CONFIG = ClustersConfig(clusters=60, runs=8, tries=40, rounds=(Round(32, FEW), Round(8, FEW)))


def _found(source: Vectors, target: Vectors, config: ClustersConfig = CONFIG, seed: int = 0) -> Alignment:
    score = LanguagePair(source, target).criterion()
    rng = np.random.default_rng(seed)
    (found,) = clusters(LanguagePair(source, target), score, rng, config=config)
    return found


def _cosine(source: Vectors, mapping: Matrix, turn: Matrix) -> float:
    return float((source.matrix @ mapping.T * (source.matrix @ turn.T)).sum(axis=1).mean())


@pytest.mark.slow
@pytest.mark.parametrize("turned", [24, 30])
def test_a_planted_rotation_is_found_whatever_the_order_of_rows(turned: int) -> None:
    source, target, turn = mixture(turned=turned)
    found = _found(source, shuffled(target)[0])
    assert found.method == "clusters"
    assert found.criterion == pytest.approx(
        LanguagePair(source, target).criterion()(found.source_map), abs=1e-4
    )
    np.testing.assert_allclose(found.source_map.T @ found.source_map, np.eye(24), atol=1e-5)
    assert _cosine(source, found.source_map, turn) > 0.9
    rng = np.random.default_rng(0)
    *_, refined = refine_by_transport(LanguagePair(source, target), found, config=FAR, rng=rng)
    assert _cosine(source, refined.source_map, turn) > 0.98


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4, 5])
def test_the_tournament_is_won_by_a_right_mapping_where_most_matches_are_wrong(seed: int) -> None:
    source, target, turn = mixture(seed=seed)
    few = replace(FEW, rounds=1)
    firsts = [replace(CONFIG, runs=1, matches=1, rounds=(Round(1, few),))] * 6
    alone = [_cosine(source, _found(source, target, one, n).source_map, turn) for n, one in enumerate(firsts)]
    assert np.median(alone) < 0.7
    assert _cosine(source, _found(source, target).source_map, turn) > 0.8


def test_the_rows_that_are_clustered_are_whitened_by_three_quarters(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, _ = mixture(300)
    clustered: list[Rows] = []

    def spy(rows: Tensor, k: int, *, seed: int) -> Tensor:
        clustered.append(rows.double().numpy())
        return centroids(rows, k, seed=seed)

    monkeypatch.setattr("muse.learn.initialise.clusters.centroids", spy)
    _found(source, target, replace(CONFIG, clusters=10, runs=1, tries=2, dimensions=16))
    for rows, side in zip(clustered, (source, target), strict=True):
        u, s, _ = np.linalg.svd(side.matrix.astype(float), full_matrices=False)
        expected = unit(u[:, :16] * s[:16] ** 0.25)  # deviations s along the axes, widest first
        np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-4)


def test_the_same_seed_gives_the_same() -> None:
    source, target, _ = mixture(300)
    few = replace(CONFIG, clusters=10, runs=2, tries=2)
    one, again, other = (_found(source, target, few, seed).source_map for seed in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_fewer_rows_than_clusters() -> None:
    source, target, _ = mixture(20)
    found = _found(source, target, ClustersConfig(runs=2, tries=2))
    assert np.isfinite(found.source_map).all()


def test_centroids_are_rows_of_unit_length_in_no_order() -> None:
    source, _, _ = mixture(300)
    found = centroids_of(source, 30, np.random.default_rng(0))
    assert (len(found), found.frequency_ordered, found.language) == (30, False, "a")
    np.testing.assert_allclose(np.linalg.norm(found.matrix, axis=1), 1, atol=1e-5)


def _symmetric(k: int, seed: int) -> Square:
    square = np.random.default_rng(seed).normal(size=(k, k))
    return square + square.T


def _best(own: Square, other: Square, tries: int, seed: int = 0) -> NDArray[np.int64]:
    (best,) = agreeing_orders(own, other, tries=tries, most=1, rng=np.random.default_rng(seed))
    return best


def _agreement(own: Square, other: Square, order: NDArray[np.int64]) -> float:
    return float((own * other[np.ix_(order, order)]).sum())


@pytest.mark.parametrize("seed", range(5))
def test_no_other_order_of_a_few_agrees_better(seed: int) -> None:
    own, other = _symmetric(6, seed), _symmetric(6, seed + 100)
    found = _best(own, other, 30)
    assert found.dtype == np.int64
    assert sorted(found) == list(range(6))
    best = max(_agreement(own, other, np.array(order)) for order in permutations(range(6)))
    assert _agreement(own, other, found) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(3))
def test_as_good_as_scipy_from_as_many_beginnings(seed: int) -> None:
    own, other = _symmetric(25, seed), _symmetric(25, seed + 100)
    found = _best(own, other, 20)
    rng = np.random.default_rng(0)
    options = {"maximize": True, "P0": "randomized", "rng": rng}
    scipy_has = max(quadratic_assignment(own, other, options=options).fun for _ in range(20))
    assert _agreement(own, other, found) >= 0.97 * scipy_has


def test_a_permuted_matrix_with_noise_is_put_in_order_again() -> None:
    k, rng = 40, np.random.default_rng(1)
    own, hidden = _symmetric(k, 2), rng.permutation(k)
    other = np.empty_like(own)
    other[np.ix_(hidden, hidden)] = own + 0.1 * _symmetric(k, 3)
    found = _best(own, other, 20)
    assert np.array_equal(found, hidden)


def test_more_beginnings_are_never_worse_and_the_same_seed_gives_the_same() -> None:
    own, other = _symmetric(20, 0), _symmetric(20, 1)
    few, many, again = (_best(own, other, tries, seed=5) for tries in (1, 9, 9))
    assert np.array_equal(many, again)
    assert _agreement(own, other, many) >= _agreement(own, other, few)


@pytest.mark.parametrize("k", [1, 2])
def test_hardly_anything_to_order(k: int) -> None:
    zeros = np.zeros((k, k))
    assert sorted(_best(zeros, zeros, 2)) == list(range(k))


def test_the_best_come_first_and_none_twice() -> None:
    own, other = _symmetric(20, 0), _symmetric(20, 1)
    found = agreeing_orders(own, other, tries=30, most=5, rng=np.random.default_rng(0))
    assert len({order.tobytes() for order in found}) == len(found) == 5
    agreements = [_agreement(own, other, order) for order in found]
    assert agreements == sorted(agreements, reverse=True)
    assert np.array_equal(found[0], _best(own, other, 30))
    same = agreeing_orders(np.eye(1), np.eye(1), tries=9, most=5, rng=np.random.default_rng(0))
    assert len(same) == 1


ROWS = mixture(400)[0].tensor()


def test_they_are_the_means_of_the_rows_nearest_to_them() -> None:
    found = centroids(ROWS, 12, seed=0)
    assert found.shape == (12, ROWS.shape[1])
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.norm(dim=1), torch.ones(12))
    nearest = (ROWS @ found.T).argmax(dim=1)
    means = normalize(torch.stack([ROWS[nearest == number].sum(dim=0) for number in range(12)]))
    assert float((means * found).sum(dim=1).min()) > 0.98  # k-means stops before it stands still


def test_separate_clusters_are_found() -> None:
    rng = np.random.default_rng(0)
    axes = torch.eye(6)[torch.from_numpy(rng.permutation(np.repeat(np.arange(6), 30)))]
    rows = normalize(axes + 0.05 * torch.from_numpy(rng.normal(size=(180, 6))).float())
    best = max(
        (centroids(rows, 6, seed=seed) for seed in range(8)),
        key=lambda found: float((rows @ found.T).amax(dim=1).sum()),
    )
    assert float((best.amax(dim=1)).min()) > 0.99
    assert sorted(best.argmax(dim=1).tolist()) == list(range(6))


def test_the_same_seed_gives_the_same_centroids_and_another_others() -> None:
    one, again, other = (centroids(ROWS, 12, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_no_more_centroids_than_rows() -> None:
    assert centroids(ROWS[:5], 12, seed=0).shape == (5, ROWS.shape[1])
