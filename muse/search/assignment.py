"""Assignment: the orders in which one similarity matrix agrees best with another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

STEPS = 40  # of Frank-Wolfe, at most
SPREAD = 3.0  # of the random initialisations, before they are made doubly stochastic
BALANCING = 10  # rounds that make them so
STALLED = 1e-3  # times k: a slope below it is none

Square = NDArray[np.float64]


def agreeing_orders(
    own: Square, other: Square, *, tries: int, most: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """At most so many orders (k,), best first, of large sum_ij own_ij other_order(i)order(j).

    `own` and `other` are symmetric (k, k). Quadratic assignment has no fast exact solution. FAQ (Vogelstein
    et al., 2015) climbs over the doubly stochastic matrices by Frank-Wolfe and ends at a permutation; of
    `tries` random initialisations the best ends are taken. (scipy has it too, and takes four times as long on
    matrices of this size.)
    """
    found = {}
    for _ in range(tries):
        order = _climbed(own, other, _beginning(len(own), rng))
        found[order.tobytes()] = float((own * other[np.ix_(order, order)]).sum()), order
    ranked = sorted(found.values(), key=lambda one: -one[0])
    return [order for _, order in ranked[:most]]


def _climbed(own: Square, other: Square, plan: Square) -> NDArray[np.int64]:
    """The order (k,) at the local maximum of tr(A P B P^T) that is reached from a plan P (k, k)."""
    for _ in range(STEPS):
        slope = 2 * (own @ plan @ other)
        step = _permutation(slope) - plan
        gain, bend = float((step * slope).sum()), float((step * (own @ step @ other)).sum())
        if gain < STALLED * len(plan):
            break
        plan = plan + (1.0 if bend >= 0 else min(1.0, -gain / (2 * bend))) * step
    return np.asarray(linear_sum_assignment(-plan)[1], np.int64)


def _permutation(profit: Square) -> Square:
    chosen = np.zeros_like(profit)
    chosen[linear_sum_assignment(-profit)] = 1
    return chosen


def _beginning(k: int, rng: np.random.Generator) -> Square:
    """Halfway between the barycentre and a random doubly stochastic matrix (k, k)."""
    random = np.exp(SPREAD * rng.standard_normal((k, k)))
    for _ in range(BALANCING):
        random /= random.sum(axis=1, keepdims=True)
        random /= random.sum(axis=0, keepdims=True)
    return 0.5 / k + 0.5 * random
