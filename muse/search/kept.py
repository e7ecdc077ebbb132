"""Kept products: all inner products of two languages in memory, searched both ways from one multiplication.

Beside the products, the maximum of each group of neighbours is kept. An upper bound of a group's scores is
its maximum less the least bias in it, so that a few groups of highest bound hold the best of most rows; where
the next bound leaves a doubt, the whole row is searched. The result is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from muse.search.neighbours import Neighbours

GROUP = 8  # neighbours whose maximum is kept
MORE = 15  # groups looked through beyond k where a bias may reorder them
TILE = 512, 4_096  # a product of this size is still in the cache when its maxima are taken
DOUBTFUL = 1_024  # rows searched whole at a time


@dataclass(frozen=True, eq=False)
class Kept:
    """The products of n sources and m targets, padded with -inf to whole groups, and the maxima of groups.

    `of_rows` (n, m / GROUP) are those of neighbouring targets, `of_columns` (m, n / GROUP) of sources.
    """

    products: Tensor
    of_rows: Tensor
    of_columns: Tensor

    @classmethod
    def of(cls, source: Tensor, target: Tensor) -> Kept:
        """Those of rows (n, d) and (m, d)."""
        n, m = len(source), len(target)
        high, wide = -(-n // GROUP), -(-m // GROUP)  # groups
        products = source.new_empty(high * GROUP, wide * GROUP)
        products[n:], products[:, m:] = -torch.inf, -torch.inf
        of_rows, of_columns = source.new_empty(n, wide), source.new_empty(high, m)
        for top in range(0, n, TILE[0]):
            bottom = min(n, top + TILE[0])
            rows = slice(top // GROUP, -(-bottom // GROUP))
            for left in range(0, m, TILE[1]):
                right = min(m, left + TILE[1])
                columns = slice(left // GROUP, -(-right // GROUP))
                torch.mm(source[top:bottom], target[left:right].T, out=products[top:bottom, left:right])
                beside = products[top:bottom, left : columns.stop * GROUP]
                of_rows[top:bottom, columns] = beside.view(bottom - top, -1, GROUP).amax(dim=2)
                below = products[top : rows.stop * GROUP, left:right]
                of_columns[rows, left:right] = below.view(-1, GROUP, right - left).amax(dim=1)
        return cls(products, of_rows, of_columns.T.contiguous())

    def of_source(self, k: int, bias: Tensor | None) -> Neighbours:
        """The k best targets of every source by product less the `bias` (m,) of the target."""
        table = self.products[: len(self.of_rows)]
        return _best(self.of_rows, bias, k, lambda where: table.gather(1, where), lambda rows: table[rows])

    def of_target(self, k: int, bias: Tensor | None) -> Neighbours:
        """The k best sources of every target by product less the `bias` (n,) of the source."""
        table = self.products[:, : len(self.of_columns)]
        return _best(
            self.of_columns,
            bias,
            k,
            lambda where: table.gather(0, where.T.contiguous()).T,
            lambda columns: table[:, columns].T,
        )


def _best(
    maxima: Tensor,
    bias: Tensor | None,
    k: int,
    take: Callable[[Tensor], Tensor],
    whole: Callable[[Tensor], Tensor],
) -> Neighbours:
    """The k best of each row of a table (r, c) whose groups have these `maxima` (r, c / GROUP).

    `take` reads the entries at columns (r, e) of every row, `whole` the rows (q, c) at row numbers (q,).
    """
    groups = maxima.shape[1]
    biases = maxima.new_zeros(groups * GROUP)
    if bias is not None:
        biases = pad(bias, (0, len(biases) - len(bias)))
    bounds = maxima if bias is None else maxima - biases.view(groups, GROUP).amin(dim=1)
    looked = min(groups, k if bias is None else k + MORE)
    best = bounds.topk(min(groups, looked + 1), dim=1)
    members = torch.arange(GROUP, device=maxima.device)
    where = (best.indices[:, :looked, None] * GROUP + members).flatten(1)  # (r, looked * GROUP)
    scores, place = (take(where) - biases[where]).topk(k, dim=1)
    found = Neighbours(scores, where.gather(1, place))
    if bias is not None and looked < groups:
        doubtful = (scores[:, -1] < best.values[:, looked]).nonzero()[:, 0]
        for rows in torch.split(doubtful, DOUBTFUL):
            found.scores[rows], found.indices[rows] = (whole(rows) - biases).topk(k, dim=1)
    return found
