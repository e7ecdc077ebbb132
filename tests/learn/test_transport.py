"""Refinement by transport: rows of two disjoint samples, brought together without a pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.auto import improve
from muse.learn.pair import LanguagePair
from muse.learn.refine import RefineConfig
from muse.learn.transport import (
    TransportConfig,
    mapping_by_transport,
    refine_by_transport,
    rounds_of_transport,
    transfer_mapping,
    transport_value,
    whiten,
)
from muse.procrustes import procrustes
from muse.vectors import Matrix
from tests.support.references import Rows, polar, weighted
from tests.support.spaces import rotation
from tests.support.toys import mixture

CONFIG = TransportConfig(rounds=10, rows=600)
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


def _found(initial: Matrix, seed: int = 0, config: TransportConfig = CONFIG) -> Alignment:
    rng = np.random.default_rng(seed)
    start = Alignment(initial, method="x")
    (found,) = refine_by_transport(LanguagePair(A, B), start, config=config, rng=rng)
    return found


@pytest.mark.parametrize("degrees", [10, 35])
def test_a_perturbed_rotation_is_recovered_though_no_row_has_a_counterpart(degrees: float) -> None:
    start = _perturbed(TURN, degrees)
    assert _apart(start, TURN) == pytest.approx(degrees, abs=0.5)
    found = _found(start)
    assert _apart(found.source_map, TURN) < 6
    assert found.method == "x"
    np.testing.assert_allclose(found.source_map @ found.source_map.T, np.eye(24), atol=1e-5)


def test_rotating_both_sides_changes_nothing_else() -> None:
    left, right = rotation(5, 24), rotation(6, 24)
    rotated = (replace(A, matrix=A.matrix @ left.T), replace(B, matrix=B.matrix @ right.T))
    start = _perturbed(TURN, 10)
    turned = Alignment((right @ start @ left.T).astype(np.float32), method="x")
    (found,) = refine_by_transport(LanguagePair(*rotated), turned, CONFIG, np.random.default_rng(0))
    np.testing.assert_allclose(right.T @ found.source_map @ left, _found(start).source_map, atol=5e-3)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_and_another_nearly() -> None:
    start = _perturbed(TURN, 10)
    one, again, other = (_found(start, seed).source_map for seed in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert _apart(one, other) < 6


def test_the_mean_of_the_last_rounds_depends_less_on_the_draws() -> None:
    start = _perturbed(TURN, 10)

    def spread(averaged: int) -> float:
        config = TransportConfig(rounds=10, rows=200, averaged=averaged)
        found = [_found(start, seed, config).source_map for seed in range(4)]
        return sum(_apart(one, other) for one, other in combinations(found, 2))

    assert spread(5) < 0.85 * spread(0)


def _plan(own: Tensor, other: Tensor, epsilon: float) -> NDArray[np.float64]:
    """The plan (n, m) by plain Sinkhorn in double precision, to the end."""
    kernel = np.exp((own @ other.T).double().numpy() / epsilon)
    for _ in range(500):
        kernel /= kernel.sum(axis=0) * kernel.shape[1]
        kernel /= kernel.sum(axis=1, keepdims=True) * kernel.shape[0]
    return kernel


def test_one_round_is_procrustes_on_the_means_of_transported_rows() -> None:
    x, y = A.tensor()[:60], B.tensor()[:60]
    start = torch.from_numpy(_perturbed(TURN, 5))
    everything = TransportConfig(rounds=1, rows=1_000, share=1.0, epsilon=0.1, sinkhorn_rounds=200)
    (found,) = rounds_of_transport(x, y, start, everything, np.random.default_rng(0))
    plan = torch.from_numpy(_plan(x @ start.T, y, 0.1)).float()
    to_b, to_a = (normalize(means - means.mean(dim=0)) for means in (plan @ y, plan.T @ x))
    expected = procrustes(torch.cat([x, to_a]), torch.cat([to_b, y]))
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=0)


def test_the_second_round_is_weighted_by_the_correlations_of_the_first() -> None:
    x, y = A.tensor()[:60], B.tensor()[:60]
    start = torch.from_numpy(_perturbed(TURN, 20))
    config = TransportConfig(rounds=2, rows=1_000, share=1.0, epsilon=0.1, sinkhorn_rounds=200, weighted=True)
    *_, found = rounds_of_transport(x, y, start, config, np.random.default_rng(0))

    def product(mapped: Tensor, keys: Tensor) -> Rows:
        plan = torch.from_numpy(_plan(mapped, keys, 0.1)).float()
        to_b, to_a = (normalize(means - means.mean(dim=0)) for means in (plan @ y, plan.T @ x))
        total = to_b.T @ x + y.T @ to_a
        return total.double().numpy()

    first = product(x @ start.T, y)
    turned, weighting = (
        torch.from_numpy(one).float() for one in weighted(first, x.double().numpy(), y.double().numpy())
    )
    second = product(normalize(x @ turned.T @ weighting), normalize(y @ weighting))
    np.testing.assert_allclose(found.numpy(), polar(second), atol=2e-3)


@pytest.mark.parametrize(("share", "drawn"), [(0.5, (50, 35)), (1.0, (60, 60))])
def test_no_round_draws_more_than_its_share(
    share: float, drawn: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def noted(cost: Tensor, *_: float) -> Tensor:
        seen.append(tuple(cost.shape))
        return torch.full_like(cost, 1 / cost.numel())

    monkeypatch.setattr("muse.learn.transport.sinkhorn", noted)
    config = TransportConfig(rounds=3, rows=60, share=share)
    x, y = A.tensor()[:100], B.tensor()[:70]
    list(rounds_of_transport(x, y, torch.from_numpy(TURN), config, np.random.default_rng(0)))
    assert seen == [drawn] * 3


def test_the_value_is_that_of_the_plan_and_highest_for_the_right_mapping() -> None:
    x, y = A.tensor()[:80], B.tensor()[:80]
    config = TransportConfig(rows=1_000, epsilon=0.1, sinkhorn_rounds=200)
    start = torch.from_numpy(_perturbed(TURN, 20))
    plan = _plan(x @ start.T, y, 0.1)
    cosines = (x @ start.T @ y.T).double().numpy()
    expected = (plan * cosines).sum() - 0.1 * (plan * np.log(plan * 80)).sum()
    found = transport_value(x, y, start, config, np.random.default_rng(0))
    assert found == pytest.approx(expected, abs=1e-4)
    values = [
        transport_value(A.tensor(), B.tensor(), torch.from_numpy(W), CONFIG, np.random.default_rng(0))
        for W in (TURN, _perturbed(TURN, 10), _perturbed(TURN, 40), rotation(9, 24).astype(np.float32))
    ]
    assert values == sorted(values, reverse=True)


def test_a_mapping_is_carried_to_other_coordinates_and_back() -> None:
    plain = A.tensor(), B.tensor()
    white = whiten(plain[0], 0.5, 20), whiten(plain[1], 0.5, 20)
    there = transfer_mapping(torch.from_numpy(TURN), plain, white, CONFIG, np.random.default_rng(0))
    assert there.shape == (20, 20)
    back = transfer_mapping(there, white, plain, CONFIG, np.random.default_rng(0))
    assert _apart(back.numpy(), TURN) < 4


def test_hardly_any_rows() -> None:
    x, y = A.tensor()[:12], B.tensor()[:8]
    found = mapping_by_transport(x, y, torch.from_numpy(TURN), TransportConfig(), np.random.default_rng(0))
    assert bool(found.isfinite().all())


def test_rows_in_fewer_directions_than_dimensions() -> None:
    flat = A.tensor() @ torch.diag(torch.tensor([1.0] * 10 + [0.0] * 14))
    found = mapping_by_transport(flat, flat, torch.eye(24), CONFIG, np.random.default_rng(0))
    assert bool(found.isfinite().all())


def test_dimensions_that_differ() -> None:
    a, b, turn = mixture(turned=30)
    start = torch.from_numpy(np.linalg.qr(turn + np.random.default_rng(0).normal(0, 0.05, turn.shape))[0])
    signs = torch.from_numpy(turn * start.numpy()).sum(dim=0).sign()  # QR may turn a direction round
    found = mapping_by_transport(
        a.tensor(), b.tensor(), (start * signs).float(), CONFIG, np.random.default_rng(0)
    )
    assert found.shape == (30, 24)
    cosines = (a.matrix @ found.numpy().T * (a.matrix @ turn.T)).sum(axis=1)
    assert float(cosines.mean()) > 0.99


@pytest.mark.slow
def test_the_settings_say_which_refinement_it_is() -> None:
    start = Alignment(_perturbed(TURN, 10), method="x")
    for config in (CONFIG, RefineConfig(cutoffs=(500,), max_rounds=2)):
        rng = np.random.default_rng(0)
        *_, found = improve(LanguagePair(A, B), start, config=config, rng=rng)
        assert _apart(found.source_map, TURN) < 8
    rng = np.random.default_rng(0)
    *_, same = improve(LanguagePair(A, B), start, config=CONFIG, rng=rng)
    assert np.array_equal(_found(start.source_map).source_map, same.source_map)
