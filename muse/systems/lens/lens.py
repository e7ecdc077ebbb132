"""A lens: a function of every word, and its maximum over the words of a sentence."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from muse.systems.lens.config import LensConfig
from muse.systems.lens.gated import GatedConv
from muse.systems.lens.simple import Simple
from muse.systems.networks.pooling import masked_mean

FORMS: dict[str, Callable[[int, LensConfig], nn.Module]] = {"simple": Simple, "gated": GatedConv}


class Lens(nn.Module):
    """s = maxpool_t F_t (D,), or [mean_t E_t; s] (K + D,), of a sentence's matrix E (T, K)."""

    def __init__(self, width: int, config: LensConfig) -> None:
        super().__init__()
        self.form = FORMS[config.kind](width, config)
        self.dropout = nn.Dropout(config.dropout)
        self.dimension = config.dimension + (width if config.mean else 0)
        self._mean = config.mean

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """The rows (b, d') of sentences with at least one word each.

        :param rows: (b, T, K), 0 in padding.
        :param mask: (b, T)
        """
        rows = self.dropout(rows)
        # F is 0 or more, so zeros in padding do not change the maximum.
        found: Tensor = (self.form(rows, mask) * mask[..., None]).amax(dim=1)  # (b, D)
        if not self._mean:
            return found
        return torch.cat([masked_mean(rows, mask), found], dim=1)
