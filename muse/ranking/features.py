"""Evidence: what is known of each candidate of a word, as numbers comparable between pairs of languages.

vectors    CSLS and cosine, how far each is ahead of the other candidates of either word, ranks, hubness
frequency  the logarithms of both ranks, and their difference
spelling   learned correspondences, edit distance, common prefix and suffix, same string, lengths

Where others score translations too (`muse.ranking.external_scores`), there are both ranks by their scores,
and the score or cell of the candidate, which becomes log odds once it is known how good the scores are.

Correspondences of spelling are learned from mutual neighbours and from given pairs. They judge no pair that
they were learned from (`SpellingHalves`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from muse.ranking.candidates import (
    Candidates,
    NeighbourLists,
    TwoWay,
    by_neighbours,
    by_spelling,
    share_no_word,
)
from muse.ranking.canonical import Correspondences, dots
from muse.ranking.external_scores import ExternalScores
from muse.ranking.spelling import LetterSimilarity, Spellings
from muse.search.exact import at_once
from muse.vectors import Doubles, Flags, Matrix, Numbers

KINDS = {
    "vectors": (
        "csls", "cosine", "margin", "margin back", "rank", "rank back", "hubness", "hubness back",
        "best margin", "nearest of its neighbours", "among the nearest of its neighbours",
    ),
    "frequency": ("commonness", "commonness back", "rank difference"),
    "spelling": (
        "correspondence", "correspondence margin", "correspondence rank", "ending", "edit", "edit margin",
        "prefix", "prefix share", "suffix", "same string", "length", "length back", "longer", "in both",
        "in both back",
    ),
}  # fmt: skip
NAMES = tuple(name for names in KINDS.values() for name in names)
ALIKE = ("correspondence", "edit", "prefix share", "same string")  # how alike words are spelled
OUTSIDE = "other sources"
MOST_SOURCES = 2  # of outside scores: an encoder or a program, and text
OUTSIDE_COLUMNS = ("outside rank", "outside rank back", "outside odds")  # after NAMES, where there are scores
AGREE = 0.05  # of mutual neighbours of both, for outside scores to be believed in how words are spelled
SURE_ERRORS = 2.0  # standard errors by which neighbours must be spelled more alike than other candidates
MUTUAL_LEAST = 100  # neighbours: with fewer, nothing is said of how they are spelled
BLOCK = 20_000  # words whose evidence is gathered at a time
EQUAL = 2e-5  # scores that differ by less are of the same pair: products are summed in other orders


def places_of(*names: str) -> list[int]:
    """The columns of the evidence with these names, or of these kinds.

    >>> places_of("frequency", "csls")
    [11, 12, 13, 0]
    """
    single = {name: [place] for place, name in enumerate(NAMES)}
    kinds = {kind: [place for name in own for place in single[name]] for kind, own in KINDS.items()}
    return [place for name in names for place in {**single, **kinds}[name]]


@dataclass(frozen=True, eq=False)
class BilingualViews(TwoWay):
    """The views of two languages that evidence is gathered from, source to target.

    `source` (n, d) and `target` (m, d) are unit rows in one space, `lists` their neighbours; `whole` and
    `ends` are the correspondences of words and of their endings; `spelled` (n, k) and (m, k), if they are
    known, the words of the other language that are spelled most alike. `ranks` (n,) are those of the sources
    by frequency, if not simply their row numbers. `outside` are the scores of others, if there are any.
    """

    source: Matrix
    target: Matrix
    lists: NeighbourLists
    written: Spellings
    whole: Correspondences
    ends: Correspondences
    spelled: tuple[Numbers, Numbers] | None = None
    ranks: Numbers | None = None
    outside: tuple[ExternalScores, ...] = ()

    def csls(self, rows: Numbers, columns: Numbers) -> Matrix:
        """The CSLS (c,) of each source of `rows` (c,) and target of `columns` (c,)."""
        return self.lists.csls_of(dots(self.source, self.target, rows, columns), rows, columns)


@dataclass(frozen=True, eq=False)
class HeldOutRows(TwoWay):
    """Rows of both languages, (n, k) and (m, k), by maps learned without the pairs `without` (p,)."""

    source: Matrix
    target: Matrix
    without: Flags


@dataclass(frozen=True, eq=False)
class KnownPairs(TwoWay):
    """The pairs (p, 2) of row numbers that answers are learned from, and their weights (p,).

    `held_out` are rows by maps that were learned without some of them; empty if the mapping used no pairs.
    `outside` are the scores of others, if there are any.
    """

    pairs: Numbers
    weights: Doubles
    held_out: tuple[HeldOutRows, ...] = ()
    outside: tuple[ExternalScores, ...] = ()

    @classmethod
    def none(cls) -> KnownPairs:
        """No pairs."""
        return cls(np.zeros((0, 2), np.int64), np.zeros(0))

    def with_others(
        self, pairs: Numbers, weights: Doubles | None = None, without: Flags | None = None
    ) -> tuple[Numbers, Doubles]:
        """Other pairs (o, 2), but for words of these, then these but those `without` (p,), and all weights.

        Others weigh 1 unless they have `weights` (o,).
        """
        others, known = share_no_word(pairs, self.pairs), slice(None) if without is None else ~without
        weights = np.ones(len(pairs)) if weights is None else weights
        every = np.concatenate([pairs[others], self.pairs[known]])
        return every, np.concatenate([weights[others], self.weights[known]])


def features_of(views: BilingualViews, candidates: Candidates) -> Matrix:
    """The evidence (c, f) for each candidate, columns as in NAMES, and OUTSIDE_COLUMNS with outside scores.

    In the column of the outside odds is what they are computed from, `ExternalScores.said`.
    """
    rows, columns, places = candidates.rows, candidates.columns, candidates.places
    found = {
        **of_vectors((views.source, views.target), views.lists, rows, columns),
        **_of_spelling(views, candidates, rows, columns, places),
    }
    ranks = rows if views.ranks is None else views.ranks[rows]
    own, other = (np.log1p(side).astype(np.float32) for side in (ranks, columns))
    found |= {"commonness": own, "commonness back": other, "rank difference": other - own}
    table = np.empty((len(rows), _width(views)), np.float32)
    for place, name in enumerate(NAMES):
        table[:, place] = found[name]
    for one, place in zip(views.outside, odds_places(table), strict=True):
        table[:, place + 1 - len(OUTSIDE_COLUMNS) : place] = np.column_stack(one.ranks(rows, columns))
        table[:, place] = one.said(rows, columns)
    return table


def _width(views: BilingualViews) -> int:
    return len(NAMES) + len(OUTSIDE_COLUMNS) * len(views.outside)


def odds_places(evidence: Matrix) -> range:
    """The columns of evidence (c, f) with the odds by the outside scores of each source."""
    return range(len(NAMES) + len(OUTSIDE_COLUMNS) - 1, evidence.shape[1], len(OUTSIDE_COLUMNS))


def of_vectors(
    vectors: tuple[Matrix, Matrix], lists: NeighbourLists, rows: Numbers, columns: Numbers
) -> dict[str, Matrix]:
    """The evidence of the vectors (n, d) and (m, d), by name, of sources `rows` (c,) and targets (c,)."""
    cosine = dots(*vectors, rows, columns)
    csls = lists.csls_of(cosine, rows, columns)
    named_first, named = lists.named[columns].T.astype(np.float32)
    return {
        "csls": csls,
        "cosine": cosine,
        "margin": csls - _best_other(lists.csls[rows], csls),
        "margin back": csls - _best_other(lists.csls_back[columns], csls),
        "rank": _rank(lists.csls[rows], csls),
        "rank back": _rank(lists.csls_back[columns], csls),
        "hubness": lists.hubness[rows],
        "hubness back": lists.hubness_back[columns],
        "best margin": (lists.csls[:, 0] - lists.csls[:, min(1, lists.csls.shape[1] - 1)])[rows],
        "nearest of its neighbours": named_first,
        "among the nearest of its neighbours": named,
    }


def _best_other(best: Matrix, csls: Matrix) -> Matrix:
    """The highest of the `best` scores (c, k) of each word, best first, that is not of the candidate (c,)."""
    found = np.where(best[:, 0] - csls <= EQUAL, best[:, min(1, best.shape[1] - 1)], best[:, 0])
    return np.asarray(found, np.float32)


def _rank(best: Matrix, csls: Matrix) -> Matrix:
    """How many of the `best` scores (c, k) of its word are above that of each candidate (c,)."""
    return np.asarray((best - csls[:, None] > EQUAL).sum(axis=1), np.float32)


def _of_spelling(
    views: BilingualViews, candidates: Candidates, rows: Numbers, columns: Numbers, places: Numbers
) -> dict[str, Matrix]:
    written = views.written
    whole, ends = (one.similarity(rows, columns) for one in (views.whole, views.ends))
    alike = LetterSimilarity.of(written.plain[0][rows], written.plain[1][columns])
    own, other = written.lengths[0][rows], written.lengths[1][columns]
    same, back = written.same
    order, rank = candidates.order(whole), np.empty(len(rows), np.float32)
    rank[order] = candidates.ranks
    return {
        "correspondence": whole,
        "correspondence margin": whole - candidates.most(whole)[places].astype(np.float32),
        "correspondence rank": rank,
        "ending": ends,
        "edit": alike.edit,
        "edit margin": alike.edit - candidates.most(alike.edit)[places].astype(np.float32),
        "prefix": alike.prefix,
        "prefix share": alike.prefix / np.maximum(np.maximum(own, other), 1),
        "suffix": alike.suffix,
        "same string": (same[rows] == columns).astype(np.float32),
        "length": own,
        "length back": other,
        "longer": other - own,
        "in both": (same >= 0)[rows].astype(np.float32),
        "in both back": (back >= 0)[columns].astype(np.float32),
    }


def believed(lists: NeighbourLists, outside: Sequence[ExternalScores]) -> Numbers:
    """The mutual neighbours (p, 2), after those by outside scores if these agree with the mapping at all.

    Of a word in several pairs the first is kept: where the mapping is weak, most of its own are wrong.
    """
    mutual = lists.mutual()
    ranks, agreeing = np.full(len(lists.columns), -1), list[Numbers]()
    ranks[mutual[:, 0]] = mutual[:, 1]
    for others in (one.surest() for one in outside):
        asked = others[ranks[others[:, 0]] >= 0]
        if len(asked) and (ranks[asked[:, 0]] == asked[:, 1]).mean() >= AGREE:
            agreeing.append(others)
    if not agreeing:
        return mutual
    both = np.concatenate([*agreeing, mutual])
    for side in (0, 1):
        both = both[np.sort(np.unique(both[:, side], return_index=True)[1])]
    return both


@dataclass(frozen=True, eq=False)
class SpellingHalves(TwoWay):
    """Correspondences that judge no pair they were learned from, which, right or wrong, would seem alike.

    The words fall into two halves, `source` (n,) and `target` (m,) of 0 and 1, mutual neighbours into the
    same. The correspondences of each half, of `whole` words and of `ends`, are learned without its own
    neighbours, and from all the `given` pairs (p, 2).
    """

    whole: tuple[Correspondences, ...]
    ends: tuple[Correspondences, ...]
    source: Numbers
    target: Numbers
    given: Numbers

    @classmethod
    def of(cls, views: BilingualViews, given: KnownPairs) -> SpellingHalves:
        """The halves by the row numbers of the sources."""
        mutual = believed(views.lists, given.outside)
        mutual = mutual[share_no_word(mutual, given.pairs)]
        source, target = (np.arange(len(side)) % 2 for side in (views.source, views.target))
        target[mutual[:, 1]] = source[mutual[:, 0]]
        others = (mutual[source[mutual[:, 0]] != half] for half in (0, 1))
        learned_from = (given.with_others(some) for some in others)
        first, second = at_once(lambda known: views.written.correspondences(*known), learned_from)
        return cls((first[0], second[0]), (first[1], second[1]), source, target, given.pairs)


def evidence_of(views: BilingualViews, halves: SpellingHalves, words: Numbers) -> tuple[Candidates, Matrix]:
    """The candidates of some source words (w,), ascending, and their evidence (c, f)."""
    every = candidates_of(views, words)
    evidence = np.empty((len(every.columns), _width(views)), np.float32)
    for half, (whole, ends) in enumerate(zip(halves.whole, halves.ends, strict=True)):
        judged = replace(views, whole=whole, ends=ends)
        own = np.flatnonzero(halves.source[words] == half)
        for begin in range(0, len(own), BLOCK):
            part = np.zeros(len(words), bool)
            part[own[begin : begin + BLOCK]] = True
            candidates, of_part = every.only(part)
            evidence[of_part] = features_of(judged, candidates)
    return every, evidence


def candidates_of(views: BilingualViews, words: Numbers, *more: tuple[Numbers, Numbers]) -> Candidates:
    """The candidates of some words (w,), ascending, and `more` pairs of rows and columns."""
    same = views.written.same[0]
    own = np.flatnonzero(same >= 0)
    if views.spelled is None:
        spelled = by_spelling(views.whole.source, views.whole.target, words)
    else:
        written = words[views.whole.source[words].any(axis=1)]
        spelled = np.repeat(written, views.spelled[0].shape[1]), views.spelled[0][written].ravel()
    found = [*by_neighbours(views.lists, words), spelled, (own, same[own]), *more]
    found += [one.candidates(words) for one in views.outside]
    return Candidates.of(words, found, len(views.target))


def spelling_informs(
    views: BilingualViews, halves: SpellingHalves, candidates: Candidates, evidence: Matrix
) -> bool:
    """Whether mutual neighbours are spelled more alike than other candidates of the same words.

    Otherwise spelling says nothing about translations: the words are ids, or no letters correspond. The
    correspondences of the evidence (c, f) were learned without the pair that they judge (`SpellingHalves`);
    words of given pairs are left out.
    """
    mutual = views.lists.mutual()
    mutual = mutual[share_no_word(mutual, halves.given)]
    if len(mutual) < MUTUAL_LEAST:
        return False
    chosen = candidates.are(mutual, len(views.target))
    counts = np.maximum(np.bincount(candidates.places, minlength=len(candidates.words)), 1)
    ahead = []
    for name in ("correspondence", "edit"):
        values = evidence[:, NAMES.index(name)].astype(np.float64)
        mean = np.bincount(candidates.places, values, len(candidates.words)) / counts
        lead = values[chosen] - mean[candidates.places[chosen]]
        error = float(lead.std()) / np.sqrt(max(1, len(lead)))
        ahead.append(len(lead) > 1 and float(lead.mean()) > SURE_ERRORS * error > 0)
    return any(ahead)
