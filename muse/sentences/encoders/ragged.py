"""Ragged: sequences of ids of different lengths in one array, which can be padded to a rectangle.

Batches are of a number of examples, or of sequences of similar lengths within a limit of tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from muse.errors import BadSetting

PAD = 0
ENCODED = 1 << 14  # tokens that are encoded at once, padding included, which keeps the matrices small


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
    def of(cls, sequences: Sequence[Sequence[int]]) -> "Ragged":
        """A ragged array of the sequences, in order."""
        lengths = torch.tensor(list(map(len, sequences)), dtype=torch.long)
        ids = torch.tensor(list(chain.from_iterable(sequences)), dtype=torch.long)
        return cls(ids, _offsets(lengths))

    @classmethod
    def joined(cls, parts: "Sequence[Ragged]") -> "Ragged":
        """The sequences of all parts (at least one), in order."""
        lengths = torch.cat([part.lengths for part in parts])
        return cls(torch.cat([part.ids for part in parts]), _offsets(lengths))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> Tensor:
        """The number of ids (b,) of each sequence."""
        return self.offsets.diff()

    def to(self, device: str) -> "Ragged":
        """A copy on another device."""
        return Ragged(self.ids.to(device), self.offsets.to(device))

    def take(self, rows: Tensor) -> "Ragged":
        """The sequences with these indices (c,), in that order."""
        lengths = self.lengths[rows]  # (c,)
        offsets = _offsets(lengths)
        # Id k of the result is id k - (new offset) + (old offset) here, with the offsets of its sequence.
        shift = torch.repeat_interleave(self.offsets[rows] - offsets[:-1], lengths)
        return Ragged(self.ids[torch.arange(len(shift), device=shift.device) + shift], offsets)

    def keep(self, kept: Tensor) -> "Ragged":
        """The sequences with only those ids for which `kept` (t,) is True."""
        before = pad(kept.cumsum(0), (1, 0))  # (t + 1,), how many ids before each place are kept
        return Ragged(self.ids[kept], before[self.offsets])

    def keep_some(self, kept: Tensor) -> "Ragged":
        """The sequences as from `keep`, but one that would lose all its ids stays whole.

        >>> Ragged.of([[7, 8], [8]]).keep_some(torch.tensor([True, False, False])).padded().ids.tolist()
        [[7], [8]]
        """
        lost = self.keep(kept).lengths == 0  # (b,)
        return self.keep(kept | torch.repeat_interleave(lost, self.lengths))

    def cut(self, longest: int) -> "Ragged":
        """The sequences cut to at most their first `longest` ids."""
        return self.keep(self._places() < longest)

    def beside(self, other: "Ragged") -> "Ragged":
        """Each sequence followed by the one of `other` at the same place.

        >>> Ragged.of([[7, 8], [9]]).beside(Ragged.of([[5], [6]])).padded().ids.tolist()
        [[7, 8, 5], [9, 6, 0]]
        """
        turns = torch.arange(2 * len(self), device=self.ids.device).view(2, -1).T.flatten()
        both = Ragged.joined((self, other)).take(turns)
        return Ragged(both.ids, both.offsets[::2])

    def framed(self, begin: int, end: int) -> "Ragged":
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


def passes(examples: int, size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Endless batches of the indices (size,) of examples, pass after pass, each in a random order.

    The last batch of a pass may be smaller.
    """
    while True:
        yield from torch.split(torch.randperm(examples, generator=generator), size)


def encoding_batches(lengths: Tensor) -> Iterator[Tensor]:
    """Batches of the indices (b,) of sequences with a token, those of similar lengths (s,) together.

    The longest come first, so that a lack of memory shows early; a batch has at most ENCODED tokens.
    """
    known = lengths.cpu()
    order = known.argsort(stable=True)
    order = order[known[order] > 0].flip(0)
    begin = 0
    while begin < len(order):
        count = max(1, ENCODED // int(known[order[begin]]))
        yield order[begin : begin + count]
        begin += count


def token_batches(lengths: Tensor, tokens: int, generator: torch.Generator) -> list[Tensor]:
    """Batches of the indices (b,) of all sequences, each of at most `tokens` tokens, padding included.

    Sequences of similar `lengths` (s,) are batched together: each batch is a run of the sequences sorted by
    length, equal lengths in random order, and the batches are in random order. Raises BadSetting if a single
    sequence is longer than `tokens`.
    """
    longest = int(lengths.max()) if len(lengths) else 0
    if longest > tokens:
        raise BadSetting(
            f"a batch must hold the longest sequence, {longest} tokens, got a limit of {tokens}; "
            "raise the limit or cut the sequences"
        )
    drawn = torch.randperm(len(lengths), generator=generator)
    order = drawn[lengths.cpu()[drawn].argsort(stable=True)]  # (s,)
    ends, start = [], 0
    for place, length in enumerate(lengths.cpu()[order].tolist()):
        if (place + 1 - start) * length > tokens:
            ends.append(place)
            start = place
    batches = torch.tensor_split(order, ends) if len(order) else ()
    return [batches[place] for place in torch.randperm(len(batches), generator=generator).tolist()]
