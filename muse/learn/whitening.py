"""Whitening: rows along their principal axes, with some of the differences in variance taken away.

Two models agree on what directions texts vary in, but less on how much: a few directions that are wide in one
of them would decide everything. (Whitening before a mapping: Artetxe et al., 2018 (AAAI). There it is undone
afterwards; here only pairs are carried over, from which the mapping of the rows themselves is fitted.)
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.procrustes import gram

LEAST_VARIANCE = 1e-4  # of the widest direction: below, noise would be amplified


def whitened(rows: Tensor, power: float, dimensions: int | None = None) -> Tensor:
    """The rows (n, d) along their k widest principal axes, (n, k), of unit length; k = d if not given.

    The standard deviation s of each axis becomes s^(1 - power): 0 changes nothing, 1 whitens.
    """
    variances, axes = torch.linalg.eigh(gram(rows).double())  # narrowest first
    variances, axes = variances.flip(0)[:dimensions], axes.flip(1)[:, :dimensions]
    scales = (variances / variances[0].clamp_min(1e-12)).clamp_min(LEAST_VARIANCE) ** (-power / 2)
    return normalize(rows @ (axes * scales).to(rows))
