"""Refinement by averages: rows of two disjoint samples, brought together without a pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import torch
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.averages import AveragesConfig, averages, rounds_of_averages
from muse.learn.improve import improve
from muse.learn.refine import RefineConfig
from muse.procrustes import procrustes
from muse.run.runtime import Runtime
from muse.vectors import Matrix
from tests.spaces import rotation
from tests.toys import mixture

CONFIG = AveragesConfig(neighbours=(30,) * 6, queries=500, keys=1_200, share=1.0)
A, B, TURN = mixture()


def _perturbed(turn: Matrix, degrees: float) -> Matrix:
    """The rotation (d, d), and after it another by so many degrees in each of d / 2 planes at random."""
    half = len(turn) // 2
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.normal(size=turn.shape))[0]
    planes = np.kron(np.eye(half), np.array([[0.0, -1.0], [1.0, 0.0]]) * np.radians(degrees))
    return np.asarray(basis @ scipy.linalg.expm(planes) @ basis.T @ turn, np.float32)


def _apart(mapping: Matrix, turn: Matrix) -> float:
    """The mean angle in degrees between rows of A under both."""
    cosines = (A.matrix @ mapping.T * (A.matrix @ turn.T)).sum(axis=1)
    return float(np.degrees(np.arccos(np.clip(cosines, -1, 1))).mean())


def _rounds(initial: Matrix, seed: int = 0) -> list[Alignment]:
    rng = np.random.default_rng(seed)
    start = Alignment(initial, method="x")
    return list(averages(A, B, start, config=CONFIG, rng=rng, runtime=Runtime()))


@pytest.mark.parametrize("degrees", [10, 35])
def test_a_perturbed_rotation_is_recovered_though_no_row_has_a_counterpart(degrees: float) -> None:
    start = _perturbed(TURN, degrees)
    assert _apart(start, TURN) == pytest.approx(degrees, abs=0.5)
    found = _rounds(start)
    assert len(found) == len(CONFIG.neighbours)
    assert _apart(found[-1].source_map, TURN) < 4
    for one in found:
        assert one.method == "x"
        np.testing.assert_allclose(one.source_map @ one.source_map.T, np.eye(24), atol=1e-5)


def test_rotating_both_sides_changes_nothing_else() -> None:
    left, right = rotation(5, 24), rotation(6, 24)
    rotated = (replace(A, matrix=A.matrix @ left.T), replace(B, matrix=B.matrix @ right.T))
    start = _perturbed(TURN, 10)
    (*_, plain) = _rounds(start)
    turned = Alignment((right @ start @ left.T).astype(np.float32), method="x")
    *_, found = averages(*rotated, turned, config=CONFIG, rng=np.random.default_rng(0), runtime=Runtime())
    np.testing.assert_allclose(right.T @ found.source_map @ left, plain.source_map, atol=2e-3)


def test_the_same_seed_gives_the_same_and_another_nearly() -> None:
    start = _perturbed(TURN, 10)
    one, again, other = (_rounds(start, seed)[-1].source_map for seed in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert _apart(one, other) < 4


def test_one_round_is_procrustes_on_the_means_of_neighbours() -> None:
    x, y = A.tensor()[:200], B.tensor()[:150]
    start, k = torch.from_numpy(_perturbed(TURN, 5)), 7
    everything = AveragesConfig(neighbours=(k,), queries=1_000, keys=1_000, share=1.0)
    (found,) = rounds_of_averages(x, y, start, everything, np.random.default_rng(0))
    cosines = (x @ start.T) @ y.T
    to_b = torch.stack([y[row.argsort(descending=True)[:k]].mean(dim=0) for row in cosines])
    to_a = torch.stack([x[row.argsort(descending=True)[:k]].mean(dim=0) for row in cosines.T])
    to_a, to_b = (normalize(means - means.mean(dim=0)) for means in (to_a, to_b))
    expected = procrustes(torch.cat([x, to_a]), torch.cat([to_b, y]))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_fewer_rows_than_neighbours() -> None:
    x, y = A.tensor()[:12], B.tensor()[:8]
    rounds = rounds_of_averages(x, y, torch.from_numpy(TURN), AveragesConfig(), np.random.default_rng(0))
    assert all(bool(mapping.isfinite().all()) for mapping in rounds)


def test_dimensions_that_differ() -> None:
    a, b, turn = mixture(turned=30)
    start = torch.from_numpy(np.linalg.qr(turn + np.random.default_rng(0).normal(0, 0.05, turn.shape))[0])
    signs = torch.from_numpy(turn * start.numpy()).sum(dim=0).sign()  # QR may turn a direction round
    (*_, found) = rounds_of_averages(
        a.tensor(), b.tensor(), (start * signs).float(), CONFIG, np.random.default_rng(0)
    )
    assert found.shape == (30, 24)
    cosines = (a.matrix @ found.numpy().T * (a.matrix @ turn.T)).sum(axis=1)
    assert float(cosines.mean()) > 0.99


def test_the_settings_say_which_refinement_it_is() -> None:
    start = Alignment(_perturbed(TURN, 10), method="x")
    for config in (CONFIG, RefineConfig(cutoffs=(500,), max_rounds=2)):
        rng = np.random.default_rng(0)
        *_, found = improve(A, B, start, config=config, rng=rng, runtime=Runtime())
        assert _apart(found.source_map, TURN) < 8
    by_averages = _rounds(start.source_map)[-1]
    rng = np.random.default_rng(0)
    *_, same = improve(A, B, start, config=CONFIG, rng=rng, runtime=Runtime())
    assert np.array_equal(by_averages.source_map, same.source_map)
