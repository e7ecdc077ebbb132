"""Evidence: the pairs to learn from, and the maps learned from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.learn.supervise.moments import CrossMoments


class Maps(NamedTuple):
    """The linear maps of both languages into a shared space: (k, ds) and (k, dt); rows become x A^T."""

    source: Tensor
    target: Tensor

    @classmethod
    def of_mapping(cls, mapping: Tensor) -> Maps:
        """The maps of an orthogonal W (dt, ds): W and I, or I and W^T into the space of a smaller source."""
        d_target, d_source = mapping.shape
        if d_target > d_source:
            return cls(torch.eye(d_source).to(mapping), mapping.T.contiguous())
        return cls(mapping, torch.eye(d_target).to(mapping))

    def of_source(self, rows: Tensor) -> Tensor:
        """Source rows (n, ds) in the shared space, (n, k), of unit length."""
        return normalize(rows @ self.source.T)

    def of_target(self, rows: Tensor) -> Tensor:
        """Target rows (m, dt) in the shared space, (m, k), of unit length."""
        return normalize(rows @ self.target.T)

    def into_target(self) -> Maps:
        """Maps with the same inner products that leave the target as it is: B^T A and I.

        (A x) . (B y) = (B^T A x) . y; cosines differ, because y keeps its own length.
        """
        d = self.target.shape[1]
        return Maps(self.target.T @ self.source, torch.eye(d, dtype=self.source.dtype).to(self.source.device))


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows of both languages, x (n, ds) and y (m, dt), most frequent first, and pairs (p, 2) of row numbers.

    `weights` (p,) say how much each pair counts. `words` are the numbers of rows that are words; rows
    beyond them are phrases, which are learned from and never searched.
    """

    x: Tensor
    y: Tensor
    pairs: Tensor
    weights: Tensor
    words: tuple[int, int]

    @property
    def left(self) -> Tensor:
        """The source rows (p, ds) of the pairs, double."""
        return self.x[self.pairs[:, 0]].double()

    @property
    def right(self) -> Tensor:
        """The target rows (p, dt) of the pairs, double."""
        return self.y[self.pairs[:, 1]].double()

    @cached_property
    def moments(self) -> CrossMoments:
        """The moments of the pairs, kept: maps of many settings are fitted to them."""
        # In single precision, at half the time: rounding is far below what the choice of pairs changes.
        return CrossMoments.of(self.x[self.pairs[:, 0]], self.y[self.pairs[:, 1]], self.weights)

    @property
    def single(self) -> Tensor:
        """Whether each pair is one of words, not phrases: (p,) bool."""
        return (self.pairs[:, 0] < self.words[0]) & (self.pairs[:, 1] < self.words[1])

    @property
    def source_words(self) -> int:
        """The number of different source words in the pairs, phrases aside."""
        return len(torch.unique(self.pairs[self.single, 0]))

    @property
    def vocabulary(self) -> tuple[Tensor, Tensor]:
        """The rows (n, d) and (m, e) of the words of both languages, without phrases."""
        return self.x[: self.words[0]], self.y[: self.words[1]]

    def __len__(self) -> int:
        return len(self.pairs)

    def unknown(self, found: Tensor) -> Tensor:
        """Whether neither word of each of `found` (q, 2) is in one of the pairs: (q,) bool."""
        known = [torch.isin(found[:, side], self.pairs[:, side]) for side in (0, 1)]
        return ~(known[0] | known[1])

    def only(self, kept: Tensor) -> Evidence:
        """The pairs where `kept` (p,) is true."""
        return replace(self, pairs=self.pairs[kept], weights=self.weights[kept])

    def plus(self, pairs: Tensor, weight: float = 1.0) -> Evidence:
        """More pairs (q, 2), each of `weight`."""
        weights = torch.full((len(pairs),), weight, dtype=self.weights.dtype).to(self.weights)
        return replace(self, pairs=torch.cat([self.pairs, pairs]), weights=torch.cat([self.weights, weights]))


def shared_weight(pairs: Tensor) -> Tensor:
    """The weights (p,) of pairs (p, 2): 1 / sqrt(c) where the source word has c translations.

    A word with many translations then counts more than one with a single one, but not c times as much.

    >>> shared_weight(torch.tensor([[0, 4], [1, 2], [0, 5], [0, 6], [0, 7]])).tolist()
    [0.5, 1.0, 0.5, 0.5, 0.5]
    """
    _, place, counts = torch.unique(pairs[:, 0], return_inverse=True, return_counts=True)
    weights: Tensor = counts[place].float().rsqrt()
    return weights
