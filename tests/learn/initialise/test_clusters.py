"""Matched centroids: a rotation between two disjoint samples of one mixture is found from nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from torch import Tensor

from muse.alignment import Alignment
from muse.learn.initialise.clusters import ClustersConfig, Round, centroids, centroids_of, clusters
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
    """The mean cosine of the rows under both."""
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
