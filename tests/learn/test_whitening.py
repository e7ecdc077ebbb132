"""Partial whitening: variances along the principal axes, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from muse.learn.transport import LEAST_VARIANCE, whiten
from tests.support.spaces import rotation

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
