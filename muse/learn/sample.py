"""Sample: rows in no order are learned from in a random one, so that the first k of them are a sample."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from muse.vectors import Vectors
from muse.word_index import WordIndex

MOST = 50_000  # rows of a side that are learned from; the others are only mapped


def sampled(side: Vectors, rng: np.random.Generator, *, keep: Collection[str] = ()) -> Vectors:
    """At most MOST rows in random order, those with the ids `keep` among them; ranked words as they are."""
    if side.ranked:
        return side
    order = rng.permutation(len(side))
    if keep and len(side) > MOST:
        kept = WordIndex(tuple(keep))
        wanted = np.array([side.words[row] in kept for row in order.tolist()])
        order = np.concatenate([order[wanted], order[~wanted]])
    return side.chosen(rng.permutation(order[:MOST]) if keep else order[:MOST])
