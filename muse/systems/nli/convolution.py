"""Convolution: the row of a sentence from four layers of convolutions (Conneau, 2019, figure 3.4)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

LAYERS, KERNEL = 4, 3


class HierarchicalConvolution(nn.Module):
    """The maximum over the sentence of every layer's maps, beside one another: u = [u_1, u_2, u_3, u_4].

    Each layer has 2 `units` maps of three words, and sees zeros beyond the ends of a sentence.
    """

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        widths = [width, *[2 * units] * LAYERS]
        self.layers = nn.ModuleList(
            nn.Conv1d(a, b, KERNEL, padding=KERNEL // 2) for a, b in zip(widths, widths[1:], strict=False)
        )
        self.dimension = 2 * units * LAYERS

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """The rows (b, 8 units) of sentences (b, T, K), arbitrary in padding, with a mask (b, T)."""
        words = mask[:, None]  # (b, 1, T)
        states, found = rows.mT.masked_fill(~words, 0.0), []  # (b, K, T)
        for layer in self.layers:
            states = torch.relu(layer(states)).masked_fill(~words, 0.0)
            found.append(states.amax(dim=2))  # of a sentence with a word: ReLU is never below 0
        return torch.cat(found, dim=1)
