"""The simple lens: the same map for every word (Kiros, 2020, section 3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from muse.systems.lens.config import LensConfig


class Simple(nn.Module):
    """F_t = relu(W E_t + b), with W (D, K)."""

    def __init__(self, width: int, config: LensConfig) -> None:
        super().__init__()
        self.map = nn.Linear(width, config.dimension)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """F (b, T, D), 0 or more, of the core's rows (b, T, K); its values in padding are arbitrary."""
        return torch.relu(self.map(rows))
