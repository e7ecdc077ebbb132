"""Gromov-Wasserstein: optimal transport between the similarity matrices of the frequent words.

The plan T (n, m) between words minimises sum |Cx_ij - Cy_kl|^2 T_ik T_jl under uniform marginals, with an
entropy term (Alvarez-Melis & Jaakkola, 2018), plus a prior on single words (fused Gromov-Wasserstein, Vayer
et al., 2019): a word and its translation tend to have similar frequency ranks, and vectors of similar length
before normalisation. The prior breaks ties between the many near-symmetries of an embedding space; it needs
no dictionary.

C is the square root of the similarity matrix (Artetxe et al., 2018, section 3.2) in the leading principal
components, which are similar in both languages, and epsilon is annealed from a blurred plan to a sharp one.
All three were needed for en-it (benchmarks/results/align/tried-alignment.md). Rounds of Procrustes in the
components alone then extend the right pairs of the plan to more words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.initialise.components import stabilised, unit_components
from muse.learn.initialise.features import log_ranks
from muse.learn.pair import Criterion, LanguagePair
from muse.learn.transport import sinkhorn
from muse.procrustes import eigenpairs, gram, svd
from muse.run.runtime import Runtime
from muse.vectors import Vectors


@dataclass(frozen=True)
class GromovConfig:
    """The settings of the transport and of the rounds after it; one candidate for each entry of `priors`."""

    words: int = 1_500  # the most frequent words, which are transported
    dimensions: int = 50  # leading principal components
    # (epsilon, steps): from blurred to sharp
    schedule: tuple[tuple[float, int], ...] = ((0.5, 5), (0.3, 6), (0.2, 6), (0.1, 8), (0.05, 5))
    sinkhorn_rounds: int = 30
    priors: tuple[str, ...] = ("rank", "length", "none")
    prior_weight: float = 1.0  # in standard deviations of the transport cost


def gromov(
    pair: LanguagePair, score: Criterion, rng: np.random.Generator, *, config: GromovConfig
) -> Iterator[Alignment]:
    """Yields one Alignment for each prior: fitted to the plan's mutual maxima, and stabilised.

    The solution is deterministic; `rng` is not used.
    """
    x, y = map(similarity_root, unit_components(pair, config.words, config.dimensions))  # (n, k), (m, k)
    for prior in config.priors:
        own, other = (_features(side.most_frequent(config.words), prior) for side in pair.sides)
        if own is None or other is None:
            continue
        plan = gromov_plan(x, y, _distance(own, other).to(x.device), config, pair.runtime)
        mapping = stabilised(pair, plan).cpu().numpy()
        yield Alignment(mapping, method=f"gromov:{prior}", criterion=score(mapping))


def gromov_plan(
    x: Tensor, y: Tensor, prior: Tensor, config: GromovConfig, runtime: Runtime, given: Tensor | float = 0.0
) -> Tensor:
    """The plan (n, m) between two similarity matrices x x^T and y y^T, with a prior cost (n, m).

    `x` is (n, k), `y` (m, k). Projected mirror descent: linearise the square loss at T, which gives the cost
    -Cx T Cy, scale it to unit deviation so that epsilon has the same effect for every pair of languages,
    solve with Sinkhorn, repeat. `given` (k, k) is X^T Y over known pairs, each times its mass, which is added
    to that of the plan, 1.
    """
    n, m = prior.shape
    plan = torch.full_like(prior, 1 / (n * m))
    total = sum(steps for _, steps in config.schedule)
    with runtime.progress.stage("gromov", total) as tick:
        for done, epsilon in enumerate(eps for eps, steps in config.schedule for _ in range(steps)):
            cost = -(x @ (x.T @ plan @ y + given) @ y.T)  # (n, m)
            objective = -float((cost * plan).sum())  # of the previous plan
            cost = cost / cost.std() + config.prior_weight * prior
            plan = sinkhorn(cost, epsilon, config.sinkhorn_rounds)
            tick(done + 1, epsilon=epsilon, objective=objective)
    return plan


def similarity_root(rows: Tensor) -> Tensor:
    """F (n, k) such that F F^T is the square root of the similarity matrix of rows (n, k)."""
    left, values, _ = svd(rows)
    factor: Tensor = left * values.sqrt()
    return factor


class SimilarityRoot(NamedTuple):
    """The leading axes (d, k) of a language, and the map (k, k) of components to `similarity_root`."""

    axes: Tensor
    to_root: Tensor

    @classmethod
    def of(cls, rows: Tensor, dimensions: int) -> "SimilarityRoot":
        """The root for rows (n, d) of unit length."""
        axes = eigenpairs(gram(rows.double()))[1][:, :dimensions].to(rows)
        _, values, right = svd(normalize(rows @ axes))
        return cls(axes, right.T / values.clamp_min(1e-6).sqrt())

    def __call__(self, rows: Tensor) -> Tensor:
        """The rows (q, d), which need not be among those it was made of, as rows of the root, (q, k)."""
        found: Tensor = normalize(rows @ self.axes) @ self.to_root
        return found


def prior_on_ranks(n: int, m: int) -> Tensor:
    """The prior cost (n, m) of words by their frequency ranks, of unit deviation."""
    return _distance(log_ranks(n).float(), log_ranks(m).float())


def _features(vectors: Vectors, prior: str) -> Tensor | None:
    """One number for each word, (n,), by which the prior compares words; None if it is unknown."""
    if prior == "none":
        return torch.zeros(len(vectors))
    if prior == "rank":
        return log_ranks(len(vectors)).float()
    lengths = vectors.lengths
    if lengths is None or lengths.min() <= 0 or np.log(lengths).std() < 1e-3:  # the file had unit lengths
        return None
    logs = torch.log(torch.from_numpy(lengths))
    return (logs - logs.mean()) / logs.std()


def _distance(x: Tensor, y: Tensor) -> Tensor:
    """The squared differences (n, m) of two features, scaled to unit deviation unless all are equal."""
    squares = (x[:, None] - y[None, :]) ** 2
    deviation = squares.std()
    return squares / deviation if deviation > 0 else squares
