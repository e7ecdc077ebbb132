"""Gaussian: a posterior with independent dimensions, its samples and its divergence from the prior."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Gaussian(NamedTuple):
    """N(mean, exp(log_variance)) for each of b sentences, both (b, k)."""

    mean: Tensor
    log_variance: Tensor

    def sample(self, generator: torch.Generator) -> Tensor:
        """A draw (b, k), mean + deviation * noise: gradients reach both (Kingma and Welling, 2013)."""
        noise = torch.empty_like(self.mean).normal_(generator=generator)
        return self.mean + (self.log_variance / 2).exp() * noise

    def divergence(self) -> Tensor:
        """KL(N(mean, variance) || N(0, I)), in nats (b,): 1/2 sum(mean^2 + variance - 1 - log variance)."""
        # With the digits of bf16, variance - 1 - log variance would come out negative near a variance of 1.
        mean, log_variance = self.mean.float(), self.log_variance.float()
        return (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=-1) / 2
