"""Words: the tokens that a model reads, those of the space, whose rows never move, or word pieces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from muse.sentences.bags import Bags, Reader, Vocabulary
from muse.sentences.pieces import BOS, EOS, SPECIALS, UNK, Pieces
from muse.space import AlignedSpace


@dataclass(frozen=True, eq=False)
class Words:
    """What reads each language into ids, and of each language the ids that may be asked for.

    `rows` (v, d) are the space's, 0 for special tokens: a hidden word is no word. Pieces have none yet.
    """

    count: int
    readers: Mapping[str, Reader]
    asked: Mapping[str, range]
    rows: Tensor | None = None


def words_of_space(space: AlignedSpace, languages: Sequence[str], most: int) -> Words:
    """All words of these languages, the `most` frequent of each to be asked for; 0: all of them."""
    dimension = space.vectors(space.pivot).dimension
    readers, asked, rows = dict[str, Reader](), dict[str, range](), [torch.zeros(len(SPECIALS), dimension)]
    begin = len(SPECIALS)
    for language in languages:
        vectors = space.vectors(language)
        readers[language] = _Shifted(Vocabulary(language, vectors.index), begin)
        asked[language] = range(begin, begin + min(most or len(vectors), len(vectors)))
        rows.append(torch.tensor(vectors.matrix))  # a copy: the folder may be replaced while it is in use
        begin += len(vectors)
    return Words(begin, readers, asked, torch.cat(rows))


def words_of_pieces(pieces: Pieces, languages: Sequence[str]) -> Words:
    """The pieces, which all languages share."""
    all_of_them = range(len(SPECIALS), len(pieces))
    return Words(
        len(pieces),
        dict.fromkeys(languages, _InPieces(pieces)),
        dict.fromkeys(languages, all_of_them),
    )


@dataclass(frozen=True, eq=False)
class _Shifted:
    """A reader whose ids begin later."""

    reader: Reader
    by: int

    def bags(self, sentences: Iterable[str]) -> Bags:
        """The bags of the sentences, in order."""
        bags = self.reader.bags(sentences)
        return replace(bags, ids=bags.ids + self.by)


@dataclass(frozen=True, eq=False)
class _InPieces:
    """A reader of word pieces, between <bos> and <eos> where a sentence has any."""

    pieces: Pieces

    def bags(self, sentences: Iterable[str]) -> Bags:
        """The bags of the sentences, in order."""
        found = self.pieces.encode(sentences, framed=False)
        known = [[piece for piece in ids if piece != UNK] for ids in found]
        framed = [np.array([BOS, *ids, EOS] if ids else [], np.int64) for ids in known]
        offsets = np.cumsum([0, *map(len, framed)])
        unknown = sum(map(len, found)) - sum(map(len, known))
        return Bags(np.concatenate([np.zeros(0, np.int64), *framed]), offsets, unknown)
