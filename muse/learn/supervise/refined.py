"""Refined: rounds of Procrustes on induced pairs, from a rotation that the given pairs were fitted to."""

from __future__ import annotations

import numpy as np

from muse.learn.refine import RefineConfig, rounds
from muse.learn.supervise.evidence import Evidence, Maps


def refined(evidence: Evidence, start: Maps, config: RefineConfig, rng: np.random.Generator) -> Maps:
    """The rotation after the rounds of `muse.learn.refine`, which begin at `start` and forget the pairs."""
    mapping = start.source
    smaller = max(1, int(config.share * min(evidence.words)))
    for cutoff in sorted({min(cutoff, smaller) for cutoff in config.cutoffs}):
        x, y = evidence.x[:cutoff], evidence.y[:cutoff]
        *_, (mapping, _) = rounds(x, y, mapping, config, rng)
    return Maps.of_mapping(mapping)
