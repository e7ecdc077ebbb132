"""Ratings of pairs by people, as files have them, and their correlation with the cosines of word pairs."""

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
import torch
from numpy.typing import NDArray

from muse.errors import BadFile, Mismatch, counted
from muse.evaluation import score
from muse.files.cells import number_in
from muse.files.columns import Fit, TableColumns, has_number, read_columns
from muse.lexicon import Lexicon, Pair
from muse.space import Space
from muse.text.parallel import fits_of

log = logging.getLogger(__name__)

FEWEST_PAIRS = 3  # pairs needed for a correlation: two points always lie on a line
SAMPLES = 1_000
AT_ONCE = 2_000_000  # pairs drawn: of 20,000, 100 samples
_ROUNDING = 1e-6  # rows are of float32: differences below that are of rounding

Values = NDArray[np.float64]
NO_RATING = frozenset(("", "-", "--", "na", "n/a", "none", "null"))  # of a pair that nobody has rated
RATED = TableColumns(
    {
        "sentence": ("sentence1", "sentence a", "first", "sentence", "text1", "s1", "source"),
        "second sentence": ("sentence2", "sentence b", "second", "text2", "s2", "target", "translation"),
        "rating": (
            "rating", "score", "similarity", "relatedness score", "gold", "similarity score", "human (mean)",
            "simlex999", "mean", "average", "relatedness", "gold score", "label",
        ),
    },
    looks={"rating": lambda cell: has_number(cell) or cell.casefold() in NO_RATING},
    advice="name the columns in a first row: sentence1, sentence2 and score; quote a cell with a comma",
)  # fmt: skip
RATED_WORDS = replace(
    RATED, spaced=True,
    names={
        "word": ("word1", "word", "word a", "w1", *RATED.names["sentence"]),
        "second word": ("word2", "word b", "w2", *RATED.names["second sentence"]),
        "rating": RATED.names["rating"],
    },
    advice="name the columns in a first row: word1, word2 and score",
)  # fmt: skip


class RatedPairs(NamedTuple):
    """Pairs of sentences, or of words, with ratings of their similarity by people."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    ratings: tuple[float, ...]


def read_rated(path: Path | str, wanted: TableColumns = RATED) -> RatedPairs:
    """The rows of two texts and a rating of a table; those without a rating are left out, and told.

    Raise BadFile, naming the line, for one that is no number, and if no pair has a rating.
    """
    rows, without = list[tuple[str, str, float]](), list[str]()
    for where, (one, two, cell) in read_columns(path, wanted):
        if cell.strip().casefold() in NO_RATING:
            without.append(where)
        else:
            rows.append((one, two, rating_in(cell, where)))
    if not rows:
        raise BadFile(
            f"{path}: expected {', '.join(wanted.names)}, got {counted(len(without), 'row')} without a "
            "rating; check the file: ratings that are in another one are put behind with paste"
        )
    warn_of_unrated(path, without)
    return RatedPairs(*zip(*rows, strict=True))


def warn_of_unrated(path: Path | str, places: Sequence[str]) -> None:
    """Warn of the rows that are left out since they have no rating."""
    if places:
        log.warning(
            "%s: left out %d row%s without a rating, the first is %s",
            path, len(places), "s" * (len(places) != 1), places[0],
        )  # fmt: skip


def rating_in(text: str, where: str, bounds: tuple[float, float] = (-math.inf, math.inf)) -> float:
    """The finite number in a cell, within bounds; BadFile, with the place of its row, if it is none."""
    rating = number_in(text.strip())
    if rating is None or not (math.isfinite(rating) and bounds[0] <= rating <= bounds[1]):
        within = "" if math.isinf(bounds[0]) else f" from {bounds[0]:g} to {bounds[1]:g}"
        raise BadFile(
            f"{where}: expected a number{within} as the rating, got {text[:60]!r}; correct the line, or "
            "remove it if it is a header"
        )
    return rating


def read_rated_words(path: Path, space: Space, languages: tuple[str, str]) -> Lexicon:
    """The rated pairs of words of a table, each once; of two languages in the columns that fit them."""
    fits: Sequence[Fit] = fits_of(space.vectors, languages) if languages[0] != languages[1] else ()
    found: dict[Pair, float] = {}
    differ = list[Pair]()
    for one, two, rating in zip(*read_rated(path, replace(RATED_WORDS, fits=fits)), strict=True):
        if found.setdefault(pair := (one.strip(), two.strip()), rating) != rating:
            differ.append(pair)
    if differ:
        log.warning(
            "%s: %s repeated with another rating, the first counts, such as of %r and %r",
            path, counted(len(differ), "pair"), *differ[0],
        )  # fmt: skip
    return Lexicon(tuple(found), tuple(found.values()))


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

    `rng` is for the bootstrap over pairs. `gold` names the ratings in the signature. The words may be of one
    language, which is source and target then. (The task of Camacho-Collados et al., SemEval-2017 task 2.)
    """
    if source is None or source != target:
        source, target = space.direction(source, target)
    ratings = _ratings(space, rated, source, target)  # (p,)
    rows = rated.located(space.vectors(source).index, space.vectors(target).index)  # (p, 2)
    x, y = space.tensor(source)[rows[:, 0]], space.tensor(target)[rows[:, 1]]
    cosines = (x * y).sum(dim=1).to(torch.float64).cpu().numpy()  # (p,)
    if is_constant(cosines):
        raise Mismatch("a correlation needs cosines that differ, got the same for all pairs; check the space")
    language, count = _within(space, rated, source, target)
    if source != target and count > len(rows):
        log.warning(
            "%d of %d pairs are of words of both languages, and %d of %s alone; measure these with --src %s "
            "--tgt %s", len(rows), len(rated), count, *[language] * 3,
        )  # fmt: skip
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


def _within(space: Space, rated: Lexicon, *languages: str) -> tuple[str, int]:
    """The one of these languages that most pairs have both words of, and how many do."""
    indices = {language: space.vectors(language).index for language in languages}
    counts = {language: len(rated.located(index, index)) for language, index in indices.items()}
    return max(counts.items(), key=lambda one: one[1])


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
        swapped, (one, within) = len(rated.reversed().located(x, y)), _within(space, rated, source, target)
        advice = "check languages, case and direction of the file"
        if within > len(ratings) and within >= swapped:
            advice = f"its words are of one language: give --src {one} --tgt {one}"
        elif swapped > len(ratings):
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
