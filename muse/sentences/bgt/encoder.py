"""The inference networks: the posterior of a latent, given a sentence."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from muse.networks.transformer import Inputs, Transformer, draw_
from muse.sentences.bgt.gaussian import Gaussian


class Encoder(nn.Module):
    """q(z | x): the mean of the states (b, t, h) of a sentence's tokens, mapped to a Gaussian of k dimensions.

    Without layers the states are the tokens' own rows.
    """

    def __init__(self, width: int, latent: int, layers: Transformer | None, generator: torch.Generator) -> None:
        super().__init__()
        self._layers = layers
        self._out = nn.Linear(width, 2 * latent, bias=False)
        draw_(self._out, generator)

    def forward(self, inputs: Inputs, generator: torch.Generator | None = None) -> Gaussian:
        """The posterior of each of b sentences; with a generator, and only then, there is dropout."""
        states = inputs.tokens if self._layers is None else self._layers(inputs, generator=generator)
        if inputs.mask is None:
            return self._posterior(states.mean(dim=1))
        counted = inputs.mask[..., None].to(states.dtype)  # (b, t, 1)
        return self._posterior((states * counted).sum(dim=1) / counted.sum(dim=1))

    def _posterior(self, pooled: Tensor) -> Gaussian:
        return Gaussian(*self._out(pooled).chunk(2, dim=-1))
