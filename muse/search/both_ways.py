"""Both ways: what sources and targets find of each other, from one product of the two matrices.

Looking up both directions apart computes every similarity twice, and CSLS, which needs the hubness of both
sides first, four times. Here it is twice, or once where the products fit into `KEPT` bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from muse.search.kept import Kept
from muse.search.largest import largest_in_columns, largest_in_rows
from muse.search.neighbours import Neighbours, Step, merged, nearest, tile_sizes

KEPT = 640 * 2**20


class Tile(NamedTuple):
    """The inner products (b, t) of some sources and targets, and which these are."""

    rows: slice
    columns: slice
    products: Tensor


class Both(NamedTuple):
    """What every source finds among the targets, and every target among the sources."""

    of_source: Neighbours
    of_target: Neighbours


@dataclass(frozen=True, eq=False)
class Products:
    """The inner products of unit rows `source` (n, d) and `target` (m, d), tile by tile.

    With the `backend` faiss, which answers queries and shows no products, both directions are searched apart.
    """

    source: Tensor
    target: Tensor
    backend: str = "auto"

    def nearest(
        self,
        k: int,
        biases: tuple[Tensor | None, Tensor | None] = (None, None),
        step: Step | None = None,
    ) -> Both:
        """The k best of the other side for all rows of both, exactly.

        `biases` are those of the sources (n,) and of the targets (m,), subtracted from the products when a
        source or target is looked up. `step` is called with the number of sources done.
        """
        if self.backend == "faiss":
            there = nearest(self.source, self.target, k, bias=biases[1], backend=self.backend)
            return Both(there, nearest(self.target, self.source, k, bias=biases[0], backend=self.backend))
        if self._kept is not None:
            own, other = min(k, len(self.target)), min(k, len(self.source))
            found = Both(self._kept.of_source(own, biases[1]), self._kept.of_target(other, biases[0]))
            if step is not None:
                step(len(self.source))
            return found
        return self._by_tiles(k, biases, step)

    def _by_tiles(self, k: int, biases: tuple[Tensor | None, Tensor | None], step: Step | None) -> Both:
        own = [_nothing(self.source) for _ in range(_blocks(self.source, self._sizes[0]))]
        other = [_nothing(self.target) for _ in range(_blocks(self.target, self._sizes[1]))]
        room = self.source.new_empty(0)
        for rows, columns, products in self._tiles():
            if room.shape != products.shape:
                room = torch.empty_like(products)
            row, column = rows.start // self._sizes[0], columns.start // self._sizes[1]
            scores = _less(products, biases[1], columns, room)
            own[row] = _with(own[row], largest_in_rows(scores, k), columns.start, k)
            scores = _less(products, None if biases[0] is None else biases[0][:, None], rows, room)
            other[column] = _with(other[column], largest_in_columns(scores, k), rows.start, k)
            if step is not None and columns.stop == len(self.target):
                step(rows.stop)
        return Both(_joined(own), _joined(other))

    def hubness(self, k: int, step: Step | None = None) -> tuple[Tensor, Tensor]:
        """The mean product of every source (n,) and target (m,) with the k nearest rows of the other side."""
        found = self.nearest(k, step=step)
        return found.of_source.scores.mean(dim=1), found.of_target.scores.mean(dim=1)

    @property
    def _sizes(self) -> tuple[int, int]:
        return tile_sizes(self.source)

    @cached_property
    def _kept(self) -> Kept | None:
        """All products, if they fit."""
        size = len(self.source) * len(self.target) * self.source.element_size()
        return Kept.of(self.source, self.target) if size <= KEPT else None

    def _tiles(self) -> Iterator[Tile]:
        """Yields the tiles, row by row; each is overwritten by the next."""
        (height, width), n, m = self._sizes, len(self.source), len(self.target)
        room = self.source.new_empty(height * width)
        for top in range(0, n, height):
            for left in range(0, m, width):
                rows, columns = slice(top, min(n, top + height)), slice(left, min(m, left + width))
                size = rows.stop - rows.start, columns.stop - columns.start
                out = room[: size[0] * size[1]].view(size)
                yield Tile(rows, columns, torch.mm(self.source[rows], self.target[columns].T, out=out))


def _blocks(rows: Tensor, size: int) -> int:
    return -(-len(rows) // size)


def _nothing(like: Tensor) -> Neighbours:
    return Neighbours(like.new_empty(0, 0), like.new_empty(0, 0, dtype=torch.long))


def _less(products: Tensor, bias: Tensor | None, where: slice, room: Tensor) -> Tensor:
    return products if bias is None else torch.sub(products, bias[where], out=room)


def _with(best: Neighbours, found: tuple[Tensor, Tensor], start: int, k: int) -> Neighbours:
    new = Neighbours(found[0], found[1] + start)
    return merged(best, new, k) if len(best.scores) else new


def _joined(parts: list[Neighbours]) -> Neighbours:
    return Neighbours(torch.cat([one.scores for one in parts]), torch.cat([one.indices for one in parts]))
