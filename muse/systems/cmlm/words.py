"""Words: the tokens that a model reads, either words of the space with frozen rows, or word pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from muse.encoders.reading import Reader, Vocabulary
from muse.space import AlignedSpace
from muse.systems.pieces import SPECIALS, Pieces


@dataclass(frozen=True, eq=False)
class Words:
    """The reader of each language, and the range of ids in each language that may be predicted.

    Words of the space have its `rows` (v, d), with 0 for special tokens. The rows of pieces are learned.
    """

    count: int
    readers: Mapping[str, Reader]
    asked: Mapping[str, range]
    rows: Tensor | None = None
    pieces: Pieces | None = None


def words_of_space(space: AlignedSpace, languages: Sequence[str], most: int) -> Words:
    """All words of these languages, of which the `most` most frequent (0: all) may be predicted."""
    dimension = space.vectors(space.pivot).dimension
    readers, asked, rows = dict[str, Reader](), dict[str, range](), [torch.zeros(len(SPECIALS), dimension)]
    begin = len(SPECIALS)
    for language in languages:
        vectors = space.vectors(language)
        readers[language] = Vocabulary(language, vectors.index, first=begin)
        asked[language] = range(begin, begin + min(most or len(vectors), len(vectors)))
        rows.append(torch.tensor(vectors.matrix))  # a copy: the folder may be replaced while it is in use
        begin += len(vectors)
    return Words(begin, readers, asked, torch.cat(rows))


def words_of_pieces(pieces: Pieces, languages: Sequence[str]) -> Words:
    """The pieces, which all languages share."""
    all_of_them = range(len(SPECIALS), len(pieces))
    return Words(
        len(pieces),
        dict.fromkeys(languages, pieces),
        dict.fromkeys(languages, all_of_them),
        pieces=pieces,
    )
