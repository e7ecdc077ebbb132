"""Probability: a softmax of CSLS scores over candidates, and the temperature of highest likelihood.

p(y | x) = exp(CSLS(x, y) / T) / sum_z exp(CSLS(x, z) / T), z over the candidates of x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from muse.errors import BadSetting, Mismatch
from muse.procrustes import cross_fitted
from muse.search.retrieval import Retrieval, mutual_neighbours

COLDEST, HOTTEST = 1e-3, 10.0  # CSLS lies between -4 and 4: beyond these, the softmax hardly changes
LEAST = 1e-6  # a lower temperature would only lose digits: the best candidate has all of the probability
CANDIDATES = 10  # over which a probability is distributed
HALVINGS = 60
FOLDS = 2


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
    if not LEAST <= temperature < math.inf:
        raise BadSetting(f"a temperature must be at least {LEAST:g} and finite, got {temperature:g}")


@dataclass(frozen=True)
class Calibration:
    """The temperatures of the closed-set and the open-set model, and the latter's score of "none"."""

    closed_set: float
    open_set: float
    none: float

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
        return (closed_set + open_set) / 2


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
    if len(pairs) < FOLDS:
        raise Mismatch(f"held-out pairs need at least {FOLDS} mutual neighbours, got {len(pairs)}")
    folds = torch.from_numpy(rng.integers(FOLDS, size=len(source))).to(source.device)
    mapped = cross_fitted(source, target, pairs, folds)  # (n, d)
    bias = retrieval.bias(mapped, target)
    found = retrieval.translate(mapped[pairs[:, 0]], target, top, bias=bias)  # (p, k)
    return found.scores, column_of(found.indices, pairs[:, 1:])


def column_of(candidates: Tensor, wanted: Tensor) -> Tensor:
    """The column (n,) of the wanted ones (n, 1) among the candidates (n, k), or -1."""
    same = candidates == wanted
    return torch.where(same.any(dim=1), same.int().argmax(dim=1), -1)
