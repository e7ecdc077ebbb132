"""Pair features: what a classifier of two sentences reads of their rows."""

from __future__ import annotations

import torch
from torch import Tensor


def pair_features(u: Tensor, v: Tensor) -> Tensor:
    """[u; v; |u - v|; u * v], (b, 4 d), of rows u (b, d) and v (b, d) (Conneau et al., 2017).

    >>> pair_features(torch.tensor([[2.0]]), torch.tensor([[3.0]])).tolist()
    [[2.0, 3.0, 1.0, 6.0]]
    """
    return torch.cat([u, v, (u - v).abs(), u * v], dim=1)
