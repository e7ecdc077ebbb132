"""Stochastic self-learning: from a few right pairs among many wrong ones to a full mapping.

Each round induces a dictionary in both directions and solves Procrustes. Early on an entry of
the CSLS table survives with probability p only, which shakes the mapping out of poor optima;
p doubles whenever the objective stalls, until it is 1 (Artetxe et al., 2018, section 3.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from muse.alignment import Alignment
from muse.procrustes import procrustes
from muse.runtime import Runtime
from muse.vectors import Vectors

RUNNERS_UP = 48  # at p = 0.1 a survivor of lower rank has a probability under 1 %
LEAST = 2.0**-25  # below every other draw


@dataclass(frozen=True)
class SelfLearningConfig:
    """How self-learning runs; `words` bounds the CSLS table, which is held in memory."""

    words: int = 2_000
    keep: float = 0.1
    keep_growth: float = 2.0
    patience: int = 10  # rounds without gain before p grows, or before the end
    gain: float = 1e-4  # of the objective, a mean cosine
    max_rounds: int = 400
    k: int = 10  # CSLS' neighbourhood


def self_learning(
    source: Vectors,
    target: Vectors,
    start: Alignment,
    *,
    config: SelfLearningConfig,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Alignment:
    """The mapping that self-learning reaches from `start` on the most frequent words of both sides."""
    x, y = (side.most_frequent(config.words).tensor(runtime.device) for side in (source, target))
    mapping = torch.from_numpy(start.source_map).to(runtime.device)
    draws = torch.Generator(device=runtime.device).manual_seed(int(rng.integers(2**62)))
    keep, best, stalled = config.keep, -math.inf, 0
    with runtime.progress.stage("self-learning", config.max_rounds) as tick:
        for done in range(config.max_rounds):
            pairs, objective = induce(x @ mapping.T, y, keep=keep, k=config.k, draws=draws)
            mapping = procrustes(x[pairs[:, 0]], y[pairs[:, 1]])
            stalled = 0 if objective > best + config.gain else stalled + 1
            best = max(best, objective)
            tick(done + 1, keep=keep, objective=objective)
            if stalled >= config.patience:
                if keep >= 1:
                    break
                keep, stalled = min(1.0, keep * config.keep_growth), 0
    return Alignment(mapping.cpu().numpy(), method=start.method)


def induce(
    mapped: Tensor, target: Tensor, *, keep: float, k: int, draws: torch.Generator
) -> tuple[Tensor, float]:
    """The pairs (p, 2) of both directions' best surviving CSLS entries, and the objective.

    `mapped` is (n, d), `target` (m, d). The objective is the mean cosine of the best entries of
    the full table, both directions.
    """
    cosines = mapped @ target.T  # (n, m)
    table = csls_table(cosines, k)
    forward, forward_best = _survivors(table, keep, draws)
    backward, backward_best = _survivors(table.T.contiguous(), keep, draws)
    left = torch.cat([torch.arange(len(forward), device=forward.device), backward])
    right = torch.cat([forward, torch.arange(len(backward), device=forward.device)])
    objective = (
        cosines.gather(1, forward_best[:, None]).mean() + cosines.gather(0, backward_best[None, :]).mean()
    )
    return torch.stack([left, right], dim=1), float(objective) / 2


def csls_table(cosines: Tensor, k: int) -> Tensor:
    """CSLS (n, m) of all pairs, from all their cosines (n, m): 2 cos - r(x) - r(y)."""
    of_source = cosines.topk(min(k, cosines.shape[1]), dim=1).values.mean(dim=1)  # (n,)
    of_target = cosines.T.contiguous().topk(min(k, cosines.shape[0]), dim=1).values.mean(dim=1)  # (m,)
    return 2 * cosines - of_source[:, None] - of_target[None, :]


def _survivors(table: Tensor, keep: float, draws: torch.Generator) -> tuple[Tensor, Tensor]:
    """For each row the best column that survives, and the best of all: (n,) and (n,).

    Where each entry survives on its own with probability p, the rank of the best survivor is
    geometric; drawing that rank needs no mask over the table.
    """
    if keep >= 1:
        best = table.max(dim=1).indices
        return best, best
    ranked = table.topk(min(RUNNERS_UP, table.shape[1]), dim=1).indices  # (n, r)
    # A draw in [0, 1) may be 0, one in 2^24, whose logarithm has no rank.
    uniform = torch.rand(len(table), generator=draws, device=table.device).clamp_min(LEAST)
    rank = (uniform.log() / math.log1p(-keep)).long().clamp_max(ranked.shape[1] - 1)  # (n,)
    return ranked.gather(1, rank[:, None])[:, 0], ranked[:, 0]
