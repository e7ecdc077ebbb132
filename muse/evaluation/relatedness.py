"""Relatedness: a regression from two sentence vectors to a human rating of the pair.

The protocol of Tai et al. (2015, section 4.2), as in SentEval (Conneau & Kiela, 2018): of a pair (u, v) the
regression sees |u - v| and u * v, a rating is a distribution over the two whole numbers beside it, and the
prediction is the expected number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation.classifier import fit_quietly, require_sklearn
from muse.evaluation.score import Signature
from muse.evaluation.similarity import Values, pearson
from muse.evaluation.sts import StsScore, check_ratings, correlated, empty_pairs
from muse.vectors import Matrix

STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0)  # C, the inverse of the L2 penalty
FEWEST = 25  # training pairs
HELD_OUT = 5  # one in so many training pairs chooses the strength


class RatedRows(NamedTuple):
    """Vectors (p, d) of the first and (p, d) of the second sentences, and the rating (p,) of each pair."""

    first: Matrix
    second: Matrix
    ratings: Values

    def features(self) -> Values:
        """|u - v| and u * v, one beside the other (p, 2 d)."""
        u, v = self.first.astype(np.float64), self.second.astype(np.float64)
        return np.hstack([np.abs(u - v), u * v])


def evaluate_relatedness(
    train: RatedRows, test: RatedRows, signature: Signature, *, rng: np.random.Generator
) -> StsScore:
    """The correlation of predicted with given ratings of `test`, after learning from `train`.

    `rng` draws the fifth of `train` that chooses the regularisation, and the bootstrap samples. Mismatch if
    there are too few pairs, or all have one rating.
    """
    if len(train.ratings) < FEWEST or not np.ptp(train.ratings):
        raise Mismatch(
            f"a regression needs at least {FEWEST} training pairs with different ratings, got "
            f"{len(train.ratings)} with {len(set(train.ratings.tolist()))}; give more pairs"
        )
    check_ratings(*test)
    x, known = train.features(), train.ratings
    held_out = rng.permutation(len(known)) < len(known) // HELD_OUT  # (p,)
    chosen = max(STRENGTHS, key=lambda strength: _agreement(x, known, held_out, strength))
    found = _Regression(x, known, chosen).predict(test.features())
    return correlated(found, test.ratings, empty_pairs(test.first, test.second), signature, rng=rng)


def _agreement(x: Values, ratings: Values, held_out: NDArray[np.bool_], strength: float) -> float:
    """Pearson's correlation on the pairs held out (p,), of a regression from the others; -1 if undefined."""
    if not (np.ptp(ratings[held_out]) and np.ptp(ratings[~held_out])):
        return -1.0
    found = _Regression(x[~held_out], ratings[~held_out], strength).predict(x[held_out])
    return pearson(found, ratings[held_out]) if np.ptp(found) else -1.0


class _Regression:
    """A multinomial regression from features (p, f) to whole numbers, in the proportions of ratings (p,)."""

    def __init__(self, x: Values, ratings: Values, strength: float) -> None:
        logistic, _ = require_sklearn()
        self.mean, self.scale = x.mean(axis=0), x.std(axis=0)
        self.scale[self.scale == 0] = 1.0
        below = np.floor(ratings)
        # A rating of 3.7 is a pair of class 4 with the weight 0.7, and one of class 3 with 0.3: the cross
        # entropy with the distribution of Tai et al. (2015, equation 15) but for a constant.
        classes = np.concatenate([below, below + 1])
        weights = np.concatenate([1 - (ratings - below), ratings - below])
        there = weights > 0
        self.model: Any = logistic(C=strength, max_iter=200)
        fit_quietly(self.model, np.tile(self._unit(x), (2, 1))[there], classes[there], weights[there])

    def predict(self, x: Values) -> Values:
        """The expected rating (p,) of features (p, f)."""
        shares: Values = self.model.predict_proba(self._unit(x))
        expected: Values = shares @ self.model.classes_
        return expected

    def _unit(self, x: Values) -> Values:
        unit: Values = (x - self.mean) / self.scale
        return unit
