"""The gated lens: gates that depend on the context weigh each word by element (Kiros, 2020, eq. 1-4).

An encoder H and a controller G, each a linear map and M convolutions over the words, are combined as

    F = relu(W_f (H_M * G_M + G_0) + b_f)

where * is elementwise; all layers use relu except the last, which uses tanh in H and a sigmoid in G.
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
        """F (b, T, D), 0 or more, of the core's rows (b, T, K); its values in padding are arbitrary."""
        _, last = self.encoder(rows, mask)
        first, gates = self.controller(rows, mask)
        return torch.relu(self.fusion(last * gates + first))


class Convolved(nn.Module):
    """H_0 = relu(W_0 E + b_0), H_i = relu(W_i conv H_(i-1) + b_i), with `last` for relu in the last layer."""

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
            # Zero after the end of every sentence, as after the longest one.
            found = function(convolution(found.transpose(1, 2))).transpose(1, 2) * inside
        return first, found
