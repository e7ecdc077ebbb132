"""The inference networks: the posterior of a latent, given a sentence."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from muse.systems.bgt.gaussian import Gaussian
from muse.systems.networks.pooling import masked_mean
from muse.systems.networks.transformer import Inputs, TransformerLayers, draw_


class Observed(NamedTuple):
    """The inputs of the encoders for b sentences.

    `tokens` are ids (b, t) for encoders with layers, otherwise rows (b, t, h); `mask` (b, t) is False at
    padding; `surface` are features (b, s), used only without layers.
    """

    tokens: Tensor
    mask: Tensor
    surface: Tensor | None = None


class Encoder(nn.Module):
    """q(z | x): a map to k dimensions of the mean of the states (b, t, h) of a sentence's tokens.

    Without layers the states are the tokens' own rows. With a `surface` above 0, the map is of so many
    features too.
    """

    def __init__(
        self,
        width: int,
        latent: int,
        layers: TransformerLayers | None,
        generator: torch.Generator,
        *,
        surface: int = 0,
    ) -> None:
        super().__init__()
        self._layers, self._surface = layers, surface
        # A bias would become a direction common to all means and make all cosines similar. Only surface
        # features need one, since their mean is not 0.
        self._out = nn.Linear(width + surface, 2 * latent, bias=surface > 0)
        draw_(self._out, generator)

    def forward(self, seen: Observed) -> Gaussian:
        """The posterior of each of b sentences."""
        states = seen.tokens if self._layers is None else self._layers(Inputs(seen.tokens, seen.mask))
        known = masked_mean(states, seen.mask)  # (b, h)
        if self._surface and seen.surface is not None:
            known = torch.cat([known, seen.surface], dim=-1)  # (b, h + s)
        return Gaussian(*self._out(known).chunk(2, dim=-1))
