"""Survey: the best translations of the frequent words, without a gold list: with probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from muse.induce import BATCH, Limits, entries_of
from muse.lexicon import Entry
from muse.search.approximate import Approximation
from muse.search.probability import CANDIDATES
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.space.calibrated import find_calibration
from muse.space.direction import Direction, search_with
from muse.translate.answers import TRUSTED

SHOWN = 10  # of the surest, of the least sure, and drawn at random


@dataclass(frozen=True)
class Survey:
    """The best translations of the `searched` most frequent words.

    `expected` is their mean probability, and `trusted` the share that is shown as trusted, both in
    percent, None if the space is too small for probabilities.
    """

    searched: int
    expected: float | None
    trusted: float | None
    surest: tuple[Entry, ...]
    unsure: tuple[Entry, ...]
    drawn: tuple[Entry, ...]


def survey(space: AlignedSpace, source: str, target: str, *, most: int, rng: np.random.Generator) -> Survey:
    """The survey of the `most` frequent words of both languages; `rng` draws the words to show."""
    found = list(_best(space, source, target, most))
    order = sorted(range(len(found)), key=lambda row: -_worth(found[row]))
    drawn = np.sort(rng.choice(len(found), min(SHOWN, len(found)), replace=False)).tolist()
    surest, unsure = order[:SHOWN], order[: -SHOWN - 1 : -1]
    known = np.array([entry.probability for entry in found if entry.probability is not None])
    shares = (
        (100 * float(known.mean()), 100 * float((known >= TRUSTED).mean())) if len(known) else (None, None)
    )
    return Survey(
        len(found), *shares,
        *(tuple(found[row] for row in rows) for rows in (surest, unsure, drawn)),
    )  # fmt: skip


def _worth(entry: Entry) -> float:
    return (entry.score or 0.0) if entry.probability is None else entry.probability


def _best(space: AlignedSpace, source: str, target: str, most: int) -> Iterator[Entry]:
    calibration = find_calibration(space, source, target)
    direction = Direction(space, (source, target), (most, most))
    search = search_with(Approximation())(direction, Retrieval(), CANDIDATES)
    for begin in range(0, len(direction.rows[0]), BATCH):
        best = search.best(slice(begin, begin + BATCH), CANDIDATES)  # (b, k)
        yield from entries_of(direction, best, begin, limits=Limits(top=1), calibration=calibration)
