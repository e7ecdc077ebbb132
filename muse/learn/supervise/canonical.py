"""Canonical: regularised canonical correlation analysis, with directions weighted by their correlation.

Whitening divides by the spread of each direction, which few pairs cannot estimate: for 1,000 pairs in 300
dimensions the smallest spreads are mostly chance. The covariances are therefore shrunk towards a sphere
(Vinod, 1976, canonical ridge; Ledoit and Wolf, 2004), and unlike in Artetxe et al. (2018) the whitening is
not undone: the shared space is that of the canonical directions (Faruqui and Dyer, 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

from muse.learn.supervise.evidence import Evidence, Maps
from muse.learn.supervise.moments import CrossMoments
from muse.procrustes import rotation, svd


@dataclass(frozen=True)
class CanonicalConfig:
    """How far the covariances are shrunk (0 to 1), and the power of the correlations on either side."""

    shrinkage: float = 0.5
    power: float = 0.5

    def __str__(self) -> str:
        """The part of a method's name that tells the settings."""
        return f"{self.shrinkage:g},{self.power:g}"


def canonical(evidence: Evidence, config: CanonicalConfig) -> Maps:
    """The maps A = S^r U^T Cx^-1/2 (k, ds) and B = S^r V^T Cy^-1/2 (k, dt), k the smaller dimension.

    U S V^T = SVD(Cx^-1/2 Cxy Cy^-1/2), Cxy = X^T Y / p over the pairs, Cx = (1 - s) X^T X / p + s I t,
    t the mean of its diagonal; all weighted.
    """
    maps = of_moments(evidence.moments, config)
    return Maps(maps.source.to(evidence.x), maps.target.to(evidence.y))


def of_moments(moments: CrossMoments, config: CanonicalConfig) -> Maps:
    """The same from the moments of the pairs, double."""
    white_x, white_y = (spread.power(-0.5, config.shrinkage) for spread in moments.spreads)
    u, s, vt = svd(white_x @ moments.covariance @ white_y)
    scale = s.clamp_min(0)[:, None] ** config.power
    return Maps(scale * (u.T @ white_x), scale * (vt @ white_y))


def in_basis_of(maps: Maps, other: Maps) -> Maps:
    """`maps` rotated so that their target map is as close as possible to that of `other`.

    The directions of two fits have other signs and mix where correlations are alike: cosines between the
    two need a common basis.
    """
    basis = rotation(other.target.float() @ maps.target.float().T).to(maps.target)  # (k, k)
    return Maps(basis @ maps.source, basis @ maps.target)
