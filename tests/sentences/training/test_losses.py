"""Losses by hand and by loops; schedules and LAMB by the published formulas."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.sentences.training.losses import Align, Hinge, Loss, Negatives, Softmax, draw_negatives
from muse.sentences.training.optimising import Lamb, Schedule

X = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
Y = torch.tensor([[1.0, 1.0], [0.0, 2.0]])
EACH_OTHER = Negatives(torch.tensor([1, 0]), torch.eye(2, dtype=torch.bool))
R2, R5 = math.sqrt(2), math.sqrt(5)

# |x0 - y0| = |x1 - y1| = 1, |x1 - y0| = 1, |x0 - y1| = sqrt 5; cosines 1/sqrt 2, 1, 1/sqrt 2, 0.
BY_HAND: list[tuple[Loss, float]] = [
    (Align(0.25), 1 - 0.25 * (1 + R5)),
    (Align(0), 1),
    (Hinge(1, "euclid"), (0 + 1 + 1 + 0) / 2),
    (Hinge(1, "euclid", both=False), (0 + 1) / 2),
    (Hinge(4, "squared"), (0 + 4 + 4 + 0) / 2),
    (Hinge(0.5, "cosine", both=False), (0 + 0.5 - (1 - 1 / R2)) / 2),
    (Hinge(0.5, "cosine"), (0.5 + (0.5 - (1 - 1 / R2))) / 2),
]
EVERY: list[Loss] = [
    Align(0.25),
    *(
        Hinge(m, d, n)
        for m, d in ((0.4, "cosine"), (1, "euclid"), (2, "squared"))
        for n in ("random", "hardest")
    ),
    Softmax(0.3, 10),
]


@pytest.mark.parametrize(("loss", "value"), BY_HAND, ids=str)
def test_by_hand(loss: Loss, value: float) -> None:
    assert float(loss(X, Y, EACH_OTHER)) == pytest.approx(value, abs=1e-6)


def batch(b: int = 7, d: int = 5) -> tuple[Tensor, Tensor, Negatives]:
    rng = np.random.default_rng(0)
    x, y = (torch.tensor(rng.normal(size=(b, d))) for _ in range(2))
    duplicates = torch.eye(b, dtype=torch.bool)
    if b > 5:
        duplicates[2, 5] = duplicates[5, 2] = True
    return x, y, Negatives((torch.arange(b) + 1) % b, duplicates)


def distance(name: str, a: Tensor, b: Tensor) -> float:
    if name == "cosine":
        return float(1 - a @ b / math.sqrt(float(a @ a) * float(b @ b)))
    squared = float(((a - b) ** 2).sum())
    return squared if name == "squared" else math.sqrt(squared)


@pytest.mark.parametrize("name", ["cosine", "euclid", "squared"])
def test_the_hardest_negative_by_loops(name: str) -> None:
    x, y, negatives = batch()
    expected = 0.0
    for i in range(7):
        wrong = [j for j in range(7) if not negatives.duplicates[i, j]]
        near = distance(name, x[i], y[i])
        expected += max(0.0, 0.7 + near - min(distance(name, x[i], y[j]) for j in wrong))
        expected += max(0.0, 0.7 + near - min(distance(name, x[j], y[i]) for j in wrong))
    assert float(Hinge(0.7, name, "hardest")(x, y, negatives)) == pytest.approx(expected / 7)


def test_the_softmax_by_loops() -> None:
    x, y, negatives = batch()
    margin, scale, total = 0.3, 10.0, 0.0
    for i in range(7):
        right = math.exp(scale * (1 - distance("cosine", x[i], y[i]) - margin))
        wrong = [j for j in range(7) if not negatives.duplicates[i, j]]
        for cosines in (
            [1 - distance("cosine", x[i], y[j]) for j in wrong],
            [1 - distance("cosine", x[j], y[i]) for j in wrong],
        ):
            total -= math.log(right / (right + sum(math.exp(scale * c) for c in cosines)))
    assert float(Softmax(margin, scale)(x, y, negatives)) == pytest.approx(total / 7)


@pytest.mark.parametrize("loss", EVERY, ids=str)
def test_translations_are_no_negatives(loss: Loss) -> None:
    x, y, _ = batch(2)
    duplicates = Negatives(torch.tensor([1, 0]), torch.ones(2, 2, dtype=torch.bool))
    expected = Align(0)(x, y, EACH_OTHER) if isinstance(loss, Align) else 0
    assert float(loss(x, y, duplicates)) == pytest.approx(float(expected), abs=1e-6)


def test_equal_rows_have_a_finite_gradient() -> None:
    x, _, negatives = batch()
    y = x.clone().requires_grad_()
    for loss in EVERY:
        (gradient,) = torch.autograd.grad(loss(x, y, negatives), y)
        assert bool(gradient.isfinite().all()), loss


def test_drawn_negatives_are_other_pairs_and_all_come_up() -> None:
    keys = torch.tensor([0, 1, 2, 0, 4])
    generator = torch.Generator().manual_seed(0)
    seen = set()
    for _ in range(60):
        drawn, duplicates = found = draw_negatives(keys, torch.tensor([5, 6, 7, 8, 6]), generator)
        assert bool((drawn != torch.arange(5)).all())
        seen |= {(i, int(j)) for i, j in enumerate(drawn)}
        assert found.usable.tolist() == [not bool(duplicates[i, j]) for i, j in enumerate(drawn)]
    assert len(seen) == 5 * 4
    expected = torch.eye(5, dtype=torch.bool)
    expected[0, 3] = expected[3, 0] = expected[1, 4] = expected[4, 1] = True
    assert torch.equal(duplicates, expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Align(0.6), r"lambda must be between 0 and 0\.5, got 0\.6"),
        (lambda: Align(math.nan), "lambda"),
        (lambda: Hinge(0), "margin must be .* above 0"),
        (lambda: Softmax(0.3, math.inf), "scale must be .* above 0"),
    ],
)
def test_settings_that_cannot_work(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(BadSetting, match=message):
        make()


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
