"""Ratings of sentence pairs by people, predicted from the vectors of the two sentences.

* similarity (STS): the correlation of the cosines of sentences with the ratings.
* relatedness: a regression, by the protocol of Tai et al. (2015, section 4.2), as in SentEval (Conneau &
  Kiela, 2018). Of a pair (u, v) it sees |u - v| and u * v, a rating is a distribution over the two whole
  numbers beside it, and the prediction is the expected number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation.classifier import fit_quietly, require_sklearn
from muse.evaluation.score import Interval, Signature, json_fields
from muse.evaluation.similarity import FEWEST, Values, correlations, pearson
from muse.vectors import Matrix

STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0)  # C, the inverse of the L2 penalty
FEWEST_TRAINING_PAIRS = 25  # training pairs
HELD_OUT = 5  # one in five training pairs chooses the strength


@dataclass(frozen=True)
class StsScore:
    """Pearson's and Spearman's correlation, -1 to 1, with 95 % intervals, over all pairs.

    `empty` is the number of pairs in which a sentence has no known word: their cosine is 0.
    """

    pearson: float
    spearman: float
    pearson_ci95: Interval
    spearman_ci95: Interval
    pairs: int
    empty: int
    signature: Signature

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return json_fields(self)

    def __str__(self) -> str:
        """The lines to print."""
        low, high = self.pearson_ci95
        first = f"Pearson = {self.pearson:.3f} [{low:.3f}, {high:.3f}] | {self.signature}"
        low, high = self.spearman_ci95
        second = f"Spearman = {self.spearman:.3f} [{low:.3f}, {high:.3f}] | {self.signature}"
        return f"{first}\n{second}\n{self.pairs} pairs, {self.empty} of them without a known word on a side"


def evaluate_sts(
    first: Matrix, second: Matrix, ratings: Values, signature: Signature, *, rng: np.random.Generator
) -> StsScore:
    """The correlation of the cosines of paired rows (p, d) and (p, d) with their ratings (p,).

    Nothing is trained (the cosine protocol of SentEval, Conneau & Kiela, 2018). `rng` is for the bootstrap.
    """
    check_ratings(first, second, ratings)
    found = cosines(first, second)
    return correlated(found, ratings, empty_pairs(first, second), signature, rng=rng)


def check_ratings(first: Matrix, second: Matrix, ratings: Values) -> None:
    """Mismatch unless rows (p, d) and (p, d) have enough ratings (p,), and these differ."""
    if not len(first) == len(second) == len(ratings) or len(ratings) < FEWEST:
        raise Mismatch(
            f"a correlation needs at least {FEWEST} rated pairs, got {len(first)} and {len(second)} "
            f"sentences and {len(ratings)} ratings; check the file"
        )
    if not np.ptp(ratings):
        raise Mismatch(f"a correlation needs ratings that differ, got {ratings[0]:g} for all; check the file")


def correlated(
    found: Values, ratings: Values, empty: int, signature: Signature, *, rng: np.random.Generator
) -> StsScore:
    """The correlation of what was found (p,) for pairs with their ratings (p,); `empty` is its field.

    Mismatch if all pairs got the same, as they do where no word is known.
    """
    if not np.ptp(found):
        raise Mismatch(
            f"a correlation needs similarities that differ, got {found[0]:.3g} for all {len(found)} pairs; "
            "check that --src is the language of the sentences"
        )
    return StsScore(*correlations(found, ratings, rng), len(ratings), empty, signature)


def empty_pairs(first: Matrix, second: Matrix) -> int:
    """The number of pairs of rows (p, d) and (p, d) with a row of zeros: a sentence without a known word."""
    return int((~(first.any(axis=1) & second.any(axis=1))).sum())


def cosines(first: Matrix, second: Matrix) -> Values:
    """The cosine (p,) of each pair of rows (p, d) and (p, d); 0 if one of them is zero."""
    x, y = first.astype(np.float64), second.astype(np.float64)
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    found: Values = np.einsum("pd,pd->p", x, y) / np.where(lengths, lengths, 1)
    return found


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
    if len(train.ratings) < FEWEST_TRAINING_PAIRS or not np.ptp(train.ratings):
        raise Mismatch(
            f"a regression needs at least {FEWEST_TRAINING_PAIRS} training pairs with different ratings, got "
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
