"""Trimmed: the evidence without the pairs that the others contradict.

Maps that were not fitted to a pair give it a cosine. Those of wrong pairs are like those of the same words
shuffled, which are known; those of right pairs are higher. In a mixture of two normal distributions, the
first fixed, every pair has a probability of being right (the local false discovery rate, Efron et al., 2001).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from muse.learn.supervise.canonical import CanonicalConfig, canonical
from muse.learn.supervise.cross_validation import Folds
from muse.learn.supervise.evidence import Evidence

LEAST_PAIRS = 500  # with fewer, the maps of the others say little about a pair
LEAST_WRONG = 0.05  # a dictionary with fewer wrong pairs is taken as it is
ROUNDS = 30
MOST_WRONG = 0.9


class Support(NamedTuple):
    """The cosine of each pair (p,) by maps that its source word was not in, and of shuffled pairs (p,)."""

    own: Tensor
    shuffled: Tensor


def trimmed(evidence: Evidence, config: CanonicalConfig, rng: np.random.Generator) -> Evidence:
    """The evidence without the pairs that are probably wrong, if these are more than LEAST_WRONG of it."""
    if len(evidence) < LEAST_PAIRS:
        return evidence
    probable = probability_right(supported(evidence, config, rng)) >= 0.5
    wrong = 1 - float(probable.double().mean())
    some = LEAST_WRONG < wrong < 1.0  # where all look wrong, nothing tells which are
    return evidence.only(probable) if some else evidence


def supported(evidence: Evidence, config: CanonicalConfig, rng: np.random.Generator) -> Support:
    """How well the other pairs support each pair, and how well they support it at random."""
    folds = Folds.of(evidence, rng)
    found = Support(*(torch.zeros(len(evidence)).to(evidence.x) for _ in Support._fields))
    for fold, (fitted, own) in enumerate(folds.trials):
        maps = canonical(fitted, config)
        left = maps.of_source(own.left.to(evidence.x))
        right = maps.of_target(own.right.to(evidence.y))
        mixed = torch.from_numpy(rng.permutation(len(own))).to(left.device)
        here = folds.of_pair == fold
        found.own[here] = (left * right).sum(dim=1)
        found.shuffled[here] = (left * right[mixed]).sum(dim=1)
    return found


def probability_right(support: Support) -> Tensor:
    """The probability (p,) that each pair is no shuffled one, by expectation maximisation, double."""
    own, shuffled = (cosines.double() for cosines in support)
    low, spread = shuffled.mean(), shuffled.std().clamp_min(1e-6)
    # Half of the wrong pairs lie below the mean of the shuffled, and hardly any right one (Storey, 2002).
    wrong = min(max(2 * float((own < low).double().mean()), 1e-3), MOST_WRONG)
    above = own > low + spread
    right = above.double()
    if not above.any():
        return right
    for _ in range(ROUNDS):
        mean = (right * own).sum() / right.sum()
        width = ((right * (own - mean) ** 2).sum() / right.sum()).sqrt().clamp_min(spread / 2)
        odds = _log_normal(own, mean, width) - _log_normal(own, low, spread) + math.log(1 / wrong - 1)
        right = torch.where(own > mean, 1.0, torch.sigmoid(odds))
        wrong = min(max(float((1 - right).mean()), 1e-3), MOST_WRONG)
    return right


def _log_normal(values: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """The logarithm of the normal density, up to a constant."""
    density: Tensor = -(((values - mean) / deviation) ** 2) / 2 - deviation.log()
    return density
