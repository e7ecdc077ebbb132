"""Words: the tokens that a model reads, those of the space, whose rows never move, or word pieces."""

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
    """What reads each language into ids, and of each language the ids that may be asked for.

    Words of the space have its `rows` (v, d), 0 for special tokens: a hidden word is no word. Pieces are
    kept whole, and their rows are learned.
    """

    count: int
    readers: Mapping[str, Reader]
    asked: Mapping[str, range]
    rows: Tensor | None = None
    pieces: Pieces | None = None


def words_of_space(space: AlignedSpace, languages: Sequence[str], most: int) -> Words:
    """All words of these languages, the `most` frequent of each to be asked for; 0: all of them."""
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
