"""Refinement: dictionary of mutual neighbours, Procrustes, and again, over a growing vocabulary.

Each round looks up every word with a mapping that was not fitted to the word's own pair of the
round before (procrustes.cross_fitted), in a space where each direction counts by the correlation
that the pairs show in it (procrustes.stressed). From a start with few right pairs, plain rounds
settle on their own mistakes (benchmarks/RESULTS.md, "Cross-fitting" and "Stress"). What a round
yields is a rotation all the same: the stress only serves to find better pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.procrustes import cross_fitted, gram, rotation, stressed
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, mutual_neighbours
from muse.vectors import Vectors

MEMORY = 0.5  # what the pairs of a round still weigh a round later


@dataclass(frozen=True)
class RefineConfig:
    """The frequency cut-offs, one after the other, and when a round no longer pays.

    No cut-off goes beyond `share` of the smaller vocabulary: the vectors of its rarest words were
    learned from a handful of contexts and, as pairs, do more harm than good.
    """

    cutoffs: tuple[int, ...] = (4_000, 10_000)
    share: float = 0.75
    folds: int = 5
    max_rounds: int = 4  # at each cut-off
    patience: int = 2  # rounds without gain before the next cut-off
    gain: float = 1e-3  # of the objective
    retrieval: Retrieval = Retrieval()


# What every start gets first, and the null of its verdict too: a few rounds on the most frequent words.
FIRST_ROUNDS = RefineConfig(cutoffs=(2_000,), max_rounds=20)


def refine(
    source: Vectors,
    target: Vectors,
    start: Alignment,
    *,
    config: RefineConfig,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields one Alignment a round: Procrustes on the mutual CSLS neighbours of the round before.

    A cut-off is left when its objective, the cosines of the mutual pairs summed and divided by the
    number of words, has stalled. (Conneau et al., 2018, section 2.2; the growing cut-off: Artetxe
    et al., 2018.)
    """
    mapping = torch.from_numpy(start.source_map).to(runtime.device)
    words = max(1, int(config.share * min(len(source), len(target))))
    cutoffs = sorted({min(cutoff, words) for cutoff in config.cutoffs})
    with runtime.progress.stage("refine", len(cutoffs) * config.max_rounds) as tick:
        for place, cutoff in enumerate(cutoffs):
            x, y = (side.most_frequent(cutoff).tensor(runtime.device) for side in (source, target))
            found = rounds(x, y, mapping, config, rng)
            for done, (mapping, objective) in enumerate(found, start=1):  # noqa: B007 - the last one is kept
                tick(place * config.max_rounds + done, words=cutoff, objective=objective)
                yield Alignment(mapping.cpu().numpy(), method=start.method)


def rounds(
    x: Tensor, y: Tensor, mapping: Tensor, config: RefineConfig, rng: np.random.Generator
) -> Iterator[tuple[Tensor, float]]:
    """The mapping (d, d) and the objective of each round on x (n, d) and y (m, d), until they stall."""
    mapped, keys, best, stalled = x @ mapping.T, y, -1.0, 0
    grams = gram(x), gram(y)
    memory = torch.zeros_like(mapping, dtype=torch.float64)
    for _ in range(config.max_rounds):
        pairs = mutual_neighbours(mapped, keys, config.retrieval)  # (p, 2)
        left, right = pairs[:, 0], pairs[:, 1]
        objective = float((mapped[left] * keys[right]).sum() / len(x))
        # Pairs found round after round count more than those that come and go with the folds.
        product = y[right].double().T @ x[left].double()  # (d, d)
        memory = MEMORY * memory + product
        yield rotation(memory), objective
        stalled = 0 if objective > best + config.gain else stalled + 1
        best = max(best, objective)
        if stalled == config.patience:
            return
        mapped, keys = look_up(x, y, pairs, grams, config, rng)


def look_up(
    x: Tensor,
    y: Tensor,
    pairs: Tensor,
    grams: tuple[Tensor, Tensor],
    config: RefineConfig,
    rng: np.random.Generator,
) -> tuple[Tensor, Tensor]:
    """The rows x (n, d) and y (m, d) as the next pairs are found between them: cross-fitted, and stressed."""
    folds = torch.from_numpy(rng.integers(config.folds, size=len(x))).to(x.device)
    product = y[pairs[:, 1]].double().T @ x[pairs[:, 0]].double()  # (d, d)
    return cross_fitted(x, y, pairs, folds, grams), normalize(y @ stressed(product, *grams).stress)
