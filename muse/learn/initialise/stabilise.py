"""Stabilising: rounds of Procrustes in the leading components, until the pairs stay the same.

Few pairs of an initialisation are right. In 50 leading components, where there is little to overfit, plain
rounds of Procrustes and mutual neighbours extend them to more words (benchmarks/RESULTS.md, "Which
initialisation does it take?").
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from muse.learn.initialise.components import unit_components
from muse.procrustes import procrustes
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, mutual_neighbours, mutual_pairs
from muse.vectors import Vectors


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
