"""Whitened: maps that whiten, rotate, weight directions by their correlation and undo the whitening.

The last step of Artetxe et al. (2018), from their framework of 2018 (AAAI), section 3. The maps are no
longer isometries and the target moves too.
"""

from __future__ import annotations

import torch
from torch import Tensor

from muse.learn.supervise.evidence import Evidence, Maps
from muse.learn.supervise.moments import CrossMoments
from muse.procrustes import svd

POWER = 0.5  # of the singular values, on either side


def whitened(evidence: Evidence) -> Maps:
    """The maps of Artetxe et al. (2018, AAAI, section 3), steps 1 to 4, unweighted; see `reweighted_maps`."""
    return Maps(*reweighted_maps(evidence.left, evidence.right))


def reweighted_maps(source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The maps (k, d) and (k, e) of both sides from paired rows (p, d) and (p, e); k = min(d, e).

    With whitening Wx = (X^T X)^-1/2 and U S V^T = SVD(Wx X^T Y Wy): the source goes through
    Wx U S^r U^T Wx^-1 U, the target through Wy V S^r V^T Wy^-1 V (as right factors of rows).
    """
    moments = CrossMoments.of(source.double(), target.double(), torch.ones(len(source)).to(source))
    white_x, white_y = (spread.power(-0.5) for spread in moments.spreads)
    colour_x, colour_y = (spread.power(0.5) for spread in moments.spreads)
    u, s, vt = svd(white_x @ moments.covariance @ white_y)
    weights = torch.diag(s**POWER)
    left = white_x @ u @ weights @ u.T @ colour_x @ u
    right = white_y @ vt.T @ weights @ vt @ colour_y @ vt.T
    return left.T.float(), right.T.float()
