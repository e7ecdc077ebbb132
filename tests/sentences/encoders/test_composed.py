"""Corrections against numpy's own SVD; pooling against each sentence by itself, in double precision."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch
from muse.sentences.encoders import pooling
from muse.sentences.encoders.composed import Correction, joint_moments, moments_of
from muse.sentences.encoders.pooling import Power, Signed, check_powers, mean, power_means, sums
from muse.sentences.encoders.ragged import Ragged
from muse.vectors import Matrix


def cloud(count: int = 200, seed: int = 0) -> Matrix:
    rng = np.random.default_rng(seed)
    rows = rng.normal(0.5 + seed, 1, (count, 6)) * [5, 1, 2, 1, 0.5, 3]
    return rows.astype(np.float32)


def corrected(name: str, options: str, rows: Matrix) -> Matrix:
    correction, before = Correction.parse(name, options), rows.copy()
    found = correction.apply(rows, moments_of(np.array_split(rows, 7), correction))
    np.testing.assert_array_equal(rows, before)
    return found


def test_znorm_has_mean_0_and_deviation_1() -> None:
    found = corrected("znorm", "", cloud())
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(found.std(axis=0), 1, atol=1e-4)


def test_znorm_does_not_amplify_the_rounding_of_a_constant_column() -> None:
    rows = cloud()
    rows[:, 2] = 0.3
    rows[::2, 2] = np.nextafter(np.float32(0.3), np.float32(1))
    np.testing.assert_allclose(corrected("znorm", "", rows)[:, 2], 0, atol=1e-6)


@pytest.mark.parametrize("k", [1, 2])
def test_pcr_removes_the_first_singular_vectors(k: int) -> None:
    rows = cloud()
    first = np.linalg.svd(rows.astype(np.float64), full_matrices=False)[2][:k]  # (k, d')
    np.testing.assert_allclose(corrected("pcr", str(k), rows), rows - rows @ first.T @ first, atol=1e-4)


def test_pcr_centred_removes_the_mean_first() -> None:
    rows = cloud()
    centred = rows - rows.mean(axis=0)
    np.testing.assert_allclose(corrected("centre", "", rows), centred, atol=1e-5)
    first = np.linalg.svd(centred.astype(np.float64), full_matrices=False)[2][:1]
    np.testing.assert_allclose(
        corrected("pcr", "centred", rows), centred - centred @ first.T @ first, atol=1e-4
    )


@pytest.mark.parametrize(
    ("name", "options"), [("znorm", ""), ("pcr", ""), ("pcr", "centred"), ("centre", "")]
)
def test_empty_sentences_stay_zero_and_teach_nothing(name: str, options: str) -> None:
    rows = cloud()
    with_empty = np.insert(rows, [3, 50], 0, axis=0)
    found = corrected(name, options, with_empty)
    assert not found[3].any()
    np.testing.assert_allclose(found[found.any(axis=1)], corrected(name, options, rows), atol=1e-5)


def test_two_texts_together_are_as_one() -> None:
    correction, a, b = Correction.parse("znorm", "global"), cloud(100), cloud(300, seed=1)
    found, expected = (
        joint_moments([moments_of([a], correction), moments_of([b], correction)]),
        moments_of([a, b], correction),
    )
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-4)
    np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-4)
    assert found.count == 400


@pytest.mark.parametrize(
    "name",
    ["znorm", "znorm[global]", "pcr", "pcr[centred]", "pcr[3]", "pcr[centred,3]", "centre", "binary",
     "binary[global]", "binary[1]", "binary[0]", "binary[-0.05]", "binary[1e-07]", "binary[0.12345678901]"],
)  # fmt: skip
def test_names_are_read_and_written(name: str) -> None:
    kind, _, options = name.removesuffix("]").partition("[")
    assert str(Correction.parse(kind, options)) == name


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *(("pcr", options) for options in ("0", "global", "1,2")),
        *(("binary", options) for options in ("nan", "inf", "1e12", "0.1,global", "x")),
        *(("znorm", "local"), ("znorm", "0.1"), ("whiten", ""), ("centre", "2")),
    ],
)
def test_other_corrections_are_refused(name: str, options: str) -> None:
    with pytest.raises(BadSetting, match=rf"a correction is one of znorm.*got {name}"):
        Correction.parse(name, options)


def test_too_little_text_is_refused() -> None:
    with pytest.raises(Mismatch, match="at least two sentences with words of the space, got 1"):
        moments_of([cloud(1), np.zeros((5, 6), np.float32)], Correction.parse("znorm"))


def test_all_components_are_too_many() -> None:
    with pytest.raises(BadSetting, match="at most 5 components here, got 6"):
        moments_of([cloud()], Correction.parse("pcr", "6"))


ROWS = np.random.default_rng(0).normal(size=(50, 7)).astype(np.float32)
POWERS: tuple[Power, ...] = (-math.inf, 1, 2, 3, 5, 0.5, 2.5, 40, math.inf, Signed(2), Signed(4), Signed(40))


def drawn(lengths: list[int], seed: int = 0) -> Ragged:
    rng = np.random.default_rng(seed)
    return Ragged.of([rng.integers(0, len(ROWS), length).tolist() for length in lengths])


def sentences(of: Ragged, rows: NDArray[np.float32]) -> list[NDArray[np.float64]]:
    return [rows[ids.numpy()].astype(np.float64) for ids in torch.split(of.ids, of.lengths.tolist())]


def power_mean_of_one(x: NDArray[np.float64], power: Power) -> NDArray[np.float64]:
    """The definition, for the words (t, d) of one sentence."""
    p = power.p if isinstance(power, Signed) else power
    if not len(x):
        return np.zeros(x.shape[1])
    if math.isinf(p):
        return np.asarray(x.max(axis=0) if p > 0 else x.min(axis=0))
    plain = float(p).is_integer() and not isinstance(power, Signed)
    m = np.mean(x**p if plain else np.sign(x) * np.abs(x) ** p, axis=0)
    return np.asarray(np.sign(m) * np.abs(m) ** (1 / p))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 12), max_size=12), st.sampled_from(POWERS))
def test_power_means_are_those_of_each_sentence(lengths: list[int], p: Power) -> None:
    of = drawn(lengths)
    expected = [power_mean_of_one(x, p) for x in sentences(of, ROWS)]
    found = power_means(of, torch.from_numpy(ROWS), [p]).numpy()
    np.testing.assert_allclose(found, np.reshape(expected, (-1, 7)), atol=2e-5)


def test_powers_stand_side_by_side() -> None:
    of, rows = drawn([3, 0, 2]), torch.from_numpy(ROWS)
    parts = [power_means(of, rows, [p]) for p in (3, -math.inf, 1)]
    assert torch.equal(power_means(of, rows, (3, -math.inf, 1)), torch.cat(parts, dim=1))


def test_signed_powers_are_odd_functions() -> None:
    """All signs changed, so is that of the mean; and they meet the plain power where none is negative."""
    of, rows = drawn([3, 1, 7]), torch.from_numpy(ROWS)
    powers: list[Power] = [Signed(2), Signed(4), 3, 0.5]
    assert torch.equal(power_means(of, -rows, powers), -power_means(of, rows, powers))
    plain = power_means(of, rows.abs(), [2, 4])
    assert torch.equal(power_means(of, rows.abs(), [Signed(2), Signed(4)]), plain)
    found = power_means(Ragged.of([[0, 1, 2]]), torch.tensor([[-3.0], [-1.0], [1.0]]), [Signed(2), 2])
    np.testing.assert_allclose(found, [[-math.sqrt(9 / 3), math.sqrt(11 / 3)]], rtol=1e-6)


def test_high_powers_neither_vanish_nor_overflow() -> None:
    rows = torch.tensor([[1e-6, 1e6], [1e-7, -1e5]])
    of = Ragged.of([[0, 1]])
    found = power_means(of, rows, [301])[0]
    np.testing.assert_allclose(found, [1e-6 * 2 ** (-1 / 301), 1e6 * 2 ** (-1 / 301)], rtol=1e-5)


def test_power_means_rise_with_the_power() -> None:
    of, rows = drawn([5, 9, 2]), torch.from_numpy(np.abs(ROWS))
    ordered = torch.stack(
        [power_means(of, rows, [p]) for p in (-math.inf, -40, -1, 0, 0.5, 1, 2, 3, 40, math.inf)]
    )
    assert (ordered.diff(dim=0) >= -1e-5).all()


def test_means_and_sums_with_weights() -> None:
    of = drawn([4, 0, 1, 6])
    weights = np.random.default_rng(1).random(len(of.ids)).astype(np.float32)
    parts = np.split(weights.astype(np.float64), of.offsets[1:-1])
    rows = torch.from_numpy(ROWS)
    found = (mean(of, rows, weights), sums(of, rows, weights), mean(of, rows))
    for x, w, one, total, plain in zip(sentences(of, ROWS), parts, *found, strict=True):
        np.testing.assert_allclose(total, w @ x, atol=1e-5)
        np.testing.assert_allclose(one, w @ x / w.sum() if len(w) else np.zeros(7), atol=1e-5)
        np.testing.assert_allclose(plain, x.mean(axis=0) if len(w) else np.zeros(7), atol=1e-5)


def test_a_sentence_longer_than_what_is_gathered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    of, rows = drawn([40, 3, 700]), torch.from_numpy(ROWS)
    expected = power_means(of, rows, POWERS)
    monkeypatch.setattr(pooling, "GATHERED", 16)  # fewer columns at once, and one sentence after the other
    assert torch.allclose(power_means(of, rows, POWERS), expected)


@pytest.mark.parametrize("longest", [2, 3, 7])
def test_sums_go_by_pieces_where_sentences_are_long(monkeypatch: pytest.MonkeyPatch, longest: int) -> None:
    of, rows = drawn([0, 7, 3, 0, 14, 1, 0]), torch.from_numpy(ROWS)
    weights = np.random.default_rng(1).random(len(of.ids)).astype(np.float32)

    def found() -> tuple[torch.Tensor, ...]:
        return sums(of, rows), sums(of, rows, weights), mean(of, rows, weights)

    expected = found()
    monkeypatch.setattr(pooling, "LONGEST", longest)
    for one, other in zip(found(), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_power_is_a_number() -> None:
    with pytest.raises(BadSetting, match=r"a power must be a number.*, got nan"):
        check_powers([1, math.nan])


@pytest.mark.parametrize(
    ("p", "words", "expected"),
    [
        (-1, [1, 4, 4], 2), (-2, [1, -2], math.sqrt(8 / 5)), (-1, [-1, -3], -1.5), (-0.5, [1, 4], 16 / 9),
        (-1, [1, -2], 4), (-1, [1, 0], 0), (-1, [2, -2], 2e9), (-40, [1e-9, 1], 1e-9 * 2 ** (1 / 40)),
        (0, [1, -4, 2], 2), (0, [3, 0], 0),
    ],
)  # fmt: skip
def test_powers_up_to_0(p: float, words: list[float], expected: float) -> None:
    """Harmonic and geometric means by hand, at their poles finite, and at 0 zero."""
    found = power_means(Ragged.of([[*range(len(words))]]), torch.tensor(words)[:, None].float(), [p])
    np.testing.assert_allclose(found, [[expected]], rtol=1e-6)


@pytest.mark.parametrize("p", [3, 1, 0.5, 0, -2, math.inf, math.nan])
def test_only_even_powers_are_signed(p: float) -> None:
    with pytest.raises(BadSetting, match=r"even number above 0, such as 2s, got .*s"):
        check_powers([1, Signed(p)])


def test_no_powers_are_refused_and_repeated_ones_dropped() -> None:
    with pytest.raises(BadSetting, match="at least one p"):
        check_powers([])
    assert check_powers([3, 1, 3]) == (3.0, 1.0)
