"""Canonical: regularised canonical correlation analysis, with directions weighted by their correlation.

Whitening divides by the spread of each direction, which few pairs cannot estimate: for 1,000 pairs in 300
dimensions the smallest spreads are mostly chance. The covariances are therefore shrunk towards a sphere
(Vinod, 1976, canonical ridge; Ledoit and Wolf, 2004), and unlike in Artetxe et al. (2018) the whitening is
not undone: the shared space is that of the canonical directions (Faruqui and Dyer, 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from muse.learn.supervise.evidence import Evidence, Maps, Spread
from muse.procrustes import rotation

FLOOR = 1e-6  # of the largest eigenvalue: whitening a flat direction would blow up noise


@dataclass(frozen=True)
class CanonicalConfig:
    """How far the covariances are shrunk (0 to 1), and the power of the correlations on either side.

    `doubted` is the share of the pairs that are left out, those that the others support least.
    """

    shrinkage: float = 0.5
    power: float = 0.5
    doubted: float = 0.0
    folds: int = 5

    def __str__(self) -> str:
        """The part of a method's name that tells the settings."""
        doubted = f",{self.doubted:g}" if self.doubted else ""
        return f"{self.shrinkage:g},{self.power:g}{doubted}"


def canonical(evidence: Evidence, config: CanonicalConfig, rng: np.random.Generator | None = None) -> Maps:
    """The maps A = S^r U^T Cx^-1/2 (k, ds) and B = S^r V^T Cy^-1/2 (k, dt), k the smaller dimension.

    U S V^T = SVD(Cx^-1/2 Cxy Cy^-1/2), Cxy = X^T Y / p over the pairs, Cx = (1 - s) X^T X / p + s I t,
    t the mean of its diagonal; all weighted. `rng` draws the folds in which doubted pairs are found.
    """
    if config.doubted and len(evidence) >= 2 * config.folds:
        support = supported(evidence, config, rng or np.random.default_rng(0))
        evidence = evidence.only(support >= support.quantile(config.doubted))
    white_x, white_y = (_whitening(spread, config.shrinkage) for spread in evidence.spreads)
    u, s, vt = torch.linalg.svd(white_x @ evidence.product @ white_y, full_matrices=False)
    scale = s.clamp_min(0)[:, None] ** config.power
    return Maps((scale * (u.T @ white_x)).to(evidence.x), (scale * (vt @ white_y)).to(evidence.y))


def supported(evidence: Evidence, config: CanonicalConfig, rng: np.random.Generator) -> Tensor:
    """The cosine (p,) of each pair by maps that were not fitted to its source word."""
    sources, place = torch.unique(evidence.pairs[:, 0], return_inverse=True)
    fold = torch.from_numpy(rng.integers(config.folds, size=len(sources))).to(place.device)[place]  # (p,)
    found = torch.zeros(len(evidence)).to(evidence.x)
    plain = CanonicalConfig(config.shrinkage, config.power)
    for number in range(config.folds):
        own = fold == number
        if own.any() and not own.all():
            maps = canonical(evidence.only(~own), plain)
            held = evidence.only(own)
            mapped = maps.of_source(held.left.to(evidence.x)), maps.of_target(held.right.to(evidence.y))
            found[own] = (mapped[0] * mapped[1]).sum(dim=1)
    return found


def in_basis_of(maps: Maps, other: Maps) -> Maps:
    """`maps` rotated so that their target map is as close as possible to that of `other`.

    The directions of two fits have other signs and mix where correlations are alike: cosines between the
    two need a common basis.
    """
    turn = rotation(other.target.double() @ maps.target.double().T)  # (k, k)
    return Maps(turn @ maps.source, turn @ maps.target)


def _whitening(spread: Spread, shrinkage: float) -> Tensor:
    """C^-1/2 (d, d) of a covariance that is shrunk towards a sphere of the same trace."""
    values = (1 - shrinkage) * spread.values + shrinkage * spread.values.mean()
    roots = values.clamp_min(float(values.max()) * FLOOR).rsqrt()
    whitening: Tensor = (spread.vectors * roots) @ spread.vectors.T
    return whitening
