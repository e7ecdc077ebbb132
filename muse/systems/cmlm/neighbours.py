"""Neighbours: the passages of documents as ids, and which of them are next to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Ids, Reader
from muse.errors import Mismatch
from muse.progress import Progress
from muse.training.pairs import read_text

HELD_OUT = 0.1  # of the documents of a language, and at least one

Documents = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class NeighbourPairs:
    """Passages of one language, and pairs (k, 2) of those next to each other, in the order of the text."""

    passages: Ragged
    pairs: Tensor

    def __len__(self) -> int:
        return len(self.pairs)


def find_neighbours(
    documents: Documents, reader: Reader, longest: int, device: str, progress: Progress
) -> NeighbourPairs:
    """The neighbours of documents: passages with a known word that follow each other in one document.

    A passage is a paragraph, or a part of one that has more than the `longest` words that are read at once:
    what follows it is then the next part, not a paragraph a page away. Mismatch where there are none.
    """
    text = list(chain.from_iterable(documents.values()))
    read = read_text(text, reader, progress)
    ids, whole = read.sentences.ids, read.sentences.lengths.numpy()
    parts = np.maximum(-(-whole // longest), 1)  # (s,) of each paragraph
    lengths = in_parts(whole, parts)  # (p,)
    document = np.repeat(np.arange(len(documents)), list(map(len, documents.values())))  # (s,)
    document, known = np.repeat(document, parts), lengths > 0  # (p,)
    first = np.flatnonzero((document[1:] == document[:-1]) & known[1:] & known[:-1])  # (k,)
    if not len(first):
        raise Mismatch(
            f"text must have paragraphs next to each other with words that are known, got none in "
            f"{len(text)} paragraphs of {len(documents)} documents ({len(ids)} known words, "
            f"{read.unknown} others); check the language, and that paragraphs are in order"
        )
    pairs = torch.from_numpy(np.stack([first, first + 1], axis=1)).to(device)
    offsets = torch.from_numpy(np.concatenate([[0], lengths.cumsum()]))
    return NeighbourPairs(Ragged(ids, offsets).to(device), pairs)


def in_parts(lengths: Ids, parts: Ids) -> Ids:
    """The lengths (p,) of the parts of sequences: that many of each (s,), even ones, longer ones first.

    >>> in_parts(np.array([7, 0, 2]), np.array([3, 1, 1])).tolist()
    [3, 2, 2, 0, 2]
    """
    place = np.arange(parts.sum()) - np.repeat(parts.cumsum() - parts, parts)  # of a part in its sequence
    return np.repeat(lengths // parts, parts) + (place < np.repeat(lengths % parts, parts))


class Parted(NamedTuple):
    """Documents to learn from, and others to be asked about."""

    training: dict[str, Sequence[str]]
    held_out: dict[str, Sequence[str]]


def hold_out(documents: Documents, rng: np.random.Generator, where: object = "the text") -> Parted:
    """Whole documents held out: a part of one would share its names and its story with the rest."""
    names = sorted(documents)
    if len(names) < 2:
        raise Mismatch(
            f"{where}: text must have two documents or more, one of which is held out, got {len(names)}; "
            "give more text, or name the parts of it as documents"
        )
    chosen = set(rng.permutation(names)[: max(1, round(HELD_OUT * len(names)))].tolist())
    return Parted(
        {name: documents[name] for name in names if name not in chosen},
        {name: documents[name] for name in names if name in chosen},
    )
