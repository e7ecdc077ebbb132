"""Surface features: what a language encoder without layers is given that a mean of rows cannot know."""

from __future__ import annotations

import torch
from torch import Tensor

from muse.encoders.ragged import Padded
from muse.systems.pieces import SPECIALS


def surface(sentences: Padded, counted: int) -> Tensor:
    """The surface (b, 1 + counted) of b sentences: log n of their tokens, and log(1 + count) of each of some.

    Counted are the first tokens after the special ones: the signs and the most frequent words, or of pieces
    the single characters, signs among them, and those merged first. Logarithms, since a sentence of 6 words
    differs from one of 3 as one of 12 does from it.

    :param sentences: ids and mask (b, t), each of one token or more

    >>> ids, mask = torch.tensor([[5, 9, 5, 6]]), torch.ones(1, 4, dtype=torch.bool)
    >>> surface(Padded(ids, mask), 3).exp().round()
    tensor([[4., 3., 2., 1.]])
    """
    first, last = len(SPECIALS), len(SPECIALS) + counted
    ids = sentences.ids.clamp(max=last)  # (b, t), all that is not counted in one place
    ones = torch.ones_like(ids, dtype=torch.get_default_dtype())
    counts = ones.new_zeros(len(ids), last + 1).scatter_add_(1, ids, ones)
    lengths = sentences.mask.sum(dim=1, keepdim=True)
    return torch.cat([lengths.log(), counts[:, first:last].log1p()], dim=1)
