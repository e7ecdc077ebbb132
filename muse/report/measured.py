"""Accuracy on a gold list in both directions: the score, baselines, and each answer beside the list.

The baselines are two simple methods on the same list: identical strings, and Procrustes on the list itself.
Reliability is whether answers with a probability of p are right in a share p of all cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from muse.evaluation.score import Hits, Signature
from muse.evaluation.words import GroupScore, WordScore, evaluate_words, group_score
from muse.lexicon import Lexicon
from muse.procrustes import cross_fitted
from muse.ranking.lookup import rows_of
from muse.ranking.ranker import ranker_for
from muse.ranking.translations import Grade, Translation, grade_of
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.vectors import Vectors

FOLDS = 5  # of the words of the list: four fifths are fitted to, one fifth is looked up
BINS = 10
GRADES: tuple[Grade, ...] = ("trusted", "likely", "weak")


@dataclass(frozen=True)
class Gold:
    """A list of translations in a direction of a space, and its name in signatures."""

    space: Space
    direction: tuple[str, str]
    lexicon: Lexicon
    name: str

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """The words of both languages."""
        source, target = map(self.space.vectors, self.direction)
        return source, target

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row numbers (p, 2) of the pairs that both languages have."""
        source, target = self.sides
        return self.lexicon.located(source.index, target.index)

    def backward(self) -> Gold:
        """The list for the other direction: what is the first translation of a word, with all such words.

        The further translations of a word are left out, since the word itself is seldom the one that a
        dictionary of the other direction would have for them.
        """
        source, target = self.sides
        covered = [(source.words[row], target.words[column]) for row, column in self.rows.tolist()]
        first: dict[str, str] = {}
        for word, translation in covered:
            first.setdefault(word, translation)
        asked = set(first.values())
        pairs = tuple((translation, word) for word, translation in covered if translation in asked)
        return Gold(self.space, self.direction[::-1], Lexicon(pairs), f"{self.name}:backward")

    def listed(self) -> dict[str, tuple[str, ...]]:
        """The translations of each word, in the order of the list; those that are known as they are there."""
        source, target = self.sides
        found: dict[str, dict[str, None]] = {}
        for word, translation in self.lexicon.pairs:
            row, column = source.index.lookup_row(word), target.index.lookup_row(translation)
            known = word if row is None else source.words[row]
            found.setdefault(known, {})[translation if column is None else target.words[column]] = None
        return {word: tuple(targets) for word, targets in found.items()}


@dataclass(frozen=True, eq=False)
class Measured:
    """The accuracy from `source` to `target` on a gold list, and the accuracy of simple methods."""

    source: str
    target: str
    score: WordScore
    baselines: tuple[Baseline, ...]


def measure(gold: Gold, *, max_vocab: int, rng: np.random.Generator) -> Measured:
    """The accuracy of one direction; `max_vocab` as in `procrustes_on_gold`. Equal ids tell nothing."""
    source, target = gold.direction

    def scored(space: Space) -> WordScore:
        return evaluate_words(space, gold.lexicon, rng=rng, source=source, target=target, gold=gold.name)

    score, by_csls = scored(gold.space), []
    if score.answers == "all":
        alone = scored(gold.space.by_csls())
        found = GroupScore("CSLS", alone.p_at_1, alone.ci95, alone.covered)
        by_csls = [Baseline(found, "if CSLS alone ranks", alone.signature)]
    ranked = all(side.frequency_ordered for side in gold.sides)
    baselines = (
        *by_csls,
        *([identical_strings(gold, score, rng)] if ranked else []),
        procrustes_on_gold(gold, score, max_vocab, rng),
    )
    return Measured(source, target, score, baselines)


@dataclass(frozen=True)
class GoldAnswer:
    """The best translation of a word of the gold list, and what the list has.

    `frequency` is the rank of the word in its vocabulary, from 1; `place` the rank, among all answers, of
    the best translation of the list.
    """

    word: str
    frequency: int
    answer: Translation
    gold: tuple[str, ...]
    place: int

    @property
    def right(self) -> bool:
        """Whether the best translation is in the list."""
        return self.place == 1


def gold_answers(gold: Gold, places: Mapping[str, int]) -> tuple[GoldAnswer, ...]:
    """The answer to each word of `places`, which has the place of its best translation, in that order."""
    ranker = ranker_for(gold.space, list(places), gold.direction, top=1, retrieval=Retrieval())
    found = ranker.translations(rows_of(gold.space, gold.direction[0], list(places), None))
    index, listed = gold.sides[0].index, gold.listed()
    return tuple(
        GoldAnswer(word, index[word] + 1, found[word][0], listed[word], place)
        for word, place in places.items()
    )


@dataclass(frozen=True)
class Baseline:
    """The P@1 of a simple method on the queries of a space's score; its `meaning` follows the figure."""

    found: GroupScore
    meaning: str
    signature: Signature


def identical_strings(gold: Gold, score: WordScore, rng: np.random.Generator) -> Baseline:
    """The baseline that answers every word with itself, where the other language has it too."""
    index, listed = gold.sides[1].index, gold.listed()
    hits = np.array([index.entry(word) in listed[word] for word in score.ranks])
    signature = replace(
        score.signature, retrieval="identical strings", normalisation="", method="", seed=None
    )
    return Baseline(group_score("identical strings", hits, rng), "if every word is left as it is", signature)


def procrustes_on_gold(gold: Gold, score: WordScore, max_vocab: int, rng: np.random.Generator) -> Baseline:
    """The baseline of a rotation fitted to the list itself, each word by one that was not fitted to it.

    It starts from the rows of the space, since a rotation of rotated rows is a rotation; what re-weighting
    did is undone. Its CSLS takes a target's neighbours among the `max_vocab` most frequent sources.
    """
    (source, target), pairs = gold.direction, gold.rows  # (p, 2)
    most = max(max_vocab, int(pairs[:, 0].max()) + 1)
    x, y = gold.space.unweighted(source, most), gold.space.unweighted(target, len(gold.sides[1]))
    folds = torch.from_numpy(rng.integers(FOLDS, size=len(x))).to(x.device)
    mapped = cross_fitted(x, y, torch.from_numpy(np.unique(pairs, axis=0)).to(x.device), folds)  # (n, d)
    rows = np.unique(pairs[:, 0])  # (q,)
    retrieval = Retrieval()
    bias = retrieval.bias(mapped[:max_vocab], y)  # (m,)
    best = retrieval.translate(mapped[torch.from_numpy(rows)], y, 1, bias=bias).indices[:, 0].tolist()
    listed = set(map(tuple, pairs.tolist()))
    hits = np.array([pair in listed for pair in zip(rows.tolist(), best, strict=True)])
    signature = replace(
        score.signature, method=f"procrustes on the list, {FOLDS} folds", seed=None,
        more=(f"hubs:{min(max_vocab, len(x))}",),
    )  # fmt: skip
    meaning = f"by a rotation learned from {FOLDS - 1} in {FOLDS} words of the list for the others"
    return Baseline(group_score("Procrustes", hits, rng), meaning, signature)


@dataclass(frozen=True)
class Bin:
    """Answers of similar probability: its mean in percent, and how many of them are right."""

    predicted: float
    found: GroupScore


@dataclass(frozen=True)
class Reliability:
    """Predicted probability against the share that is right, of all answers, by bin, and by grade.

    `error` is the expected calibration error in percentage points, the mean distance of predicted and found
    over all answers (Naeini, Cooper and Hauskrecht, 2015).
    """

    predicted: float
    found: GroupScore
    error: float
    bins: tuple[Bin, ...]
    grades: tuple[GroupScore, ...]

    @property
    def lean(self) -> str:
        """Whether the probabilities are too high or too low on the whole; empty if neither is certain."""
        low, high = self.found.ci95
        return "sure" if self.predicted > high else "modest" if self.predicted < low else ""


def reliability_of(answers: Sequence[GoldAnswer], rng: np.random.Generator) -> Reliability | None:
    """The reliability of the answers to a gold list; None if the space is too small for probabilities."""
    known = [(one.answer.probability, one.right) for one in answers if one.answer.probability is not None]
    if not known:
        return None
    probabilities, right = zip(*known, strict=True)
    return reliability(np.array(probabilities), np.array(right), rng)


def reliability(
    probabilities: NDArray[np.float64], right: Hits, rng: np.random.Generator, *, bins: int = BINS
) -> Reliability:
    """The reliability of `probabilities` (q,), by whether each answer is `right` (q,); `rng` for intervals.

    The bins are of equal width; empty ones are left out, as are empty grades.

    >>> rng = np.random.default_rng(0)
    >>> found = reliability(np.array([0.9, 0.7, 0.2]), np.array([True, True, False]), rng)
    >>> [(round(one.predicted), one.found.p_at_1) for one in found.bins], round(found.error)
    ([(20, 0.0), (70, 100.0), (90, 100.0)], 20)
    """
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    of_bins = tuple(
        Bin(100 * float(probabilities[of].mean()), group_score(f"{100 * place / bins:g} %", right[of], rng))
        for place, of in ((place, places == place) for place in np.unique(places).tolist())
    )
    error = sum(abs(one.predicted - one.found.p_at_1) * one.found.queries for one in of_bins) / len(right)
    grades = np.array([grade_of(one) for one in probabilities.tolist()])
    return Reliability(
        100 * float(probabilities.mean()), group_score("all", right, rng), error, of_bins,
        tuple(group_score(name, right[grades == name], rng) for name in GRADES if (grades == name).any()),
    )  # fmt: skip
