"""Probability: a softmax of CSLS over candidates, p(y | x) = exp(CSLS(x, y) / T) / sum_z exp(CSLS(x, z) / T).

The calibration of two such models is fitted when a space is first asked for probabilities, and kept in its
folder. Without a dictionary, labels come from two views of the same space. The coordinates are rotated at
random and split into two halves; each half finds translations on its own, and the answers of one half serve
as labels for the scores of the other. Two models are fitted to the labels by maximum likelihood:

* closed set: p(y | x) is a softmax of CSLS / T over the candidates. It is fitted to the queries whose label
  is among the candidates, as though one of them were always right: its probabilities are too high.
* open set: one more candidate, "none of them", has a constant score; it is the label whenever the other
  half's answer is not among the candidates, although that half errs as well: its probabilities are too low.

The result is the mean of the two.

If directions were re-weighted by the correlation of the space's pairs, its halves are no longer two views:
both depend on all pairs, and agree more often than they are right. The scores are still theirs, but the
labels come from the rows before re-weighting: for the closed-set model rotated by a fit to all pairs, for
the open-set model each rotated by a fit to the pairs of other words (`muse.procrustes.cross_fitted`).

Two independent views of an example in place of labels: co-training (Blum and Mitchell, 1998); errors
estimated from agreement alone: Platanios, Blum and Mitchell (2014). No constant is fitted to a dictionary,
but taking the mean of the two models was decided on the pairs that benchmarks/words/induction.py calls
development; it measures others too. If errors were noise independent in every coordinate, a half would
perform much worse than the whole and the probabilities would be too low; the errors of word vectors are
mostly shared by the halves.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import scipy
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import BadSetting, Mismatch
from muse.files.json_text import parse_json
from muse.files.space_folder import derived_name
from muse.procrustes import cross_fitted
from muse.search.exact import Neighbours
from muse.search.retrieval import Retrieval, best_targets, mutual_neighbours
from muse.space.aligned import Space
from muse.space.derived import HUBNESS_K

log = logging.getLogger(__name__)

COLDEST, HOTTEST = 1e-3, 10.0  # CSLS lies between -4 and 4: beyond these, the softmax hardly changes
LEAST_TEMPERATURE = (
    1e-6  # a lower temperature would only lose digits: the best candidate has all of the probability
)
CANDIDATES = 10  # over which a probability is distributed
HALVINGS = 60  # of the range of temperatures
HELD_OUT_FOLDS = 2  # of the pairs that a temperature is fitted to
WORDS = 12_000  # the most frequent of each side are enough to fit three numbers
FOLDS = 20  # of the words, each rotated by a fit to the pairs of the others
MAX_NONE_SCORE = 4.0  # of "none of them": CSLS lies between -4 and 4, in practice below 2
CALIBRATION = "calibration.{}.json"
Rows = tuple[Tensor, Tensor]  # of the source (n, d) and of the target (m, d), of unit length, in one space
CACHED_RETRIEVAL = ("csls", HUBNESS_K)  # the retrieval whose calibration is kept: the default
ROUNDING = 1.001  # a fit may end that close beyond its bounds
SEED = 0  # of the calibration that is kept


def csls_probabilities(scores: Tensor, temperature: float, among: Tensor | None = None) -> Tensor:
    """The softmax (q, k) over the candidates of each query of their CSLS `scores` (q, k) / `temperature`.

    A candidate of score -inf has probability 0. With `among` (q, l) the sum is over these scores instead.

    >>> csls_probabilities(torch.tensor([[0.2, 0.1]]), 0.1).tolist()
    [[0.7310585975646973, 0.2689414322376251]]
    """
    check_temperature(temperature)
    if among is None:
        return torch.softmax(scores / temperature, dim=1)
    return (scores / temperature - (among / temperature).logsumexp(dim=1, keepdim=True)).exp()


def check_temperature(temperature: float) -> None:
    """Raise BadSetting for a temperature that scores cannot be divided by."""
    if not LEAST_TEMPERATURE <= temperature < math.inf:
        raise BadSetting(
            f"a temperature must be at least {LEAST_TEMPERATURE:g} and finite, got {temperature:g}"
        )


@dataclass(frozen=True)
class Calibration:
    """The temperatures of the closed-set and the open-set model, and the latter's score of "none"."""

    closed_set: float
    open_set: float
    none: float
    belief: float = 1.0  # the probability that the mapping is right, by its verdict

    def probabilities(self, scores: Tensor) -> Tensor:
        """The probability (q, k) that each candidate translates its query, from CSLS `scores` (q, k).

        The sum over a query's first CANDIDATES is 1 at most; the rest is the probability that none of them
        does. Those after them, with lower scores, do not change it: it was fitted on the first alone.

        >>> calibration = Calibration(closed_set=0.1, open_set=0.1, none=0.1)
        >>> calibration.probabilities(torch.tensor([[0.2, 0.1]])).round(decimals=2).tolist()
        [[0.6499999761581421, 0.23999999463558197]]
        """
        best = scores[:, :CANDIDATES]
        closed_set = csls_probabilities(scores, self.closed_set, best)
        open_set = csls_probabilities(scores, self.open_set, with_none(best, self.none))
        return self.belief * (closed_set + open_set) / 2


def with_none(scores: Tensor, none: float) -> Tensor:
    """The `scores` (q, k) of candidates, and of one more, "none of them", beside them: (q, k + 1)."""
    return torch.cat([scores, scores.new_full((len(scores), 1), none)], dim=1)


def fit_temperature(scores: Tensor, right: Tensor) -> float:
    """The temperature of highest likelihood of the `right` candidates, between COLDEST and HOTTEST.

    `scores` (q, k) are the candidates' CSLS, `right` (q,) the column of the right one, -1 if it is not
    among them; such rows are ignored. The log-likelihood is concave in 1 / T and stationary where the
    mean score of the right candidates equals the expected score under the model.

    If the right one always has the highest score, the likelihood rises until T = 0: so the pairs must
    not be chosen by the same scores that are given here; see `held_out_scores`.
    """
    known = right >= 0
    if not bool(known.any()):
        raise Mismatch(
            "a temperature needs a query whose translation is among its candidates, got none; give more "
            "words, or a temperature"
        )
    table = scores[known].double()  # (q, k)
    observed = table.gather(1, right[known][:, None]).mean()
    low, high = np.log(COLDEST), np.log(HOTTEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        expected = (csls_probabilities(table, float(np.exp(middle))) * table).nan_to_num(0).sum(dim=1).mean()
        if expected > observed:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def held_out_scores(
    source: Tensor, target: Tensor, *, top: int, rng: np.random.Generator
) -> tuple[Tensor, Tensor]:
    """The CSLS (p, k) of the `top` best targets of held-out mutual pairs, and the right column (p,).

    The pairs are the mutual neighbours of `source` (n, d) and `target` (m, d), in the shared space.
    Each is looked up with a rotation fitted to the pairs of the other folds, so that it does not confirm
    itself (`muse.procrustes.cross_fitted`). The column is -1 if the pair is not recovered.
    """
    retrieval = Retrieval()
    pairs = mutual_neighbours(source, target, retrieval)  # (p, 2)
    if len(pairs) < HELD_OUT_FOLDS:
        raise Mismatch(f"held-out pairs need at least {HELD_OUT_FOLDS} mutual neighbours, got {len(pairs)}")
    folds = torch.from_numpy(rng.integers(HELD_OUT_FOLDS, size=len(source))).to(source.device)
    mapped = cross_fitted(source, target, pairs, folds)  # (n, d)
    bias = retrieval.bias(mapped, target)
    found = retrieval.translate(mapped[pairs[:, 0]], target, top, bias=bias)  # (p, k)
    return found.scores, column_of(found.indices, pairs[:, 1:])


def column_of(candidates: Tensor, wanted: Tensor) -> Tensor:
    """The column (n,) of the wanted ones (n, 1) among the candidates (n, k), or -1."""
    same = candidates == wanted
    return torch.where(same.any(dim=1), same.int().argmax(dim=1), -1)


def calibrate_rows(
    source: Tensor,
    target: Tensor,
    *,
    rng: np.random.Generator,
    retrieval: Retrieval | None = None,
    unweighted: Rows | None = None,
) -> Calibration:
    """The calibration of translations from `source` (n, d) to `target` (m, d), most frequent words first.

    `unweighted` has the rows of the WORDS most frequent before re-weighting, if there was any.
    `rng` draws the rotation. If the two halves never agree, every probability is small.
    """
    rows = source[:WORDS], target[:WORDS]
    halves = _halves(rows, rng)
    retrieval = retrieval or Retrieval()
    views = [in_half(rows, half) for half in halves]
    found = [retrieval.translate(*view, CANDIDATES, bias=retrieval.bias(*view)) for view in views]
    together = apart = [half.indices[:, 0] for half in found]
    if unweighted is not None:
        pairs = mutual_neighbours(*rows, retrieval)  # (p, 2)
        folds = torch.from_numpy(rng.integers(FOLDS, size=len(unweighted[0]))).to(pairs.device)
        # Each source row is rotated by a fit without the pairs of its own fold.
        fitted = cross_fitted(*unweighted, pairs, folds), unweighted[1]
        together, apart = (
            [best_targets(*in_half(of, half), retrieval) for half in halves] for of in (unweighted, fitted)
        )
    scores = torch.cat([half.scores for half in found])  # (2n, k)
    right = labels_from_views(found, together)
    closed_set = fit_temperature(scores, right) if bool((right >= 0).any()) else HOTTEST
    return Calibration(closed_set, *fit_open_set(scores, labels_from_views(found, apart)))


def in_half(rows: Rows, half: Tensor) -> Rows:
    """The `rows` in the coordinates that `half` (d, h) has of them, of unit length again."""
    x, y = (normalize(side @ half) for side in rows)
    return x, y


def labels_from_views(found: Sequence[Neighbours], judges: Sequence[Tensor]) -> Tensor:
    """The column (2n,), among the candidates of each half, of the other judge's best target (n,), or -1."""
    return torch.cat([
        column_of(half.indices, judge[:, None])
        for half, judge in zip(found, reversed(judges), strict=True)
    ])  # fmt: skip


def _halves(rows: Rows, rng: np.random.Generator) -> Sequence[Tensor]:
    """The columns of a random rotation (d, d), split in two; Mismatch if there is nothing to split."""
    (n, dimension), m = rows[0].shape, len(rows[1])
    if dimension < 2 or not n or not m:
        raise Mismatch(
            f"a probability needs words in 2 dimensions or more, got {n} and {m} words in {dimension}"
        )
    rotation, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    return torch.from_numpy(rotation).to(rows[0]).tensor_split([dimension // 2], dim=1)


def fit_open_set(scores: Tensor, right: Tensor) -> tuple[float, float]:
    """The temperature and the score of "none" of highest likelihood, from CSLS `scores` (q, k).

    `right` (q,) is the column of the answer, or -1 for none. Concave in (1 / T, none / T).
    """
    answer = torch.where(right < 0, scores.shape[1], right)[:, None]
    table = scores.double()

    def loss(logs: tuple[float, float]) -> float:
        temperature, none = float(np.exp(logs[0])), logs[1]
        found = torch.log_softmax(with_none(table, none) / temperature, dim=1).gather(1, answer)
        return -float(found.mean())

    limits = [(np.log(COLDEST), np.log(HOTTEST)), (-MAX_NONE_SCORE, MAX_NONE_SCORE)]
    start = (np.log(0.05), 0.1)  # close to what was fitted on real vectors
    best = scipy.optimize.minimize(loss, start, method="L-BFGS-B", bounds=limits)
    return float(np.exp(best.x[0])), float(best.x[1])


def calibrate_space(
    space: Space, source: str, target: str, *, rng: np.random.Generator, retrieval: Retrieval
) -> Calibration:
    """The calibration of translations from `source` to `target` (`muse.ranking.probability`).

    It is fitted to the most frequent words of the whole space, whatever part of it is searched: a
    probability must not depend on how many words are looked up.
    """
    rows, unweighted = (space.tensor(source), space.tensor(target)), None
    if space.manifest.mapping == "linear":
        unweighted = space.unweighted(source, WORDS), space.unweighted(target, WORDS)
    found = calibrate_rows(*rows, rng=rng, retrieval=retrieval, unweighted=unweighted)
    return _believed(space, (source, target), found)


def known_calibration(space: Space, source: str, target: str) -> Calibration | None:
    """The calibration for the default retrieval, if the space was saved with it or it was found earlier."""
    name = derived_name(CALIBRATION, source, target)
    found = space.once(Calibration, (source, target), lambda: space.derived.read(name, _possible))
    return None if found is None else _believed(space, (source, target), found)


def _believed(space: Space, way: tuple[str, str], found: Calibration) -> Calibration:
    """The calibration, which supposes a right mapping, with the belief in that one."""
    belief = space.manifest.verdict_on(*way).belief
    return found if belief == found.belief else replace(found, belief=belief)


def find_calibration(space: Space, source: str, target: str) -> Calibration | None:
    """The calibration for the default retrieval: the known one, or fitted now.

    None if the space is too small for one: without two pairs of mutual neighbours, or in one dimension.
    """
    known = known_calibration(space, source, target)
    if known is not None:
        return known
    with space.progress.stage(f"probabilities of {target} for {source}", 1) as tick:
        try:
            rng = np.random.default_rng(SEED)
            found = calibrate_space(space, source, target, rng=rng, retrieval=Retrieval(*CACHED_RETRIEVAL))
        except Mismatch as error:
            log.debug("no probabilities: %s", error)
            return None
        tick(1)
    space.keep((source, target), found)
    return found


def write_calibration(folder: Path, source: str, target: str, found: Calibration) -> None:
    """Write a calibration to the folder of a space."""
    path = folder / derived_name(CALIBRATION, source, target)
    fitted = {name: value for name, value in asdict(found).items() if name != "belief"}
    path.write_text(json.dumps(fitted) + "\n", encoding="utf-8")


def _possible(content: bytes) -> Calibration:
    """The calibration in a file; ValueError for values that no fit gives."""
    found = Calibration(**parse_json(content))
    coldest, hottest = COLDEST / ROUNDING, HOTTEST * ROUNDING
    if not all(coldest <= one <= hottest for one in (found.closed_set, found.open_set)):
        raise ValueError(f"expected temperatures between {COLDEST} and {HOTTEST}")
    if not abs(found.none) <= MAX_NONE_SCORE * ROUNDING:  # which nan is not
        raise ValueError(f"expected a score of none of at most {MAX_NONE_SCORE}")
    return found
