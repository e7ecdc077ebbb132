"""Batching: batches of a number of examples, or of sequences of similar lengths within a limit of tokens."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from muse.errors import BadSetting

ENCODED = 1 << 14  # tokens that are encoded at once, padding included, which keeps the matrices small


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
