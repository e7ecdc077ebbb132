"""Sinkhorn: marginals, limits, and costs of any size."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.special
import torch

from muse.learn.transport import sinkhorn


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
