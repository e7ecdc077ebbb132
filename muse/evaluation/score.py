"""Score: a figure, its confidence interval, and a signature of how it was obtained.

The bootstrap is ours: scipy's resamples every query, which takes 10 ms for 1,500 hits where a binomial draw
for each sample takes 0.1 ms, and it refuses a single query.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from muse.errors import BadFile, Mismatch
from muse.files.source import cannot_open, is_stream, refuse_stream
from muse.files.space_folder import checksum, with_checksum
from muse.installation import __version__
from muse.lexicon import Lexicon
from muse.ranking.ranker import Ranker
from muse.space import Space
from muse.space.derived import uses_cached_hubness

Hits = NDArray[np.bool_]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Signature:
    """How a score was obtained; parts that are empty or None are left out of its text.

    `vocabulary` has the numbers of source and target words, `gold` a name and the first four digits
    of a sha256, `more` the parts of some evaluations only, such as "encoder:sif".

    >>> print(Signature("csls:10", "fr-en", "unit", "gromov", seed=0, vocabulary=(9, 8), coverage=0.984))
    csls:10 | fr-en | unit | gromov | seed:0 | vocab:9/8 | coverage:0.98 | muse 0.1.0
    """

    retrieval: str
    direction: str
    normalisation: str = ""
    method: str = ""
    seed: int | None = None
    vocabulary: tuple[int, int] | None = None
    gold: str = ""
    coverage: float | None = None
    more: tuple[str, ...] = ()
    version: str = __version__

    def __str__(self) -> str:
        parts = [
            self.retrieval, self.direction, self.normalisation, self.method,
            "" if self.seed is None else f"seed:{self.seed}",
            "" if self.vocabulary is None else "vocab:{}/{}".format(*self.vocabulary),
            self.gold and f"gold:{self.gold}",
            "" if self.coverage is None else f"coverage:{self.coverage:.2f}",
            *self.more,
            f"muse {self.version}",
        ]  # fmt: skip
        return " | ".join(part for part in parts if part)


def json_fields(score: object, *left_out: str) -> dict[str, Any]:
    """The fields of a score but those `left_out`, for JSON: lists for tuples, and the text of a signature."""

    def plain(value: object) -> object:
        if isinstance(value, Signature):
            return str(value)
        return list(value) if isinstance(value, tuple) else value

    return {name: plain(value) for name, value in vars(score).items() if name not in left_out}


class JsonScore:
    """A score whose JSON is all of its fields."""

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return json_fields(self)


def with_interval(value: float, ci95: Interval, digits: int = 1) -> str:
    """A figure with its interval, as it is shown.

    >>> with_interval(81.25, (79.0, 83.5))
    '81.2 [79.0, 83.5]'
    """
    low, high = ci95
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


@dataclass(frozen=True)
class Score:
    """A figure in percent, its 95 % interval if there is one, and its signature.

    >>> print(Score("P@1", 81.25, (79.0, 83.5), Signature("nn", "fr-en", version="0.1.0")))
    P@1 = 81.2 [79.0, 83.5] | nn | fr-en | muse 0.1.0
    """

    name: str
    value: float
    ci95: Interval | None
    signature: Signature

    def __repr__(self) -> str:
        shown = f"{self.value:.1f}" if self.ci95 is None else with_interval(self.value, self.ci95)
        return f"{self.name} = {shown} | {self.signature}"


def space_signature(
    space: Space,
    source: str,
    target: str,
    *,
    retrieval: str,
    gold: str = "",
    coverage: float | None = None,
    more: tuple[str, ...] = (),
) -> Signature:
    """The signature of a score of `space` from `source` to `target`, looked up exactly unless `more` says."""
    sides = (space.side(source), space.side(target))
    steps = list(dict.fromkeys(",".join(side.normalisation.steps) or "none" for side in sides))
    words = len(sides[0].vectors), len(sides[1].vectors)
    return Signature(
        retrieval, f"{source}-{target}", "/".join(steps), space.method(source, target), space.manifest.seed,
        words, gold, coverage, more,
    )  # fmt: skip


def look_up_signature(ranker: Ranker, *, gold: str = "", coverage: float | None = None) -> Signature:
    """The signature of a score of words looked up by a ranker, whose hubness may be approximate.

    Its retrieval is "all evidence" where the space has answers chosen so; "own spelling" says that a word's
    own spelling was preferred.
    """
    (space, way, retrieval), more = (ranker.space, ranker.direction, ranker.retrieval), list[str]()
    if uses_cached_hubness(retrieval) and space.is_approximate(*way):
        more.append("search:approximate")
    if ranker.prefers_own_spelling:
        more.append("own spelling")
    by = str(retrieval) if ranker.table is None else "all evidence"
    return space_signature(space, *way, retrieval=by, gold=gold, coverage=coverage, more=tuple(more))


def gold_name(path: Path | str) -> str:
    """The name of a file of gold data with the first four digits of its sha256: fr-en.txt@3f2a."""
    path = Path(path)
    refuse_stream(path, "whose checksum goes into the signature")
    try:
        return with_checksum(path.name, checksum(path))
    except OSError as error:
        raise BadFile(cannot_open(path, error)) from error


def text_name(path: Path | str) -> str:
    """The name of a text with the first four digits of its sha256; of a pipe, read only once, the name alone.

    Raise BadFile if it cannot be read.
    """
    path = Path(path)
    return path.name if is_stream(path) else gold_name(path)


def lexicon_name(lexicon: Lexicon) -> str:
    """A name for gold pairs that are not from a file: their number and their checksum."""
    text = "\n".join("\t".join(pair) for pair in lexicon.pairs)
    return with_checksum(f"{len(lexicon)}-pairs", hashlib.sha256(text.encode()).hexdigest())


def bootstrap_interval(hits: Hits, rng: np.random.Generator, samples: int = 1_000) -> Interval:
    """The 95 % percentile bootstrap interval, in percent, of the mean of `hits` (q,) bool.

    >>> bootstrap_interval(np.arange(50) < 25, np.random.default_rng(0))
    (36.0, 64.0)
    """
    return bootstrap_count(int(hits.sum()), len(hits), rng, samples)


def bootstrap_count(hits: int, queries: int, rng: np.random.Generator, samples: int = 1_000) -> Interval:
    """The 95 % percentile bootstrap interval, in percent, of `hits` right answers to `queries`.

    The mean of q draws with replacement from q booleans is Binomial(q, mean) / q, so that is drawn:
    the same distribution as resampling the queries, without an array of (samples, q).
    (Efron, 1979; percentile method: Efron, 1981.)

    Where all are right, or none is, all samples are alike: Wilson's interval (1927) is given then.

    >>> bootstrap_count(50, 50, np.random.default_rng(0))
    (92.9, 100.0)
    """
    if not queries:
        raise Mismatch("a confidence interval needs at least one query, got none; check the gold data")
    if hits in (0, queries):
        known = scipy.stats.binomtest(hits, queries).proportion_ci(method="wilson")
        return round(100 * float(known.low), 1), round(100 * float(known.high), 1)
    means = rng.binomial(queries, hits / queries, size=samples) / queries  # (samples,)
    return percentile_interval(100 * means)


def bootstrap_mean(values: NDArray[np.float64], rng: np.random.Generator, samples: int = 1_000) -> Interval:
    """The 95 % percentile bootstrap interval of the mean of `values` (q,), in their unit.

    (Efron, 1979; percentile method: Efron, 1981.)

    >>> bootstrap_mean(np.full(9, 0.5), np.random.default_rng(0))
    (0.5, 0.5)
    """
    if not len(values):
        raise Mismatch("a confidence interval needs at least one query, got none; check the gold data")
    count = len(values)
    means = [float(values[rng.integers(count, size=count)].mean()) for _ in range(samples)]
    return percentile_interval(np.array(means))


def percentile_interval(values: NDArray[np.float64]) -> Interval:
    """The middle 95 % of resampled `values` (samples,).

    >>> percentile_interval(np.arange(41.0))
    (1.0, 39.0)
    """
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
