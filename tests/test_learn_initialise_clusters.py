"""Matched centroids: a rotation between two disjoint samples of one mixture is found from nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from muse.alignment import Alignment
from muse.learn.averages import averages
from muse.learn.criterion import criterion
from muse.learn.initialise.clusters import ClustersConfig, centroids_of, clusters
from muse.learn.plan import FAR
from muse.run.runtime import Runtime
from muse.vectors import Matrix, Vectors
from tests.toys import mixture, shuffled

CONFIG = ClustersConfig(clusters=(60, 30), runs=20, tries=8)


def _found(
    source: Vectors, target: Vectors, config: ClustersConfig = CONFIG, seed: int = 0
) -> list[Alignment]:
    score = criterion(source, target)
    rng = np.random.default_rng(seed)
    return list(clusters(source, target, config=config, criterion=score, rng=rng, runtime=Runtime()))


def _cosine(source: Vectors, mapping: Matrix, turn: Matrix) -> float:
    """The mean cosine of the rows under both."""
    return float((source.matrix @ mapping.T * (source.matrix @ turn.T)).sum(axis=1).mean())


def test_a_planted_rotation_is_found_whatever_the_order_of_rows() -> None:
    source, target, turn = mixture()
    score = criterion(source, target)
    found = _found(source, shuffled(target)[0])
    assert [one.method for one in found] == ["clusters:60", "clusters:30"]
    for one in found:
        assert one.criterion == pytest.approx(score(one.source_map), abs=1e-4)
        np.testing.assert_allclose(one.source_map @ one.source_map.T, np.eye(24), atol=1e-5)
    assert max(_cosine(source, one.source_map, turn) for one in found) > 0.7


@pytest.mark.parametrize("turned", [24, 30])
def test_of_many_clusters_enough_is_found_for_averages_to_do_the_rest(turned: int) -> None:
    source, target, turn = mixture(turned=turned)
    (found,) = _found(source, target, replace(CONFIG, clusters=(60,)))
    assert found.source_map.shape == (turned, 24)
    assert _cosine(source, found.source_map, turn) > 0.5
    rng = np.random.default_rng(0)
    *_, refined = averages(source, target, found, config=FAR, rng=rng, runtime=Runtime())
    assert _cosine(source, refined.source_map, turn) > 0.98


def test_the_same_seed_gives_the_same() -> None:
    source, target, _ = mixture(300)
    few = ClustersConfig(clusters=(10,), runs=2, tries=2)
    one, again, other = (_found(source, target, few, seed)[0].source_map for seed in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_fewer_rows_than_clusters() -> None:
    source, target, _ = mixture(20)
    (found,) = _found(source, target, config=ClustersConfig(clusters=(60,), runs=2, tries=2))
    assert np.isfinite(found.source_map).all()


def test_centroids_are_rows_of_unit_length_in_no_order() -> None:
    source, _, _ = mixture(300)
    found = centroids_of(source, 30, np.random.default_rng(0))
    assert (len(found), found.ranked, found.language) == (30, False, "a")
    np.testing.assert_allclose(np.linalg.norm(found.matrix, axis=1), 1, atol=1e-5)
