"""Passages: paragraphs of documents as ids, and the pairs of adjacent ones.

The tokens are words of the space, with frozen rows, or word pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from muse.errors import Mismatch
from muse.progress import Progress
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Ids, Reader, Vocabulary
from muse.sentences.systems.pieces import SPECIALS, Pieces
from muse.sentences.training.pairs import read_text
from muse.space import Space

SHARE_HELD_OUT = 0.1  # of the documents of a language, at least one
Documents = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Words:
    """The reader of each language, and the range of ids in each language that may be predicted.

    Words of the space have its `rows` (v, d), with 0 for special tokens. The rows of pieces are learned.
    """

    count: int
    readers: Mapping[str, Reader]
    predictable: Mapping[str, range]
    rows: Tensor | None = None
    pieces: Pieces | None = None


def words_of_space(space: Space, languages: Sequence[str], most: int) -> Words:
    """All words of these languages; the `most` most frequent ones (0: all) may be predicted."""
    dimension = space.vectors(space.pivot).dimension
    readers, predictable, rows = (
        dict[str, Reader](),
        dict[str, range](),
        [torch.zeros(len(SPECIALS), dimension)],
    )
    begin = len(SPECIALS)
    for language in languages:
        vectors = space.vectors(language)
        readers[language] = Vocabulary(language, vectors.index, first=begin)
        predictable[language] = range(begin, begin + min(most or len(vectors), len(vectors)))
        rows.append(torch.tensor(vectors.matrix))  # a copy: the folder may be replaced while it is in use
        begin += len(vectors)
    return Words(begin, readers, predictable, torch.cat(rows))


def words_of_pieces(pieces: Pieces, languages: Sequence[str]) -> Words:
    """The pieces, which all languages share."""
    all_of_them = range(len(SPECIALS), len(pieces))
    return Words(
        len(pieces),
        dict.fromkeys(languages, pieces),
        dict.fromkeys(languages, all_of_them),
        pieces=pieces,
    )


@dataclass(frozen=True, eq=False)
class NeighbourPairs:
    """Passages of one language, and pairs (k, 2) of adjacent passages in text order."""

    passages: Ragged
    pairs: Tensor

    def __len__(self) -> int:
        return len(self.pairs)


def find_neighbours(
    documents: Documents, reader: Reader, longest: int, device: str, progress: Progress
) -> NeighbourPairs:
    """The neighbours in documents: adjacent passages of one document that both have a known word.

    A passage is a paragraph, or a part of a paragraph with more than `longest` words; the neighbour of a
    part is the next part, not the next paragraph. Mismatch if there are no neighbours.
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
            f"text must have adjacent paragraphs with known {read.unit}s, got none in {len(text)} paragraphs "
            f"of {len(documents)} documents ({len(ids)} known {read.unit}s, {read.unknown} unknown); check "
            "the language and the order of the paragraphs"
        )
    pairs = torch.from_numpy(np.stack([first, first + 1], axis=1)).to(device)
    offsets = torch.from_numpy(np.concatenate([[0], lengths.cumsum()]))
    return NeighbourPairs(Ragged(ids, offsets).to(device), pairs)


def in_parts(lengths: Ids, parts: Ids) -> Ids:
    """The lengths (p,) of `parts` (s,) nearly equal parts of each sequence, longer parts first.

    >>> in_parts(np.array([7, 0, 2]), np.array([3, 1, 1])).tolist()
    [3, 2, 2, 0, 2]
    """
    place = np.arange(parts.sum()) - np.repeat(parts.cumsum() - parts, parts)  # of a part in its sequence
    return np.repeat(lengths // parts, parts) + (place < np.repeat(lengths % parts, parts))


class SplitDocuments(NamedTuple):
    """Documents to train on, and held-out ones."""

    training: dict[str, Sequence[str]]
    held_out: dict[str, Sequence[str]]


def hold_out(documents: Documents, rng: np.random.Generator, where: object = "the text") -> SplitDocuments:
    """The documents split at random; whole documents are held out, since parts share names and topics."""
    names = sorted(documents)
    if len(names) < 2:
        raise Mismatch(
            f"{where}: text must have at least two documents, one of them to hold out, got {len(names)}; "
            "give more text, or split it into documents"
        )
    chosen = set(rng.permutation(names)[: max(1, round(SHARE_HELD_OUT * len(names)))].tolist())
    return SplitDocuments(
        {name: documents[name] for name in names if name not in chosen},
        {name: documents[name] for name in names if name in chosen},
    )
