"""The simple lens: s = maxpool_t relu(W E_t + b), or [mean_t E_t; that] (Kiros, 2020, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from muse.errors import BadSetting


@dataclass(frozen=True)
class LensConfig:
    """The sizes of a lens and how it learns.

    `mean` puts the mean of the core's rows before what the lens makes: over a static core a lens alone starts
    far below it. `dropout` is of the core's rows, `warmup` the steps until the highest rate.
    """

    dimension: int = 1_024
    mean: bool = True
    margin: float = 0.2
    dropout: float = 0.0
    warmup: int = 100

    def __post_init__(self) -> None:
        for name in ("dimension", "warmup"):
            if getattr(self, name) < 1:
                raise BadSetting(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise BadSetting(f"dropout must lie in 0..1, below 1, got {self.dropout:g}")


class SimpleLens(nn.Module):
    """One map (D, K) and a maximum over the words, with the mean (K,) before it or without."""

    def __init__(self, width: int, config: LensConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.map = nn.Linear(width, config.dimension)
        self.dropout = nn.Dropout(config.dropout)
        self.dimension = config.dimension + (width if config.mean else 0)
        self._mean = config.mean
        if generator is not None:
            with torch.no_grad():
                self.map.weight.normal_(0, width**-0.5, generator=generator)
                self.map.bias.zero_()

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """The rows (b, d') of sentences of which each has a word.

        :param rows: (b, T, K), 0 in padding.
        :param mask: (b, T)
        """
        rows = self.dropout(rows)
        # What relu leaves is 0 or more, so that zeros in padding change no maximum.
        found = (torch.relu(self.map(rows)) * mask[..., None]).amax(dim=1)  # (b, D)
        if not self._mean:
            return found
        return torch.cat([rows.sum(dim=1) / mask.sum(dim=1, keepdim=True), found], dim=1)
