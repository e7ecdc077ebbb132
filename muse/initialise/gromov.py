"""Gromov-Wasserstein: match the similarity matrices of the two languages' frequent words.

The plan T (k, l) between words minimises sum |Cx_ij - Cy_kl|^2 T_ik T_jl under uniform
marginals, with an entropy term (Alvarez-Melis & Jaakkola, 2018), plus a weak prior on single
words (fused Gromov-Wasserstein, Vayer et al., 2019): a word and its translation tend to have
similar frequency ranks, and vectors of similar length before normalisation. The prior breaks
ties between the many near-symmetries of an embedding space; it needs no dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from muse.alignment import Alignment
from muse.criterion import Criterion
from muse.procrustes import procrustes
from muse.retrieval import mutual_pairs
from muse.runtime import Runtime
from muse.vectors import Vectors

RANK_OFFSET = 50  # log(rank + 50): the order among the 50 most frequent words says little


@dataclass(frozen=True)
class GromovConfig:
    """What the transport does; one candidate for each entry of `priors`."""

    words: int = 1_500
    schedule: tuple[tuple[float, int], ...] = ((0.2, 8), (0.1, 12))  # (epsilon, steps): blurred, then sharper
    sinkhorn_rounds: int = 30
    priors: tuple[str, ...] = ("none", "length", "rank")
    prior_weight: float = 0.3  # in standard deviations of the transport cost


def gromov(
    source: Vectors,
    target: Vectors,
    *,
    config: GromovConfig,
    criterion: Criterion,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields one Alignment for each prior: the Procrustes mapping of the plan's mutual maxima.

    `source` and `target` are normalised. The solution is deterministic; `rng` is not used.
    """
    source, target = source.most_frequent(config.words), target.most_frequent(config.words)
    x, y = (side.tensor(runtime.device) for side in (source, target))
    for prior in config.priors:
        of_source, of_target = _features(source, prior), _features(target, prior)
        if of_source is None or of_target is None:
            continue
        distance = _distance(of_source, of_target).to(runtime.device)
        plan = transport(x @ x.T, y @ y.T, distance, config, runtime)
        pairs = mutual_pairs(plan.argmax(dim=1), plan.argmax(dim=0))  # (p, 2)
        mapping = procrustes(x[pairs[:, 0]], y[pairs[:, 1]]).cpu().numpy()
        yield Alignment(mapping, method=f"gromov:{prior}", criterion=criterion(mapping))


def transport(
    similar_x: Tensor, similar_y: Tensor, prior: Tensor, config: GromovConfig, runtime: Runtime
) -> Tensor:
    """The plan (n, m) between two similarity matrices (n, n) and (m, m), with a prior cost (n, m).

    Projected mirror descent: linearise the square loss at T, cost = -Cx T Cy, scale it to unit
    deviation so that epsilon means the same for every pair, solve with Sinkhorn, repeat.
    """
    n, m = prior.shape
    plan = torch.full_like(prior, 1 / (n * m))
    total = sum(steps for _, steps in config.schedule)
    with runtime.progress.stage("gromov", total) as tick:
        for done, epsilon in enumerate(eps for eps, steps in config.schedule for _ in range(steps)):
            cost = -(similar_x @ plan @ similar_y)  # (n, m)
            objective = -float((cost * plan).sum())  # of the plan before
            cost = cost / cost.std() + config.prior_weight * prior
            plan = sinkhorn(cost, epsilon, config.sinkhorn_rounds)
            tick(done + 1, epsilon=epsilon, objective=objective)
    return plan


def sinkhorn(cost: Tensor, epsilon: float, rounds: int) -> Tensor:
    """The plan (n, m) of least cost . T - epsilon H(T) with uniform marginals (Cuturi, 2013).

    The first round is in the log domain, which puts every row and column in range; the others
    are matrix-vector products. The rows' marginal holds exactly, the columns' in the limit.
    """
    n, m = cost.shape
    log_kernel = cost / -epsilon
    log_kernel = log_kernel - torch.logsumexp(log_kernel, dim=1, keepdim=True)
    kernel = (log_kernel - torch.logsumexp(log_kernel, dim=0, keepdim=True)).exp_()
    tiny = torch.finfo(kernel.dtype).tiny
    rows = kernel.new_ones(n)
    columns = kernel.new_ones(m)
    for _ in range(rounds):
        columns = (1 / m) / (rows @ kernel).clamp_min(tiny)
        rows = (1 / n) / (kernel @ columns).clamp_min(tiny)
    return rows[:, None] * kernel * columns


def _features(vectors: Vectors, prior: str) -> Tensor | None:
    """One number a word, (k,), by which the prior compares words; None where it is not known."""
    if prior == "none":
        return torch.zeros(len(vectors))
    if prior == "rank":
        return torch.log(torch.arange(len(vectors)) + 1.0 + RANK_OFFSET)
    lengths = vectors.lengths
    if lengths is None or lengths.min() <= 0 or np.log(lengths).std() < 1e-3:  # read with unit length already
        return None
    logs = torch.log(torch.from_numpy(lengths))
    return (logs - logs.mean()) / logs.std()


def _distance(x: Tensor, y: Tensor) -> Tensor:
    """The squared differences (n, m) of two features, at unit deviation where they differ at all."""
    squares = (x[:, None] - y[None, :]) ** 2
    deviation = squares.std()
    return squares / deviation if deviation > 0 else squares
