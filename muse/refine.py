"""Refinement: dictionary of mutual neighbours, Procrustes, and again, over a growing vocabulary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from muse.alignment import Alignment
from muse.procrustes import procrustes
from muse.retrieval import Retrieval, mutual_pairs, translations
from muse.runtime import Runtime
from muse.vectors import Vectors


@dataclass(frozen=True)
class RefineConfig:
    """The frequency cut-offs, one after the other, and when a round no longer pays.

    No cut-off goes beyond `share` of the smaller vocabulary: the vectors of its rarest words were
    learned from a handful of contexts and, as pairs, do more harm than good.
    """

    cutoffs: tuple[int, ...] = (2_000, 4_000, 8_000, 20_000)
    share: float = 0.75
    max_rounds: int = 10  # at each cut-off
    gain: float = 1e-3  # of the objective, the mean cosine of the mutual pairs
    retrieval: Retrieval = Retrieval()


def refine(
    source: Vectors, target: Vectors, start: Alignment, *, config: RefineConfig, runtime: Runtime
) -> Iterator[Alignment]:
    """Yields one Alignment a round: Procrustes on the mutual CSLS neighbours of the round before.

    A cut-off is left when its objective, the mean cosine of the mutual pairs, gains less than
    `config.gain`.
    (Conneau et al., 2018, section 2.2; the growing cut-off: Artetxe et al., 2018.)
    """
    mapping = torch.from_numpy(start.source_map).to(runtime.device)
    words = max(1, int(config.share * min(len(source), len(target))))
    cutoffs = sorted({min(cutoff, words) for cutoff in config.cutoffs})
    with runtime.progress.stage("refine", len(cutoffs) * config.max_rounds) as tick:
        for place, cutoff in enumerate(cutoffs):
            x, y = (side.most_frequent(cutoff).tensor(runtime.device) for side in (source, target))
            objective = -math.inf
            for done in range(config.max_rounds):
                previous = objective
                mapping, objective = refine_round(x, y, mapping, config.retrieval)
                tick(place * config.max_rounds + done + 1, words=cutoff, objective=objective)
                yield Alignment(mapping.cpu().numpy(), method=start.method)
                if objective - previous < config.gain:
                    break


def refine_round(x: Tensor, y: Tensor, mapping: Tensor, retrieval: Retrieval) -> tuple[Tensor, float]:
    """One round from `mapping` (d, d): the next mapping, and the mean cosine of its pairs before it.

    `x` is (n, d), `y` (m, d).
    """
    mapped = x @ mapping.T
    pairs = mutual_pairs(*translations(mapped, y, retrieval))  # (p, 2)
    left, right = pairs[:, 0], pairs[:, 1]
    objective = float((mapped[left] * y[right]).sum(dim=1).mean())
    return procrustes(x[left], y[right]), objective
