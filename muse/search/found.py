"""The result of a search: the best keys of each query; rows of zeros are never among them.

The cosine of a row of zeros to every row is 0, which says nothing, yet is higher than that of many words:
among centred rows it would be the best key of all queries that are far from everything. Every search, exact
or approximate, leaves such keys out. A query of zeros is looked up, with cosines of 0: callers that want its
translations answer that there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


def zero_places(rows: Tensor) -> Tensor:
    """The places (z,) of the rows (n, d) that are all zeros, in ascending order.

    >>> zero_places(torch.tensor([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])).tolist()
    [0, 2]
    """
    # Of a large matrix the first column alone takes a fortieth of the time, and few of it are 0.
    perhaps = (rows[:, 0] == 0).nonzero()[:, 0]
    return perhaps[~rows[perhaps].any(dim=1)]


def nonzero_places(rows: Tensor) -> Tensor | None:
    """The places (c,) of the rows (n, d) that are not all zeros; None if that is each of them, or none."""
    zeros = zero_places(rows)
    if not len(zeros) or len(zeros) == len(rows):  # of nothing but zeros, none is preferred
        return None
    kept = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    kept[zeros] = False
    return kept.nonzero()[:, 0]


class Neighbours(NamedTuple):
    """The best keys of each query, best first: `scores` (q, k) float32 and `indices` (q, k) int64."""

    scores: Tensor
    indices: Tensor

    @classmethod
    def none(cls, queries: Tensor) -> Neighbours:
        """The empty result of queries (q, d) before a search."""
        return cls(queries.new_empty(len(queries), 0), queries.new_empty(len(queries), 0, dtype=torch.long))

    @classmethod
    def joined(cls, parts: Sequence[Neighbours]) -> Neighbours:
        """The neighbours of the queries of all parts, one part after the other."""
        return cls(torch.cat([one.scores for one in parts]), torch.cat([one.indices for one in parts]))

    def of(self, queries: slice) -> Neighbours:
        """The neighbours of some queries."""
        return Neighbours(self.scores[queries], self.indices[queries])

    def remap_indices(self, places: Tensor) -> Neighbours:
        """These neighbours, with indices of all keys: the keys searched were those at `places` (m,)."""
        return Neighbours(self.scores, places[self.indices])

    def offset_indices(self, keys: int) -> Neighbours:
        """These neighbours, with indices of all keys: `keys` others come before those searched."""
        return Neighbours(self.scores, self.indices + keys)

    def minus_bias(self, bias: Tensor | None, top: int) -> Neighbours:
        """The `top` best once the `bias` (m,) of each key is subtracted from its score."""
        scores = self.scores if bias is None else self.scores - bias[self.indices]
        best = scores.topk(min(top, scores.shape[1]), dim=1)
        return Neighbours(best.values, self.indices.gather(1, best.indices))


def merged(first: Neighbours, second: Neighbours, k: int) -> Neighbours:
    """The k best keys of those that two searches found for the same queries."""
    scores = torch.cat([first.scores, second.scores], dim=1)
    indices = torch.cat([first.indices, second.indices], dim=1)
    top = scores.topk(min(k, scores.shape[1]), dim=1)
    return Neighbours(top.values, indices.gather(1, top.indices))
