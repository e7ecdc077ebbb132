"""Both ways: the nearest targets of sources, and sources of targets, from one product of the two matrices.

Searching each direction on its own computes every similarity twice, and CSLS, which needs the hubness of both
sides first, four times. Here it is twice, or once if the products fit into MAX_CACHED_BYTES: a
`SimilarityMatrix` is searched by rows and by columns.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from muse.search.exact import (
    APART,
    BLOCK,
    GROUP,
    MatrixRows,
    Neighbours,
    Step,
    check_backend,
    largest_in_rows,
    maxima_of_rows,
    members,
    merged,
    nearest,
    nonzero_places,
    resolved,
    row_length,
    whole,
)

TILE = 2_048  # rows of a product: enough for full speed
STRIP = 128  # rows whose maxima are taken at a time, a multiple of GROUP
MAX_CACHED_BYTES = 1_650_000_000  # 20,000 sources by 20,000 targets
MIN_SOURCES = 256  # sources; with 96 it takes 1.7 times as long as two searches, with 496 it is quicker
MAX_TRANSIENT_BYTES = 800_000_000  # of a product not kept


class SimilarityMatrix(NamedTuple):
    """The products of n sources and m targets; a line of `rows` is a source, one of `columns` a target."""

    rows: MatrixRows
    columns: MatrixRows

    @classmethod
    def of(cls, source: Tensor, target: Tensor, room: Tensor | None = None) -> "SimilarityMatrix":
        """The matrix of rows (n, d) and (m, d), padded with -inf to whole groups.

        It is written to the first rows of `room` (h, t), if given.
        """
        n, m = len(source), len(target)
        high, wide = whole(n, GROUP), row_length(m)
        matrix = source.new_empty(high, wide) if room is None else room[:high]
        matrix[n:], matrix[:, m:] = -torch.inf, -torch.inf
        of_rows, of_columns = source.new_empty(high, wide // GROUP), source.new_empty(high // GROUP, wide)
        for top in range(0, n, TILE):
            torch.mm(source[top : top + TILE], target.T, out=matrix[top : min(n, top + TILE), :m])
            for start in range(top, min(high, top + TILE), STRIP):
                strip = matrix[start : start + STRIP]
                maxima_of_rows(strip, of_rows[start : start + STRIP])
                groups = slice(start // GROUP, (start + STRIP) // GROUP)
                torch.amax(strip.view(-1, GROUP, wide), dim=1, out=of_columns[groups])
        entries, by_columns = matrix.view(-1), of_columns[:, :m].T.contiguous()
        return cls(
            MatrixRows(entries, (wide, 1), m, of_rows[:n], members(wide, APART, source.device)),
            MatrixRows(entries, (1, wide), n, by_columns, members(high, 1, source.device)),
        )

    def targets(self, k: int, bias: Tensor | None) -> Neighbours:
        """The k best targets of every source, once the `bias` (m,) of each, if any, is subtracted."""
        if bias is None:
            return self.rows.nearest(k)
        wide, m = self.rows.strides[0], self.rows.length
        room, found = bias.new_full((BLOCK, wide), -torch.inf), []
        for lines in torch.split(self.rows.entries.view(-1, wide)[: len(self.rows)], BLOCK):
            torch.sub(lines[:, :m], bias, out=room[: len(lines), :m])
            found.append(largest_in_rows(room[: len(lines)], m, k))
        return Neighbours.joined(found)


class BothDirections(NamedTuple):
    """The neighbours of every source among the targets, and of every target among the sources."""

    of_source: Neighbours
    of_target: Neighbours


@dataclass(frozen=True, eq=False)
class BidirectionalSearch:
    """The inner products of unit rows `source` (n, d) and `target` (m, d).

    Both directions are searched separately with the `backend` faiss, which shows no products, with very many
    targets, and with rows of zeros, which are never found.
    """

    source: Tensor
    target: Tensor
    backend: str = "auto"

    def __post_init__(self) -> None:
        check_backend(self.backend)

    def nearest(self, k: int, step: Step | None = None) -> BothDirections:
        """The k best of the other side for all rows of both; `step` is called with the sources done."""
        if self._apart:
            there = nearest(self.source, self.target, k, backend=self.backend, step=step)
            return BothDirections(there, nearest(self.target, self.source, k, backend=self.backend))
        of_source, of_target = [], Neighbours.none(self.target)
        for start, matrix in self._matrices():
            of_source.append(matrix.rows.nearest(k))
            of_target = merged(of_target, matrix.columns.nearest(k).offset_indices(start), k)
            if step is not None:
                step(start + len(matrix.rows))
        return BothDirections(Neighbours.joined(of_source), of_target)

    def targets(self, k: int, bias: Tensor | None) -> Neighbours:
        """The k best targets of every source less their `bias` (m,); products that fit are kept."""
        if self._apart or self._height < len(self.source):
            return nearest(self.source, self.target, k, bias=bias, backend=self.backend)
        return self._whole.targets(k, bias)

    def best(self, biases: tuple[Tensor, Tensor], known: BothDirections) -> tuple[Tensor, Tensor]:
        """The best target of every source (n,), and the best source of every target (m,), exactly.

        `biases` are those of the sources (n,) and of the targets (m,), subtracted from the products when a
        source or target is looked up; `known` are the nearest without them, one or more.
        """
        if self._apart:
            there = nearest(self.source, self.target, 1, bias=biases[1], backend=self.backend)
            back = nearest(self.target, self.source, 1, bias=biases[0], backend=self.backend)
            return there.indices[:, 0], back.indices[:, 0]
        of_source, best_source = [], known.of_target.minus_bias(biases[0], 1)
        for start, matrix in self._matrices():
            rows = slice(start, start + len(matrix.rows))
            best_target = known.of_source.of(rows).minus_bias(biases[1], 1)
            of_source.append(matrix.rows.best(biases[1], best_target))
            best_source = matrix.columns.best(biases[0][rows], best_source, first=start)
        return Neighbours.joined(of_source).indices[:, 0], best_source.indices[:, 0]

    def hubness(self, k: int, step: Step | None = None) -> tuple[Tensor, Tensor]:
        """The mean product of every source (n,) and target (m,) with the k nearest rows of the other side."""
        found = self.nearest(k, step=step)
        return found.of_source.scores.mean(dim=1), found.of_target.scores.mean(dim=1)

    def _matrices(self) -> Iterator[tuple[int, SimilarityMatrix]]:
        """Yields the first source of each matrix and the matrix; a single one is kept."""
        if self._height >= len(self.source):
            yield 0, self._whole
            return
        # One room, reused: on a CPU the page faults of new ones cost a tenth of the search.
        room = self.source.new_empty(self._height, row_length(len(self.target)))
        for start in range(0, len(self.source), self._height):
            yield start, SimilarityMatrix.of(self.source[start : start + self._height], self.target, room)

    @cached_property
    def _apart(self) -> bool:
        """Whether to search both directions apart: strips of few sources are passed over too many times."""
        if resolved(self.backend) == "faiss" or self._height < min(MIN_SOURCES, len(self.source)):
            return True
        return any(nonzero_places(side) is not None for side in (self.source, self.target))

    @property
    def _height(self) -> int:
        """The number of sources in a matrix."""
        row = self.source.element_size() * len(self.target)  # bytes
        if len(self.source) * row <= MAX_CACHED_BYTES:
            return len(self.source)
        return max(1, MAX_TRANSIENT_BYTES // (row * GROUP)) * GROUP

    @cached_property
    def _whole(self) -> SimilarityMatrix:
        return SimilarityMatrix.of(self.source, self.target)
