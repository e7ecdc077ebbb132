"""Answers: translations of words with their probability, and advice for words that are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from muse.search.probability import CANDIDATES
from muse.search.retrieval import Retrieval, check_top
from muse.space import AlignedSpace
from muse.space.calibrated import KEPT, known_calibration
from muse.space.new_words import NewWords
from muse.text.strings import all_strings
from muse.translate.own_spelling import with_own_spelling, without_prior
from muse.translate.spelling import languages_with, spellings
from muse.translate.words import Translation, forms_of, rows_of

# The least probability of a translation to be shown as trusted, and below which it is shown as weak: of
# those above the first 90 % are right, of those below the second 30 % (benchmarks/answers.py).
TRUSTED, WEAK = 0.8, 0.4

Grade = Literal["trusted", "likely", "weak"]


@dataclass(frozen=True)
class Answer:
    """A translation, its score, its probability (None: not known), and whether both are best for each other.

    `mutual` is whether the word looked up is itself the best translation of `target`. Probabilities are
    those of `muse.search.calibration`.
    """

    target: str
    score: float
    probability: float | None
    mutual: bool

    @property
    def grade(self) -> Grade | None:
        """How far the translation can be trusted, by its probability; None if that is not known."""
        return None if self.probability is None else grade_of(self.probability)


def grade_of(probability: float) -> Grade:
    """How far a translation of this probability can be trusted.

    >>> grade_of(0.9), grade_of(0.5), grade_of(0.1)
    ('trusted', 'likely', 'weak')
    """
    return "trusted" if probability >= TRUSTED else "weak" if probability < WEAK else "likely"


@dataclass(frozen=True)
class WordAnswer:
    """What a space says of a word: the entry that was looked up (`form`) and its translations, best first.

    Of an unknown word, which has no form, similar spellings and the other languages that have it. Of a word
    without a translation to trust, the other languages where it is more frequent: it may be theirs.
    """

    word: str
    form: str | None
    answers: tuple[Answer, ...] = ()
    suggestions: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def grade(self) -> Grade | None:
        """How far the best translation can be trusted; None if there is none or it is not known."""
        return self.answers[0].grade if self.answers else None


def answer_words(
    space: AlignedSpace,
    words: Sequence[str],
    *,
    source: str | None = None,
    target: str | None = None,
    top: int = 10,
    retrieval: Retrieval | None = None,
    new_words: NewWords | None = None,
) -> list[WordAnswer]:
    """The answer to each word, in order; an unknown word takes nothing from the others.

    Probabilities are given with the default retrieval, once `muse.space.calibrated` has found them.

    >>> import numpy as np
    >>> from muse.normalise import Normalisation
    >>> from muse.space import Side
    >>> from muse.vectors import Vectors
    >>> rows, steps = np.eye(2, dtype=np.float32), Normalisation(("unit",), ())
    >>> sides = {"fr": Side(Vectors("fr", ["chat", "chien"], rows), rows, steps)}
    >>> sides["en"] = Side(Vectors("en", ["cat", "dog"], rows), rows, steps)
    >>> for found in answer_words(AlignedSpace(sides, "en"), ["Chien", "dog"], top=1):
    ...     print(found.word, found.form, [one.target for one in found.answers], found.languages)
    Chien chien ['dog'] ()
    dog None [] ('en',)
    """
    source, target = space.direction(source, target)
    check_top(top)
    words = all_strings(words, "words")
    forms = forms_of(space, source, words, new_words)
    known = list(dict.fromkeys(form for form in forms.values() if form is not None))
    found = answers_of(
        space, rows_of(space, source, known, new_words), (source, target),
        top=top, retrieval=retrieval or Retrieval(),
    )  # fmt: skip
    return [
        _unknown(space, source, word)
        if (form := forms[word]) is None
        else _with_languages(space, source, WordAnswer(word, form, found[form]))
        for word in words
    ]


def answers_of(
    space: AlignedSpace,
    rows: Mapping[str, Tensor],
    direction: tuple[str, str],
    *,
    top: int,
    retrieval: Retrieval,
) -> dict[str, tuple[Answer, ...]]:
    """The `top` best translations, best first, of words with these rows (d,) in the shared space.

    A word with a row of zeros has none.
    A translation that is spelled like the word is preferred (`muse.translate.own_spelling`). What that adds
    is in a CSLS score, but not in a cosine or that of an inverted softmax: these may then not descend.
    """
    given, rows = rows, {word: row for word, row in rows.items() if bool(row.any())}
    if not rows:
        return dict.fromkeys(given, ())
    found, probable = candidates_of(space, rows, direction, top=top, retrieval=retrieval)
    back = _best_back(space, [target for best in found for target, _ in best[:top]], direction, retrieval)
    return dict.fromkeys(given, ()) | {
        word: tuple(
            Answer(target, score, chance, back[target] == word)
            for (target, score), chance in zip(
                without_prior(space, word, best[:top], direction, retrieval), chances, strict=False
            )
        )
        for word, best, chances in zip(rows, found, probable, strict=True)
    }


def candidates_of(
    space: AlignedSpace,
    rows: Mapping[str, Tensor],
    direction: tuple[str, str],
    *,
    top: int,
    retrieval: Retrieval,
) -> tuple[list[list[Translation]], Sequence[Sequence[float | None]]]:
    """The `top` or CANDIDATES best translations, whichever are more, of words with these rows (d,).

    Beside them is the probability of each; None until calibrated.
    """
    queries = torch.stack(list(rows.values()))  # (q, d)
    found = space.look_up(queries, direction, top=max(top, CANDIDATES), retrieval=retrieval)
    found = with_own_spelling(space, rows, found, direction, retrieval)
    return found, _probabilities(space, found, direction, retrieval)


def _probabilities(
    space: AlignedSpace, found: list[list[Translation]], direction: tuple[str, str], retrieval: Retrieval
) -> Sequence[Sequence[float | None]]:
    calibration = known_calibration(space, *direction)
    if calibration is None or (retrieval.method, retrieval.k) != KEPT:
        return [[None] * len(best) for best in found]
    scores = torch.tensor([[score for _, score in best] for best in found])  # (q, k)
    return calibration.probabilities(scores).tolist()


def _best_back(
    space: AlignedSpace, targets: Sequence[str], direction: tuple[str, str], retrieval: Retrieval
) -> dict[str, str]:
    """The best translation of each target into the source language."""
    source, target = direction
    words = list(dict.fromkeys(targets))
    index, rows = space.vectors(target).index, space.tensor(target)
    queries = rows[[index[word] for word in words]]  # (q, d)
    found = space.look_up(queries, (target, source), top=1, retrieval=retrieval)
    rows_by_word = dict(zip(words, queries, strict=True))
    found = with_own_spelling(space, rows_by_word, found, (target, source), retrieval)
    return {word: best[0][0] for word, best in zip(words, found, strict=True)}


def _with_languages(space: AlignedSpace, language: str, found: WordAnswer) -> WordAnswer:
    """The answer with the languages where the word is more frequent, if its translation is weak."""
    rank = space.vectors(language).index.get(found.form or "")
    if rank is None or found.grade != "weak":
        return found
    return replace(found, languages=tuple(languages_with(space, found.word, besides=language, before=rank)))


def _unknown(space: AlignedSpace, language: str, word: str) -> WordAnswer:
    suggestions = spellings(word, space.vectors(language))
    return WordAnswer(
        word, None, (), tuple(suggestions), tuple(languages_with(space, word, besides=language))
    )
