"""Refinement: rounds of mutual neighbours and Procrustes over a growing vocabulary.

Each round looks up every word with a mapping that was not fitted to the word's own pair of the round
before (procrustes.cross_fitted), in a space whose directions are weighted by the canonical correlation of
the pairs (procrustes.correlation_weighted). Plain rounds, from an initial mapping with few right pairs,
converge on their own mistakes (benchmarks/results/align/tried-alignment.md). The result of each
round is still a rotation: the weighting only serves to find better pairs. PLAIN has the paper's rounds.

Pairs are found between rows of unit length, and mappings fitted to the rows as the normalisation left them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.pair import LanguagePair
from muse.procrustes import both_mapped, correlation_weighted, cross_fitted, gram, rotation
from muse.search.retrieval import Retrieval, mutual_neighbours

MEMORY = 0.5  # the factor by which the weight of a round's pairs decays with each later round


@dataclass(frozen=True)
class RefineConfig:
    """The frequency cut-offs, in order, and when to stop at each.

    No cut-off exceeds `share` of the smaller vocabulary: the vectors of its rarest words were learned
    from a handful of contexts, and pairs of them do more harm than good. None: each side is cut on its own.
    """

    cutoffs: tuple[int, ...] = (4_000, 10_000)
    share: float | None = 0.75
    folds: int = 5
    max_rounds: int = 4  # at each cut-off
    patience: int = 2  # rounds without gain before the next cut-off
    gain: float = 1e-3  # of the objective
    retrieval: Retrieval = Retrieval()
    plain: bool = False  # no cross-fitting, no weighting, no memory: Procrustes on the last pairs alone

    def cutoffs_of(self, *words: int) -> list[int]:
        """The cut-offs in order, for vocabularies with these numbers of words.

        >>> RefineConfig().cutoffs_of(6_000, 9_000)
        [4000, 4500]
        """
        most = max(words) if self.share is None else max(1, int(self.share * min(words)))
        return sorted({min(cutoff, most) for cutoff in self.cutoffs})


# Conneau et al. (2018), section 2.2. The paper does not say how many words are "the most frequent", nor how
# many rounds: both are the released tool's.
PLAIN = RefineConfig(cutoffs=(15_000,), share=None, max_rounds=5, patience=5, plain=True)
# The first refinement of every initial mapping, and of the null of its verdict: the most frequent words only.
FIRST_ROUNDS = RefineConfig(cutoffs=(2_000,), max_rounds=20)


def refine(
    pair: LanguagePair, initial: Alignment, config: RefineConfig, rng: np.random.Generator
) -> Iterator[Alignment]:
    """Yields one Alignment a round: Procrustes on the mutual CSLS neighbours of the round before.

    The next cut-off follows when the objective, the sum of the cosines of the mutual pairs divided by
    the number of words, has stalled. (Conneau et al., 2018, section 2.2; the growing cut-off: Artetxe
    et al., 2018.)
    """
    mapping = torch.from_numpy(initial.source_map).to(pair.runtime.device)
    cutoffs = config.cutoffs_of(*map(len, pair.sides))
    most = len(cutoffs) * config.max_rounds
    with pair.runtime.progress.stage("refine", most, "rounds", may_end_early=True) as tick:
        for place, cutoff in enumerate(cutoffs):
            found = rounds(*pair.rows(cutoff), mapping, config, rng, fitted=pair.fitted_rows(cutoff))
            for done, (mapping, objective) in enumerate(found, start=1):  # noqa: B007 - the last one is used
                tick(place * config.max_rounds + done, words=cutoff, objective=objective)
                yield Alignment(mapping.cpu().numpy(), method=initial.method)


def rounds(
    x: Tensor,
    y: Tensor,
    mapping: Tensor,
    config: RefineConfig,
    rng: np.random.Generator,
    *,
    fitted: tuple[Tensor, Tensor] | None = None,
) -> Iterator[tuple[Tensor, float]]:
    """Yields the mapping (e, d) and the objective of each round on x (n, d) and y (m, e), until it stalls.

    x and y are of unit length; mappings are fitted to `fitted`, the same rows of any length (None: to these).
    """
    (mapped, keys), best, stalled = both_mapped(x, y, mapping), -1.0, 0
    a, b = fitted or (x, y)  # (n, d), (m, e)
    grams = gram(a), gram(b)
    memory = torch.zeros_like(mapping, dtype=torch.float64)
    for _ in range(config.max_rounds):
        pairs = mutual_neighbours(mapped, keys, config.retrieval)  # (p, 2)
        left, right = pairs[:, 0], pairs[:, 1]
        objective = float((mapped[left] * keys[right]).sum() / len(x))
        # Pairs found in every round weigh more than those that depend on the folds.
        memory = (0 if config.plain else MEMORY) * memory + b[right].T @ a[left]  # (e, d)
        mapping = rotation(memory)
        yield mapping, objective
        stalled = 0 if objective > best + config.gain else stalled + 1
        best = max(best, objective)
        if stalled == config.patience:
            return
        if config.plain:
            mapped, keys = both_mapped(x, y, mapping)
        else:
            mapped, keys = look_up(a, b, pairs, grams, config, rng)


def look_up(
    x: Tensor,
    y: Tensor,
    pairs: Tensor,
    grams: tuple[Tensor, Tensor],
    config: RefineConfig,
    rng: np.random.Generator,
) -> tuple[Tensor, Tensor]:
    """The rows x (n, d) and y (m, e) for finding the next pairs: cross-fitted and correlation-weighted."""
    folds = torch.from_numpy(rng.integers(config.folds, size=len(x))).to(x.device)
    fit = correlation_weighted(y[pairs[:, 1]].T @ x[pairs[:, 0]], *grams)
    return cross_fitted(x, y, pairs, folds, grams), normalize(y @ fit.weighting)
