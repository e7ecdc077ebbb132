"""Calibration: from the CSLS of a word's candidates to the probability that each translates it.

No dictionary says how often a score is right, so two views of the same space do. The coordinates are
rotated at random and cut in halves; each half finds translations by itself, and what one half says is
the answer to the other's question. From this two models are fitted by likelihood:

* trusting: p(y | x) is a softmax of CSLS / T over the candidates. It is fitted where the other half's
  answer is among them, as though one of them were always right: probabilities that are too high.
* doubting: one more candidate, "none of them", has a constant score; it is the answer wherever the
  other half's is not among them, though that half errs as well: probabilities that are too low.

The probability given is the mean of the two.

Where directions were re-weighted by what the pairs of the space show in them, its halves no longer are
two views: all pairs taught both, and they agree more often than they are right. The scores are theirs,
but the answers come from the rows before: for the trusting model turned by rotations fitted to all pairs,
for the doubting one each turned by what the pairs of other words teach (`muse.procrustes.cross_fitted`).

That two independent views of an example can stand in for
labels is the idea of co-training (Blum and Mitchell, 1998); errors estimated from agreement alone:
Platanios, Blum and Mitchell (2014). No constant is fitted to a dictionary, but that it is the middle of
the two was decided on the pairs that benchmarks/induction.py calls development; it measures others too.
If errors were noise independent in every coordinate, a half would see much less than the whole and the
probabilities would be too low; those of word vectors are mostly shared by the halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.optimize
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import Mismatch
from muse.procrustes import cross_fitted
from muse.search.neighbours import Neighbours
from muse.search.probability import COLDEST, HOTTEST, csls_probabilities, fit_temperature
from muse.search.retrieval import Retrieval, mutual_neighbours

CANDIDATES = 10  # over which a probability is spread
WORDS = 12_000  # the most frequent of each side are enough to fit three numbers
FOLDS = 20  # of the words, each turned by what the others teach
FARTHEST = 4.0  # CSLS lies between -4 and 2: the score of "none of them" stays in as wide a range

Rows = tuple[Tensor, Tensor]  # of the source (n, d) and of the target (m, d), of unit length, in one space


@dataclass(frozen=True)
class Calibration:
    """The temperature of the trusting model; temperature and score of "none" of the doubting one."""

    trusting: float
    doubting: float
    none: float

    def probabilities(self, scores: Tensor) -> Tensor:
        """The probability (q, k) that each candidate translates its query, from CSLS `scores` (q, k).

        The sum over a query's candidates is 1 at most; the rest is that none of them does.

        >>> calibration = Calibration(trusting=0.1, doubting=0.1, none=0.1)
        >>> calibration.probabilities(torch.tensor([[0.2, 0.1]])).round(decimals=2).tolist()
        [[0.6499999761581421, 0.23999999463558197]]
        """
        trusting = csls_probabilities(scores, self.trusting)
        doubting = csls_probabilities(_with_none(scores, self.none), self.doubting)[:, :-1]
        return (trusting + doubting) / 2


def calibrate(
    source: Tensor,
    target: Tensor,
    *,
    rng: np.random.Generator,
    retrieval: Retrieval | None = None,
    unweighted: Rows | None = None,
) -> Calibration:
    """The calibration of translations from `source` (n, d) to `target` (m, d), most frequent words first.

    `unweighted` has the WORDS most frequent as they were before re-weighting, where there was any.
    `rng` draws the rotation. Where the two halves agree on nothing, every probability is small.
    """
    rows = source[:WORDS], target[:WORDS]
    halves = _halves(rows, rng)
    retrieval = retrieval or Retrieval()
    found = in_halves(rows, halves, retrieval)
    together = apart = found
    if unweighted is not None:
        together = in_halves(unweighted, halves, retrieval)
        apart = in_halves(_turned_apart(rows, unweighted, rng, retrieval), halves, retrieval)
    scores = torch.cat([half.scores for half in found])  # (2n, k)
    right = answers(found, together)
    trusting = fit_temperature(scores, right) if bool((right >= 0).any()) else HOTTEST
    return Calibration(trusting, *fit_doubting(scores, answers(found, apart)))


def in_halves(rows: Rows, halves: Sequence[Tensor], retrieval: Retrieval) -> list[Neighbours]:
    """The best targets (n, k) of every source row, with their CSLS, by each of the `halves` (d, h) alone."""
    found = []
    for half in halves:
        x, y = (normalize(side @ half) for side in rows)
        found.append(retrieval.translate(x, y, CANDIDATES, bias=retrieval.bias(x, y)))
    return found


def answers(found: Sequence[Neighbours], judges: Sequence[Neighbours]) -> Tensor:
    """The column (2n,) in which each of two halves found what the other judge has first, or -1."""
    return torch.cat([
        _column(half.indices, judge.indices) for half, judge in zip(found, reversed(judges), strict=True)
    ])  # fmt: skip


def _halves(rows: Rows, rng: np.random.Generator) -> Sequence[Tensor]:
    """A random rotation (d, d), its columns cut in two; Mismatch where there is nothing to cut."""
    (n, dimension), m = rows[0].shape, len(rows[1])
    if dimension < 2 or not n or not m:
        raise Mismatch(
            f"a probability needs words in 2 dimensions or more, got {n} and {m} words in {dimension}"
        )
    rotation, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    return torch.from_numpy(rotation).to(rows[0]).tensor_split([dimension // 2], dim=1)


def _turned_apart(rows: Rows, before: Rows, rng: np.random.Generator, retrieval: Retrieval) -> Rows:
    """The rows `before` re-weighting, each source row turned without what its own pair of `rows` teaches."""
    pairs = mutual_neighbours(*rows, retrieval)  # (p, 2)
    folds = torch.from_numpy(rng.integers(FOLDS, size=len(before[0]))).to(pairs.device)
    return cross_fitted(*before, pairs, folds), before[1]


def _column(candidates: Tensor, others: Tensor) -> Tensor:
    # Where in `candidates` (n, k) the best of `others` (n, k) stands, (n,), or -1.
    same = candidates == others[:, :1]
    return torch.where(same.any(dim=1), same.int().argmax(dim=1), -1)


def _with_none(scores: Tensor, none: float) -> Tensor:
    return torch.cat([scores, scores.new_full((len(scores), 1), none)], dim=1)  # (q, k + 1)


def fit_doubting(scores: Tensor, right: Tensor) -> tuple[float, float]:
    """The temperature and the score of "none" of highest likelihood, from CSLS `scores` (q, k).

    `right` (q,) is the column of the answer, or -1 for none. Concave in (1 / T, none / T).
    """
    answer = torch.where(right < 0, scores.shape[1], right)[:, None]
    table = scores.double()

    def loss(logs: tuple[float, float]) -> float:
        temperature, none = float(np.exp(logs[0])), logs[1]
        found = torch.log_softmax(_with_none(table, none) / temperature, dim=1).gather(1, answer)
        return -float(found.mean())

    limits = [(np.log(COLDEST), np.log(HOTTEST)), (-FARTHEST, FARTHEST)]
    start = (np.log(0.05), 0.1)  # of the order of what was fitted on real vectors
    best = scipy.optimize.minimize(loss, start, method="L-BFGS-B", bounds=limits)
    return float(np.exp(best.x[0])), float(best.x[1])
