"""Induced pairs: methods that begin with the given pairs and find more.

self_learning   The given pairs are kept, and pairs induced with the maps so far are added, in rounds, as in
                Artetxe et al. (2017, 2018), with two differences: the maps are canonical (`canonical`), and
                every word is looked up with maps that were not fitted to its own pair, given or induced, so
                that mistakes are not confirmed (`muse.procrustes.cross_fitted`).
refined         Rounds of Procrustes on induced pairs, from a rotation fitted to the given pairs.
with_transport  Given pairs (a, b) enter Gromov-Wasserstein transport as mass that the plan T already has: its
                cost -Cx T Cy becomes -Cx (T + G) Cy, where G has a share of the mass at the pairs. Words that
                are similar to a in one language and to b in the other then attract each other from the first
                step, when T alone is flat. (Fused Gromov-Wasserstein: Vayer et al., 2019; compare
                `muse.learn.initialise.gromov`, which begins with frequency ranks alone.)
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.learn.initialise.gromov import GromovConfig, SimilarityRoot, gromov_plan, prior_on_ranks
from muse.learn.refine import RefineConfig, rounds
from muse.learn.supervise.linear import CanonicalConfig, canonical, in_basis_of, of_moments
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, mutual_neighbours, mutual_pairs

# Of rows in no order; chosen on held-out pairs of four pairs of sentence encoders.
ROUNDS_OF_ROWS = 6  # of self-learning
SCHEDULE_OF_ROWS = ((0.5, 2), (0.3, 3), (0.2, 3), (0.1, 4), (0.05, 3))  # of transport: half the usual steps


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

    def up_to(self, cutoff: int) -> "SelfLearningConfig":
        """These settings without the cut-offs above `cutoff`."""
        kept = [place for place, words in enumerate(self.cutoffs) if words <= cutoff]
        cutoffs, most = (tuple(of[place] for place in kept) for of in (self.cutoffs, self.rounds))
        return replace(self, cutoffs=cutoffs, rounds=most)

    @classmethod
    def for_unranked_rows(cls, most: int) -> "SelfLearningConfig":
        """The settings for rows in no order, at most `most` of them: none is rarer, so all begin together."""
        return cls(cutoffs=(most,), rounds=(ROUNDS_OF_ROWS,), share=1.0)


def self_learning(
    evidence: TrainingPairs, start: Maps, config: SelfLearningConfig, rng: np.random.Generator
) -> TrainingPairs:
    """The given pairs, and the mutual neighbours of the other words after the last round."""
    most_of = [max(1, int(config.share * words)) for words in evidence.words]
    extended: TrainingPairs | None = None
    for cutoff, most in zip(config.cutoffs, config.rounds, strict=True):
        words = min(cutoff, most_of[0]), min(cutoff, most_of[1])
        before = torch.full((words[0],), -1).to(evidence.pairs)
        for _ in range(most):
            maps = start if extended is None else canonical(extended, config.canonical)
            found = _look_up(evidence, extended, maps, words, config, rng)
            induced = found[evidence.contains_no_known_word(found)]
            extended = evidence.plus(induced, config.induced)
            now = torch.full_like(before, -1).scatter_(0, found[:, 0], found[:, 1])
            changed = float((now != before).sum()) / max(1, len(found))
            before = now
            if changed < config.stable:
                break
        if words == tuple(most_of):
            break
    return evidence if extended is None else extended


def _look_up(
    evidence: TrainingPairs,
    extended: TrainingPairs | None,
    maps: Maps,
    words: tuple[int, int],
    config: SelfLearningConfig,
    rng: np.random.Generator,
) -> Tensor:
    """The mutual neighbours (q, 2) among the most frequent words of each side."""
    x, y = evidence.x[: words[0]], evidence.y[: words[1]]
    mapped = maps.of_source(x)
    if extended is not None:
        folds = torch.from_numpy(rng.integers(config.folds, size=len(evidence.x))).to(x.device)  # (n,)
        of_pair = folds[extended.pairs[:, 0]]
        for fold in range(config.folds):
            own_pairs = of_pair == fold
            if bool(own_pairs.all()):  # such as those of a single word: there are no others to fit to
                continue
            others = of_moments(extended.moments - extended.only(own_pairs).moments, config.canonical)
            own = folds[: words[0]] == fold
            mapped[own] = normalize(x[own] @ in_basis_of(others, maps).source.to(x).T)
    return mutual_neighbours(mapped, maps.of_target(y), Retrieval())


def refined(evidence: TrainingPairs, start: Maps, config: RefineConfig, rng: np.random.Generator) -> Maps:
    """The rotation after the rounds of `muse.learn.refine`, which begin at `start` and forget the pairs."""
    mapping = start.source
    for cutoff in config.cutoffs_of(*evidence.words):
        x, y = evidence.x[:cutoff], evidence.y[:cutoff]
        *_, (mapping, _) = rounds(x, y, mapping, config, rng)
    return Maps.of_mapping(mapping)


@dataclass(frozen=True)
class GuidedTransportConfig:
    """The share of the given pairs in the mass of the plan, the weight of an induced pair, the transport."""

    mass: float = 0.2
    induced: float = 0.3
    gromov: GromovConfig = GromovConfig()

    @classmethod
    def for_unranked_rows(cls) -> "GuidedTransportConfig":
        """The settings for rows in no order, whose place in the file says nothing of what they match."""
        return cls(gromov=GromovConfig(prior_weight=0.0, schedule=SCHEDULE_OF_ROWS))


def with_transport(evidence: TrainingPairs, config: GuidedTransportConfig) -> TrainingPairs:
    """The given pairs, and the mutual maxima of the plan between the most frequent words that are in none."""
    x, y = (rows[: config.gromov.words] for rows in evidence.vocabulary)
    dimensions = min(config.gromov.dimensions, x.shape[1], y.shape[1])
    roots = SimilarityRoot.of(x, dimensions), SimilarityRoot.of(y, dimensions)
    own, other = roots[0](evidence.x[evidence.pairs[:, 0]]), roots[1](evidence.y[evidence.pairs[:, 1]])
    weights = config.mass * evidence.weights / evidence.weights.sum()
    given = own.T @ (weights[:, None] * other)  # (k, k)
    prior = prior_on_ranks(len(x), len(y)).to(x)
    plan = gromov_plan(roots[0](x), roots[1](y), prior, config.gromov, Runtime(device=x.device.type), given)
    found = mutual_pairs(plan.argmax(dim=1), plan.argmax(dim=0))
    return evidence.plus(found[evidence.contains_no_known_word(found)], config.induced)
