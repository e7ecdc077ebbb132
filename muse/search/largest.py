"""Largest: the k largest entries of every row or column of a tile, faster than sorting whole rows.

The k largest entries lie in the k groups of largest maximum: an entry in any other group is no larger than
k maxima. A maximum over groups is one pass over memory; only the entries of k groups are then sorted.
"""

from __future__ import annotations

import torch
from torch import Tensor

ROW_GROUP = 32  # neighbouring entries of a row
COLUMN_GROUP = 16  # of a column: each is far from the next in memory, so fewer are read
WORTHWHILE = 4  # groups for each of the k: with fewer, nothing is saved


def largest_in_rows(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest entries (b, k) of every row of (b, t), largest first, and their columns (b, k)."""
    count = scores.shape[1]
    groups = count // ROW_GROUP
    if scores.is_cuda or groups < WORTHWHILE * k:
        values, columns = scores.topk(min(k, count), dim=1)
        return values, columns
    maxima = scores[:, : groups * ROW_GROUP].view(-1, groups, ROW_GROUP).amax(dim=2)  # (b, g)
    where = _members(maxima, k, ROW_GROUP, count)  # (b, c)
    found = scores.gather(1, where).topk(k, dim=1)
    return found.values, where.gather(1, found.indices)


def largest_in_columns(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest entries (t, k) of every column of (b, t), largest first, and their rows (t, k)."""
    count = len(scores)
    groups = count // COLUMN_GROUP
    if scores.is_cuda or groups < WORTHWHILE * k:
        values, rows = scores.T.contiguous().topk(min(k, count), dim=1)
        return values, rows
    maxima = scores[: groups * COLUMN_GROUP].view(groups, COLUMN_GROUP, -1).amax(dim=1)  # (g, t)
    where = _members(maxima.T.contiguous(), k, COLUMN_GROUP, count)  # (t, c)
    found = scores.gather(0, where.T.contiguous()).T.contiguous().topk(k, dim=1)
    return found.values, where.gather(1, found.indices)


def _members(maxima: Tensor, k: int, size: int, count: int) -> Tensor:
    """The places (r, c) of all entries of the k groups of largest maximum (r, g), and of those in none."""
    best = maxima.argmax(dim=1, keepdim=True) if k == 1 else maxima.topk(k, dim=1).indices  # (r, k)
    members = (best[:, :, None] * size + torch.arange(size)).flatten(1)
    rest = torch.arange(maxima.shape[1] * size, count).expand(len(maxima), -1)
    return torch.cat([members, rest], dim=1)
