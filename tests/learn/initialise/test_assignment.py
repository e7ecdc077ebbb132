"""The order in which two similarity matrices agree: against all orders, and against scipy."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import quadratic_assignment

from muse.learn.initialise.clusters import Square, agreeing_orders


def _symmetric(k: int, seed: int) -> Square:
    square = np.random.default_rng(seed).normal(size=(k, k))
    return square + square.T


def _best(own: Square, other: Square, tries: int, seed: int = 0) -> NDArray[np.int64]:
    (best,) = agreeing_orders(own, other, tries=tries, most=1, rng=np.random.default_rng(seed))
    return best


def _agreement(own: Square, other: Square, order: NDArray[np.int64]) -> float:
    return float((own * other[np.ix_(order, order)]).sum())


@pytest.mark.parametrize("seed", range(5))
def test_no_other_order_of_a_few_agrees_better(seed: int) -> None:
    own, other = _symmetric(6, seed), _symmetric(6, seed + 100)
    found = _best(own, other, 30)
    assert found.dtype == np.int64
    assert sorted(found) == list(range(6))
    best = max(_agreement(own, other, np.array(order)) for order in permutations(range(6)))
    assert _agreement(own, other, found) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(3))
def test_as_good_as_scipy_from_as_many_beginnings(seed: int) -> None:
    own, other = _symmetric(25, seed), _symmetric(25, seed + 100)
    found = _best(own, other, 20)
    rng = np.random.default_rng(0)
    options = {"maximize": True, "P0": "randomized", "rng": rng}
    scipy_has = max(quadratic_assignment(own, other, options=options).fun for _ in range(20))
    assert _agreement(own, other, found) >= 0.97 * scipy_has


def test_a_permuted_matrix_with_noise_is_put_in_order_again() -> None:
    k, rng = 40, np.random.default_rng(1)
    own, hidden = _symmetric(k, 2), rng.permutation(k)
    other = np.empty_like(own)
    other[np.ix_(hidden, hidden)] = own + 0.1 * _symmetric(k, 3)
    found = _best(own, other, 20)
    assert np.array_equal(found, hidden)


def test_more_beginnings_are_never_worse_and_the_same_seed_gives_the_same() -> None:
    own, other = _symmetric(20, 0), _symmetric(20, 1)
    few, many, again = (_best(own, other, tries, seed=5) for tries in (1, 9, 9))
    assert np.array_equal(many, again)
    assert _agreement(own, other, many) >= _agreement(own, other, few)


@pytest.mark.parametrize("k", [1, 2])
def test_hardly_anything_to_order(k: int) -> None:
    zeros = np.zeros((k, k))
    assert sorted(_best(zeros, zeros, 2)) == list(range(k))


def test_the_best_come_first_and_none_twice() -> None:
    own, other = _symmetric(20, 0), _symmetric(20, 1)
    found = agreeing_orders(own, other, tries=30, most=5, rng=np.random.default_rng(0))
    assert len({order.tobytes() for order in found}) == len(found) == 5
    agreements = [_agreement(own, other, order) for order in found]
    assert agreements == sorted(agreements, reverse=True)
    assert np.array_equal(found[0], _best(own, other, 30))
    same = agreeing_orders(np.eye(1), np.eye(1), tries=9, most=5, rng=np.random.default_rng(0))
    assert len(same) == 1
