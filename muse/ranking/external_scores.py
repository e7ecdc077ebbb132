"""Outside scores: what others than the two sets of vectors say of translations, and how far to believe it.

They may be of a pretrained encoder of both languages, another program's translations, a transliterator: a
score for some pairs of words. How good it is in these two languages is measured here, by the answers of all
other evidence, which are right with a known probability p. What it says of a candidate is added to its log
odds. That is 0 for a source that knows nothing, which is then left out.

Comparable vectors give a score to every candidate: the softmax over a word's candidates of their CSLS by the
temperature of highest likelihood, where an answer was drawn by the softmax with probability p, and else at
random. The log odds are those of the softmax against chance. An encoder reads letters, and puts words near
each other that are spelled alike. Of spelling the other evidence is the better judge, and it would count
twice: most of what the CSLS of wrong candidates owes to it is subtracted from that of all.

Scores of single pairs may be on any scale. Pairs fall into cells, by the rank of each word among the other's
and the lead of the first. The answers fall into a cell at a rate that is a mixture: p times the rate of right
translations plus 1 - p times that of wrong ones, which are seen in the candidates behind them. The log odds
are the log of the ratio of both rates.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.normalise import normalise
from muse.ranking.candidates import Candidates, NeighbourLists, TwoWay, mutual_pairs
from muse.ranking.canonical import dots
from muse.vectors import Doubles, Flags, Matrix, Numbers

LISTED = 10  # words of the other language whose scores are kept
RANKS = (0, 1, 3, 6, LISTED)  # the first rank of each band, up to those not among the kept
LEADS = 4  # bands of the lead of a word's first
MOST_ODDS = 5.0  # of one source, whatever the rates: they are of some thousand words
SMOOTHED = 5.0  # candidates added to each cell, in proportion to all
LEAST_RIGHT = 0.02  # of the answers by all other evidence
SCALES = np.append(0, np.geomspace(0.05, 20, 27))  # tried, of 1 / temperature, in standard deviations
# Most answers that an encoder confirms may be spelled like their words, and then it seems better than it is.
# The more answers are wrong, the more it may count: the highest scale, times the odds that one is. Chosen on
# the training lists of five pairs, like the share of spelling that is subtracted; a sixth gained as much.
MOST_SCALE = 1.4
SUBTRACTED = 0.75
LEAST_SCALE = 0.1  # of scores that know something: a lower one is chance
# The first row of each band of words, most frequent first: an encoder knows names and rare words better than
# the words that hold sentences together, of which the vectors know most.
BANDS = (0, 500)
FREQUENT = 10_000  # words whose answers say how many are wrong
LEAST_COMPARED, LATE = 30, 0.6  # translations that tell distances, and their mean place, from 0 to 1
OTHERS = 5  # candidates behind the answer, by which the rates of wrong translations are known

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ComparableVectors(TwoWay):
    """Unit rows (n, d) and (m, d) of words, zeros if unknown, and their hubness (n,) and (m,), then nan."""

    source: Matrix
    target: Matrix
    hubness: Matrix
    hubness_back: Matrix

    def csls(self, rows: Numbers, columns: Numbers) -> Matrix:
        """The CSLS (c,) of each source of `rows` (c,) and target of `columns` (c,); nan if one is unknown."""
        found = 2 * dots(self.source, self.target, rows, columns)
        return found - self.hubness[rows] - self.hubness_back[columns]


@dataclass(frozen=True, eq=False)
class ExternalScores(TwoWay):
    """The best words of the other language by scores that somebody else gives, best first.

    Sources have the targets `columns` (n, k) with `scores` (n, k), targets the sources `rows` (m, k) with
    `scores_back` (m, k); -1 and -inf where there are none. If they are the CSLS of `vectors`, all others have
    scores too.
    """

    columns: Numbers
    scores: Matrix
    rows: Numbers
    scores_back: Matrix
    vectors: ComparableVectors | None = None
    warned: set[str] = field(default_factory=set)  # of what; the other direction has the same set

    @classmethod
    def of_vectors(cls, source: Matrix, target: Matrix) -> ExternalScores:
        """By CSLS of comparable vectors (n, d) and (m, d), each language centred; zeros are unknown words."""
        n, m = len(source), len(target)
        mine, other = (np.flatnonzero(side.any(axis=1)) for side in (source, target))
        if min(len(mine), len(other)) < 2:
            return cls.none((n, m))
        x, y = normalise(source[mine])[0], normalise(target[other])[0]
        lists = NeighbourLists.of(x, y)
        hubness = _spread(mine, lists.hubness, (n,), np.nan), _spread(other, lists.hubness_back, (m,), np.nan)
        d = x.shape[1]
        return cls(
            _spread(mine, other[lists.columns[:, :LISTED]], (n, LISTED), -1),
            _spread(mine, lists.csls[:, :LISTED], (n, LISTED), -np.inf),
            _spread(other, mine[lists.rows[:, :LISTED]], (m, LISTED), -1),
            _spread(other, lists.csls_back[:, :LISTED], (m, LISTED), -np.inf),
            ComparableVectors(_spread(mine, x, (n, d), 0), _spread(other, y, (m, d), 0), *hubness),
        )

    @classmethod
    def none(cls, counts: tuple[int, int]) -> ExternalScores:
        """No scores, of `counts` words of both languages."""
        return cls.of_pairs(np.zeros((0, 2), np.int64), np.zeros(0), counts)

    @classmethod
    def of_pairs(cls, pairs: Numbers, scores: Doubles, counts: tuple[int, int]) -> ExternalScores:
        """By the scores (p,) of pairs (p, 2), of `counts` words of both languages.

        Of a pair that is given again, as in another spelling, the highest score counts.
        """
        order = np.lexsort((-scores, pairs[:, 0] * counts[1] + pairs[:, 1]))
        pairs, scores = pairs[order], scores[order]
        first = np.diff(pairs, axis=0, prepend=-1).any(axis=1)
        largest = float(abs(scores).max(initial=0)) or 1.0  # only their order counts
        pairs, scores = pairs[first], scores[first] / largest
        there = _best(pairs, scores, counts[0])
        return cls(*there, *_best(pairs[:, ::-1], scores, counts[1]))

    @property
    def known(self) -> Flags:
        """Whether each source has a score with any target, (n,)."""
        return np.asarray(self.columns[:, 0] >= 0)

    def mutual(self) -> tuple[Numbers, Matrix]:
        """The pairs (p, 2) of words that are each other's first, and their leads (p,), surest first."""
        pairs = mutual_pairs(self.columns[:, 0], self.rows[:, 0])
        leads = np.minimum(_lead(self.scores)[pairs[:, 0]], _lead(self.scores_back)[pairs[:, 1]])
        order = np.argsort(-leads, kind="stable")
        return pairs[order], leads[order]

    def surest(self) -> Numbers:
        """The half (p, 2) of the mutual pairs that lead by most, surest first."""
        pairs, leads = self.mutual()
        return pairs[leads >= np.median(leads)] if len(leads) else pairs

    def candidates(self, words: Numbers) -> tuple[Numbers, Numbers]:
        """The candidates of some words: rows and columns (c,)."""
        columns = self.columns[words]
        places, ranks = np.nonzero(columns >= 0)
        return words[places], columns[places, ranks]

    def ranks(self, rows: Numbers, columns: Numbers) -> tuple[Numbers, Numbers]:
        """The rank (c,) of each target among its word's best, from 0, and of each source; LISTED for none."""
        found = np.full(len(rows), LISTED), np.full(len(rows), LISTED)
        for rank in reversed(range(self.columns.shape[1])):
            found[0][self.columns[rows, rank] == columns] = rank
            found[1][self.rows[columns, rank] == rows] = rank
        return found

    def warn_of_distances(self, rows: Numbers, columns: Numbers, shares: Matrix | Flags, kind: str) -> None:
        """Log a warning, once, if translations (c,) of a `kind`, right with these shares, score low."""
        listed, rank = (self.columns[rows] >= 0).sum(axis=1), self.ranks(rows, columns)[0]
        lowest = np.where(self.columns[rows] >= 0, self.scores[rows], np.inf).min(axis=1)
        told = (lowest < self.scores[rows, 0]) & (rank < LISTED) & (shares > 0)  # equal scores tell nothing
        if told.sum() < LEAST_COMPARED:
            return
        place = float(np.average(rank[told] / (listed[told] - 1), weights=shares[told]))
        if place > LATE and not self.warned:
            self.warned.add(kind)
            log.warning(
                "--evidence: %d %s have low scores among those of their word (mean place %.2f of 0 to 1): "
                "higher scores must be better; in place of distances write 1 - distance",
                told.sum(), kind, place,
            )  # fmt: skip

    @cached_property
    def _leads(self) -> Numbers:
        """The band (n,) of how far the best of each source leads the second."""
        lead = _lead(self.scores)
        some = lead[self.known]
        bounds = np.quantile(some, np.arange(1, LEADS) / LEADS) if len(some) else np.zeros(LEADS - 1)
        return np.searchsorted(bounds, lead)

    def said(self, rows: Numbers, columns: Numbers) -> Matrix:
        """What `OutsideOdds` are of: the CSLS (c,) of vectors, nan for unknown words, or the cell."""
        if self.vectors is not None:
            return self.vectors.csls(rows, columns)
        return self.cells(rows, columns).astype(np.float32)

    def cells(self, rows: Numbers, columns: Numbers) -> Numbers:
        """The cell (c,) of each candidate; 0 if the scores know its word or the candidate not at all."""
        ranks = self.ranks(rows, columns)
        there, back = (np.searchsorted(RANKS, rank, side="right") - 1 for rank in ranks)
        cell = 1 + (there * len(RANKS) + back) * LEADS + np.where(there == 0, self._leads[rows], 0)
        unknown = ~self.known[rows] | (self.rows[columns, 0] < 0)
        return np.where(unknown, 0, cell)


def _lead(scores: Matrix) -> Matrix:
    """By how much the first of the scores (n, k) is above the second; 0 for one without any.

    An only one is as far ahead as the furthest of the others.
    """
    leads = np.zeros(len(scores), np.float32)
    if scores.shape[1] < 2:
        return leads
    known, several = np.isfinite(scores[:, 0]), np.isfinite(scores[:, 1])
    leads[several] = scores[several, 0] - scores[several, 1]
    leads[known & ~several] = leads.max(initial=0) or 1
    return leads


def _spread(rows: Numbers, values: NDArray[Any], shape: tuple[int, ...], none: float) -> NDArray[Any]:
    """The `values` (r, k) of some rows (r,) in an array of the `shape`, maybe wider; else `none`."""
    found = np.full(shape, none, values.dtype)
    place: tuple[Any, ...] = (rows, *map(slice, values.shape[1:]))
    found[place] = values
    return found


def _best(pairs: Numbers, scores: Doubles, count: int) -> tuple[Numbers, Matrix]:
    """The LISTED best of the second words of pairs (p, 2) for each of `count` first ones, with scores."""
    columns, best = np.full((count, LISTED), -1), np.full((count, LISTED), -np.inf, np.float32)
    order = np.lexsort((pairs[:, 1], -scores, pairs[:, 0]))
    rank = np.arange(len(order)) - np.searchsorted(pairs[order, 0], pairs[order, 0])
    order, rank = order[rank < LISTED], rank[rank < LISTED]
    rows = pairs[order, 0]
    columns[rows, rank], best[rows, rank] = pairs[order, 1], scores[order]
    return columns, best


@dataclass(frozen=True, eq=False)
class SoftmaxOdds:
    """The log odds, against chance, of the softmax of a scale times the CSLS over each word's candidates.

    Words of each band of BANDS have their own of the `scales` (b,). From the CSLS what it owes to spelling is
    subtracted, by the `slopes` (k,) of how alike words are spelled.
    """

    scales: Doubles
    slopes: Matrix

    @property
    def informs(self) -> bool:
        """Whether the scores say anything."""
        return bool(self.scales.any())

    def __call__(self, said: Matrix, alike: Matrix, words: Numbers) -> Doubles:
        """The log odds (c,) by CSLS (c,) of candidates of `words` (c,), those of one together; nan has 0.

        `alike` (c, k) is how alike a word and its candidate are spelled, by several measures.
        """
        return _against_chance(self.scales[_band(words)] * (said - alike @ self.slopes), words)


def _band(words: Numbers) -> Numbers:
    """The band of each word (c,)."""
    return np.searchsorted(BANDS, words, side="right") - 1


def _against_chance(values: Matrix | Doubles, words: Numbers) -> Doubles:
    """The log odds of the softmax of values (c,) over the candidates of each of `words` (c,); nan has 0."""
    known = np.isfinite(values)
    found = np.zeros(len(values))
    if not known.any():
        return found
    some, group = values[known].astype(np.float64), words[known]
    starts = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    counts = np.diff([*starts.tolist(), len(group)])
    some -= np.repeat(np.maximum.reduceat(some, starts), counts)
    total = np.add.reduceat(np.exp(some), starts)
    found[known] = some + np.repeat(np.log(counts / total), counts)
    return found


@dataclass(frozen=True, eq=False)
class CellOdds:
    """The log odds of each cell; cell 0, of the unknown, has 0."""

    odds: Doubles

    @property
    def informs(self) -> bool:
        """Whether the scores say anything."""
        return bool(self.odds.any())

    def __call__(self, said: Matrix, alike: Matrix, words: Numbers) -> Doubles:
        """The log odds (c,) by cells (c,)."""
        return self.odds[said.astype(np.int64)]


OutsideOdds = SoftmaxOdds | CellOdds


def measured_odds(
    scores: ExternalScores,
    candidates: Candidates,
    alike: Matrix,
    log_odds: Doubles,
    probability: Matrix,
) -> OutsideOdds:
    """What the scores add to the log odds of candidates, measured by the answers of all other evidence.

    `log_odds` and `probability` (c,) are those of all candidates by the other evidence; `alike` (c, k) is how
    alike they are spelled.
    """
    if scores.vectors is None:
        best = candidates.firsts(log_odds)
        rows, columns = candidates.rows[best], candidates.columns[best]
        scores.warn_of_distances(rows, columns, probability[best], "answers by all other evidence")
        order, cells = candidates.order(log_odds), scores.cells(candidates.rows, candidates.columns)
        return CellOdds(_odds_of_cells(cells[order], candidates.ranks, probability[order]))
    said = scores.said(candidates.rows, candidates.columns)
    firsts = candidates.firsts(log_odds)
    firsts = firsts[np.isfinite(said[firsts])]
    if not len(firsts):
        return SoftmaxOdds(np.zeros(len(BANDS)), np.zeros(alike.shape[1], np.float32))
    p, places = probability[firsts].astype(np.float64), candidates.places
    spread, band = max(float(np.nanstd(said)), 1e-9), _band(places[firsts])
    odds = [_against_chance(scale / spread * said, places)[firsts] for scale in SCALES]
    likelihoods = np.log(p * np.exp(odds) + 1 - p)  # (s, a) of each scale and answer

    def scale_of(among: Flags) -> float:
        often = p[among & (places[firsts] < FREQUENT)]
        often = often if len(often) else p[among]
        most = MOST_SCALE * (1 - often.mean()) / max(often.mean(), LEAST_RIGHT)
        likeliest = SCALES[likelihoods[:, among].mean(axis=1).argmax()]
        return float(min(likeliest, most)) / spread if likeliest >= LEAST_SCALE else 0.0

    whole = scale_of(np.ones(len(p), bool))
    parts = [band == one for one in range(len(BANDS))]
    scales = [min(whole, scale_of(part)) if part.any() else whole for part in parts]
    wrong = np.isfinite(said)
    wrong[firsts] = False
    return SoftmaxOdds(np.array(scales), SUBTRACTED * _slopes(said[wrong], alike[wrong], places[wrong]))


def _slopes(said: Matrix, alike: Matrix, words: Numbers) -> Matrix:
    """By how much the CSLS (c,) rises with each column of `alike` (c, k), among candidates of one word.

    The solution of least squares, by its normal equations, where a word has a level of its own.
    """
    table = np.column_stack([alike, said]).astype(np.float64)
    counts = np.maximum(np.bincount(words), 1)
    for column in table.T:
        column -= (np.bincount(words, column) / counts)[words]
    products = table.T @ table
    return np.linalg.lstsq(products[:-1, :-1], products[:-1, -1], rcond=None)[0].astype(np.float32)


def _odds_of_cells(cells: Numbers, ranks: Numbers, probability: Matrix) -> Doubles:
    """The log odds of each cell, by those (c,) of candidates of these ranks (c,) and probabilities (c,)."""
    count = 1 + len(RANKS) ** 2 * LEADS
    # Whether the scores know a word says nothing of its translations.
    first, others = ((cells > 0) & place for place in (ranks == 0, (ranks > 0) & (ranks <= OTHERS)))
    if not first.any() or not others.any():
        return np.zeros(count)
    p = float(probability[first].mean())
    mixed, wrong = (np.bincount(cells[one], minlength=count).astype(float) for one in (first, others))
    every = (mixed + wrong + 1) / (mixed + wrong + 1).sum()
    mixed, wrong = ((one + SMOOTHED * every) / (one.sum() + SMOOTHED) for one in (mixed, wrong))
    # Some of the others are right too. What that makes the ratio too low is in the weight of the odds; to
    # solve for both rates would need more exact shares than are known.
    right = (mixed - (1 - p) * wrong) / max(p, LEAST_RIGHT)
    odds = np.log(np.maximum(right, np.exp(-MOST_ODDS) * wrong) / wrong).clip(-MOST_ODDS, MOST_ODDS)
    odds[0] = 0
    return np.asarray(odds)
