"""Components: the rows of a language along its leading principal axes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import NotConverged
from muse.vectors import Matrix, Vectors

BLOCK = 1 << 18  # rows that are copied to double precision at once


def principal_axes(side: Vectors, k: int) -> Matrix:
    """The k leading principal axes of the rows, (d, k), in descending order of variance."""
    if not np.isfinite(side.matrix).all():
        raise NotConverged(f"{side.language}: vectors must be finite, found nan or inf; repair their file")
    products = np.zeros((side.dimension, side.dimension))
    for begin in range(0, len(side.matrix), BLOCK):
        wide = side.matrix[begin : begin + BLOCK].astype(np.float64)
        products += wide.T @ wide
    axes = np.linalg.eigh(products)[1]  # (d, d), in ascending order of variance
    return np.asarray(axes[:, ::-1][:, :k], dtype=np.float32)


def components(rows: Matrix, basis: Matrix) -> Tensor:
    """The rows (n, d) along the axes (d, k), as (n, k), scaled to entries of variance 1."""
    # The learning rates then have the same effect in every dimension.
    inside = rows @ basis  # (n, k)
    return torch.tensor(inside / max(float(np.sqrt(np.mean(inside**2))), 1e-12))


def unit_components(side: Vectors, dimensions: int) -> Tensor:
    """The rows along their leading principal axes, (n, k), of unit length."""
    return normalize(components(side.matrix, principal_axes(side, dimensions)))
