"""Neighbours: how many of the nearest rows of a store a map keeps, which decides between equals for rows.

A store is asked for what is near a query. So a map of queries is as good as the neighbours it finds are those
of the query by the store's own model. That is another question than whether the row of the very same text
comes first, and does not answer it: maps that keep as many neighbours may find half as many counterparts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.learn.supervise.cross_validation import BLOCK, Folds, HeldOutSearch
from muse.learn.supervise.evidence import Evidence, Maps

K = 10
SHARE = 50  # one neighbour for so many rows, at most K: of few rows, the ten nearest would say little

Overlaps = NDArray[np.float64]


def kept_neighbours(fits: Sequence[Maps], folds: Folds, search: HeldOutSearch) -> dict[int, float]:
    """The share of the native neighbours of each held-out source row that the maps find, by its row number.

    The maps were fitted without the fold of the row. Its counterpart is in neither list; of several
    counterparts the first counts.
    """
    found: dict[int, float] = {}
    for maps, (_, own) in zip(fits, folds.trials, strict=False):
        pairs = first_pairs(own)
        shares = overlap(maps, own, pairs, search)
        found |= dict(zip(pairs[:, 0].tolist(), shares.tolist(), strict=True))
    return found


def first_pairs(own: Evidence) -> Tensor:
    """The first pair (q, 2) of each source row."""
    pairs = own.pairs[own.single].cpu().numpy()
    _, first = np.unique(pairs[:, 0], return_index=True)
    return torch.from_numpy(pairs[first]).to(own.pairs)


def overlap(maps: Maps, own: Evidence, pairs: Tensor, search: HeldOutSearch) -> Overlaps:
    """The share (q,) of the nearest rows of each target of `pairs` (q, 2) that its mapped source finds."""
    targets = maps.of_target(search.targets)  # (m, k)
    native = torch.nn.functional.normalize(search.targets)
    k = max(1, min(K, len(targets) // SHARE))
    shares: list[NDArray[Any]] = [np.zeros(0)]
    for block in torch.split(pairs, BLOCK):
        column = torch.searchsorted(search.rows, block[:, 1].contiguous())[:, None]  # (b, 1)
        best = []
        for queries, rows in ((own.y[block[:, 1]], native), (maps.of_source(own.x[block[:, 0]]), targets)):
            scores = (queries @ rows.T).scatter(1, column, -torch.inf)  # (b, m)
            best.append(scores.topk(min(k, scores.shape[1])).indices)  # (b, k)
        both = (best[0][:, :, None] == best[1][:, None, :]).sum(dim=(1, 2))
        shares.append((both / best[0].shape[1]).double().cpu().numpy())
    return np.concatenate(shares)
