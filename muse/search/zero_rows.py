"""Zero rows: a row of zeros points nowhere, so no search, exact or approximate, finds it.

Its cosine to every row is 0, which says nothing, yet is higher than that of many words: among centred rows it
would be the best key of all queries that are far from everything. Every search leaves such keys out. A query
of zeros is looked up, with cosines of 0: what asks for its translations answers that there are none.
"""

from __future__ import annotations

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
