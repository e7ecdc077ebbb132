"""Ratings of sentence pairs by people, compared with what the vectors of the sentences say.

* similarity (STS): the correlation of the cosines of sentences with the ratings.
* relatedness: a regression, by the protocol of Tai et al. (2015, section 4.2), as in SentEval (Conneau &
  Kiela, 2018). Of a pair (u, v) it sees |u - v| and u * v, a rating is a distribution over the two whole
  numbers beside it, and the prediction is the expected number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation.ratings import (
    FEWEST_PAIRS,
    SAMPLES,
    CorrelationScore,
    Values,
    correlations,
    is_constant,
    pearson,
    sampled_correlations,
)
from muse.evaluation.score import Interval, Signature, percentile_interval
from muse.sentences.evaluation.classifier import Regressions
from muse.vectors import Matrix

STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0)  # C, the inverse of the L2 penalty
FEWEST_TRAINING_PAIRS = 25
HELD_OUT = 5  # one in five training pairs chooses the strength


@dataclass(frozen=True)
class StsScore(CorrelationScore):
    """The correlations over all pairs.

    `empty` is the number of pairs in which a sentence has no known word: their cosine is 0.
    """

    pairs: int
    empty: int

    @property
    def counts(self) -> str:
        """The numbers of pairs."""
        return f"{self.pairs} pairs, {self.empty} of them without a known word on a side"


def mean_interval(sets: Sequence[tuple[Values, Values]], rng: np.random.Generator) -> Interval:
    """The 95 % percentile bootstrap interval of the mean of Pearson's correlations, each of (p,) and (p,).

    Every set is resampled in each sample; samples with a constant side in a set are left out.
    """
    means = np.zeros(SAMPLES)
    for found, ratings in sets:
        drawn = rng.integers(len(ratings), size=(SAMPLES, len(ratings)))
        means += sampled_correlations(found, ratings, drawn, ranks=False) / len(sets)
    return percentile_interval(means[~np.isnan(means)])


def evaluate_sts(
    first: Matrix, second: Matrix, ratings: Values, signature: Signature, *, rng: np.random.Generator
) -> StsScore:
    """The correlation of the cosines of paired rows (p, d) and (p, d) with their ratings (p,).

    Nothing is trained (the cosine protocol of SentEval, Conneau & Kiela, 2018). `rng` is for the bootstrap.
    """
    check_ratings(ratings)
    found = cosines(first, second)
    return correlated(found, ratings, empty_pairs(first, second), signature, rng=rng)


def check_ratings(
    ratings: Sequence[float] | Values, least: int = FEWEST_PAIRS, what: str = "a correlation"
) -> None:
    """Mismatch unless there are enough ratings (p,) of pairs, and these differ."""
    if len(ratings) < least:
        raise Mismatch(f"{what} needs at least {least} rated pairs here, got {len(ratings)}; check the file")
    if len(set(ratings)) < 2:
        raise Mismatch(f"{what} needs ratings that differ, got {ratings[0]:g} for all; check the file")


def correlated(
    found: Values, ratings: Values, empty: int, signature: Signature, *, rng: np.random.Generator
) -> StsScore:
    """The correlation of what was found (p,) for pairs with their ratings (p,); `empty` is its field.

    Mismatch if all pairs got the same, as they do where no word is known.
    """
    check_similarities(found)
    return StsScore(*correlations(found, ratings, rng), signature, len(ratings), empty)


def check_similarities(found: Values) -> None:
    """Mismatch if what was found (p,) for pairs is the same for all, but for rounding."""
    if is_constant(found):
        raise Mismatch(
            f"a correlation needs similarities that differ, got {found[0]:.3g} for all {len(found)} pairs; "
            "check that --src is the language of the sentences"
        )


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
        return difference_and_product(self.first.astype(np.float64), self.second.astype(np.float64))


def difference_and_product(u: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """|u - v| and u * v of rows (p, d) and (p, d), one beside the other (p, 2 d)."""
    return np.hstack([np.abs(u - v), u * v])


def evaluate_relatedness(
    train: RatedRows, test: RatedRows, signature: Signature, *, rng: np.random.Generator
) -> StsScore:
    """The correlation of predicted with given ratings of `test`, after learning from `train`.

    `rng` draws the fifth of `train` that chooses the regularisation, and the bootstrap samples. Mismatch if
    there are too few pairs, or all have one rating.
    """
    check_ratings(train.ratings, FEWEST_TRAINING_PAIRS, "a regression")
    check_ratings(test.ratings)
    x, known = train.features(), train.ratings
    held_out = rng.permutation(len(known)) < len(known) // HELD_OUT  # (p,)
    reached = [-1.0]  # by each strength: Pearson's correlation on the pairs held out, where it is defined
    if np.ptp(known[held_out]) and np.ptp(known[~held_out]):
        tried = _predicted(x[~held_out], known[~held_out], x[held_out], STRENGTHS)
        reached = [-1.0 if is_constant(one) else pearson(one, known[held_out]) for one in tried]
    (found,) = _predicted(x, known, test.features(), [STRENGTHS[int(np.argmax(reached))]])
    return correlated(found, test.ratings, empty_pairs(test.first, test.second), signature, rng=rng)


def _predicted(x: Values, ratings: Values, other: Values, strengths: Sequence[float]) -> Values:
    # The expected ratings (s, m) of other features (m, f), by a multinomial regression of each strength from
    # features (p, f) to whole numbers in the proportions of ratings (p,).
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1.0
    # A rating of 3.7 is of class 4 by 0.7, and of class 3 by 0.3: the cross entropy with the distribution of
    # Tai et al. (2015, equation 15) but for a constant.
    below = np.floor(ratings)
    classes = np.unique([below, np.ceil(ratings)])
    targets = (classes == below[:, None]) * (1 - (ratings - below))[:, None]
    targets += (classes == below[:, None] + 1) * (ratings - below)[:, None]
    regressions = Regressions((x - mean) / scale, targets)
    shares = torch.full((len(x), len(strengths)), 1 / len(x))
    weights = regressions.fitted(shares, torch.tensor([1 / (strength * len(x)) for strength in strengths]))
    odds = regressions.shares(weights, (other - mean) / scale)  # (m, s, c)
    expected: Values = (odds.double().numpy() @ classes).T
    return expected
