"""Word similarity: the correlation of cosines across languages with human ratings of word pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats
import torch
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation.score import (
    Interval,
    Signature,
    json_fields,
    lexicon_name,
    percentile_interval,
    space_signature,
)
from muse.lexicon import Lexicon
from muse.space import AlignedSpace

FEWEST = 3  # pairs needed for a correlation: two points always lie on a line
SAMPLES = 1_000
AT_ONCE = 2_000_000  # pairs drawn: of 20,000, 100 samples

Values = NDArray[np.float64]


@dataclass(frozen=True)
class SimilarityScore:
    """Pearson's and Spearman's correlation, -1 to 1, with 95 % intervals, over the covered pairs."""

    pearson: float
    spearman: float
    pearson_ci95: Interval
    spearman_ci95: Interval
    pairs: int
    covered: int
    coverage: float
    signature: Signature

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return json_fields(self)

    def __str__(self) -> str:
        """The lines to print."""
        lines = [
            f"{name} = {value:.3f} [{low:.3f}, {high:.3f}] | {self.signature}"
            for name, value, (low, high) in (
                ("Pearson", self.pearson, self.pearson_ci95),
                ("Spearman", self.spearman, self.spearman_ci95),
            )
        ]
        return "\n".join([*lines, f"coverage {self.covered}/{self.pairs}"])


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
    rows = rated.indices(space.vectors(source).index, space.vectors(target).index)  # (p, 2)
    x, y = space.tensor(source)[rows[:, 0]], space.tensor(target)[rows[:, 1]]
    cosines = (x * y).sum(dim=1).to(torch.float64).cpu().numpy()  # (p,)
    if not np.ptp(cosines):
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
    # Each pair drawn takes about 75 bytes until its sample is done.
    parts = np.array_split(drawn, min(len(drawn), 1 + drawn.size // AT_ONCE))
    found = [_correlations(cosines[part], ratings[part], ranks=ranks) for part in parts]
    return percentile_interval(np.concatenate(found))


def _correlations(x: Values, y: Values, *, ranks: bool) -> Values:
    """The correlation (s,) of each sample (s, p) and (s, p) in which neither side is constant."""
    varied = np.ptp(x, axis=1).astype(bool) & np.ptp(y, axis=1).astype(bool)
    x, y = x[varied], y[varied]
    if ranks:
        x, y = scipy.stats.rankdata(x, axis=1), scipy.stats.rankdata(y, axis=1)
    x, y = (side - side.mean(axis=1, keepdims=True) for side in (x, y))
    found: Values = (x * y).sum(axis=1) / np.sqrt(np.square(x).sum(axis=1) * np.square(y).sum(axis=1))
    return found


def _ratings(space: AlignedSpace, rated: Lexicon, source: str, target: str) -> Values:
    # The ratings (p,) of the covered pairs.
    if rated.scores is None:
        raise Mismatch(
            "word similarity needs a rating for each pair, got pairs alone; "
            "write word, word and rating on each line, separated by tabs"
        )
    x, y = space.vectors(source).index, space.vectors(target).index
    covered = [first in x and second in y for first, second in rated.pairs]
    ratings = np.array(rated.scores, np.float64)[covered]
    if len(ratings) < FEWEST:
        advice = (
            f"its direction is {target} to {source}: swap --src and --tgt"
            if len(rated.reversed().indices(x, y)) > len(ratings)
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
