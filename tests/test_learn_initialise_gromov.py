"""Gromov-Wasserstein: Sinkhorn's marginals and limit, and planted rotations among shuffled words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import torch

from muse.alignment import Alignment
from muse.learn.criterion import criterion
from muse.learn.initialise.gromov import GromovConfig, gromov, similarity_root
from muse.learn.sinkhorn import sinkhorn
from muse.run.runtime import Runtime
from muse.vectors import Vectors
from tests.toys import pair, shuffled


def run(source: Vectors, target: Vectors, *priors: str) -> list[Alignment]:
    return list(
        gromov(
            source,
            target,
            config=GromovConfig(priors=priors),
            criterion=criterion(source, target),
            rng=np.random.default_rng(0),
            runtime=Runtime(),
        )
    )


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


@pytest.mark.parametrize("prior", ["none", "length", "rank"])
def test_a_planted_rotation(prior: str) -> None:
    source, target, turn = pair(400)
    (found,) = run(source, target, prior)
    assert found.method == f"gromov:{prior}"
    assert found.init == "gromov"
    assert np.abs(found.source_map - turn).max() < 0.1
    assert found.orthogonality_defect < 1e-5


def test_what_is_matched_is_the_root_of_the_similarities_of_the_components() -> None:
    source, _, _ = pair(400)
    factor = similarity_root(source, 7).double().numpy()
    axes = np.linalg.svd(source.matrix.astype(np.float64), full_matrices=False)[2][:7]
    rows = source.matrix @ axes.T
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    root = factor @ factor.T
    np.testing.assert_allclose(root @ root, rows @ rows.T, atol=1e-4)


def test_the_order_of_the_words_is_not_needed() -> None:
    source, target, turn = pair(400)
    (found,) = run(source, shuffled(target)[0], "none")
    assert np.abs(found.source_map - turn).max() < 0.1


def test_lengths_that_are_not_known_are_no_prior() -> None:
    source, target, _ = pair(100)
    bare = Vectors("fr", source.words, source.matrix)
    assert [found.method for found in run(bare, target, "none", "length")] == ["gromov:none"]
