"""Normalisation: lengths, means, order, and new words that go the way of the old ones."""

import tracemalloc

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.normalise import DEFAULT_STEPS, normalise, normalise_
from tests.support.spaces import raw_rows

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
