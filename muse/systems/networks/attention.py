"""Attention: what queries read off keys and values, softmax(Q K^T / sqrt(h / heads)) V in every head."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Multi-head attention (Vaswani et al., 2017, 3.2) of states (b, q, h) to vectors (b, k, h)."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self._query = nn.Linear(hidden, hidden)
        self._key_value = nn.Linear(hidden, 2 * hidden)
        self._out = nn.Linear(hidden, hidden)

    def forward(self, states: Tensor, read: Tensor, seen: Tensor | None, causal: bool = False) -> Tensor:
        """What each state reads (b, q, h) of the vectors `read` (b, k, h).

        `seen` is as of `attention_mask`, or None: then state i sees all, or where `causal` the first i + 1.
        """
        query = self._parted(self._query(states))  # (b, heads, q, h / heads)
        key, value = (self._parted(part) for part in self._key_value(read).chunk(2, dim=-1))
        mixed = functional.scaled_dot_product_attention(query, key, value, seen, is_causal=causal)
        out: Tensor = self._out(mixed.transpose(1, 2).flatten(2))  # (b, q, h)
        return out

    def _parted(self, vectors: Tensor) -> Tensor:
        return vectors.reshape(*vectors.shape[:2], self._heads, -1).transpose(1, 2)


def attention_mask(mask: Tensor, causal: bool) -> Tensor:
    """What each position sees, (b, 1, 1, k) or, where causal, (b, 1, k, k), of a mask (b, k), True at tokens.

    Padding is at the end of a row. A row of padding alone sees all of itself: its states are finite, and
    nobody reads them.
    """
    seen = (mask | ~mask.any(dim=1, keepdim=True))[:, None, None, :]  # (b, 1, 1, k)
    if not causal:
        return seen
    k = mask.shape[1]
    return seen & torch.ones(k, k, dtype=torch.bool, device=mask.device).tril()


def dropped(states: Tensor, share: float, generator: torch.Generator | None) -> Tensor:
    """The states, that share of their numbers 0 and the rest larger for it; unchanged without a generator."""
    if generator is None or not share:
        return states
    kept = torch.empty_like(states).bernoulli_(1 - share, generator=generator)
    return states * kept / (1 - share)
