"""The ranker: the translations of words in one direction of a space. All that need translations call it.

Where the space has answers by all the evidence, these come first, for its own words (`AnswerTable`) as for
others (`muse.ranking.oov`); other targets follow by their scores, and are less probable than any of them: how
much less is not known. Elsewhere scores rank, and CSLS has the probabilities of `muse.ranking.probability`.

Without such answers, CSLS prefers a word that the target language spells alike, often its own translation
(Paris, opinion). The softmax of CSLS / T over all m targets makes each of them equally likely before it sees
a vector. If a share s of the words that both vocabularies spell alike are translations of each other, the
same spelling is (m - 1) s / (1 - s) times as likely as another target, and the log of that, times T, is to be
added to its CSLS: .53 to .58 for m = 14,000 to 30,000, s = .5 and the T of .056 that is fitted there. Words
with very different ranks, like French tu and its trace in English, are false friends or noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.orthography import own_cases
from muse.ranking.lookup import languages_with, lookup_entry, reason_unknown, rows_of, spellings
from muse.ranking.model import ANSWERS
from muse.ranking.oov import UNEXPLAINED, answer_unseen, composed_forms, find_unseen
from muse.ranking.probability import CANDIDATES, Calibration, find_calibration, known_calibration
from muse.ranking.translations import Translation, Translations
from muse.search.approximate import Approximation
from muse.search.exact import Neighbours
from muse.search.retrieval import Retrieval, check_count
from muse.space import Space
from muse.space.derived import AnswerTable, uses_cached_hubness
from muse.space.direction import Direction, MakeSearch, Search, search_with
from muse.space.new_words import NewWords
from muse.text.strings import all_strings
from muse.vectors import Matrix, Numbers, Vectors

PRIOR = 0.5  # what is added to the CSLS of a word's own spelling
RANKS_APART = 10.0  # the factor by which the ranks in the two vocabularies may differ
SMOOTHING = 10  # added to both ranks, since among the first words a factor says little


@dataclass(frozen=True, eq=False)
class Ranked:
    """The best targets of b words, best first: `columns` (b, k), their `scores` and `probability`.

    A score of -inf is that of none, a probability of nan is not known.
    """

    columns: Numbers
    scores: Matrix
    probability: Matrix

    @classmethod
    def none(cls, words: int, width: int) -> Ranked:
        """No targets, but room for `width` of each word."""
        empty = np.full((words, width), -np.inf, np.float32)
        return cls(np.full((words, width), -1), empty, np.zeros_like(empty))

    @property
    def sides(self) -> tuple[NDArray[Any], ...]:
        """The arrays."""
        return self.columns, self.scores, self.probability

    @property
    def counts(self) -> Numbers:
        """How many targets each word has, (b,)."""
        return np.asarray((self.scores > -np.inf).sum(axis=1))

    def put_(self, words: NDArray[Any] | slice, found: Ranked) -> None:
        """Puts in the targets of some words, by their places or a mask."""
        for side, values in zip(self.sides, found.sides, strict=True):
            side[words, : values.shape[1]] = values

    def after(self, first: Ranked) -> Ranked:
        """The targets that come `first`, followed by those of these that are not among them."""
        repeated = (self.columns[:, :, None] == first.columns[:, None]) & (first.scores > -np.inf)[:, None]
        left = np.where(repeated.any(axis=2), -np.inf, self.scores)
        # Behind an answer by all the evidence, the probability by CSLS is not known.
        shares = np.where(first.counts[:, None] > 0, np.nan, self.probability)
        both = zip(first.sides, (self.columns, left, shares), strict=True)
        columns, scores, probability = (np.concatenate(sides, axis=1) for sides in both)
        order = np.argsort(scores == -np.inf, axis=1, kind="stable")  # those that are, first
        return Ranked(*(np.take_along_axis(one, order, 1) for one in (columns, scores, probability)))


@dataclass(frozen=True, eq=False)
class Ranker:
    """How the words of one direction are translated, to `top` targets each, among the `most` frequent.

    Scores are by a search of the whole direction, made by `make_search`, or else of the words that are asked
    for. They have probabilities if there is a `calibration`. Words that the space lacks may be `composed`
    (`muse.space.new_words`).
    """

    space: Space
    direction: tuple[str, str]
    retrieval: Retrieval = Retrieval()
    top: int = 10
    most: tuple[int | None, int | None] = (None, None)
    make_search: MakeSearch | None = None
    calibration: Calibration | None = None
    composed: bool = False

    @cached_property
    def table(self) -> AnswerTable | None:
        """The answers by all the evidence, if the space has them."""
        return self.space.answers(*self.direction, self.retrieval)

    @cached_property
    def rows(self) -> tuple[Tensor, Tensor]:
        """The rows of the source (n, d) and of the target (m, d)."""
        return Direction(self.space, self.direction, self.most).rows

    @property
    def languages(self) -> tuple[Vectors, Vectors]:
        """The words of the source and of the target."""
        source, target = map(self.space.vectors, self.direction)
        return source, target

    @property
    def looked_up(self) -> int:
        """How many targets are scored: a probability needs CANDIDATES."""
        return self.top if self.calibration is None else max(self.top, CANDIDATES)

    def reversed(self) -> Ranker:
        """The ranker of the other direction, without probabilities, by a search of what is asked for."""
        return replace(
            self, direction=self.direction[::-1], most=self.most[::-1], make_search=None, calibration=None
        )

    def best(self, rows: Numbers, *, fill: bool = True) -> Ranked:
        """The best targets of the words of the space with these row numbers (b,).

        `fill` adds others where there are fewer answers by all the evidence than `top`.
        """
        if self.table is None:
            return self._scored(rows)
        chosen = Ranked(*self.table.within(rows, len(self.rows[1])))
        return self._filled(chosen, rows) if fill else chosen

    def of_words(self, words: Mapping[str, Tensor]) -> Ranked:
        """The best targets of words with these rows (d,), which need not be words of the space."""
        queries = torch.stack([*words.values()])
        index = self.languages[0].index
        rows = np.array([index.get(word, -1) for word in words])
        if self.table is None:
            return self._limited(self._scored(rows, queries), [*words], rows)
        chosen, known = Ranked.none(len(rows), ANSWERS), rows >= 0
        chosen.put_(known, Ranked(*self.table.within(rows[known], len(self.rows[1]))))
        others = {word: words[word] for word, has in zip(words, known, strict=True) if not has}
        beyond = answer_unseen(self.space, others, self.direction, self.retrieval, composed=self.composed)
        if beyond is not None:
            chosen.put_(~known, Ranked(*beyond.padded(np.arange(len(beyond)))))
        return self._limited(self._filled(chosen, rows, queries), [*words], rows)

    def firsts(self, rows: Numbers) -> Numbers:
        """The first answer (b,) to each of the words of the space with these row numbers (b,); -1 is none."""
        if not len(rows):
            return np.zeros(0, np.int64)
        found = replace(self, top=1).best(rows)
        return np.where(found.counts > 0, found.columns[:, 0], -1)

    def back(self) -> Numbers:
        """The first answer (m,) to every target, in the other direction, by the search of this one."""
        every, back = np.arange(len(self.rows[1])), self.reversed()
        if back.table is not None:
            return back.firsts(every)
        found, own = self._search.back(1), back.own_spellings(every)
        if (own >= 0).any():
            bias = self.space.bias(*self.direction[::-1], self.retrieval)
            found = self._raised(found, self.rows[::-1], own, bias, 1.0)
        return np.asarray(found.indices[:, 0].cpu().numpy())

    def translations(
        self, words: Mapping[str, Tensor], *, mutual: bool = True
    ) -> dict[str, list[Translation]]:
        """The `top` best translations of words with these rows (d,), none of a row of zeros.

        Whether the first is `mutual` needs a search of its own, and may be left out.
        """
        some = {word: row for word, row in words.items() if bool(row.any())}
        found: dict[str, list[Translation]] = {word: [] for word in words}
        if not some:
            return found
        ranked, (source, target) = self.of_words(some), self.languages
        counts = np.minimum(ranked.counts, min(self.top, ranked.columns.shape[1]))
        back = dict[int, int]()
        if mutual:
            columns = np.unique(ranked.columns[counts > 0, 0])
            back = dict(zip(columns.tolist(), self.reversed().firsts(columns).tolist(), strict=True))
        lines = zip(some, counts.tolist(), *(side.tolist() for side in ranked.sides), strict=True)
        for word, count, *sides in lines:
            own = source.index.get(word, -2)
            found[word] = [
                Translation(
                    target.words[column], score, None if share != share else share,  # nan
                    mutual=rank == 1 and back.get(column, -1) == own, rank=rank,
                )
                for rank, (column, score, share) in enumerate(zip(*sides, strict=True), 1) if rank <= count
            ]  # fmt: skip
        return found

    @property
    def prefers_own_spelling(self) -> bool:
        """Whether a word's own spelling is preferred among the targets.

        It is not where the answers are by all the evidence, which knows spellings, by another score, or by
        CSLS alone, as in the papers, because that was asked for now or when the space was made.
        """
        by_csls = "csls" in (self.space.answers_by, self.space.manifest.settings.get("answers"))
        words = all(side.frequency_ordered for side in self.languages)
        return self.table is None and not by_csls and self.retrieval.method == "csls" and words

    def own_spellings(self, rows: Numbers) -> Numbers:
        """The target (b,) spelled like each of these sources (b,), apart from case; -1 for none preferred."""
        if not self.prefers_own_spelling:
            return np.full(len(rows), -1)
        source, target = self.languages
        found = (own_spelling(source.words[row], source, target) if row >= 0 else -1 for row in rows.tolist())
        return np.fromiter(found, np.int64)

    def _limited(self, found: Ranked, words: Sequence[str], rows: Numbers) -> Ranked:
        """The answers: none is probable to a composed word without known forms. `rows` (b,) are -1 if new."""
        if not self.composed or (rows >= 0).all():
            return found
        made, forms = composed_forms(self.space, self.direction[0], words)
        unexplained = made & ~forms.any & (rows < 0)
        most = np.where(unexplained, UNEXPLAINED, 1)[:, None]
        return replace(found, probability=np.minimum(found.probability, most))

    def _filled(self, chosen: Ranked, rows: Numbers, queries: Tensor | None = None) -> Ranked:
        """The answers by all the evidence, with those by scores behind them where there are too few."""
        short = np.flatnonzero(chosen.counts < self.top)
        if not len(short):
            return chosen
        more = self._scored(rows[short], None if queries is None else queries[short])
        found = Ranked.none(len(rows), chosen.columns.shape[1] + more.columns.shape[1])
        found.put_(slice(None), chosen)
        found.put_(short, more.after(Ranked(*(side[short] for side in chosen.sides))))
        return found

    def _scored(self, rows: Numbers, queries: Tensor | None = None) -> Ranked:
        """The best targets by the retrieval, with their probabilities if calibrated, of rows (b,)."""
        x, y = self.rows
        some = x[rows] if queries is None else queries
        bias = None
        if self.make_search is not None and queries is None:
            found = self._search.best(torch.from_numpy(rows), self.looked_up)
        else:
            bias = self.space.bias(*self.direction, self.retrieval)
            found = self.retrieval.translate(some, y, self.looked_up, bias=bias)
        own = self.own_spellings(rows)
        if (own >= 0).any():
            bias = self.space.bias(*self.direction, self.retrieval)
            found = self._raised(found, (some, y), own, bias, 2.0)
        none = (~some.any(dim=1)).nonzero()[:, 0]
        found = Neighbours(found.scores.index_fill(0, none, -torch.inf), found.indices)
        shares = torch.full_like(found.scores, torch.nan)
        if self.calibration is not None:
            shares = self.calibration.probabilities(found.scores)
        return Ranked(*(side.cpu().numpy() for side in (found.indices, found.scores, shares)))

    @cached_property
    def _search(self) -> Search:
        make = self.make_search or search_with(Approximation())
        return make(Direction(self.space, self.direction, self.most), self.retrieval, self.looked_up)

    def _raised(
        self, found: Neighbours, rows: tuple[Tensor, Tensor], own: Numbers, bias: Tensor | None, scale: float
    ) -> Neighbours:
        """The neighbours (b, k) of queries (b, d) among keys (m, d), the `own` spelling (b,) raised by PRIOR.

        Scores are `scale` times cosines less the `bias` (m,) of keys, up to a term of the query.
        """
        queries, keys = rows
        places = torch.from_numpy(np.flatnonzero((own >= 0) & (own < len(keys)))).to(queries.device)
        columns = torch.from_numpy(own).to(queries.device)[places]
        known = keys[columns].any(dim=1)  # a row of zeros is no translation
        places, columns = places[known], columns[known]

        def score(of: Tensor) -> Tensor:
            cosines = (queries[places] * keys[of]).sum(dim=1)
            return scale * (cosines if bias is None else cosines - bias[of])

        first = found.indices[places, 0]
        raised = found.scores[places, 0] + score(columns) - score(first) + PRIOR * scale / 2
        others = found.scores[places].masked_fill(found.indices[places] == columns[:, None], -torch.inf)
        scores, order = torch.cat([raised[:, None], others], 1).sort(dim=1, descending=True, stable=True)
        indices = torch.cat([columns[:, None], found.indices[places]], 1).gather(1, order)
        k = found.scores.shape[1]
        return Neighbours(
            found.scores.index_copy(0, places, scores[:, :k]),
            found.indices.index_copy(0, places, indices[:, :k]),
        )


def own_spelling(word: str, source: Vectors, target: Vectors) -> int:
    """The row of `target` spelled like a word of `source`, apart from case, and of similar rank, or -1.

    >>> french = Vectors("fr", ["Paris", "chat"], np.zeros((2, 1), np.float32))
    >>> own_spelling("Paris", french, Vectors("en", ["cat", "paris"], np.zeros((2, 1), np.float32)))
    1
    """
    column = next((row for form in own_cases(word) if (row := target.index.get(form)) is not None), None)
    if column is None or word not in source.index:
        return -1
    ranks = source.index[word] + SMOOTHING, column + SMOOTHING
    return column if max(ranks) <= RANKS_APART * min(ranks) else -1


def translate_words(  # noqa: PLR0913 - the one look-up of words
    space: Space,
    words: Sequence[str],
    *,
    source: str | None = None,
    target: str | None = None,
    top: int = 10,
    retrieval: Retrieval | None = None,
    new_words: NewWords | None = None,
    calibrate: bool = True,
) -> list[Translations]:
    """What the space says of each word, in order; an unknown word takes nothing from the others.

    A word is looked up in the form that the vocabulary has (`lookup_entry`), or else in `new_words`. CSLS is
    calibrated, once for a space, if a word needs that for its probabilities; not with `calibrate` false.

    >>> from muse.normalise import Normalisation
    >>> from muse.space import Side
    >>> rows, steps = np.eye(2, dtype=np.float32), Normalisation(("unit",), ())
    >>> sides = {"fr": Side(Vectors("fr", ["chat", "chien"], rows), rows, steps)}
    >>> sides["en"] = Side(Vectors("en", ["cat", "dog"], rows), rows, steps)
    >>> for found in translate_words(Space(sides, "en"), ["Chien", "dog"], top=1):
    ...     print(found.word, found.form, found, found.languages)
    Chien chien [dog 1.000 (56 %)] ()
    dog None [] ('en',)
    """
    source, target = space.direction(source, target)
    check_count("--top", top)
    words = all_strings(words, "words")
    forms = {word: lookup_entry(word, space.vectors(source)) for word in words}
    if new_words is not None:
        forms |= {word: word for word, form in forms.items() if form is None and new_words.has(word)}
    known = list(dict.fromkeys(form for form in forms.values() if form is not None))
    ranker = ranker_for(
        space, known, (source, target), top=top, retrieval=retrieval or Retrieval(), calibrate=calibrate,
        new_words=new_words,
    )  # fmt: skip
    found = ranker.translations(rows_of(space, source, known, new_words))
    return [_said(space, source, word, forms[word], found, new_words) for word in words]


def ranker_for(
    space: Space,
    words: Sequence[str],
    direction: tuple[str, str],
    *,
    top: int,
    retrieval: Retrieval,
    calibrate: bool = True,
    new_words: NewWords | None = None,
) -> Ranker:
    """The ranker of some words, calibrated if one of them has no answer by all the evidence."""
    index = space.vectors(direction[0]).index
    by_evidence = space.answers(*direction, retrieval) is not None and (
        all(word in index for word in words) or find_unseen(space, direction) is not None
    )
    calibration = None
    if uses_cached_hubness(retrieval):  # a known one costs nothing
        find = known_calibration if by_evidence or not calibrate else find_calibration
        calibration = find(space, *direction)
    composed = new_words is not None and new_words.composed
    return Ranker(space, direction, retrieval, top, calibration=calibration, composed=composed)


def _said(
    space: Space, language: str, word: str, form: str | None, found: Mapping[str, Sequence[Translation]],
    new_words: NewWords | None,
) -> Translations:  # fmt: skip
    """What is known of a word, with the languages where it is more frequent if its translation is weak."""
    vectors = space.vectors(language)
    if form is None:
        near, others = spellings(word, vectors), languages_with(space, word, besides=language)
        reason = reason_unknown(vectors, others, near)
        return Translations(word, None, suggestions=near, languages=others, reason=reason)
    best, rank, others = found[form], vectors.index.get(form), []
    if rank is not None and best and best[0].grade == "weak":
        others = languages_with(space, word, besides=language, before=rank)
    reason = "" if best else "its vector is of zeros"
    if rank is None and best and new_words is not None and new_words.composed:
        made, forms = composed_forms(space, language, [form])
        reason = "no other form of it is known" if made[0] and not forms.any[0] else ""
    return Translations(word, form, best, languages=others, reason=reason)
