"""Batching: sequences of similar length in batches of a number of tokens."""

from __future__ import annotations

import torch
from torch import Tensor

from muse.errors import BadSetting


def token_batches(lengths: Tensor, tokens: int, generator: torch.Generator) -> list[Tensor]:
    """The numbers (b,) of sequences in batches of at most `tokens`, padding included, every sequence once.

    Sequences of similar `lengths` (s,) come together: each batch is a run of the sequences sorted by length,
    equal ones in random order, and the batches come in random order. Raises BadSetting where one sequence
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
