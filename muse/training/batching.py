"""Batches of sequences of unlike length: kept end to end, padded when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor

from muse.errors import BadSetting

PAD = 0


class Padded(NamedTuple):
    """Ids (b, t), PAD after the end of a sequence, and a mask (b, t), True at what is no padding."""

    ids: Tensor
    mask: Tensor


@dataclass(frozen=True, eq=False)
class Ragged:
    """The ids (t,) of s sequences end to end, those of sequence i at `offsets[i]` to `offsets[i + 1]`.

    >>> ragged = Ragged.of([[7, 8, 9], [5]])
    >>> ragged.padded(torch.tensor([1, 0])).ids.tolist()
    [[5, 0, 0], [7, 8, 9]]
    """

    ids: Tensor
    offsets: Tensor

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]]) -> Ragged:
        """The sequences, in order."""
        offsets = torch.zeros(len(sequences) + 1, dtype=torch.long)
        offsets[1:] = torch.tensor(list(map(len, sequences)), dtype=torch.long).cumsum(0)
        return cls(torch.tensor(list(chain.from_iterable(sequences)), dtype=torch.long), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> Tensor:
        """The number of ids (s,) of each sequence."""
        return self.offsets.diff()

    def padded(self, rows: Tensor) -> Padded:
        """The sequences with these numbers (b,), on their device, as long as the longest of them."""
        starts, lengths = self.offsets[rows], self.lengths[rows]
        columns = torch.arange(int(lengths.max()) if len(rows) else 0, device=self.ids.device)  # (t,)
        mask = columns < lengths[:, None]  # (b, t)
        places = (starts[:, None] + columns).masked_fill(~mask, 0)
        return Padded(self.ids[places].masked_fill(~mask, PAD) if mask.any() else places, mask)

    def cut(self, longest: int) -> tuple[Ragged, int]:
        """The sequences with no more than their first `longest` ids, and how many lost some.

        A sequence that ends in a token of its own, as <eos>, loses it too.
        """
        lengths = self.lengths.clamp(max=longest)
        within = torch.arange(len(self.ids), device=self.ids.device) - self.offsets[:-1].repeat_interleave(
            self.lengths
        )  # (t,)
        offsets = torch.cat([self.offsets[:1], lengths.cumsum(0)])
        return Ragged(self.ids[within < longest], offsets), int((self.lengths > longest).sum())


def token_batches(lengths: Tensor, tokens: int, generator: torch.Generator) -> list[Tensor]:
    """The numbers (b,) of sequences in batches of at most `tokens` with their padding, every sequence once.

    Sequences of similar `lengths` (s,) come together: each batch is a run of the sequences sorted by length,
    equal ones in an order drawn anew, and the batches come in random order. BadSetting where a sequence
    alone is longer.
    """
    longest = int(lengths.max()) if len(lengths) else 0
    if longest > tokens:
        raise BadSetting(
            f"a batch must hold the longest sequence, got {tokens} tokens a batch for one of {longest}; "
            "raise the batch or cut the sequences"
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
