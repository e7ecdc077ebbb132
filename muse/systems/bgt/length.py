"""Length: how probable the number of tokens of a bag is, given its latents."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.encoders.weights import TYPICAL
from muse.systems.networks.transformer import draw_


class Length(nn.Module):
    """p(n | z), a negative binomial distribution of a mean m that is log-linear in the latents.

        log p(n | z) = log (Gamma(n + r) / (Gamma(r) n!)) + n log (m / (m + r)) + r log (r / (m + r)),
        log m = a z + c

    Tokens that come each by itself, token w at the rate p(w | z) times a rate that they have in common, of
    a Gamma distribution of mean m and shape r, are so many in all; and given how many they are, each is w
    with p(w | z). So with this a bag's decoder is a distribution over bags of every length. Poisson's is its
    limit for a large r; but there a latent drawn far out costs m, and in the first steps, when nothing holds
    the variance of the draws, that ended the training: here it costs in proportion to log m. r is learned.
    """

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self._log_mean = nn.Linear(width, 1)
        draw_(self._log_mean, generator)
        nn.init.constant_(self._log_mean.bias, math.log(TYPICAL))
        self._log_shape = nn.Parameter(torch.tensor(math.log(TYPICAL)))

    def forward(self, latents: Tensor, lengths: Tensor) -> Tensor:
        """The nats -log p(n | z) (b,) of lengths n (b,), given latents (b, k)."""
        # At least in single precision: lgamma of a bfloat16 is off by nats, and it cannot represent every
        # integer above 256.
        log_mean = self._log_mean(latents)[:, 0]
        log_odds = log_mean.to(torch.promote_types(log_mean.dtype, torch.float32)) - self._log_shape  # (b,)
        n, r = lengths.to(log_odds.dtype), self._log_shape.exp()
        ways = torch.lgamma(n + r) - torch.lgamma(r) - torch.lgamma(n + 1)
        nats: Tensor = -(ways + n * functional.logsigmoid(log_odds) + r * functional.logsigmoid(-log_odds))
        return nats
