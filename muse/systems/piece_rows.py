"""Piece rows: first rows of word pieces, from the words of a space; rows of words, from their pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from muse.normalise import Normalisation
from muse.space import AlignedSpace, Side
from muse.space.lookup_table import lookup_table
from muse.systems.networks.token_table import initial_deviation
from muse.systems.pieces import SPECIALS, UNK, Pieces

INITIAL = ("aligned", "random")  # where the rows of pieces begin: as those of the space, or at random
_WORDS = 10_000  # words embedded at once

Embed = Callable[[Tensor], Tensor]  # from ids (t,) to their rows (t, h)


def aligned_rows(
    pieces: Pieces, languages: Sequence[str], space: AlignedSpace, hidden: int, seed: int
) -> Tensor:
    """The rows (v, h) of pieces, from the words that they are or are part of, as in `muse export`.

    More than h dimensions are reduced to the h principal ones; fewer are padded with zeros. The rows are
    scaled to the spread of random rows.
    """
    sides = [space.vectors(language) for language in languages]
    rng = np.random.default_rng(seed)
    found = lookup_table(sides, pieces.tokens, specials=SPECIALS, fallback="mean", rng=rng)
    rows = principal(torch.from_numpy(found.weight), hidden)
    return rows * (initial_deviation(hidden) / rows.square().mean().sqrt())


def principal(rows: Tensor, hidden: int) -> Tensor:
    """The rows (v, h) whose inner products best match those of rows (v, d) (Eckart and Young, 1936)."""
    d = rows.shape[1]
    if d <= hidden:
        return functional.pad(rows, (0, hidden - d))
    directions: Tensor = torch.linalg.eigh(rows.T @ rows).eigenvectors  # (d, d), of rising eigenvalues
    return rows @ directions[:, d - hidden :].flip(1)


@torch.no_grad()
def word_rows(pieces: Pieces, words: Sequence[str], embed: Embed) -> Tensor:
    """The rows (n, h) of words: the mean embeddings of their pieces."""
    parts = [embed(torch.zeros(0, dtype=torch.long)).cpu()]  # (0, h)
    for begin in range(0, len(words), _WORDS):
        found = pieces.encode(words[begin : begin + _WORDS])
        # A word without pieces, such as one of spaces alone, gets the row of <unk>.
        ids = [word or [UNK] for word in found]
        counts = torch.tensor([len(word) for word in ids])  # (b,)
        rows = embed(torch.tensor([piece for word in ids for piece in word])).cpu()
        owners = torch.arange(len(ids)).repeat_interleave(counts)
        parts.append(torch.zeros(len(ids), rows.shape[1]).index_add_(0, owners, rows) / counts[:, None])
    return torch.cat(parts)


def space_of_words(
    pieces: Pieces, languages: Sequence[str], space: AlignedSpace, embed: Embed
) -> AlignedSpace:
    """The words of a space with unit-length rows from the embeddings of pieces, in these languages."""
    sides = {}
    for language in space.languages:
        if language in languages:
            side = space.side(language)
            rows = functional.normalize(word_rows(pieces, side.vectors.words, embed)).numpy()
            mapping = np.eye(rows.shape[1], dtype=np.float32)
            sides[language] = Side(replace(side.vectors, matrix=rows), mapping, Normalisation(("unit",), ()))
    return AlignedSpace(sides, space.pivot, space.manifest)
