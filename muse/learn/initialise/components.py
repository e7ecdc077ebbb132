"""The leading principal components of a language, and rounds of Procrustes in them.

Few pairs of an initialisation are right. In 50 leading components, where there is little to overfit, plain
rounds of Procrustes and mutual neighbours extend them to more words
(benchmarks/results/align/tried-alignment.md), until the pairs stay the same (`stabilised`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import NotConverged
from muse.procrustes import procrustes
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, mutual_neighbours, mutual_pairs
from muse.vectors import Matrix, Vectors

BLOCK = 1 << 18  # rows that are copied to double precision at once


def principal_axes(side: Vectors, k: int) -> Matrix:
    """The k leading principal axes of the rows, (d, k), in descending order of variance."""
    if not np.isfinite(side.matrix).all():
        raise NotConverged(f"{side.language}: vectors must be finite, found nan or inf; repair their file")
    products = np.zeros((side.dimension, side.dimension))
    for begin in range(0, len(side.matrix), BLOCK):
        wide = side.matrix[begin : begin + BLOCK].astype(np.float64)
        products += wide.T @ wide
    axes = np.linalg.eigh(products)[1]  # (d, d), in ascending order of variance
    return np.asarray(axes[:, ::-1][:, :k], dtype=np.float32)


def components(rows: Matrix, basis: Matrix) -> Tensor:
    """The rows (n, d) along the axes (d, k), as (n, k), scaled to entries of variance 1."""
    # The learning rates then have the same effect in every dimension.
    inside = rows @ basis  # (n, k)
    return torch.tensor(inside / max(float(np.sqrt(np.mean(inside**2))), 1e-12))


def unit_components(side: Vectors, dimensions: int) -> Tensor:
    """The rows along their leading principal axes, (n, k), of unit length."""
    return normalize(components(side.matrix, principal_axes(side, dimensions)))


@dataclass(frozen=True)
class StabiliseConfig:
    """The words and components of the rounds, and when they end."""

    words: int = 5_000  # the most frequent ones
    dimensions: int = 50  # leading principal components
    rounds: int = 30  # at most
    stable_share: float = 0.98  # it ends once this share of a round's pairs is the same as the round before


def stabilised(
    source: Vectors, target: Vectors, plan: Tensor, config: StabiliseConfig, runtime: Runtime
) -> Tensor:
    """The mapping (d, d) after rounds that begin with the mutual maxima of the transport plan (n, m)."""
    pairs = mutual_pairs(plan.argmax(dim=1), plan.argmax(dim=0))  # (p, 2)
    source, target = (side.most_frequent(config.words) for side in (source, target))
    x, y = (unit_components(side, config.dimensions).to(runtime.device) for side in (source, target))
    known = torch.full((len(x),), -1, device=pairs.device)  # each word's partner in the round before
    with runtime.progress.stage("stabilise", config.rounds, "rounds", may_end_early=True) as tick:
        for done in range(config.rounds):
            mapping = procrustes(x[pairs[:, 0]], y[pairs[:, 1]])  # (k, k)
            pairs = mutual_neighbours(x @ mapping.T, y, Retrieval())
            kept = float((known[pairs[:, 0]] == pairs[:, 1]).double().mean())
            tick(done + 1, kept=kept)
            if kept >= config.stable_share:
                break
            known = torch.full_like(known, -1).scatter_(0, pairs[:, 0], pairs[:, 1])
    rows, columns = pairs.T
    return procrustes(source.tensor(runtime.device)[rows], target.tensor(runtime.device)[columns])
