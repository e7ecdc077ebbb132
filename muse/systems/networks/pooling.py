"""Pooling: the states of the tokens of sentences as one row for each."""

from __future__ import annotations

from torch import Tensor


def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """The means (b, h) of states (b, t, h) over the tokens, where `mask` (b, t) is True."""
    weights = mask[..., None].to(states.dtype)  # (b, t, 1)
    found: Tensor = (states * weights).sum(dim=1) / weights.sum(dim=1)
    return found
