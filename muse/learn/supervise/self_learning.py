"""Self-learning: the given pairs are kept, and pairs induced with the maps so far are added, in rounds.

As in Artetxe et al. (2017, 2018), with two differences: the maps are canonical (`canonical`), and every
word is looked up with maps that were not fitted to its own pair, given or induced, so that mistakes are
not confirmed (`muse.procrustes.cross_fitted`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.learn.supervise.canonical import CanonicalConfig, canonical, in_basis_of, of_moments
from muse.learn.supervise.evidence import Evidence, Maps
from muse.search.retrieval import Retrieval, mutual_neighbours


@dataclass(frozen=True)
class SelfLearningConfig:
    """The frequency cut-offs, the rounds at each, the folds and the weight of an induced pair."""

    cutoffs: tuple[int, ...] = (2_000, 4_000, 10_000)
    rounds: tuple[int, ...] = (8, 4, 3)  # at most, at each cut-off
    share: float = 0.75  # of each vocabulary at most: its rarest words have poor vectors
    stable: float = 0.03  # a cut-off is done once fewer of the pairs than this have changed
    folds: int = 4
    induced: float = 0.3
    canonical: CanonicalConfig = CanonicalConfig()

    def up_to(self, cutoff: int) -> SelfLearningConfig:
        """The same without the cut-offs above `cutoff`."""
        kept = [place for place, words in enumerate(self.cutoffs) if words <= cutoff]
        cutoffs, most = (tuple(of[place] for place in kept) for of in (self.cutoffs, self.rounds))
        return replace(self, cutoffs=cutoffs, rounds=most)


def self_learning(
    evidence: Evidence, start: Maps, config: SelfLearningConfig, rng: np.random.Generator
) -> Evidence:
    """The given pairs, and the mutual neighbours of the other words after the last round."""
    most_of = [max(1, int(config.share * words)) for words in evidence.words]
    grown: Evidence | None = None
    for cutoff, most in zip(config.cutoffs, config.rounds, strict=True):
        words = min(cutoff, most_of[0]), min(cutoff, most_of[1])
        before = torch.full((words[0],), -1).to(evidence.pairs)
        for _ in range(most):
            maps = start if grown is None else canonical(grown, config.canonical)
            found = _look_up(evidence, grown, maps, words, config, rng)
            induced = found[evidence.unknown(found)]
            grown = evidence.plus(induced, config.induced)
            now = torch.full_like(before, -1).scatter_(0, found[:, 0], found[:, 1])
            changed = float((now != before).sum()) / max(1, len(found))
            before = now
            if changed < config.stable:
                break
        if words == tuple(most_of):
            break
    return evidence if grown is None else grown


def _look_up(
    evidence: Evidence,
    grown: Evidence | None,
    maps: Maps,
    words: tuple[int, int],
    config: SelfLearningConfig,
    rng: np.random.Generator,
) -> Tensor:
    """The mutual neighbours (q, 2) among the most frequent words of each side."""
    x, y = evidence.x[: words[0]], evidence.y[: words[1]]
    mapped = maps.of_source(x)
    if grown is not None:
        folds = torch.from_numpy(rng.integers(config.folds, size=len(evidence.x))).to(x.device)  # (n,)
        of_pair = folds[grown.pairs[:, 0]]
        for fold in range(config.folds):
            others = of_moments(grown.moments - grown.only(of_pair == fold).moments, config.canonical)
            own = folds[: words[0]] == fold
            mapped[own] = normalize(x[own] @ in_basis_of(others, maps).source.to(x).T)
    return mutual_neighbours(mapped, maps.of_target(y), Retrieval())
