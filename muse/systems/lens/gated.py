"""The gated lens: words are weighed, number by number, by what stands around them (Kiros, 2020, eq. 1-4).

An encoder H and a controller G of one form, a map and M convolutions over the words, meet in

    F = relu(W_f (H_M * G_M + G_0) + b_f)

where * is by element; all layers are relu but the last, which is tanh in H and a sigmoid in G.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from muse.systems.lens.config import LensConfig


class GatedConv(nn.Module):
    """The encoder, the controller and their fusion."""

    def __init__(self, width: int, config: LensConfig) -> None:
        super().__init__()
        self.encoder = Convolved(width, config, torch.tanh)
        self.controller = Convolved(width, config, torch.sigmoid)
        self.fusion = nn.Linear(config.gate, config.dimension)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """F (b, T, D), 0 or more, of the core's rows (b, T, K); what it has in padding is of no meaning."""
        _, last = self.encoder(rows, mask)
        first, gates = self.controller(rows, mask)
        return torch.relu(self.fusion(last * gates + first))


class Convolved(nn.Module):
    """H_0 = relu(W_0 E + b_0) and H_i = relu(W_i conv H_(i-1) + b_i), with another function for the last."""

    def __init__(self, width: int, config: LensConfig, last: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.map = nn.Linear(width, config.gate)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(config.gate, config.gate, config.kernel, padding=config.kernel // 2)
            for _ in range(config.layers)
        )
        self._functions = [torch.relu] * (config.layers - 1) + [last]

    def forward(self, rows: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """H_0 and H_M (b, T, g) of the core's rows (b, T, K)."""
        inside = mask[..., None]  # (b, T, 1)
        first = found = torch.relu(self.map(rows)) * inside
        for convolution, function in zip(self.convolutions, self._functions, strict=True):
            # Beyond the end of a sentence there is nothing, as beyond that of the longest.
            found = function(convolution(found.transpose(1, 2))).transpose(1, 2) * inside
        return first, found
