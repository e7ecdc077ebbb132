"""softmax.py: what it subtracts is what muse subtracts, and the queries that are right are counted."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.words.softmax import Task
from muse.search.retrieval import Retrieval
from tests.support.spaces import raw_rows


@pytest.fixture(scope="module")
def task() -> Task:
    source, target = (
        torch.nn.functional.normalize(torch.from_numpy(raw_rows(seed, 60) - 0.3)) for seed in (0, 1)
    )
    return Task(source, target, {0: frozenset({1}), 5: frozenset(range(60))})


@pytest.mark.parametrize(
    ("key", "retrieval"),
    [
        (("csls", 0), Retrieval("csls")),
        (("isf", 10.0), Retrieval("isf", beta=10)),
        (("isf", 100.0), Retrieval("isf", beta=100)),
    ],
)
def test_a_bias_is_that_of_muse(task: Task, key: tuple[str, float], retrieval: Retrieval) -> None:
    own, expected = task.biases([10.0, 100.0])[key], retrieval.bias(task.source, task.target)
    assert expected is not None
    np.testing.assert_allclose(own, expected, atol=1e-5)


def test_a_query_is_right_if_its_best_target_is_gold(task: Task) -> None:
    favoured = torch.zeros(60)
    favoured[1] = -9
    assert task.right(favoured).tolist() == [True, True]
    assert task.right(-favoured).tolist() == [False, True]
