"""Alignments: how rows are mapped, and how far a mapping is from a rotation."""

from __future__ import annotations

import numpy as np
import pytest

from muse.alignment import Alignment
from tests.spaces import raw_rows, rotation


def test_rows_are_mapped_one_by_one() -> None:
    rows, left, right = raw_rows(0, 5), rotation(1), rotation(2)
    alignment = Alignment(left, right)
    for row, mapped in zip(rows, alignment.apply_source(rows), strict=True):
        np.testing.assert_allclose(mapped, left @ row, atol=1e-5)
    for row, mapped in zip(rows, alignment.apply_target(rows), strict=True):
        np.testing.assert_allclose(mapped, right @ row, atol=1e-5)


def test_a_target_without_a_map_stays() -> None:
    rows = raw_rows(0, 5)
    assert Alignment(rotation(1)).apply_target(rows) is rows


def test_the_defect() -> None:
    assert Alignment(rotation(3)).orthogonality_defect < 1e-6
    assert Alignment(2 * rotation(3)).orthogonality_defect == pytest.approx(3, abs=1e-5)


def test_the_way_in() -> None:
    assert Alignment(rotation(0), method="gromov:length").init == "gromov"
