"""Similarity matrix: the inner products of sources and targets, searched by rows and by columns."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from muse.search.lines import APART, GROUP, Lines, maxima_of_rows, members, row_length, whole

TILE = 2_048  # rows of a product: enough for full speed
STRIP = 128  # rows of which maxima are taken at a time, a multiple of GROUP


class SimilarityMatrix(NamedTuple):
    """The products of n sources and m targets; a line of `rows` is a source, one of `columns` a target."""

    rows: Lines
    columns: Lines

    @classmethod
    def of(cls, source: Tensor, target: Tensor) -> SimilarityMatrix:
        """That of rows (n, d) and (m, d), padded with -inf to whole groups."""
        n, m = len(source), len(target)
        high, wide = whole(n, GROUP), row_length(m)
        matrix = source.new_empty(high, wide)
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
            Lines(entries, (wide, 1), m, of_rows[:n], members(wide, APART, source.device)),
            Lines(entries, (1, wide), n, by_columns, members(high, 1, source.device)),
        )
