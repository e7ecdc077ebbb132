"""Measured: the accuracy of a space on a gold list in both directions, and each answer beside the list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from muse.evaluation.words import WordScore, evaluate_words
from muse.lexicon import Lexicon
from muse.report.baselines import Baseline, identical_strings, procrustes_on_gold
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.space.calibrated import find_calibration
from muse.translate.answers import Answer, answers_of
from muse.translate.words import rows_of
from muse.vectors import Vectors


@dataclass(frozen=True)
class Gold:
    """A list of translations in the direction to measure, and its name in signatures."""

    lexicon: Lexicon
    name: str

    def backward(self, space: AlignedSpace, source: str, target: str) -> Gold:
        """The list for the other direction: what is the first translation of a word, with all such words.

        The further translations of a word are left out, since the word itself is seldom the one that a
        dictionary of the other direction would have for them.
        """
        words, others = space.vectors(source).words, space.vectors(target).words
        rows = self.lexicon.indices(space.vectors(source).index, space.vectors(target).index)  # (p, 2)
        covered = [(words[row], others[column]) for row, column in rows.tolist()]
        first: dict[str, str] = {}
        for word, translation in covered:
            first.setdefault(word, translation)
        asked = set(first.values())
        pairs = tuple((translation, word) for word, translation in covered if translation in asked)
        return Gold(Lexicon(pairs), f"{self.name}:backward")

    def listed(self, source: Vectors, target: Vectors) -> dict[str, tuple[str, ...]]:
        """The translations of each word, in the order of the list; those that are known as they are there."""
        found: dict[str, dict[str, None]] = {}
        for word, translation in self.lexicon.pairs:
            known = source.index.entry(word), target.index.entry(translation)
            found.setdefault(known[0] or word, {})[known[1] or translation] = None
        return {word: tuple(targets) for word, targets in found.items()}


@dataclass(frozen=True, eq=False)
class Measured:
    """The accuracy from `source` to `target` on a gold list, and that of simple methods."""

    source: str
    target: str
    score: WordScore
    baselines: tuple[Baseline, ...]


def measure(
    space: AlignedSpace,
    gold: Gold,
    direction: tuple[str, str],
    *,
    max_vocab: int,
    rng: np.random.Generator,
) -> Measured:
    """The accuracy of one direction; `max_vocab` as in `procrustes_on_gold`. Equal ids tell nothing."""
    source, target = direction
    score = evaluate_words(space, gold.lexicon, rng=rng, source=source, target=target, gold=gold.name)
    own, other = space.vectors(source), space.vectors(target)
    listed = gold.listed(own, other) if own.ranked and other.ranked else None
    baselines = (
        *([] if listed is None else [identical_strings(other, score, listed, rng=rng)]),
        procrustes_on_gold(space, gold.lexicon, direction, score=score, max_vocab=max_vocab, rng=rng),
    )
    return Measured(source, target, score, baselines)


@dataclass(frozen=True)
class GoldAnswer:
    """The best translation of a word of the gold list, and what the list has.

    `frequency` is the rank of the word in its vocabulary, from 1; `place` that of the best translation of the
    list among all answers.
    """

    word: str
    frequency: int
    answer: Answer
    gold: tuple[str, ...]
    place: int

    @property
    def right(self) -> bool:
        """Whether the best translation is in the list."""
        return self.place == 1


def gold_answers(
    space: AlignedSpace, gold: Gold, direction: tuple[str, str], places: Mapping[str, int]
) -> tuple[GoldAnswer, ...]:
    """The answer to each word of `places`, which has the place of its best translation, in that order."""
    find_calibration(space, *direction)  # so that the answers have their probabilities
    rows = rows_of(space, direction[0], list(places), None)
    found = answers_of(space, rows, direction, top=1, retrieval=Retrieval())
    source, target = map(space.vectors, direction)
    index, listed = source.index, gold.listed(source, target)
    return tuple(
        GoldAnswer(word, index[word] + 1, found[word][0], listed[word], place)
        for word, place in places.items()
    )
