"""Schedules and LAMB: the published formulas, written again, and what cannot be one."""

import numpy as np
import pytest
import torch

from muse.sentences.training.optimising import Lamb, Schedule


def test_noam_is_equation_3() -> None:
    schedule = Schedule("noam", warmup=4_000, width=512)
    for step in (1, 3_999, 4_000, 4_001, 100_000):
        assert schedule(step) == pytest.approx(512**-0.5 * min(step**-0.5, step * 4_000**-1.5))
    assert max(range(1, 9_000), key=schedule) == 4_000


def test_the_others() -> None:
    assert [Schedule()(step) for step in (1, 10**6)] == [1, 1]
    assert [Schedule(warmup=4)(step) for step in (1, 4, 5)] == [0.25, 1, 1]
    linear = Schedule("linear", warmup=10, steps=110)
    assert [linear(step) for step in (5, 10, 60, 110, 120)] == [0.5, 1, 0.5, 0, 0]
    root = Schedule("inverse-sqrt", warmup=100)
    assert [root(step) for step in (50, 100, 400)] == [0.5, 1, 0.5]


def test_lamb_is_its_formula() -> None:
    rng = np.random.default_rng(0)
    weights, gradients = rng.normal(size=(3, 4)), rng.normal(size=(5, 3, 4))
    parameter = torch.nn.Parameter(torch.from_numpy(weights.copy()))
    optimiser = Lamb([parameter], lr=0.1)
    mean, square = np.zeros((3, 4)), np.zeros((3, 4))
    for t, gradient in enumerate(gradients, 1):
        parameter.grad = torch.from_numpy(gradient)
        optimiser.step()
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        way = mean / (1 - 0.9**t) / (np.sqrt(square / (1 - 0.999**t)) + 1e-6)
        before = weights
        weights = weights - 0.1 * np.linalg.norm(weights) / np.linalg.norm(way) * way
        assert np.isclose(np.linalg.norm(weights - before), 0.1 * np.linalg.norm(before))
        np.testing.assert_allclose(parameter.detach().numpy(), weights)


def test_lamb_moves_what_begins_at_nothing_and_leaves_what_has_no_gradient() -> None:
    bias, still = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.ones(2))
    optimiser = Lamb([bias, still], lr=0.1)
    bias.grad = torch.tensor([3.0, -4.0])
    optimiser.step()
    torch.testing.assert_close(bias.detach(), torch.tensor([-0.1, 0.1]))
    assert still.tolist() == [1, 1]
