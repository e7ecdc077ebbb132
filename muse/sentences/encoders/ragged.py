"""Ragged: sequences of ids of different lengths in one array, which can be padded to a rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

PAD = 0


class Padded(NamedTuple):
    """Padded ids (b, t) and a mask (b, t) that is False at padding."""

    ids: Tensor
    mask: Tensor


@dataclass(frozen=True, eq=False)
class Ragged:
    """The ids (t,) of b sequences end to end; sequence i is `ids[offsets[i] : offsets[i + 1]]`.

    `offsets` has shape (b + 1,). Both tensors are on one device; on the CPU they may share memory with numpy.

    >>> ragged = Ragged.of([[7, 8, 9], [5]])
    >>> ragged.take(torch.tensor([1, 0])).padded().ids.tolist()
    [[5, 0, 0], [7, 8, 9]]
    """

    ids: Tensor
    offsets: Tensor

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]]) -> Ragged:
        """A ragged array of the sequences, in order."""
        lengths = torch.tensor(list(map(len, sequences)), dtype=torch.long)
        ids = torch.tensor(list(chain.from_iterable(sequences)), dtype=torch.long)
        return cls(ids, _offsets(lengths))

    @classmethod
    def joined(cls, parts: Sequence[Ragged]) -> Ragged:
        """The sequences of all parts (at least one), in order."""
        lengths = torch.cat([part.lengths for part in parts])
        return cls(torch.cat([part.ids for part in parts]), _offsets(lengths))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> Tensor:
        """The number of ids (b,) of each sequence."""
        return self.offsets.diff()

    def to(self, device: str) -> Ragged:
        """A copy on another device."""
        return Ragged(self.ids.to(device), self.offsets.to(device))

    def take(self, rows: Tensor) -> Ragged:
        """The sequences with these indices (c,), in that order."""
        lengths = self.lengths[rows]  # (c,)
        offsets = _offsets(lengths)
        # Id k of the result is id k - (new offset) + (old offset) here, with the offsets of its sequence.
        shift = torch.repeat_interleave(self.offsets[rows] - offsets[:-1], lengths)
        return Ragged(self.ids[torch.arange(len(shift), device=shift.device) + shift], offsets)

    def keep(self, kept: Tensor) -> Ragged:
        """The sequences with only those ids for which `kept` (t,) is True."""
        before = pad(kept.cumsum(0), (1, 0))  # (t + 1,), how many ids before each place are kept
        return Ragged(self.ids[kept], before[self.offsets])

    def keep_some(self, kept: Tensor) -> Ragged:
        """The sequences as from `keep`, but one that would lose all its ids stays whole.

        >>> Ragged.of([[7, 8], [8]]).keep_some(torch.tensor([True, False, False])).padded().ids.tolist()
        [[7], [8]]
        """
        lost = self.keep(kept).lengths == 0  # (b,)
        return self.keep(kept | torch.repeat_interleave(lost, self.lengths))

    def cut(self, longest: int) -> Ragged:
        """The sequences cut to at most their first `longest` ids."""
        if not bool((self.lengths > longest).any()):
            return self
        return self.keep(self._places() < longest)

    def beside(self, other: Ragged) -> Ragged:
        """Each sequence followed by the one of `other` at the same place.

        >>> Ragged.of([[7, 8], [9]]).beside(Ragged.of([[5], [6]])).padded().ids.tolist()
        [[7, 8, 5], [9, 6, 0]]
        """
        turns = torch.arange(2 * len(self), device=self.ids.device).view(2, -1).T.flatten()
        both = Ragged.joined((self, other)).take(turns)
        return Ragged(both.ids, both.offsets[::2])

    def framed(self, begin: int, end: int) -> Ragged:
        """The sequences, each between the ids `begin` and `end`; empty ones stay empty.

        >>> Ragged.of([[7, 8], [], [9]]).framed(2, 3).ids.tolist()
        [2, 7, 8, 3, 2, 9, 3]
        """
        full = self.lengths > 0  # (b,)
        offsets = _offsets(self.lengths + 2 * full)
        ids = self.ids.new_full((len(self.ids) + 2 * int(full.sum()),), begin)
        ids[offsets[1:][full] - 1] = end
        ids[self._places() + torch.repeat_interleave(offsets[:-1] + 1, self.lengths)] = self.ids
        return Ragged(ids, offsets)

    def padded(self) -> Padded:
        """All sequences padded to the length of the longest."""
        t = int(self.lengths.max()) if len(self) else 0
        columns = torch.arange(t, device=self.ids.device)
        mask = columns < self.lengths[:, None]  # (b, t)
        return Padded(self.ids.new_full(mask.shape, PAD).masked_scatter_(mask, self.ids), mask)

    def _places(self) -> Tensor:
        """The position (t,) of each id in its sequence."""
        starts = torch.repeat_interleave(self.offsets[:-1], self.lengths)
        return torch.arange(len(self.ids), device=self.ids.device) - starts


def _offsets(lengths: Tensor) -> Tensor:
    """The offsets (b + 1,) of sequences of these lengths (b,)."""
    return pad(lengths.cumsum(0), (1, 0))
