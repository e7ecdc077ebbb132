"""Corrections: what they promise of the rows they were learned from, against numpy's own SVD."""

import numpy as np
import pytest

from muse.errors import BadSetting, Mismatch
from muse.sentences.encoders.composed import Correction, joint_moments, moments_of
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
