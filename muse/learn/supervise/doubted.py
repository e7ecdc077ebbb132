"""Doubted: the pairs that the others support least, which are left out."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from muse.learn.supervise.canonical import CanonicalConfig, canonical
from muse.learn.supervise.cross_validation import FOLDS, Folds
from muse.learn.supervise.evidence import Evidence


def without_doubted(
    evidence: Evidence, share: float, config: CanonicalConfig, rng: np.random.Generator
) -> Evidence:
    """The evidence without this share of its pairs; all of it where there are too few to tell."""
    if len(evidence) < 2 * FOLDS:
        return evidence
    support = supported(evidence, config, rng)
    return evidence.only(support >= support.quantile(share))


def supported(evidence: Evidence, config: CanonicalConfig, rng: np.random.Generator) -> Tensor:
    """The cosine (p,) of each pair by maps that were not fitted to its source word."""
    folds = Folds.of(evidence, rng)
    found = torch.zeros(len(evidence)).to(evidence.x)
    for fold, (fitted, own) in enumerate(folds.trials):
        maps = canonical(fitted, config)
        left, right = (rows.to(evidence.x) for rows in (own.left, own.right))
        found[folds.of_pair == fold] = (maps.of_source(left) * maps.of_target(right)).sum(dim=1)
    return found
