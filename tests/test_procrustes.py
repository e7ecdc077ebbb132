"""Procrustes against scipy's, on planted rotations, and on pairs too few to fix a rotation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import torch

from muse.procrustes import procrustes
from tests.spaces import raw_rows, rotation


@pytest.mark.parametrize("dimension", [1, 2, 8, 60])
def test_against_scipy(dimension: int) -> None:
    x, y = raw_rows(0, 90, dimension), raw_rows(1, 90, dimension)
    expected, _ = scipy.linalg.orthogonal_procrustes(x.astype(float), y.astype(float))
    found = procrustes(torch.from_numpy(x), torch.from_numpy(y))
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), expected.T, atol=1e-5)


@pytest.mark.parametrize("dimension", [2, 8, 60])
def test_a_planted_rotation(dimension: int) -> None:
    x, turn = raw_rows(2, 200, dimension), rotation(3, dimension)
    found = procrustes(torch.from_numpy(x), torch.from_numpy(x @ turn.T)).numpy()
    np.testing.assert_allclose(found, turn, atol=1e-5)


@pytest.mark.parametrize("count", [0, 1, 5, 300])
def test_it_is_orthogonal_whatever_the_pairs(count: int) -> None:
    found = procrustes(torch.from_numpy(raw_rows(4, count, 50)), torch.from_numpy(raw_rows(5, count, 50)))
    np.testing.assert_allclose((found.double() @ found.double().T).numpy(), np.eye(50), atol=2e-6)


def test_no_other_rotation_is_closer() -> None:
    x, y = torch.from_numpy(raw_rows(6, 90)), torch.from_numpy(raw_rows(7, 90))
    best = float(((x @ procrustes(x, y).T - y) ** 2).sum())
    for seed in range(50):
        assert best <= float(((x @ torch.from_numpy(rotation(seed)).T - y) ** 2).sum())
