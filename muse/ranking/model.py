"""Model: how candidates become answers with probabilities, and a report of how they were chosen.

Trees learned on other languages choose in spaces without pairs of their own; they are in pretrained.npz.
`benchmarks/words/pretrained.py` learned them from English and German: the words that translate each other in
sentences of Tatoeba (https://tatoeba.org, CC BY 2.0 FR), in a space aligned without pairs from our vectors of
novels (ELTeC and DraCor, CC BY 4.0), refined by answers of trees from English and French. Those for languages
that are spelled unlike are of English with German and with French, whose vectors are of novels and the web,
and of every translation with a share of a word's in these sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.ranking import features, neighbourhoods
from muse.ranking.candidates import Candidates, NeighbourLists, best_of_groups, mutual_pairs
from muse.ranking.expected import ExpectedPrecision
from muse.ranking.trees import BoostedTrees
from muse.space.derived import AnswerTable
from muse.vectors import Doubles, Flags, Matrix, Numbers

PRETRAINED = Path(__file__).with_name("pretrained.npz")
UNSPELLED = "unspelled."  # before the names of arrays of the trees for languages that are spelled unlike
ANSWERS = 10  # candidates of a word that are kept
BINS = 20  # of the calibration, at most
SAME_STRING = 5.0  # log odds of a word's own spelling; chosen on the training lists of five pairs, like all
LOG_RANKS_APART = float(np.log(10))  # how far the logarithms of both ranks may be apart for that
LEAST_LETTERS = 2  # letters at least: m and t are no names, but parts of I'm and don't
SAME_STRING_PROBABLE = 2.0  # of SAME_STRING, what counts in the probability: all of it promised too much
OUTSIDE_WEIGHT = 2.0  # of outside log odds: pretrained trees are too sure. Chosen on en-de and en-ru
# With outside scores the mapping may be weak, and more of the log odds wrong: on training lists of six pairs.
OUTSIDE_CURVE = 0.46, 0.45
CURVE = 0.64, 0.55  # slope and shift of log odds by pretrained trees, as logistic regression finds them
UNSPELLED_CURVE = 0.78, 0.25  # by those for languages spelled unlike: training lists of three pairs
# The better a mapping, the more words are each other's answer, and the more of the answers are right: what
# is added to the log odds of their probabilities, by the log odds of the mutual share. In a small vocabulary
# more words are mutual, and no more right: the log odds grow by MUTUAL_OF_FEW as the words get e times fewer.
# Found on the training lists of six spaces, whole and cut to 10,000, 5,000 and 2,500 words.
MUTUAL_SHIFT, MUTUAL_SLOPE, MUTUAL_OF_FEW = 0.15, 0.7, 0.25
MOST_SHIFT = 0.5
COMPARED_WORDS = 30_000  # the most frequent words of either language

Shares = TypeVar("Shares", Matrix, Doubles)


def csls_answers(lists: NeighbourLists) -> AnswerTable:
    """The answers by CSLS; their probabilities are unknown: nan."""
    columns, csls = lists.columns[:, :ANSWERS], lists.csls[:, :ANSWERS]
    pointers = np.arange(len(columns) + 1) * columns.shape[1]
    return AnswerTable(pointers, columns.ravel(), csls.ravel(), np.full(columns.size, np.nan, np.float32))


@dataclass(frozen=True, eq=False)
class ProbabilityCurve:
    """Probabilities of log odds, monotonic: between the `knots` (b,), ascending, `values` (b,) are linear."""

    knots: Doubles
    values: Doubles

    @classmethod
    def identity(cls) -> ProbabilityCurve:
        """The logistic function: the log odds are taken as calibrated."""
        knots = np.linspace(-8, 8, 33)
        return cls(knots, 1 / (1 + np.exp(-knots)))

    @classmethod
    def logistic(cls, slope: float, shift: float) -> ProbabilityCurve:
        """The logistic function of the log odds, times a slope, plus a shift."""
        knots = np.linspace(-24, 24, 97)
        return cls(knots, 1 / (1 + np.exp(-slope * knots - shift)))

    @classmethod
    def fitted(cls, log_odds: Doubles, right: Flags | Doubles) -> ProbabilityCurve:
        """The curve of the log odds (q,) of answers to held-out words, and whether they are right (q,).

        Shares in bins of equal size, at least 25 answers each, made monotonic by isotonic regression. What is
        right may be a probability.
        """
        count = min(BINS, len(right) // 25)
        if count < 2:
            return cls.identity()
        bins = np.array_split(np.argsort(log_odds, kind="stable"), count)
        means = np.array([log_odds[one].mean() for one in bins])
        # One more right and one more wrong answer in each: no share is 0 or 1.
        shares = np.array([(right[one].sum() + 1) / (len(one) + 2) for one in bins])
        knots, firsts = np.unique(means, return_index=True)
        return cls(knots, isotonic(shares)[firsts])

    @classmethod
    def distributed_as(cls, log_odds: Doubles, probability: Doubles) -> ProbabilityCurve:
        """The curve by which answers with these log odds (q,) are as often so probable as others (q,) are."""
        shares = np.linspace(0, 1, BINS + 1)
        knots, firsts = np.unique(np.quantile(log_odds, shares), return_index=True)
        return cls(knots, np.quantile(probability, shares)[firsts])

    def check(self) -> None:
        """Raise ValueError unless knots and values ascend, these from 0 to 1."""
        knots, values = self.knots, self.values
        if not (knots.shape == values.shape == (len(knots),)) or not len(knots):
            raise ValueError("expected a probability for each knot")
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError("expected probabilities")
        if (np.diff(knots) <= 0).any() or (np.diff(values) < 0).any():
            raise ValueError("expected probabilities that ascend")

    def shifted(self, by: float) -> ProbabilityCurve:
        """The curve with so much added to the log odds of its values."""
        return ProbabilityCurve(self.knots, shifted(self.values, by))

    def __call__(self, log_odds: Doubles) -> Matrix:
        """The probabilities (c,)."""
        below = log_odds < self.knots[0]
        found = np.interp(log_odds, self.knots, self.values)
        # Lower than any answer of a held-out word: the probability decreases towards 0.
        found[below] *= np.exp(log_odds[below] - self.knots[0])
        return found.astype(np.float32)


def isotonic(values: Doubles) -> Doubles:
    """The ascending values (b,) nearest to some (b,) by squares: the greatest of their least means.

    This is the max-min formula of isotonic regression (Robertson, Wright and Dykstra, 1988); of few values.

    >>> isotonic(np.array([1.0, 3.0, 2.0, 4.0])).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    sums, places = np.append(0, np.cumsum(values)), np.arange(len(values))
    counts = 1 + places - places[:, None]  # of the values from one place to another
    means = np.where(counts > 0, (sums[1:] - sums[:-1, None]) / np.maximum(counts, 1), np.inf)
    least = np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.maximum.accumulate(least, axis=0).diagonal())


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """How the answers of one direction are chosen: by a mixture of trees learned here and pretrained ones.

    The log odds are mix times those of `here` plus 1 - mix times those of `pretrained` (`pretrained_odds`).
    Those of a word's own spelling are lowered by `discount` before they become a probability.
    """

    here: BoostedTrees | None
    pretrained: BoostedTrees | None
    mix: float
    curve: ProbabilityCurve
    discount: float = 0.0

    @classmethod
    def of_pretrained(cls, trees: BoostedTrees, *, outside: bool = False) -> AnswerModel:
        """The model where there are no pairs, with outside scores or without."""
        curve = ProbabilityCurve.logistic(*(OUTSIDE_CURVE if outside else CURVE))
        return cls(None, trees, 0.0, curve, SAME_STRING - SAME_STRING_PROBABLE)

    @classmethod
    def of_unspelled(cls, trees: BoostedTrees) -> AnswerModel:
        """The model over the evidence of neighbourhoods."""
        return cls(trees, None, 1.0, ProbabilityCurve.logistic(*UNSPELLED_CURVE))

    @classmethod
    def csls(cls) -> AnswerModel:
        """The model of CSLS alone."""
        return cls(None, None, 0.0, ProbabilityCurve.identity())

    def check(self) -> None:
        """Raise ValueError unless candidates with any evidence have probabilities by it."""
        for trees in filter(None, (self.here, self.pretrained)):
            trees.check(len(features.NAMES) + len(features.OUTSIDE_COLUMNS) * features.MOST_SOURCES)
        self.curve.check()
        learned = self.here is not None, self.pretrained is not None
        if not 0 <= self.mix <= 1 or (any(learned) and not learned[0 if self.mix else 1]):
            raise ValueError("expected a share of the trees that there are")

    def log_odds(self, evidence: Matrix, other: Doubles | None = None) -> Doubles:
        """The log odds (c,) of candidates by their evidence (c, f); CSLS itself if nothing was learned.

        `other` (c,) are those by the pretrained trees, if they are known.
        """
        if self.here is None and self.pretrained is None:
            return evidence[:, features.NAMES.index("csls")].astype(np.float64)
        found = np.zeros(len(evidence))
        if self.here is not None and self.mix:
            found += self.mix * self.here.log_odds(evidence)
        if self.pretrained is not None and self.mix < 1:
            found += (1 - self.mix) * (pretrained_odds(self.pretrained, evidence) if other is None else other)
        return found

    def probability(self, evidence: Matrix, log_odds: Doubles) -> Matrix:
        """The probabilities (c,) of candidates with this evidence (c, f) and these log odds (c,)."""
        return self.curve(log_odds - self.discount * _own_spelling(evidence))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The model as named arrays, for an .npz."""
        own = {"mix": np.array([self.mix, self.discount])}
        own |= {"knots": self.curve.knots, "values": self.curve.values}
        both = (("here", self.here), ("pretrained", self.pretrained))
        return own | {
            name: one for kind, trees in both if trees for name, one in trees.arrays(f"{kind}.").items()
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> AnswerModel:
        """The model from named arrays."""
        here, pretrained = (
            BoostedTrees.of_arrays(arrays, f"{name}.") if f"{name}.feature" in arrays else None
            for name in ("here", "pretrained")
        )
        (mix, discount), curve = arrays["mix"].tolist(), ProbabilityCurve(arrays["knots"], arrays["values"])
        return cls(here, pretrained, mix, curve, discount)


@dataclass(frozen=True, eq=False)
class PretrainedTrees(BoostedTrees):
    """Trees learned on other languages, and the `unspelled` ones, for languages that are spelled unlike.

    These are over the evidence of `muse.ranking.neighbourhoods`.
    """

    unspelled: BoostedTrees | None = None


@lru_cache(maxsize=2)
def read_pretrained(path: Path = PRETRAINED) -> PretrainedTrees:
    """The trees; BadFile if they were learned from other evidence than is gathered now."""
    with np.load(path, allow_pickle=False) as arrays:
        kinds = {"": features.NAMES, UNSPELLED: neighbourhoods.NAMES}
        for prefix, names in kinds.items():
            if f"{prefix}names" in arrays and tuple(arrays[f"{prefix}names"].tolist()) != names:
                raise BadFile(
                    f"{path}: expected trees over {', '.join(names)}, found others; learn them anew with "
                    "benchmarks/words/pretrained.py"
                )
        unspelled = BoostedTrees.of_arrays(arrays, UNSPELLED) if f"{UNSPELLED}names" in arrays else None
        return PretrainedTrees(**BoostedTrees.of_arrays(arrays).arrays(), unspelled=unspelled)


def write_pretrained(
    trees: BoostedTrees, path: Path = PRETRAINED, unspelled: BoostedTrees | None = None
) -> None:
    """Writes the trees, and the names of the evidence they were learned from."""
    arrays: dict[str, Any] = {"names": np.array(features.NAMES), **trees.arrays()}
    if unspelled is not None:
        arrays |= {f"{UNSPELLED}names": np.array(neighbourhoods.NAMES), **unspelled.arrays(UNSPELLED)}
    np.savez_compressed(path, **arrays)


def pretrained_odds(trees: BoostedTrees, evidence: Matrix) -> Doubles:
    """The log odds (c,) by trees learned on other languages, names considered.

    The sentences that those learned from have few names. A word that both languages spell alike gets
    SAME_STRING more; not one of very different ranks, which, like French tu and its trace in English, is a
    false friend or noise. The log odds of outside scores are added.
    """
    outside: Matrix = OUTSIDE_WEIGHT * evidence[:, features.odds_places(evidence)].sum(axis=1)
    return trees.log_odds(evidence) + SAME_STRING * _own_spelling(evidence) + outside


def answered_pairs(there: AnswerTable, back: AnswerTable) -> features.KnownPairs:
    """The pairs (p, 2) of words that are each other's answer, weighing what the less probable is."""
    pairs = mutual_pairs(there.first(), back.first())
    sides = (of.probability[of.pointers[own]] for of, own in zip((there, back), pairs.T, strict=True))
    return features.KnownPairs(pairs, np.minimum(*sides).astype(np.float64))


def _own_spelling(evidence: Matrix) -> Matrix:
    """1 for a candidate (c,) of a similar rank that is spelled like the word, not a single letter, else 0."""
    same, rarer, length = (
        evidence[:, features.NAMES.index(name)] for name in ("same string", "rank difference", "length")
    )
    return np.asarray(same * (np.abs(rarer) <= LOG_RANKS_APART) * (length >= LEAST_LETTERS), np.float32)


def best_answers(
    candidates: Candidates,
    values: Doubles,
    probability: Matrix,
    csls: Callable[[Numbers, Numbers], Matrix],
) -> AnswerTable:
    """The ANSWERS best candidates of each word by `values` (c,), with their probabilities of these (c,).

    None is more probable than a better one. `csls` is that of sources (q,) and targets (q,).
    """
    kept = candidates.order(values)[candidates.ranks < ANSWERS]
    counts, columns = np.minimum(np.diff(candidates.pointers), ANSWERS), candidates.columns[kept]
    some = np.arange(ANSWERS) < counts[:, None]
    shares = np.ones(some.shape, np.float32)
    shares[some] = probability[kept]
    shares = np.minimum.accumulate(shares, axis=1)[some]
    return AnswerTable(np.append(0, np.cumsum(counts)), columns, csls(candidates.rows[kept], columns), shares)


@dataclass(frozen=True)
class ChoiceReport:
    """How the answers of one direction were chosen.

    `by` is "all evidence" or "csls". Of `tested` held-out words the shares right by `csls` and by
    `evidence`, None without pairs; `undecided` if they differ by no more than chance would have it; with
    `one_each` one translation of each was known. `mutual_csls` and
    `mutual` are the shares of words that are their answer's answer. `spelling_informs`: whether spelling
    distinguishes translations. `decided` has for each kind of evidence the share of words that have another
    answer without it. `expected` is how many first answers are expected to be right.
    """

    by: str
    labelled: int
    mix: float
    tested: int = 0
    csls: float | None = None
    evidence: float | None = None
    mutual_csls: float | None = None
    mutual: float | None = None
    spelling_informs: bool = True
    undecided: bool = False
    one_each: bool = False
    decided: Mapping[str, float] = field(default_factory=dict)
    expected: ExpectedPrecision | None = None

    @property
    def learned_from(self) -> int:
        """The number of words with known translations; 0 where trees of other languages choose."""
        return self.labelled if self.mix or self.by == "csls" else 0

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` shows and a table of answers keeps; shares in percent, rounded."""
        return {
            "by": self.by,
            "evidence": {kind: _percent(share) for kind, share in self.decided.items()},
            "trained_on": self.learned_from,
            "of_other_languages": None if self.by == "csls" else round(1 - self.mix, 2),
            "held_out_p_at_1": _percent(self.evidence),
            "csls_p_at_1": _percent(self.csls),
            "mutual": _percent(self.mutual),
            "csls_mutual": _percent(self.mutual_csls),
            **({} if self.expected is None else self.expected.as_json()),
        }

    def __str__(self) -> str:
        """How answers are chosen, in one line."""
        if self.by == "csls":
            reason = f"no gain on {self.tested} held-out words" if self.tested else "no other evidence helps"
            return f"by CSLS alone: {reason}"
        kinds = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in self.decided.items())
        known, held_out = self.learned_from, ""
        learned = f"{known} words with known translations" if known else "other languages"
        if known and self.csls is not None and self.evidence is not None:
            held_out = f"; P@1 {100 * self.evidence:.1f} for {100 * self.csls:.1f} on words held out"
        return f"by all evidence, learned from {learned}{held_out}; decisive: {kinds}"


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)


def mutual_share(there: Numbers, back: Numbers) -> float:
    """The share of n words whose answers of `there` (n,), -1 for none, have them as answers of `back` (m,).

    >>> mutual_share(np.array([1, 1, -1]), np.array([2, 1]))
    0.3333333333333333
    """
    return len(mutual_pairs(there, back)) / len(there)


def mutual_shift(there: Numbers, back: Numbers) -> float:
    """What the share of words that are each other's answer adds to the log odds of probabilities.

    `there` (n,) and `back` (m,) are answers, -1 for none; the share is of the smaller vocabulary.

    >>> everything = np.arange(100)
    >>> mutual_shift(everything, everything)
    0.5
    """
    count = len(mutual_pairs(there[:COMPARED_WORDS], back[:COMPARED_WORDS]))
    most = min(len(there), len(back), COMPARED_WORDS)
    log_odds = np.log((count + 1) / (most - count + 1)) + MUTUAL_OF_FEW * np.log(most / COMPARED_WORDS)
    return float(np.clip(MUTUAL_SHIFT + MUTUAL_SLOPE * log_odds, -MOST_SHIFT, MOST_SHIFT))


def shifted(probability: Shares, by: float) -> Shares:
    """Probabilities (c,) with so much added to their log odds; 0, 1 and nan stay.

    >>> shifted(np.array([0.0, 0.5, 1.0]), np.log(3))
    array([0.  , 0.75, 1.  ])
    """
    more = probability * np.exp(by, dtype=probability.dtype)
    return np.asarray(more / (1 - probability + more), probability.dtype)


def kinds_of(evidence: Matrix) -> dict[str, list[int]]:
    """The columns of each kind of the evidence (c, f)."""
    outside = [*range(len(features.NAMES), evidence.shape[1])]
    return {kind: features.places_of(kind) for kind in features.KINDS} | (
        {features.OUTSIDE: outside} if outside else {}
    )


def decisive(
    candidates: Candidates,
    evidence: Matrix,
    log_odds: Callable[[Matrix], Doubles],
    kinds: Mapping[str, Sequence[int]],
) -> dict[str, float]:
    """For each kind of evidence (c, f), in the columns of `kinds`, the share of words it is decisive for.

    They have another answer by the `log_odds` if all candidates of a word get the values of its first by
    CSLS, the first column.
    """
    group = np.unique(candidates.places, return_inverse=True)[1]
    first = best_of_groups(group, evidence[:, 0])
    best = best_of_groups(group, log_odds(evidence))
    shares = {}
    for kind, columns in kinds.items():
        levelled = evidence.copy()
        levelled[:, columns] = evidence[first[group]][:, columns]
        shares[kind] = float((best_of_groups(group, log_odds(levelled)) != best).mean())
    return shares
