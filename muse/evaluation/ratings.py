"""Ratings by people of pairs of words and of sentences, compared with what their vectors say.

* word similarity: the correlation of cosines across languages with the ratings of word pairs.
* similarity of sentences (STS): the correlation of the cosines of sentences with the ratings.
* relatedness: a regression, by the protocol of Tai et al. (2015, section 4.2), as in SentEval (Conneau &
  Kiela, 2018). Of a pair (u, v) it sees |u - v| and u * v, a rating is a distribution over the two whole
  numbers beside it, and the prediction is the expected number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
import torch
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation.classifier import Regressions
from muse.evaluation.score import (
    Interval,
    JsonScore,
    Signature,
    lexicon_name,
    percentile_interval,
    space_signature,
)
from muse.lexicon import Lexicon
from muse.space import AlignedSpace
from muse.vectors import Matrix

FEWEST = 3  # pairs needed for a correlation: two points always lie on a line
SAMPLES = 1_000
AT_ONCE = 2_000_000  # pairs drawn: of 20,000, 100 samples
STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0)  # C, the inverse of the L2 penalty
FEWEST_TRAINING_PAIRS = 25  # training pairs
HELD_OUT = 5  # one in five training pairs chooses the strength
_ROUNDING = 1e-6  # rows are of float32: differences below that are of rounding

Values = NDArray[np.float64]


@dataclass(frozen=True)
class SimilarityScore(JsonScore):
    """Pearson's and Spearman's correlation, -1 to 1, with 95 % intervals, over the covered pairs."""

    pearson: float
    spearman: float
    pearson_ci95: Interval
    spearman_ci95: Interval
    pairs: int
    covered: int
    coverage: float
    signature: Signature

    def __str__(self) -> str:
        """The lines to print."""
        return f"{_both_lines(self)}\ncoverage {self.covered}/{self.pairs}"


def evaluate_similarity(
    space: AlignedSpace,
    rated: Lexicon,
    *,
    rng: np.random.Generator,
    source: str | None = None,
    target: str | None = None,
    gold: str | None = None,
) -> SimilarityScore:
    """The correlation of cosines with the ratings (the scores of `rated`), over the covered pairs.

    `rng` is for the bootstrap over pairs. `gold` names the ratings in the signature. (The task of
    Camacho-Collados et al., SemEval-2017 task 2.)
    """
    source, target = space.direction(source, target)
    ratings = _ratings(space, rated, source, target)  # (p,)
    rows = rated.located(space.vectors(source).index, space.vectors(target).index)  # (p, 2)
    x, y = space.tensor(source)[rows[:, 0]], space.tensor(target)[rows[:, 1]]
    cosines = (x * y).sum(dim=1).to(torch.float64).cpu().numpy()  # (p,)
    if _is_constant(cosines):
        raise Mismatch("a correlation needs cosines that differ, got the same for all pairs; check the space")
    coverage = len(rows) / len(rated)
    signature = space_signature(
        space, source, target, retrieval="cosine", gold=gold or lexicon_name(rated), coverage=coverage
    )
    return SimilarityScore(*correlations(cosines, ratings, rng), len(rated), len(rows), coverage, signature)


def correlations(
    found: Values, ratings: Values, rng: np.random.Generator
) -> tuple[float, float, Interval, Interval]:
    """Pearson's and Spearman's correlation of (p,) and (p,), and the intervals of both, by the same draws."""
    drawn = rng.integers(len(ratings), size=(SAMPLES, len(ratings)))
    return (
        pearson(found, ratings),
        spearman(found, ratings),
        correlation_interval(found, ratings, drawn, ranks=False),
        correlation_interval(found, ratings, drawn, ranks=True),
    )


def pearson(cosines: Values, ratings: Values) -> float:
    """Pearson's correlation of (p,) and (p,)."""
    return float(scipy.stats.pearsonr(cosines, ratings).statistic)


def spearman(cosines: Values, ratings: Values) -> float:
    """Spearman's rank correlation of (p,) and (p,); ties get their mean rank."""
    return float(scipy.stats.spearmanr(cosines, ratings).statistic)


def correlation_interval(
    cosines: Values, ratings: Values, drawn: NDArray[np.int64], *, ranks: bool
) -> Interval:
    """The 95 % percentile bootstrap interval of Pearson's correlation of (p,) and (p,), or Spearman's.

    `drawn` (samples, p) has the pairs of each sample. Samples with a constant side have no correlation
    and are left out.
    """
    found = _sampled(cosines, ratings, drawn, ranks=ranks)
    return percentile_interval(found[~np.isnan(found)])


def mean_interval(sets: Sequence[tuple[Values, Values]], rng: np.random.Generator) -> Interval:
    """The 95 % percentile bootstrap interval of the mean of Pearson's correlations, each of (p,) and (p,).

    Every set is resampled in each sample; samples with a constant side in a set are left out.
    """
    means = np.zeros(SAMPLES)
    for found, ratings in sets:
        drawn = rng.integers(len(ratings), size=(SAMPLES, len(ratings)))
        means += _sampled(found, ratings, drawn, ranks=False) / len(sets)
    return percentile_interval(means[~np.isnan(means)])


def _sampled(cosines: Values, ratings: Values, drawn: NDArray[np.int64], *, ranks: bool) -> Values:
    """The correlation (s,) of each sample of pairs drawn (s, p)."""
    # Each pair drawn takes about 75 bytes until its sample is done.
    parts = np.array_split(drawn, min(len(drawn), 1 + drawn.size // AT_ONCE))
    return np.concatenate([_correlations(cosines[part], ratings[part], ranks=ranks) for part in parts])


def _correlations(x: Values, y: Values, *, ranks: bool) -> Values:
    """The correlation (s,) of each sample (s, p) and (s, p); nan where a side is constant."""
    found: Values = np.full(len(x), np.nan)
    varied = np.ptp(x, axis=1).astype(bool) & np.ptp(y, axis=1).astype(bool)
    x, y = x[varied], y[varied]
    if ranks:
        x, y = scipy.stats.rankdata(x, axis=1), scipy.stats.rankdata(y, axis=1)
    x, y = (side - side.mean(axis=1, keepdims=True) for side in (x, y))
    found[varied] = (x * y).sum(axis=1) / np.sqrt(np.square(x).sum(axis=1) * np.square(y).sum(axis=1))
    return found


def _is_constant(values: Values) -> bool:
    """Whether values (p,) are the same but for rounding."""
    return bool(np.ptp(values) <= _ROUNDING * max(1.0, float(np.abs(values).max())))


def _ratings(space: AlignedSpace, rated: Lexicon, source: str, target: str) -> Values:
    # The ratings (p,) of the covered pairs.
    if rated.scores is None:
        raise Mismatch(
            "word similarity needs a rating for each pair, got pairs alone; "
            "write word, word and rating on each line, separated by tabs"
        )
    x, y = space.vectors(source).index, space.vectors(target).index
    covered = [x.locate(first) is not None and y.locate(second) is not None for first, second in rated.pairs]
    ratings = np.array(rated.scores, np.float64)[covered]
    if len(ratings) < FEWEST:
        advice = (
            f"its direction is {target} to {source}: swap --src and --tgt"
            if len(rated.reversed().located(x, y)) > len(ratings)
            else "check languages, case and direction of the file"
        )
        raise Mismatch(
            f"word similarity needs at least {FEWEST} pairs with known words of {source} and {target}, got "
            f"{len(ratings)} of {len(rated)}; {advice}"
        )
    if not np.ptp(ratings):
        raise Mismatch(
            f"a correlation needs ratings that differ, got {ratings[0]:g} for all pairs; check the file"
        )
    return ratings


@dataclass(frozen=True)
class StsScore(JsonScore):
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

    def __str__(self) -> str:
        """The lines to print."""
        rest = f"{self.pairs} pairs, {self.empty} of them without a known word on a side"
        return f"{_both_lines(self)}\n{rest}"


def _both_lines(score: SimilarityScore | StsScore) -> str:
    # Both correlations, a line each.
    return "\n".join(
        f"{name} = {value:.3f} [{low:.3f}, {high:.3f}] | {score.signature}"
        for name, value, (low, high) in (
            ("Pearson", score.pearson, score.pearson_ci95),
            ("Spearman", score.spearman, score.spearman_ci95),
        )
    )


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
    check_similarities(found)
    return StsScore(*correlations(found, ratings, rng), len(ratings), empty, signature)


def check_similarities(found: Values) -> None:
    """Mismatch if what was found (p,) for pairs is the same for all, but for rounding."""
    if _is_constant(found):
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
    reached = _agreement(x, known, held_out)
    (found,) = _predicted(x, known, test.features(), [STRENGTHS[int(np.argmax(reached))]])
    return correlated(found, test.ratings, empty_pairs(test.first, test.second), signature, rng=rng)


def _agreement(x: Values, ratings: Values, held_out: NDArray[np.bool_]) -> list[float]:
    """Pearson's correlation on the pairs held out (p,), of a regression of each strength from the others.

    -1 where it is undefined.
    """
    if not (np.ptp(ratings[held_out]) and np.ptp(ratings[~held_out])):
        return [-1.0] * len(STRENGTHS)
    found = _predicted(x[~held_out], ratings[~held_out], x[held_out], STRENGTHS)
    return [-1.0 if _is_constant(one) else pearson(one, ratings[held_out]) for one in found]


def _predicted(x: Values, ratings: Values, other: Values, strengths: Sequence[float]) -> Values:
    """The expected ratings (s, m) of other features (m, f), by a regression of each strength.

    Multinomial, from features (p, f) to whole numbers in the proportions of ratings (p,).
    """
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1.0
    # A rating of 3.7 is of class 4 by 0.7, and of class 3 by 0.3: the cross entropy with the distribution of
    # Tai et al. (2015, equation 15) but for a constant.
    below = np.floor(ratings)
    classes = np.unique([below, np.ceil(ratings)])
    targets = (classes == below[:, None]) * (1 - (ratings - below))[:, None]
    targets += (classes == below[:, None] + 1) * (ratings - below)[:, None]
    binary = len(classes) == 2
    regressions = Regressions((x - mean) / scale, (targets[:, 1:] if binary else targets).astype(np.float32))
    shares = torch.full((len(x), len(strengths)), 1 / len(x))
    fit = regressions.fitted(shares, torch.tensor([1 / (strength * len(x)) for strength in strengths]))
    odds = regressions.predicted(fit, (other - mean) / scale).double().numpy()  # (m, s, c)
    odds = np.concatenate([1 - odds, odds], axis=2) if binary else odds
    expected: Values = (odds @ classes).T
    return expected
