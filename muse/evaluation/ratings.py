"""Ratings of word pairs by people, and their correlation with cosines across languages."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy
import torch
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation import score
from muse.lexicon import Lexicon
from muse.space import Space

FEWEST_PAIRS = 3  # pairs needed for a correlation: two points always lie on a line
SAMPLES = 1_000
AT_ONCE = 2_000_000  # pairs drawn: of 20,000, 100 samples
_ROUNDING = 1e-6  # rows are of float32: differences below that are of rounding

Values = NDArray[np.float64]


@dataclass(frozen=True)
class CorrelationScore(score.JsonScore, ABC):
    """Pearson's and Spearman's correlation, -1 to 1, with 95 % intervals, and how they were obtained."""

    pearson: float
    spearman: float
    pearson_ci95: score.Interval
    spearman_ci95: score.Interval
    signature: score.Signature

    def __str__(self) -> str:
        """The lines to print: a correlation each, then `counts`."""
        both = (("Pearson", self.pearson, self.pearson_ci95), ("Spearman", self.spearman, self.spearman_ci95))
        lines = (
            f"{name} = {score.with_interval(value, ci95, 3)} | {self.signature}" for name, value, ci95 in both
        )
        return "\n".join([*lines, self.counts])

    @property
    @abstractmethod
    def counts(self) -> str:
        """The line about the pairs."""


@dataclass(frozen=True)
class SimilarityScore(CorrelationScore):
    """The correlations over the covered pairs."""

    pairs: int
    covered: int
    coverage: float

    @property
    def counts(self) -> str:
        """The share of the pairs that is covered."""
        return f"coverage {self.covered}/{self.pairs}"


def evaluate_similarity(
    space: Space,
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
    if is_constant(cosines):
        raise Mismatch("a correlation needs cosines that differ, got the same for all pairs; check the space")
    coverage = len(rows) / len(rated)
    signature = score.space_signature(
        space, source, target, retrieval="cosine", gold=gold or score.lexicon_name(rated), coverage=coverage
    )
    return SimilarityScore(*correlations(cosines, ratings, rng), signature, len(rated), len(rows), coverage)


def correlations(
    found: Values, ratings: Values, rng: np.random.Generator
) -> tuple[float, float, score.Interval, score.Interval]:
    """Pearson's and Spearman's correlation of (p,) and (p,), and the intervals of both, by the same draws."""
    drawn = rng.integers(len(ratings), size=(SAMPLES, len(ratings)))
    of_values, of_ranks = (
        correlation_interval(found, ratings, drawn, ranks=ranks) for ranks in (False, True)
    )
    return pearson(found, ratings), spearman(found, ratings), of_values, of_ranks


def pearson(cosines: Values, ratings: Values) -> float:
    """Pearson's correlation of (p,) and (p,)."""
    return float(scipy.stats.pearsonr(cosines, ratings).statistic)


def spearman(cosines: Values, ratings: Values) -> float:
    """Spearman's rank correlation of (p,) and (p,); ties get their mean rank."""
    return float(scipy.stats.spearmanr(cosines, ratings).statistic)


def correlation_interval(
    cosines: Values, ratings: Values, drawn: NDArray[np.int64], *, ranks: bool
) -> score.Interval:
    """The 95 % percentile bootstrap interval of Pearson's correlation of (p,) and (p,), or Spearman's.

    `drawn` (samples, p) has the pairs of each sample. Samples with a constant side have no correlation
    and are left out.
    """
    found = sampled_correlations(cosines, ratings, drawn, ranks=ranks)
    return score.percentile_interval(found[~np.isnan(found)])


def sampled_correlations(
    cosines: Values, ratings: Values, drawn: NDArray[np.int64], *, ranks: bool
) -> Values:
    """The correlation (s,) of each sample of pairs drawn (s, p); nan where a side is constant."""
    found = list[Values]()
    # Each pair drawn takes about 75 bytes until its sample is done.
    for part in np.array_split(drawn, min(len(drawn), 1 + drawn.size // AT_ONCE)):
        sides = cosines[part], ratings[part]
        varied = np.logical_and(*(np.ptp(side, axis=1) > 0 for side in sides))
        ranked = (scipy.stats.rankdata(side, axis=1) if ranks else side for side in sides)
        x, y = (side - side.mean(axis=1, keepdims=True) for side in ranked)
        lengths = np.sqrt(np.square(x).sum(axis=1) * np.square(y).sum(axis=1))
        found.append(np.divide((x * y).sum(axis=1), lengths, out=np.full(len(x), np.nan), where=varied))
    return np.concatenate(found)


def is_constant(values: Values) -> bool:
    """Whether values (p,) are the same but for rounding."""
    return bool(np.ptp(values) <= _ROUNDING * max(1.0, float(np.abs(values).max())))


def _ratings(space: Space, rated: Lexicon, source: str, target: str) -> Values:
    # The ratings (p,) of the covered pairs.
    if rated.scores is None:
        raise Mismatch(
            "word similarity needs a rating for each pair, got pairs alone; "
            "write word, word and rating on each line, separated by tabs"
        )
    x, y = space.vectors(source).index, space.vectors(target).index
    pairs = zip(rated.pairs, rated.scores, strict=True)
    covered = (one for (a, b), one in pairs if None not in (x.lookup_row(a), y.lookup_row(b)))
    ratings = np.fromiter(covered, np.float64)
    if len(ratings) < FEWEST_PAIRS:
        swapped = len(rated.reversed().located(x, y)) > len(ratings)
        advice = "check languages, case and direction of the file"
        if swapped:
            advice = f"its direction is {target} to {source}: swap --src and --tgt"
        raise Mismatch(
            f"word similarity needs at least {FEWEST_PAIRS} pairs with known words of {source} and {target}, "
            f"got {len(ratings)} of {len(rated)}; {advice}"
        )
    if not np.ptp(ratings):
        raise Mismatch(
            f"a correlation needs ratings that differ, got {ratings[0]:g} for all pairs; check the file"
        )
    return ratings
