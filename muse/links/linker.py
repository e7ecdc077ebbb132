"""The linker: words aligned in pairs of sentences by an aligned space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muse.links.links import Links
from muse.ranking.lookup import lookup_entry
from muse.space import Space
from muse.vectors import Matrix

TokenPair = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, eq=False)
class Linker:
    """Links words of two languages of a space, in this direction."""

    space: Space
    direction: tuple[str, str]

    def link(self, pairs: Sequence[TokenPair]) -> list[Links]:
        """The links of each pair of tokenised sentences."""
        return [self._linked(*pair) for pair in pairs]

    def _linked(self, source: Sequence[str], target: Sequence[str]) -> Links:
        if not source or not target:
            return Links.of(np.zeros((len(source), len(target)), np.bool_), np.zeros((0, 0), np.float32))
        similar = self._rows(source, 0) @ self._rows(target, 1).T  # (s, t)
        best = (similar == similar.max(axis=0)) & (similar == similar.max(axis=1, keepdims=True))
        return Links.of(best & (similar > 0), similar)

    def _rows(self, tokens: Sequence[str], side: int) -> Matrix:
        vectors = self.space.vectors(self.direction[side])
        entries = [lookup_entry(token, vectors) for token in tokens]
        found = np.zeros((len(tokens), vectors.dimension), np.float32)
        for place, entry in enumerate(entries):
            if entry is not None:
                found[place] = vectors.matrix[vectors.index[entry]]
        return found
