"""The inference networks: the posterior of a latent, given a sentence."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from muse.networks.transformer import Inputs, Transformer, draw_
from muse.sentences.bgt.gaussian import Gaussian


class Encoder(nn.Module):
    """q(z | x): a map to k dimensions of the mean of the states (b, t, h) of a sentence's tokens.

    Without layers the states are the tokens' own rows.
    """

    def __init__(
        self, width: int, latent: int, layers: Transformer | None, generator: torch.Generator
    ) -> None:
        super().__init__()
        self._layers = layers
        # A bias would soon be a direction that all means have, and make all cosines alike.
        self._out = nn.Linear(width, 2 * latent, bias=False)
        draw_(self._out, generator)

    def forward(self, tokens: Tensor, mask: Tensor, generator: torch.Generator | None = None) -> Gaussian:
        """The posterior of each of b sentences; with a generator, and only then, there is dropout.

        :param tokens: ids (b, t) for the layers, without them rows (b, t, h)
        :param mask: (b, t), False at padding
        """
        states = tokens if self._layers is None else self._layers(Inputs(tokens, mask), generator=generator)
        counted = mask[..., None].to(states.dtype)  # (b, t, 1)
        mean = (states * counted).sum(dim=1) / counted.sum(dim=1)  # (b, h)
        return Gaussian(*self._out(mean).chunk(2, dim=-1))
