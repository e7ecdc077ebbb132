"""Evidence: what is known of each candidate of a word, as numbers comparable between pairs of languages.

vectors    CSLS and cosine, how far each is ahead of the other candidates of either word, ranks, hubness
frequency  the logarithms of both ranks, and their difference
spelling   learned correspondences, edit distance, common prefix and suffix, same string, lengths

Where others score translations too (`muse.answers.outside`), there are both ranks by their scores, and the
score or cell of the candidate, which becomes log odds once it is known how good the scores are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from muse.answers.candidates import SPELLED, Candidates, NeighbourLists, nearest_both
from muse.answers.outside import OutsideScores
from muse.answers.spelling import Correspondences, LetterSimilarity, Spellings, dots
from muse.vectors import Matrix

KINDS = {
    "vectors": (
        "csls", "cosine", "lead", "lead back", "rank", "rank back", "hubness", "hubness back", "margin",
        "named first", "named",
    ),
    "frequency": ("commonness", "commonness back", "rarer"),
    "spelling": (
        "correspondence", "correspondence lead", "correspondence rank", "ending", "edit", "edit lead",
        "prefix", "prefix share", "suffix", "same string", "length", "length back", "longer", "in both",
        "in both back",
    ),
}  # fmt: skip
NAMES = tuple(name for names in KINDS.values() for name in names)
OUTSIDE = "other sources"
OUTSIDE_COLUMNS = ("outside rank", "outside rank back", "outside odds")  # after NAMES, where there are scores
EQUAL = 2e-5  # scores that differ by less are of the same pair: products are summed in other orders

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


def places_of(*names: str) -> list[int]:
    """The columns of the evidence with these names, or of these kinds.

    >>> places_of("frequency", "csls")
    [11, 12, 13, 0]
    """
    single = {name: [place] for place, name in enumerate(NAMES)}
    kinds = {kind: [place for name in own for place in single[name]] for kind, own in KINDS.items()}
    kinds[OUTSIDE] = [len(NAMES) + place for place in range(len(OUTSIDE_COLUMNS))]
    return [place for name in names for place in {**single, **kinds}[name]]


@dataclass(frozen=True, eq=False)
class Views:
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
    outside: OutsideScores | None = None

    def with_spelled(self) -> Views:
        """These views, with the SPELLED words of the other language that are spelled most alike."""
        there, back = nearest_both(self.whole.source, self.whole.target, SPELLED)
        return replace(self, spelled=(there.indices.numpy(), back.indices.numpy()))

    def csls(self, rows: Numbers, columns: Numbers) -> Floats:
        """The CSLS (c,) of each source of `rows` (c,) and target of `columns` (c,)."""
        return self.lists.csls_of(dots(self.source, self.target, rows, columns), rows, columns)

    def reversed(self) -> Views:
        """The views from target to source."""
        lists, written = self.lists.reversed(), self.written.reversed()
        spelled = None if self.spelled is None else self.spelled[::-1]
        whole, ends = self.whole.reversed(), self.ends.reversed()
        outside = None if self.outside is None else self.outside.reversed()
        return Views(self.target, self.source, lists, written, whole, ends, spelled, outside=outside)


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows of both languages, (n, k) and (m, k), by maps learned without the pairs `without` (p,)."""

    source: Matrix
    target: Matrix
    without: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """The pairs (p, 2) of row numbers that answers are learned from, and their weights (p,).

    `held_out` are rows by maps that were learned without some of them; empty if the mapping used no pairs.
    `outside` are the scores of others, if there are any.
    """

    pairs: Numbers
    weights: NDArray[np.float64]
    held_out: tuple[HeldOutRows, ...] = ()
    outside: OutsideScores | None = None

    @classmethod
    def none(cls) -> KnownPairs:
        """No pairs."""
        return cls(np.zeros((0, 2), np.int64), np.zeros(0))

    def reversed(self) -> KnownPairs:
        """The pairs from target to source."""
        views = tuple(HeldOutRows(one.target, one.source, one.without) for one in self.held_out)
        outside = None if self.outside is None else self.outside.reversed()
        return KnownPairs(self.pairs[:, ::-1], self.weights, views, outside)


def gather(views: Views, candidates: Candidates) -> Floats:
    """The evidence (c, f) for each candidate, columns as in NAMES, and OUTSIDE_COLUMNS with outside scores.

    In the column of the outside odds is what they are computed from, `OutsideScores.said`.
    """
    rows, columns, places = candidates.rows, candidates.columns, candidates.places
    found = {
        **_of_vectors(views, rows, columns),
        **_of_frequency(rows if views.ranks is None else views.ranks[rows], columns),
        **_of_spelling(views, candidates, rows, columns, places),
    }
    names = NAMES
    if views.outside is not None:
        names = (*NAMES, *OUTSIDE_COLUMNS)
        outside = *views.outside.ranks(rows, columns), views.outside.said(rows, columns)
        found |= dict(zip(OUTSIDE_COLUMNS, (side.astype(np.float32) for side in outside), strict=True))
    table = np.empty((len(rows), len(names)), np.float32)
    for place, name in enumerate(names):
        table[:, place] = found[name]
    return table


def _of_vectors(views: Views, rows: Numbers, columns: Numbers) -> dict[str, Floats]:
    lists = views.lists
    cosine = dots(views.source, views.target, rows, columns)
    csls = lists.csls_of(cosine, rows, columns)
    named_first, named = lists.named[columns].T.astype(np.float32)
    return {
        "csls": csls,
        "cosine": cosine,
        "lead": csls - _best_other(lists.csls[rows], csls),
        "lead back": csls - _best_other(lists.csls_back[columns], csls),
        "rank": _rank(lists.csls[rows], csls),
        "rank back": _rank(lists.csls_back[columns], csls),
        "hubness": lists.hubness[rows],
        "hubness back": lists.hubness_back[columns],
        "margin": (lists.csls[:, 0] - lists.csls[:, min(1, lists.csls.shape[1] - 1)])[rows],
        "named first": named_first,
        "named": named,
    }


def _best_other(best: Floats, csls: Floats) -> Floats:
    """The highest of the `best` scores (c, k) of each word, best first, that is not of the candidate (c,)."""
    found = np.where(best[:, 0] - csls <= EQUAL, best[:, min(1, best.shape[1] - 1)], best[:, 0])
    return np.asarray(found, np.float32)


def _rank(best: Floats, csls: Floats) -> Floats:
    """How many of the `best` scores (c, k) of its word are above that of each candidate (c,)."""
    return np.asarray((best - csls[:, None] > EQUAL).sum(axis=1), np.float32)


def _of_frequency(rows: Numbers, columns: Numbers) -> dict[str, Floats]:
    own, other = (np.log1p(side).astype(np.float32) for side in (rows, columns))
    return {"commonness": own, "commonness back": other, "rarer": other - own}


def _of_spelling(
    views: Views, candidates: Candidates, rows: Numbers, columns: Numbers, places: Numbers
) -> dict[str, Floats]:
    written = views.written
    whole, ends = (one.similarity(rows, columns) for one in (views.whole, views.ends))
    alike = LetterSimilarity.of(written.plain[0][rows], written.plain[1][columns])
    own, other = written.lengths[0][rows], written.lengths[1][columns]
    same, back = written.same
    order, rank = candidates.order(whole), np.empty(len(rows), np.float32)
    rank[order] = candidates.ranks
    return {
        "correspondence": whole,
        "correspondence lead": whole - candidates.most(whole)[places].astype(np.float32),
        "correspondence rank": rank,
        "ending": ends,
        "edit": alike.edit,
        "edit lead": alike.edit - candidates.most(alike.edit)[places].astype(np.float32),
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
