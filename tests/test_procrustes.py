"""Procrustes against scipy's, on planted rotations; normalisation: lengths, means, order, new words."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from muse.errors import BadSetting, NotConverged
from muse.normalise import DEFAULT_STEPS, normalise, normalise_
from muse.procrustes import (
    both_mapped,
    correlation_weighted,
    cross_fitted,
    eigenpairs,
    gram,
    procrustes,
    rotation,
    svd,
)
from tests.support.spaces import raw_rows
from tests.support.spaces import rotation as drawn


@pytest.mark.parametrize("dimension", [1, 2, 8, 60])
def test_against_scipy(dimension: int) -> None:
    x, y = raw_rows(0, 90, dimension), raw_rows(1, 90, dimension)
    expected, _ = scipy.linalg.orthogonal_procrustes(x.astype(float), y.astype(float))
    found = procrustes(torch.from_numpy(x), torch.from_numpy(y))
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), expected.T, atol=1e-5)


@pytest.mark.parametrize("count", [0, 1, 5, 300])
def test_it_is_orthogonal_whatever_the_pairs(count: int) -> None:
    found = procrustes(torch.from_numpy(raw_rows(4, count, 50)), torch.from_numpy(raw_rows(5, count, 50)))
    np.testing.assert_allclose((found.double() @ found.double().T).numpy(), np.eye(50), atol=2e-6)


def test_a_large_mapping_is_orthogonal_to_single_precision() -> None:
    found = procrustes(*(torch.from_numpy(raw_rows(seed, 2_000, 300)) for seed in (0, 1))).double()
    assert float((found @ found.T - torch.eye(300)).abs().max()) < 5e-7


@pytest.mark.parametrize(("d", "e"), [(8, 5), (5, 8)])
def test_between_dimensions_no_other_semi_orthogonal_map_agrees_better(d: int, e: int) -> None:
    x, y = torch.from_numpy(raw_rows(6, 90, d)), torch.from_numpy(raw_rows(7, 90, e))
    found = procrustes(x, y)
    narrow = found if e < d else found.T
    torch.testing.assert_close(narrow @ narrow.T, torch.eye(5), atol=2e-6, rtol=0)
    best = float((x @ found.T * y).sum())
    for seed in range(50):
        assert best >= float((x @ torch.from_numpy(drawn(seed)[:e, :d]).T * y).sum())


def test_both_mapped_compares_in_the_smaller_space() -> None:
    wide, narrow = (normalize(torch.from_numpy(raw_rows(seed, 9, d))) for seed, d in ((6, 8), (7, 5)))
    mapping = torch.from_numpy(drawn(3)[:5])  # (5, 8)
    one, other = both_mapped(wide, narrow, mapping)
    torch.testing.assert_close(one, normalize(wide @ mapping.T))
    torch.testing.assert_close(other, narrow)
    back = both_mapped(narrow, wide, mapping.T)
    torch.testing.assert_close(back[0] @ back[1].T, other @ one.T)


def shared_signal(noise: NDArray[np.float64], count: int = 4_000) -> tuple[torch.Tensor, torch.Tensor]:
    """Two views (count, d) of one signal, the second turned; column i has noise of scale noise[i]."""
    rng = np.random.default_rng(8)
    signal = rng.normal(size=(count, len(noise))) * np.linspace(3, 1, len(noise))
    x, y = (signal + rng.normal(size=signal.shape) * noise for _ in range(2))
    return torch.from_numpy(x), torch.from_numpy(y @ drawn(9, len(noise)).T)


def test_stress_is_the_root_of_the_correlation_of_each_direction() -> None:
    noise = np.array([0.1, 0.5, 1.0, 2.0, 4.0])
    x, y = shared_signal(noise)
    fit = correlation_weighted(y.T @ x, gram(x), gram(y))
    torch.testing.assert_close(fit.rotation, rotation(y.T @ x))
    turn = torch.from_numpy(drawn(9, 5).astype(float))
    scale = np.linspace(3, 1, 5) ** 2
    expected = np.sqrt(scale / (scale + noise**2))  # of the signal in each column
    in_columns = (turn.T @ fit.weighting.double() @ turn).numpy()
    np.testing.assert_allclose(in_columns, np.diag(expected / expected.max()), atol=0.05)


def test_equal_sides_are_not_stressed() -> None:
    x = torch.from_numpy(raw_rows(10, 90, 8)).double()
    fit = correlation_weighted(gram(x), gram(x), gram(x))
    np.testing.assert_allclose(fit.weighting.numpy(), np.eye(8), atol=1e-5)


def test_stress_does_not_depend_on_the_frames_of_the_sides() -> None:
    x, y = shared_signal(np.array([0.1, 0.5, 1.0, 2.0, 4.0]))
    turn_x, turn_y = (torch.from_numpy(drawn(seed, 5).astype(float)) for seed in (11, 12))
    plain = correlation_weighted(y.T @ x, gram(x), gram(y))
    turned = correlation_weighted((y @ turn_y.T).T @ (x @ turn_x.T), gram(x @ turn_x.T), gram(y @ turn_y.T))
    expected = turn_y @ plain.weighting.double() @ turn_y.T
    torch.testing.assert_close(turned.weighting.double(), expected, atol=1e-5, rtol=0)


def test_a_direction_without_spread_counts_for_nothing() -> None:
    x, y = shared_signal(np.full(4, 0.1))
    x[:, 3] = 0
    fit = correlation_weighted(y.T @ x, gram(x), gram(y))
    left = torch.linalg.svd(y.T @ x)[0][:, 3]  # what x has no counterpart of
    assert float((fit.weighting.double() @ left).norm()) < 1e-3
    assert float(torch.linalg.eigvalsh(fit.weighting)[1]) > 0.9  # and the others count


def test_cross_fitting_maps_a_row_by_the_pairs_of_the_other_folds() -> None:
    x, y = (torch.from_numpy(raw_rows(seed, 60, 5)) for seed in (13, 14))
    pairs = torch.stack([torch.arange(40), torch.arange(40)], dim=1)
    folds = torch.arange(60) % 3
    grams = gram(x), gram(y)
    found = cross_fitted(x, y, pairs, folds, grams)
    turned = cross_fitted(x, y, pairs, folds)
    for fold in range(3):
        others = [i for i in range(40) if i % 3 != fold]
        fit = correlation_weighted(
            y[others].double().T @ x[others].double(), *(one.double() for one in grams)
        )
        rows = x[folds == fold] @ fit.rotation.T @ fit.weighting
        unit = rows / rows.norm(dim=1, keepdim=True)
        torch.testing.assert_close(found[folds == fold], unit, atol=1e-5, rtol=0)
        torch.testing.assert_close(
            turned[folds == fold], x[folds == fold] @ fit.rotation.T, atol=1e-4, rtol=0
        )


def test_a_decomposition_that_stalls_is_made_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = torch.from_numpy(np.random.default_rng(0).normal(size=(6, 4)))
    expected = svd(matrix)

    def stalls(*_: object, **__: object) -> None:
        raise RuntimeError("the algorithm failed to converge")

    monkeypatch.setattr(torch.linalg, "svd", stalls)
    left, values, right = svd(matrix)
    torch.testing.assert_close(values, expected[1])
    torch.testing.assert_close(left * values @ right, matrix)
    with pytest.raises(NotConverged, match="must have singular values"):
        svd(matrix * torch.nan)


def test_eigenpairs_are_those_of_scipy_the_largest_first() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 6)) * [1, 5, 2, 4, 3, 0]
    values, axes = eigenpairs(gram(torch.from_numpy(rows.astype(np.float32))))
    assert values.dtype == axes.dtype == torch.float64  # also of rows in single precision
    expected, directions = scipy.linalg.eigh(rows.T @ rows)
    np.testing.assert_allclose(values.numpy(), expected[::-1], rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(np.abs((axes.numpy() * directions[:, ::-1]).sum(axis=0)), 1, atol=1e-5)
    with pytest.raises(NotConverged, match="must have eigenvalues"):
        eigenpairs(torch.full((2, 2), torch.nan))


SEQUENCES = [
    (),
    ("unit",),
    ("centre",),
    ("unit", "centre"),
    ("centre", "unit"),
    DEFAULT_STEPS,
    DEFAULT_STEPS * 3,
]


@pytest.mark.parametrize("steps", SEQUENCES, ids=",".join)
def test_against_the_plain_formulas(steps: tuple[str, ...]) -> None:
    raw = raw_rows(0, 50)
    expected = raw.astype(float)
    for step in steps:
        if step == "unit":
            expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
        else:
            expected = expected - expected.mean(axis=0)
    np.testing.assert_allclose(normalise(raw, steps)[0], expected, atol=3e-6)


@pytest.mark.parametrize("steps", SEQUENCES, ids=",".join)
def test_what_the_last_step_promises(steps: tuple[str, ...]) -> None:
    rows, _ = normalise(raw_rows(1, 500, 30), steps)
    if steps and steps[-1] == "unit":
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    if steps and steps[-1] == "centre":
        np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-6)


def test_repeating_the_steps_brings_both_at_once() -> None:
    means = [
        np.abs(normalise(raw_rows(2, 300), ("unit", "centre") * n + ("unit",))[0].mean(axis=0)).max()
        for n in (1, 9)
    ]
    assert means[1] < means[0]
    assert means[1] < 1e-4


@pytest.mark.parametrize("steps", SEQUENCES, ids=",".join)
def test_applied_to_its_own_rows_it_gives_the_same(steps: tuple[str, ...]) -> None:
    raw = raw_rows(3, 60)
    rows, fitted = normalise(raw, steps)
    assert np.array_equal(fitted.apply(raw), rows)
    assert np.array_equal(fitted.apply(raw[7:9]), rows[7:9])
    assert len(fitted.means) == steps.count("centre")


def test_the_mean_of_a_million_words_is_exact() -> None:
    rows = np.full((1_000_000, 2), 0.1, np.float32)
    assert np.abs(normalise(rows, ["centre"])[0]).max() < 1e-7


def test_a_new_word_changes_no_mean() -> None:
    raw = raw_rows(4, 60)
    _, fitted = normalise(raw)
    alone, among = fitted.apply(raw[:1] * 9), fitted.apply(np.concatenate([raw[:1] * 9, raw]))[:1]
    np.testing.assert_array_equal(alone, among)


def test_rows_of_zeros_stay() -> None:
    raw = raw_rows(5, 9)
    raw[4] = 0
    others = np.delete(raw, 4, axis=0)
    for steps in (["unit"], ["centre"], ["unit", "centre", "unit"]):
        rows, fitted = normalise(raw, steps)
        assert not rows[4].any()
        assert not fitted.apply(raw)[4].any()
        np.testing.assert_array_equal(np.delete(rows, 4, axis=0), normalise(others, steps)[0])


@pytest.mark.parametrize("scale", [1e-24, 1e-12, 1e12, 1e24])
def test_rows_of_any_length_get_unit_length(scale: float) -> None:
    raw = raw_rows(5, 9)
    rows, _ = normalise(raw * np.float32(scale), ["unit"])
    np.testing.assert_allclose(rows, normalise(raw, ["unit"])[0], rtol=1e-5)


def test_the_argument_is_left_alone() -> None:
    raw = raw_rows(6, 9)
    copy = raw.copy()
    normalise(raw)[1].apply(raw)
    assert np.array_equal(raw, copy)


def test_in_place_is_the_same() -> None:
    raw = raw_rows(6, 5_000, 50)
    expected, fitted = normalise(raw)
    tracemalloc.start()
    try:
        means = normalise_(raw).means
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(raw, expected)
    np.testing.assert_array_equal(means, fitted.means)
    assert peak < raw.nbytes / 2  # no second matrix


def test_no_such_step() -> None:
    with pytest.raises(BadSetting, match="one of unit, centre; got 'center'"):
        normalise(raw_rows(7, 3), ["unit", "center"])
