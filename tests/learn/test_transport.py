"""Transport: Sinkhorn's plans, whitened rows, and refinement of two disjoint samples without a pair."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.special
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.auto import improve
from muse.learn.pair import LanguagePair
from muse.learn.refine import RefineConfig
from muse.learn.transport import (
    LEAST_VARIANCE,
    TransportConfig,
    mapping_by_transport,
    refine_by_transport,
    rounds_of_transport,
    sinkhorn,
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


def test_hardly_any_rows_and_rows_in_fewer_directions_than_dimensions() -> None:
    flat = A.tensor() @ torch.diag(torch.tensor([1.0] * 10 + [0.0] * 14))
    for x, y in ((A.tensor()[:12], B.tensor()[:8]), (flat, flat)):
        found = mapping_by_transport(x, y, torch.from_numpy(TURN), CONFIG, np.random.default_rng(0))
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


def cost(seed: int, n: int, m: int) -> torch.Tensor:
    return torch.rand(n, m, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 7), (5, 9), (30, 4)])
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_marginals(n: int, m: int, epsilon: float) -> None:
    plan = sinkhorn(cost(0, n, m), epsilon, 2_000)
    assert (plan >= 0).all()
    np.testing.assert_allclose(plan.sum(dim=1).numpy(), np.full(n, 1 / n), rtol=1e-4)
    np.testing.assert_allclose(plan.sum(dim=0).numpy(), np.full(m, 1 / m), rtol=1e-2)


@pytest.mark.parametrize("epsilon", [0.1, 0.01])
def test_the_less_blur_the_closer_to_the_assignment(epsilon: float) -> None:
    table = cost(1, 12, 12).double()
    plan = sinkhorn(table, epsilon, 10_000)
    rows, columns = scipy.optimize.linear_sum_assignment(table.numpy())
    least = float(table.numpy()[rows, columns].mean())
    # The entropy of a plan between uniform marginals varies by log n, and so much may it cost.
    assert least - 1e-3 <= float((plan * table).sum()) <= least + epsilon * np.log(12) + 1e-3


def test_all_blur_is_the_product_of_the_marginals() -> None:
    np.testing.assert_allclose(sinkhorn(cost(2, 5, 8), 1e4, 30).numpy(), np.full((5, 8), 1 / 40), rtol=1e-3)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0])
def test_costs_of_any_size_are_neither_lost_nor_infinite(epsilon: float) -> None:
    """Against Sinkhorn in the log domain and double precision, where rows and columns cost a lot more."""
    table = epsilon * (cost(3, 6, 9) + 500 * torch.arange(-3, 3)[:, None] + 300 * torch.arange(9))
    log_plan = -table.double().numpy() / epsilon
    for _ in range(500):
        log_plan -= scipy.special.logsumexp(log_plan, axis=0) + np.log(9)
        log_plan -= scipy.special.logsumexp(log_plan, axis=1, keepdims=True) + np.log(6)
    np.testing.assert_allclose(sinkhorn(table, epsilon, 500).numpy(), np.exp(log_plan), rtol=1e-2)


ROWS = np.random.default_rng(0).normal(size=(4_000, 6)) * np.array([8.0, 4.0, 2.0, 1.0, 0.5, 0.25])
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)
X = torch.from_numpy(ROWS @ rotation(1, 6).T).float()


def _spread(rows: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = torch.linalg.eigvalsh((rows.T @ rows).double())
    return found.flip(0)


def test_without_power_rows_are_only_rotated() -> None:
    found = whiten(X, 0.0)
    torch.testing.assert_close(found @ found.T, X @ X.T, atol=1e-4, rtol=0)


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0])
def test_standard_deviations_are_raised_to_what_is_left(power: float) -> None:
    variances, axes = np.linalg.eigh(X.double().numpy().T @ X.double().numpy())
    expected = X.double().numpy() @ axes[:, ::-1] * variances[::-1] ** (-power / 2)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = whiten(X, power).double().numpy()
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=1e-4)


def test_more_power_evens_out_and_only_the_widest_are_kept() -> None:
    ratios = [float(_spread(whiten(X, power))[0] / _spread(whiten(X, power))[-1]) for power in (0, 0.5, 1)]
    assert ratios[0] > ratios[1] > ratios[2]
    few = whiten(X, 0.5, 3)
    assert few.shape == (4_000, 3)
    torch.testing.assert_close(few.norm(dim=1), torch.ones(4_000))


def test_rows_rotated_before_are_the_same_up_to_signs() -> None:
    turned = whiten(X @ torch.from_numpy(rotation(2, 6)).float(), 0.5)
    torch.testing.assert_close(turned.abs(), whiten(X, 0.5).abs(), atol=1e-3, rtol=0)


def test_directions_without_variance_stay_without() -> None:
    flat = torch.cat([X, torch.zeros(len(X), 2)], dim=1)
    found = whiten(flat, 1.0)
    assert float(found[:, 6:].abs().max()) < 1e-2 / LEAST_VARIANCE**0.5 * 1e-3
    assert bool(whiten(torch.zeros(5, 3), 0.5).isfinite().all())


def test_noise_in_directions_without_variance_is_not_amplified() -> None:
    noise = 1e-5 * torch.randn(len(X), 2, generator=torch.Generator().manual_seed(0))
    found = whiten(torch.cat([X, noise], dim=1), 1.0)
    assert float(found[:, 6:].abs().max()) < 0.02
    torch.testing.assert_close(found[:, :6].abs(), whiten(X, 1.0).abs(), atol=1e-2, rtol=0)
