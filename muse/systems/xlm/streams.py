"""Streams: the sentences of a language end to end, cut into sequences of a fixed length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.errors import Mismatch
from muse.systems.pieces import BOS, EOS, Pieces
from muse.training.hold_out import hold_out

FEWEST = 20  # the smallest number of streams of a language

Documents = Sequence[Sequence[str]]


def cut_streams(sentences: Iterable[Sequence[int]], length: int) -> Iterator[list[int]]:
    """The ids of the sentences, each with <eos> after it, in pieces of `length` that begin with <bos>.

    >>> list(cut_streams([[7, 8, 9], [5], [6, 7]], 5))
    [[2, 7, 8, 9, 3], [2, 5, 3, 6, 7], [2, 3]]
    """
    ids = list(chain.from_iterable((*sentence, EOS) for sentence in sentences))
    for begin in range(0, len(ids), length - 1):
        yield [BOS, *ids[begin : begin + length - 1]]


@dataclass(frozen=True, eq=False)
class Streams:
    """The streams of one language, and the indices of the training (n,) and held-out ones."""

    ragged: Ragged
    training: Tensor
    held_out: Tensor


def make_streams(
    language: str, texts: Documents, pieces: Pieces, length: int, generator: torch.Generator, device: str
) -> Streams:
    """The streams of a language, which do not cross documents; Mismatch if there are too few."""
    cut = chain.from_iterable(cut_streams(pieces.encode(text), length) for text in texts)
    found = [stream for stream in cut if len(stream) > 2]  # <bos> and one piece are useless
    if len(found) < FEWEST:
        raise Mismatch(
            f"{language} needs text for at least {FEWEST} streams of {length} pieces, got {len(found)}; give "
            "more text, or set a smaller length"
        )
    training, held_out = (part.sort().values.to(device) for part in hold_out(len(found), generator))
    return Streams(Ragged.of(found).to(device), training, held_out)
