"""Old rows: from the space back into the rows of a store as they were, so that the store need not change.

The rows of a language are normalised before they are mapped: scaled to unit length and centred. A query that
is mapped into the space is therefore not yet where the rows of the store are. `ToStore` takes the steps
back:

    q = unit(unit(u B) sqrt(1 - |m|^2) + m)

u is a row of the space, B (k, d) the map of the store's language, m (d,) the mean that was subtracted from
its unit rows; the mean of the squares of their lengths is then 1 - |m|^2. So the query lies where a row of
the store would, and what all of them have in common, m, counts in its searches too.

A space that was learned from pairs of rows has a map for such queries alone (`StoreMap`): the one that kept
most neighbours of held-out pairs. The map into the space is chosen by counterparts first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from muse.alignment import StoreMap
from muse.errors import BadSetting, Mismatch
from muse.normalise import normalise
from muse.space.aligned import Space
from muse.vectors import Matrix


@dataclass(frozen=True, eq=False)
class ToStore:
    """What brings rows of the space (n, k) among the rows of a store: `mapping` (k, d), and `shifts` (d,).

    Each shift is the mean of a centring as a share of the length of what was left, the last one first.
    """

    mapping: Matrix
    shifts: tuple[Matrix, ...]

    @classmethod
    def of(cls, space: Space, language: str) -> "ToStore":
        """Back into the rows of a language; BadSetting if a mean was subtracted from rows of any length."""
        side = space.side(language)
        steps = side.normalisation.steps
        if ("", "centre") in pairwise(("", *steps)) or ("centre", "centre") in pairwise(steps):
            raise BadSetting(
                f"{language}: the way back into its rows needs unit before each centre, got "
                f"{','.join(steps)}; align again with --normalise unit,centre,unit"
            )
        shifts = []
        for mean in reversed(side.normalisation.means):
            left = 1 - float(mean.astype(np.float64) @ mean)  # of the squares of lengths
            length = np.sqrt(max(left, float(np.finfo(np.float32).tiny)))
            shifts.append((mean / length).astype(np.float32))
        return cls(np.asarray(side.mapping), tuple(shifts))

    def __call__(self, rows: Matrix) -> Matrix:
        """Rows of the space (n, k) as rows (n, d) of unit length, to search the store with by cosine."""
        found = rows @ self.mapping
        for shift in self.shifts:
            found = normalise(found, ["unit"])[0] + shift * rows.any(axis=1, keepdims=True)
        return normalise(found, ["unit"])[0]


def map_into_store(space: Space, language: str, matrix: Matrix, store: str) -> Matrix:
    """New rows of `language` (n, d) as queries (n, e) for the unchanged rows of `store`, of unit length.

    Raise BadSetting as `ToStore.of`, Mismatch if both are one or as `Space.map_words`.
    """
    if language == store:
        raise Mismatch(f"rows of {language} are among those of {store} already; search with them as they are")
    return into_store(space, language, store)(matrix)


def into_store(space: Space, language: str, store: str) -> Callable[[Matrix], Matrix]:
    """What maps new rows of `language` (n, d) as queries (n, e) for the unchanged rows of `store`."""
    back, own = ToStore.of(space, store), store_map(space, language, store)
    if own is None:
        return lambda matrix: back(space.map_words(language, matrix))
    return lambda matrix: back(own(space.normalised(language, matrix)))


def store_map(space: Space, language: str, store: str) -> StoreMap | None:
    """The map of `language` that is for queries among the rows of `store` alone; None if there is none."""
    return space.side(language).store_map if store == space.pivot else None
