"""Answers: translations of words with their probability, and advice for words that are not there.

A word that the target language spells alike is often its own translation (Paris, opinion), and is preferred.
The softmax of CSLS / T over all m targets (`muse.ranking.probability`) makes each of them equally likely
before it sees a vector. If a share s of the words that both vocabularies spell alike are translations of each
other, the same spelling is (m - 1) s / (1 - s) times as likely as another target, and the log of that, times
T, is to be added to its CSLS: .53 to .58 for m = 14,000 to 30,000, s = .5 and the T of .056 that is fitted
there. Words with very different ranks, like French tu and its trace in English, are false friends or noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from muse.ranking.lookup import forms_of, languages_with, rows_of, spellings
from muse.ranking.oov import answer_unseen, find_unseen
from muse.ranking.probability import CACHED_RETRIEVAL, CANDIDATES, find_calibration, known_calibration
from muse.search.retrieval import Retrieval, check_top
from muse.space import Space
from muse.space.answer_table import AnswerTable
from muse.space.new_words import NewWords
from muse.text.strings import all_strings
from muse.vectors import Vectors

PRIOR = 0.5  # what is added to the CSLS of a word's own spelling
RANKS_APART = 10.0  # the factor by which the ranks in the two vocabularies may differ
SMOOTHING = 10  # added to both ranks, since among the first words a factor says little
Found = list[tuple[str, float]]  # target words and their scores, best first
Candidates = tuple[list[Found], Sequence[Sequence[float | None]]]  # of several words, with probabilities
# The least probability of a translation to be shown as trusted, and below which it is shown as weak: of
# those above the first 90 % are right, of those below the second 30 % (benchmarks/words/answers.py).
TRUSTED, WEAK = 0.85, 0.4
Grade = Literal["trusted", "likely", "weak"]


def with_own_spelling(
    space: Space,
    rows: Mapping[str, Tensor],
    found: list[Found],
    direction: tuple[str, str],
    retrieval: Retrieval,
) -> list[Found]:
    """What each word has `found`, its own spelling in the target language included, raised by PRIOR.

    `rows` has the rows (d,) of the words in the shared space, in the order of `found`.
    """
    source, target = (space.vectors(language) for language in direction)
    own = {
        word: spelled for word in rows
        if (spelled := own_spelling(word, source, target)) is not None
        and target.matrix[target.index[spelled]].any()
    }  # fmt: skip
    if not own:
        return found
    scale = 2.0 if retrieval.method == "csls" else 1.0  # CSLS has twice the scale of a cosine
    places = [place for place, word in enumerate(rows) if word in own]
    queries = torch.stack([rows[word] for word in own])  # (q, d)
    best = _cosines(space, queries, [found[place][0][0] for place in places], direction, retrieval)  # (q,)
    below_best = scale * (best - _cosines(space, queries, list(own.values()), direction, retrieval))  # (q,)
    raised = list(found)
    for place, spelled, below in zip(places, own.values(), below_best.tolist(), strict=True):
        score = found[place][0][1] - below + PRIOR * scale / 2
        others = [one for one in found[place] if one[0] != spelled]
        raised[place] = sorted([(spelled, score), *others], key=lambda one: -one[1])[: len(found[place])]
    return raised


def without_prior(
    space: Space, word: str, found: Found, direction: tuple[str, str], retrieval: Retrieval
) -> Found:
    """What a word has found by `with_own_spelling`, in that order, its own spelling with its cosine as it is.

    CSLS stays raised: a probability is that of the raised score.
    """
    if retrieval.method == "csls":
        return found
    own = own_spelling(word, *map(space.vectors, direction))
    return [(target, score - PRIOR / 2 * (target == own)) for target, score in found]


def own_spelling(word: str, source: Vectors, target: Vectors) -> str | None:
    """The word of `target` that is spelled like a word of `source`, apart from case, and of similar rank.

    Ids of rows are no spellings: the same row number in two files says nothing.

    >>> import numpy as np
    >>> french = Vectors("fr", ["Paris", "chat"], np.zeros((2, 1), np.float32))
    >>> own_spelling("Paris", french, Vectors("en", ["cat", "paris"], np.zeros((2, 1), np.float32)))
    'paris'
    """
    if not (source.frequency_ordered and target.frequency_ordered):
        return None
    forms = (word, word.lower(), word.capitalize())
    spelled = next((form for form in forms if form in target.index), None)
    if spelled is None or word not in source.index:
        return None
    ranks = source.index[word] + SMOOTHING, target.index[spelled] + SMOOTHING
    return target.words[target.index[spelled]] if max(ranks) <= RANKS_APART * min(ranks) else None


def _cosines(
    space: Space, queries: Tensor, words: list[str], direction: tuple[str, str], retrieval: Retrieval
) -> Tensor:
    # The cosine (q,) of each query (q, d) to one target word, minus the bias of that word.
    source, target = direction
    index, bias = space.vectors(target).index, space.bias(source, target, retrieval)
    columns = torch.tensor([index[word] for word in words], device=queries.device)
    cosines = (queries * space.tensor(target)[columns]).sum(dim=1)
    return cosines if bias is None else cosines - bias[columns]


@dataclass(frozen=True)
class Answer:
    """A translation, its score, its probability (None: not known), and whether both are best for each other.

    `mutual` is whether the word looked up is itself the best translation of `target`. Probabilities are
    those of `muse.ranking.probability`.
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
    space: Space,
    words: Sequence[str],
    *,
    source: str | None = None,
    target: str | None = None,
    top: int = 10,
    retrieval: Retrieval | None = None,
    new_words: NewWords | None = None,
) -> list[WordAnswer]:
    """The answer to each word, in order; an unknown word takes nothing from the others.

    Probabilities are given with the default retrieval, once `muse.ranking.probability` has found them.

    >>> import numpy as np
    >>> from muse.normalise import Normalisation
    >>> from muse.space import Side
    >>> from muse.vectors import Vectors
    >>> rows, steps = np.eye(2, dtype=np.float32), Normalisation(("unit",), ())
    >>> sides = {"fr": Side(Vectors("fr", ["chat", "chien"], rows), rows, steps)}
    >>> sides["en"] = Side(Vectors("en", ["cat", "dog"], rows), rows, steps)
    >>> for found in answer_words(Space(sides, "en"), ["Chien", "dog"], top=1):
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
    space: Space,
    rows: Mapping[str, Tensor],
    direction: tuple[str, str],
    *,
    top: int,
    retrieval: Retrieval,
) -> dict[str, tuple[Answer, ...]]:
    """The `top` best translations, best first, of words with these rows (d,) in the shared space.

    A word with a row of zeros has none.
    Without answers by all the evidence, a translation that is spelled like the word is preferred
    (`muse.ranking.translations`). What that adds
    is in a CSLS score, but not in a cosine or that of an inverted softmax: these may then not descend.
    """
    given, rows = rows, {word: row for word, row in rows.items() if bool(row.any())}
    if not rows:
        return dict.fromkeys(given, ())
    candidates = candidates_of(space, rows, direction, top=top, retrieval=retrieval)
    found = answers_from(candidates, space, list(rows), direction, top=top, retrieval=retrieval)
    return dict.fromkeys(given, ()) | found


def answers_from(
    candidates: Candidates,
    space: Space,
    words: Sequence[str],
    direction: tuple[str, str],
    *,
    top: int,
    retrieval: Retrieval,
) -> dict[str, tuple[Answer, ...]]:
    """The `top` best of the `candidates` of each of the `words`, with whether they are mutual."""
    found, probable = candidates
    back = _best_back(space, [target for best in found for target, _ in best[:top]], direction, retrieval)
    return {
        word: tuple(
            Answer(target, score, chance, back[target] == word)
            for (target, score), chance in zip(
                without_prior(space, word, best[:top], direction, retrieval), chances, strict=False
            )
        )
        for word, best, chances in zip(words, found, probable, strict=True)
    }


def candidates_of(
    space: Space,
    rows: Mapping[str, Tensor],
    direction: tuple[str, str],
    *,
    top: int,
    retrieval: Retrieval,
) -> Candidates:
    """The best translations of words with these rows (d,), `top` at least where there are enough.

    Beside them is the probability of each; None until calibrated. Where the space has answers chosen by all
    the evidence, these come first; those by CSLS that follow them are less probable than any of them, and how
    much less is not known. Words that are not in the space are answered by the same evidence.
    """
    table = space.answers(*direction, retrieval)
    if table is None:
        return _by_retrieval(space, rows, direction, top=top, retrieval=retrieval)
    source = space.vectors(direction[0])
    chosen = {word: (table, table.of(row)) for word in rows if (row := source.index.get(word)) is not None}
    unseen = {word: row for word, row in rows.items() if word not in chosen}
    if (beyond := answer_unseen(space, unseen, direction, retrieval)) is not None:
        chosen |= {word: (beyond, beyond.of(place)) for place, word in enumerate(unseen)}
    short = {word: row for word, row in rows.items() if word not in chosen or _count(chosen[word][1]) < top}
    rest: dict[str, tuple[Found, Sequence[float | None]]] = {}
    if short:
        found, probable = _by_retrieval(space, short, direction, top=top, retrieval=retrieval)
        rest = dict(zip(short, zip(found, probable, strict=True), strict=True))
    words = space.vectors(direction[1]).words
    both = [_answered(chosen.get(word), words, rest.get(word)) for word in rows]
    return [found for found, _ in both], [probable for _, probable in both]


def find_probabilities(
    space: Space, words: Iterable[str], direction: tuple[str, str], retrieval: Retrieval
) -> None:
    """Calibrate CSLS, once for a space, if any of the words needs it to have probabilities."""
    if (retrieval.method, retrieval.k) != CACHED_RETRIEVAL:
        return
    index = space.vectors(direction[0]).index
    if space.answers(*direction, retrieval) is not None:
        if all(word in index for word in words) or find_unseen(space, direction) is not None:
            return
    find_calibration(space, *direction)


def _count(places: slice) -> int:
    return int(places.stop - places.start)


def _answered(
    chosen: tuple[AnswerTable, slice] | None,
    words: Sequence[str],
    rest: tuple[Found, Sequence[float | None]] | None,
) -> tuple[Found, Sequence[float | None]]:
    """The answers of one word in a table, followed by those of the `rest` that it lacks."""
    if chosen is None:
        return rest or ([], [])
    table, places = chosen
    columns, csls, probability = (
        side[places].tolist() for side in (table.columns, table.csls, table.probability)
    )
    found = [(words[column], score) for column, score in zip(columns, csls, strict=True)]
    known = {word for word, _ in found}
    others = [] if rest is None else [one for one in rest[0] if one[0] not in known]
    return [*found, *others], [*probability, *[None] * len(others)]


def _by_retrieval(
    space: Space,
    rows: Mapping[str, Tensor],
    direction: tuple[str, str],
    *,
    top: int,
    retrieval: Retrieval,
) -> Candidates:
    """The `top` or CANDIDATES best by the retrieval, whichever are more."""
    queries = torch.stack(list(rows.values()))  # (q, d)
    found = space.look_up(queries, direction, top=max(top, CANDIDATES), retrieval=retrieval)
    if space.answers_by == "all":  # CSLS alone is that of the papers
        found = with_own_spelling(space, rows, found, direction, retrieval)
    return found, _probabilities(space, found, direction, retrieval)


def _probabilities(
    space: Space, found: list[Found], direction: tuple[str, str], retrieval: Retrieval
) -> Sequence[Sequence[float | None]]:
    calibration = known_calibration(space, *direction)
    if calibration is None or (retrieval.method, retrieval.k) != CACHED_RETRIEVAL:
        return [[None] * len(best) for best in found]
    scores = torch.tensor([[score for _, score in best] for best in found])  # (q, k)
    return calibration.probabilities(scores).tolist()


def _best_back(
    space: Space, targets: Sequence[str], direction: tuple[str, str], retrieval: Retrieval
) -> dict[str, str]:
    """The best translation of each target into the source language."""
    source, target = direction
    words = list(dict.fromkeys(targets))
    index = space.vectors(target).index
    table = space.answers(target, source, retrieval)
    if table is not None and words:
        names = space.vectors(source).words
        places = {word: table.of(index[word]) for word in words}
        known = {word: names[int(table.columns[of.start])] for word, of in places.items() if _count(of)}
        left = [word for word in words if word not in known]
        return known | _best_by_retrieval(space, left, direction, retrieval) if left else known
    return _best_by_retrieval(space, words, direction, retrieval)


def _best_by_retrieval(
    space: Space, words: Sequence[str], direction: tuple[str, str], retrieval: Retrieval
) -> dict[str, str]:
    source, target = direction
    index, rows = space.vectors(target).index, space.tensor(target)
    queries = rows[[index[word] for word in words]]  # (q, d)
    found = space.look_up(queries, (target, source), top=1, retrieval=retrieval)
    if space.answers_by == "all":
        rows_by_word = dict(zip(words, queries, strict=True))
        found = with_own_spelling(space, rows_by_word, found, (target, source), retrieval)
    return {word: best[0][0] for word, best in zip(words, found, strict=True)}


def _with_languages(space: Space, language: str, found: WordAnswer) -> WordAnswer:
    """The answer with the languages where the word is more frequent, if its translation is weak."""
    rank = space.vectors(language).index.get(found.form or "")
    if rank is None or found.grade != "weak":
        return found
    return replace(found, languages=tuple(languages_with(space, found.word, besides=language, before=rank)))


def _unknown(space: Space, language: str, word: str) -> WordAnswer:
    suggestions = spellings(word, space.vectors(language))
    return WordAnswer(
        word, None, (), tuple(suggestions), tuple(languages_with(space, word, besides=language))
    )
