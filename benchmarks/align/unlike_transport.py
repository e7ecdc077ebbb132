"""Ideas for starting between unlike vectors that rest on optimal transport (see unlike_ideas.py)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.learn.initialise.components import unit_components
from muse.learn.initialise.features import (
    FeaturesConfig,
    log_likelihood_ratio,
    log_ranks,
    sharpened,
    word_features,
)
from muse.learn.initialise.gromov import GromovConfig, gromov_plan, prior_on_ranks, similarity_root
from muse.learn.transport import sinkhorn
from muse.normalise import normalise
from muse.procrustes import rotation
from muse.run.runtime import Runtime
from muse.search.retrieval import mutual_pairs
from muse.vectors import Vectors

RUNTIME = Runtime()
DIMENSIONS = 50
GRAPH_WORDS = 800  # graph matching is cubic in them
PARTIAL = 0.5  # the share of the words that is transported
MARGINAL = 0.5  # the exponent that relaxes a marginal: rho / (rho + epsilon)


def gromov_wasserstein(x: Tensor, y: Tensor, prior: Tensor) -> Tensor:
    """The pairs of muse's Gromov-Wasserstein between x x^T and y y^T (n, k), (m, k), with a prior (n, m)."""
    return maxima(gromov_plan(x, y, prior, GromovConfig(), RUNTIME))


def maxima(plan: Tensor) -> Tensor:
    """The mutual maxima (p, 2) of a plan or of similarities (n, m)."""
    return mutual_pairs(plan.argmax(dim=1), plan.argmax(dim=0))


def ranks(x: Vectors, y: Vectors) -> Tensor:
    """The squared difference (n, m) of the logarithms of the frequency ranks, of unit deviation."""
    return prior_on_ranks(len(x), len(y))


def rank_gaps(x: Vectors, y: Vectors) -> Tensor:
    """The differences (n, m) of the logarithms of the frequency ranks."""
    own, other = (log_ranks(len(side)).float() for side in (x, y))
    return own[:, None] - other[None, :]


def with_rows(side: Vectors, rows: Tensor) -> Vectors:
    """The same words with other rows (n, d)."""
    return replace(side, matrix=rows.numpy().astype(np.float32))


def plain(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Gromov-Wasserstein as in muse, with a prior on ranks: what the other ideas are compared with."""
    own, other = (similarity_root(side, DIMENSIONS) for side in (x, y))
    return gromov_wasserstein(own, other, ranks(x, y))


def iterative_normalisation(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Zhang et al. (2019): unit length and zero mean at once, by turns."""
    done = [replace(side, matrix=normalise(side.matrix, ("centre", "unit") * 5)[0]) for side in (x, y)]
    return plain(done[0], done[1], rng)


def same_spectrum(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Spectral normalisation (after Dubossarsky et al., 2020): both get the mean of the singular values."""
    parts = [torch.linalg.svd(side.tensor(), full_matrices=False) for side in (x, y)]
    values = (parts[0].S + parts[1].S)[:DIMENSIONS] / 2
    own, other = (normalize(part.U[:, :DIMENSIONS] * values) for part in parts)
    return gromov_wasserstein(own, other, ranks(x, y))


def leading_removed(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """All but the top (Mu and Viswanath, 2018): without the three leading components."""
    own, other = (_without_top(side.tensor()) for side in (x, y))
    return plain(with_rows(x, own), with_rows(y, other), rng)


def _without_top(rows: Tensor) -> Tensor:
    top = torch.linalg.svd(rows, full_matrices=False).Vh[:3]  # (3, d)
    return normalize(rows - rows @ top.T @ top)


def whitened(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Whitening of either side, as in canonical correlation analysis, in 150 dimensions."""
    own, other = (torch.linalg.svd(side.tensor(), full_matrices=False).U[:, :150] for side in (x, y))
    return gromov_wasserstein(normalize(own), normalize(other), ranks(x, y))


def partial(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Partial transport (Chapel et al., 2020): half of the mass goes to a dummy word on either side."""
    own, other = (similarity_root(side, DIMENSIONS) for side in (x, y))
    prior, n = ranks(x, y), len(x)
    plan = torch.full_like(prior, 1 / prior.numel())
    for epsilon in (e for e, steps in GromovConfig().schedule for _ in range(steps)):
        cost = -(own @ (own.T @ plan @ other) @ other.T)
        cost = cost / cost.std() + prior
        plan = _with_dummies(cost, epsilon, round(n * (1 - PARTIAL)))
    return maxima(plan)


def _with_dummies(cost: Tensor, epsilon: float, dummies: int) -> Tensor:
    # Words sent to dummies pay the median of the best costs; dummies never meet.
    n, m = cost.shape
    wide = cost.new_full((n + dummies, m + dummies), float(cost.min(dim=1).values.median()))
    wide[:n, :m] = cost
    wide[n:, m:] = cost.max() + 10
    return sinkhorn(wide, epsilon, 60)[:n, :m]


def relaxed(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Zhao et al. (2020): marginals relaxed by KL, both directions at once, by turns with Procrustes."""
    own, other = (unit_components(side, DIMENSIONS) for side in (x, y))
    pairs = plain(x, y, rng)
    mapping = rotation((other[pairs[:, 1]].T @ own[pairs[:, 0]]).double())
    for epsilon in np.geomspace(0.2, 0.03, 30).tolist():
        cosines = own @ mapping.T @ other.T  # (n, m)
        forward, backward = _unbalanced(-cosines, epsilon), _unbalanced(-cosines.T, epsilon)
        plan = forward + backward.T
        mapping = rotation((other.T @ (plan.T @ own)).double())
    return maxima(plan)


def _unbalanced(cost: Tensor, epsilon: float) -> Tensor:
    """The plan (n, m) whose rows are exact, and column sums only drawn to uniform (Chizat et al., 2018)."""
    n, m = cost.shape
    kernel = torch.softmax(cost / -epsilon, dim=1)
    rows, columns = kernel.new_full((n,), 1 / n), kernel.new_ones(m)
    for _ in range(20):
        columns = (1 / m / (rows @ kernel).clamp_min(1e-12)) ** MARGINAL
        rows = 1 / n / (kernel @ columns).clamp_min(1e-12)
    return rows[:, None] * kernel * columns


def goat(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Graph matching by transport (GOAT: Saad-Eldin et al., 2021) by turns with Procrustes (Marchisio, 2022).

    Frank-Wolfe steps whose assignment is entropic transport; each turn begins from the pairs of the last.
    """
    own, other = (side.most_frequent(GRAPH_WORDS).tensor() for side in (x, y))
    a, b = own @ own.T, other @ other.T
    pairs = plain(x.most_frequent(GRAPH_WORDS), y.most_frequent(GRAPH_WORDS), rng)
    for _ in range(3):
        mapping = rotation((other[pairs[:, 1]].T @ own[pairs[:, 0]]).double())
        plan = sinkhorn(-(own @ mapping.T @ other.T), 0.05, 30)
        for step in range(10):
            gradient = a @ plan @ b
            found = sinkhorn(-gradient / gradient.std(), 0.05, 30)
            plan += (found - plan) * 2 / (step + 2)
        pairs = maxima(plan)
    return pairs


def stochastic(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Wasserstein-Procrustes in batches (Grave et al., 2019), from a convex relaxation or at random."""
    own, other = (unit_components(side, DIMENSIONS) for side in (x, y))
    starts = [rotation(torch.from_numpy(rng.standard_normal((DIMENSIONS, DIMENSIONS)))).float() for _ in "ab"]
    found = [_in_batches(own, other, start, rng) for start in (_convex(own, other), *starts)]
    return maxima(max(found, key=lambda one: one[0])[1])


def _convex(own: Tensor, other: Tensor) -> Tensor:
    """The rotation (k, k) of the doubly stochastic P of least |A P - P B|, by Frank-Wolfe steps."""
    a, b = (rows[:GRAPH_WORDS] @ rows[:GRAPH_WORDS].T for rows in (own, other))
    plan = torch.full((len(a), len(b)), 1 / len(a))
    for step in range(20):
        gradient = a @ (a @ plan - plan @ b) - (a @ plan - plan @ b) @ b
        found = sinkhorn(gradient / gradient.std().clamp_min(1e-9), 0.05, 30) * len(a)
        plan += (found - plan) * 2 / (step + 2)
    return rotation((other[: len(b)].T @ plan.T @ own[: len(a)]).double())


def _in_batches(
    own: Tensor, other: Tensor, mapping: Tensor, rng: np.random.Generator
) -> tuple[float, Tensor]:
    """The objective, and the plan (n, m) between rows (n, k) and (m, k), after batches that grow."""
    for batch, steps in ((250, 80), (500, 40), (1_000, 15)):
        for _ in range(steps):
            a, b = (rows[torch.from_numpy(rng.permutation(len(rows))[:batch])] for rows in (own, other))
            plan = sinkhorn(-(a @ mapping.T @ b.T), 0.05, 15)  # of mass 1
            mapping = rotation((mapping + 4 * b.T @ plan.T @ a).double())
    cosines = own @ mapping.T @ other.T  # (n, m)
    plan = sinkhorn(-cosines, 0.05, 30)
    return float((plan * cosines).sum()), plan


def restarts(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Gromov-Wasserstein with five random priors, which the last step leaves out: the best objective."""
    own, other = (similarity_root(side, DIMENSIONS) for side in (x, y))
    found = []
    for _ in range(5):
        noise = torch.from_numpy(rng.standard_normal((len(x), len(y)))).float()
        plan = gromov_plan(own, other, ranks(x, y) + 0.5 * noise, GromovConfig(), RUNTIME)
        cost = -(own @ (own.T @ plan @ other) @ other.T)
        plan = sinkhorn(cost / cost.std(), 0.05, 30)
        found.append((float((own.T @ plan @ other).square().sum()), plan))
    return maxima(max(found, key=lambda one: one[0])[1])


def features_as_prior(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Gromov-Wasserstein whose prior is the likelihood ratio of ten features of single words."""
    ratio = log_likelihood_ratio(word_features(x), word_features(y))
    own, other = (similarity_root(side, DIMENSIONS) for side in (x, y))
    return gromov_wasserstein(own, other, -ratio / ratio.std())


def features(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Those features sharpened by expectation maximisation, as in muse."""
    ratio = log_likelihood_ratio(word_features(x), word_features(y))
    own, other = (unit_components(side, DIMENSIONS) for side in (x, y))
    return maxima(sharpened(own, other, ratio, FeaturesConfig(), RUNTIME))


def frequency_bands(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Gromov-Wasserstein between words that are at most a factor of e apart in frequency rank."""
    own, other = (similarity_root(side, DIMENSIONS) for side in (x, y))
    return gromov_wasserstein(own, other, 5.0 * (rank_gaps(x, y).abs() > 1).float())
