"""Tune: maps that weight directions, fitted to the induced pairs, kept if they recover more held-out ones.

The last step of Artetxe et al. (2018) re-weights directions once whitened; canonical maps with self-learning
(`muse.learn.supervise`) are the other candidate. Neither is an isometry and the target moves too, so this is
optional, and kept only if it recovers significantly more held-out translations than the rotation.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from muse.alignment import Alignment
from muse.learn.pair import LanguagePair
from muse.learn.supervise.cross_validation import SIGNIFICANT, standard_errors
from muse.learn.supervise.induced import SelfLearningConfig, self_learning
from muse.learn.supervise.linear import CanonicalConfig, canonical, fit_whitened, orthogonal
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.search.retrieval import Retrieval, mutual_neighbours, recovered

log = logging.getLogger(__name__)

WORDS = 12_000
ROUNDS = 2  # of self-learning: it begins at a refined mapping

Fit = Callable[[TrainingPairs], Maps]


class _Rival(NamedTuple):
    """A kind of map, the evidence it has induced, and which of these pairs it recovers held out."""

    name: str
    fit: Fit
    evidence: TrainingPairs
    found: Tensor  # (n,) bool, by source word


def reweight(pair: LanguagePair, start: Alignment, rng: np.random.Generator) -> Alignment:
    """`start`, or the maps that recover the most held-out translations if these are significantly more.

    A translation is recovered if it is mutual and is found by a fit without the word's half of the
    vocabulary. Pairs that only one kind of map has found would favour that one, so each is tested on its
    own pairs. `start` leaves the target as it is.
    """
    x, y = pair.rows(WORDS)
    pairs = torch.zeros(0, 2, dtype=torch.long, device=x.device)
    none = TrainingPairs(x, y, pairs, torch.zeros(0, device=x.device), (len(x), len(y)))
    half = torch.from_numpy(rng.integers(2, size=len(x))).to(x.device)
    maps = Maps.of_mapping(torch.from_numpy(start.source_map).to(x))
    plain = none.plus(_mutual(none, maps))
    fit_canonical = partial(canonical, config=CanonicalConfig())
    with pair.runtime.progress.stage("re-weighting", 4) as tick:
        rivals = [_rival("the rotation", orthogonal, plain, half)]
        tick(1)
        whitened = none.plus(_mutual(none, fit_whitened(plain)))
        rivals.append(_rival("whitened maps", fit_whitened, whitened, half))
        tick(2)
        config = SelfLearningConfig(cutoffs=(WORDS,), rounds=(ROUNDS,), share=1.0)
        grown = self_learning(none, fit_canonical(plain), config, rng)
        tick(3)
        rivals.append(_rival("canonical maps", fit_canonical, grown, half))
    best = max(rivals[1:], key=lambda one: int(one.found.sum()))
    better = standard_errors(rivals[0].found, best.found) > SIGNIFICANT
    log.info(
        "directions in which both languages agree get more weight: more held-out translations are recovered"
        if better
        else "all directions keep their weight: others would recover no more held-out translations"
    )
    found = ", ".join(f"{one.name} {int(one.found.sum())}" for one in rivals)
    taken = f"{best.name} are taken" if better else "the rotation is kept"
    log.debug("re-weighting: held-out translations recovered, of %d words: %s; %s", len(x), found, taken)
    if not better:
        return start
    left, right = (one.cpu().numpy() for one in best.fit(best.evidence).sides)
    return replace(start, source_map=left, target_map=right)


def _mutual(evidence: TrainingPairs, maps: Maps) -> Tensor:
    """The mutual neighbours (p, 2) of all words in the space of the maps."""
    return mutual_neighbours(maps.of_source(evidence.x), maps.of_target(evidence.y), Retrieval())


def _rival(name: str, fit: Fit, evidence: TrainingPairs, half: Tensor) -> _Rival:
    """The rival with the pairs of each word of x that a fit to the other half of the words recovers."""
    found = torch.zeros(len(evidence.x), dtype=torch.bool, device=half.device)
    for part in (0, 1):
        own = half[evidence.pairs[:, 0]] == part
        maps = fit(evidence.only(~own))
        held = evidence.pairs[own]
        found[held[:, 0]] = recovered(maps.of_source(evidence.x), maps.of_target(evidence.y), held)
    return _Rival(name, fit, evidence, found)
