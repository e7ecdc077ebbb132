"""The plain reader of numbers against float(), bit by bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from muse.files.vectors.text import MARGIN, plain_numbers, with_margins

Floats = NDArray[np.float32]


def _read(tokens: list[str]) -> tuple[Floats, NDArray[np.bool_]]:
    """The values and the oddness of tokens, each between two spaces."""
    lengths = np.array([len(token) for token in tokens])
    ends = MARGIN + np.cumsum(lengths + 1)
    block = (" " + " ".join(tokens) + "\n").encode()
    return plain_numbers(with_margins(block), ends - lengths, ends)


def _assert_same_bits(values: Floats, tokens: list[str]) -> None:
    expected = np.array([float(token) for token in tokens]).astype(np.float32)
    assert np.array_equal(values.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("decimals", range(15))
def test_every_number_of_decimals_gives_the_bits_of_float(decimals: int) -> None:
    rng = np.random.default_rng(decimals)
    numbers = np.concatenate([rng.uniform(-9.9, 9.9, 3000), rng.normal(0, 10.0 ** -rng.integers(0, 9, 3000))])
    tokens = [f"{x:.{decimals}f}" for x in numbers if abs(x) < 9.4]
    tokens = [token if "." in token else token + "." for token in tokens]
    values, odd = _read(tokens)
    assert not odd.any()
    _assert_same_bits(values, tokens)


@pytest.mark.parametrize("form", ["%.5g", "%.9g", "%.17g", "%r", "%d", "%.3e"])
def test_forms_of_mixed_length_are_right_or_odd(form: str) -> None:
    rng = np.random.default_rng(7)
    tokens = [form % x for x in (rng.normal(0, 0.3, 5000) * 10.0 ** rng.integers(-6, 3, 5000)).tolist()]
    values, odd = _read(tokens)
    plain = np.flatnonzero(~odd)
    _assert_same_bits(values[plain], [tokens[i] for i in plain])


def test_halfway_cases_round_once() -> None:
    # Numbers whose digits lie next to the middle of two float32: where rounding twice would show.
    rng = np.random.default_rng(3)
    low = rng.uniform(0.01, 9, 4000).astype(np.float32)
    middle = (low.astype(np.float64) + np.nextafter(low, np.float32(10)).astype(np.float64)) / 2
    tokens = [f"{x:.14f}" for x in middle]
    values, odd = _read(tokens)
    assert not odd.any()
    _assert_same_bits(values, tokens)


@given(st.lists(st.floats(-9.5, 9.5), min_size=1, max_size=40), st.integers(1, 14))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_floats_in_fixed_point(numbers: list[float], decimals: int) -> None:
    tokens = [f"{x:.{decimals}f}" for x in numbers]
    values, odd = _read(tokens)
    plain = np.flatnonzero(~odd)
    assert all(abs(float(tokens[i])) >= 10 for i in np.flatnonzero(odd))
    _assert_same_bits(values[plain], [tokens[i] for i in plain])


@given(st.lists(st.text("0123456789.-+e/:xX", min_size=1, max_size=20), min_size=1, max_size=30))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_what_is_taken_for_plain_is_a_number(tokens: list[str]) -> None:
    values, odd = _read(tokens)
    plain = np.flatnonzero(~odd)
    _assert_same_bits(values[plain], [tokens[i] for i in plain])


@pytest.mark.parametrize(
    "token",
    ["1", "12.5", ".5", "-.5", "+0.5", "1e-5", "0.1e5", "nan", "inf", "0.12a4", "0.1-2", "-", "", "0..1"],
)
def test_other_forms_are_odd(token: str) -> None:
    _, odd = _read(["0.25", token, "0.5"])
    assert odd.tolist() == [False, True, False]


def test_the_zero_keeps_its_sign() -> None:
    values, _ = _read(["-0.00000", "0.00000"])
    assert np.signbit(values).tolist() == [True, False]
