"""Noise: sentences with words left out, hidden and moved, from which the model learns to restore them.

Lample et al. (2018, Unsupervised Machine Translation Using Monolingual Corpora Only, section 2.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.systems.pieces import BEGINS, MASK, SPECIALS, Pieces
from muse.text.punctuation import is_punctuation


@dataclass(frozen=True, eq=False)
class Noise:
    """The shares of words to leave out and to hide, how far words move, and the pieces that begin a word.

    `begins` (v,) is True for such pieces.
    """

    drop: float
    blank: float
    window: int
    begins: Tensor

    def __call__(self, sentences: Ragged, generator: torch.Generator) -> Ragged:
        """The sentences with noise; each of at least one piece keeps one.

        Word i moves to its place in the order of i + u, with u uniform from 0 to `window` + 1: it moves by at
        most `window` places (Lample et al., 2018, section 2.3).
        """
        if not len(sentences.ids):
            return sentences
        device = sentences.ids.device
        rows = torch.arange(len(sentences), device=device)
        owners = torch.repeat_interleave(rows, sentences.lengths)  # (t,)
        starts = self.begins[sentences.ids] | (owners.diff(prepend=owners.new_full((1,), -1)) != 0)
        words = starts.long().cumsum(0) - 1  # (t,), numbered over all sentences
        drawn = torch.rand(3, int(words[-1]) + 1, generator=generator, device=device)[:, words]  # (3, t)
        ids = sentences.ids.where(drawn[1] >= self.blank, MASK)
        order = _sorted(owners, words + (self.window + 1) * drawn[2])
        kept = drawn[0] >= self.drop
        kept[sentences.offsets[:-1][_all_lost(sentences, kept)]] = True
        return Ragged(ids[order], sentences.offsets).keep(kept[order])


def word_begins(pieces: Pieces) -> Tensor:
    """Whether each piece (v,) begins a word: those that carry the mark, and punctuation."""
    tokens = pieces.tokens
    inside = [not (token.startswith(BEGINS) or is_punctuation(token[0])) for token in tokens]
    return ~torch.tensor(inside) | (torch.arange(len(tokens)) < len(SPECIALS))


def _sorted(owners: Tensor, keys: Tensor) -> Tensor:
    """The order (t,) of pieces by their sentence, and in it by their key; equal keys stay in order."""
    order = keys.argsort(stable=True)
    return order[owners[order].argsort(stable=True)]


def _all_lost(sentences: Ragged, kept: Tensor) -> Tensor:
    """Whether each sentence (b,) has pieces and would keep none."""
    left = sentences.keep(kept).lengths
    return (left == 0) & (sentences.lengths > 0)
