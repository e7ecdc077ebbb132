"""Pictures: a map of each pair of languages, the same in both directions.

Each is drawn once, in a background thread of low priority, while the server answers other queries, and kept
beside the space.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from muse.errors import MuseError
from muse.files.kept import COMPUTED, keep_arrays, read_arrays
from muse.files.space_folder import folder_name, picture_name
from muse.report.word_map import Picture, Region, draw_picture, frequent_pairs, picture_of, regions
from muse.space import Space

log = logging.getLogger(__name__)

NICE = 10  # of threads that take long: a query that is awaited comes first
PAIRS = 1_000  # drawn within a second
BYTES = 1 << 20  # of a picture that is kept, at most
NEAR = 16  # words that stay visible beside one that is isolated
Direction = tuple[str, str]


@dataclass
class Background:
    """Results by key, each computed in a daemon thread that is started when it is first asked for."""

    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _futures: dict[Hashable, Future[Any]] = field(default_factory=dict, repr=False)

    def once(self, key: Hashable, work: Callable[[], Any]) -> Future[Any]:
        """The result of `work`, or of what was given for this key before; errors are kept as results are."""
        with self._lock:
            if key in self._futures:
                return self._futures[key]
            future = self._futures[key] = Future()
        # Not an executor: its threads are waited for when the server stops.
        name = "-".join(map(str, key)) if isinstance(key, tuple) else str(key)
        threading.Thread(target=_do, args=[future, work, name], name=name, daemon=True).start()
        return future


def lower_thread_priority() -> None:
    """Lower the priority of this thread, and of those it starts, where the system has one for each thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def _do(future: Future[Any], work: Callable[[], Any], name: str) -> None:
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001 - it would be lost in a thread
        log.debug("%s", name, exc_info=error)
        future.set_exception(error)


class NotDrawn(MuseError):
    """A picture could not be drawn, because of an unexpected error."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A picture and its regions.

    `probabilities` (p,) are those of the pairs as translations, None if they are unknown.
    """

    picture: Picture
    regions: tuple[Region, ...]
    probabilities: NDArray[np.float32] | None = None
    _numbers: dict[tuple[str, str], int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        p, picture = len(self.picture.pairs), self.picture
        sides = (picture.source, picture.target)
        object.__setattr__(
            self, "_numbers",
            {(sides[side], picture.pairs[i][side]): i + side * p for side in (1, 0) for i in range(p)},
        )  # fmt: skip

    def number(self, language: str, word: str) -> int | None:
        """The number of the point of a word; None if it is not in the picture."""
        return self._numbers.get((language, word))

    def place(self, language: str, word: str, row: Tensor) -> tuple[tuple[float, float], bool]:
        """The place of a word with this row (d,), and whether it is exact: amid its neighbours otherwise."""
        number = self.number(language, word)
        if number is None:
            return self.picture.place(row), False
        x, y = self.picture.places[number].tolist()
        return (x, y), True

    def near(self, language: str, word: str, row: Tensor) -> list[int]:
        """The numbers of the words nearest to one with this row (d,), without itself."""
        own = self.number(language, word)
        return [number for number in self.picture.nearest(row, NEAR + 1) if number != own][:NEAR]


@dataclass
class Pictures:
    """The pictures of a space; `seed` is their random seed."""

    space: Space
    seed: int
    background: Background

    def get(self, direction: Direction) -> Drawn | None:
        """The picture of two languages; None while it is being drawn, which the first call starts."""
        drawing = self.begin(direction)
        return drawing.result() if drawing.done() else None

    def begin(self, direction: Direction) -> Future[Drawn]:
        """The picture of two languages, drawn in the background from the first call on."""
        pair = self.in_order(direction)
        return self.background.once(("picture", *pair), lambda: self._draw(pair))

    def in_order(self, direction: Direction) -> Direction:
        """The two languages in the order of the picture, whichever is translated: the pivot is last."""
        first, second = sorted(
            direction, key=lambda name: (name == self.space.pivot, self.space.languages.index(name))
        )
        return first, second

    def _draw(self, pair: Direction) -> Drawn:
        lower_thread_priority()
        try:
            path = self._path(pair)
            kept = None if path is None else self._kept(path, pair)
            rows = frequent_pairs(self.space, *pair)[:PAIRS] if kept is None else kept[0]
            picture = picture_of(self.space, *pair, *kept) if kept else self._drawn(pair, rows, path)
            shares = pair_probabilities(self.space, pair, rows)
            return Drawn(picture, regions(picture, self.seed, shares), shares)
        except MuseError:
            raise
        except Exception as error:
            raise NotDrawn(f"the picture cannot be drawn: {error}") from error

    def _drawn(self, pair: Direction, rows: NDArray[np.int64], path: Path | None) -> Picture:
        """The picture of pairs (p, 2) of rows, which is kept at `path`."""
        picture = draw_picture(self.space, *pair, rows, self.seed)
        if path is not None and len(rows):
            kept = {"pairs": rows, "places": picture.places, "seed": np.array([self.seed])}
            keep_arrays(path, kept, self.space.origin(*pair))
        return picture

    def _path(self, pair: Direction) -> Path | None:
        if self.space.home is None:
            return None
        return self.space.home / folder_name(pair[0]) / picture_name(pair[1], self.space.digest(*pair))

    def _kept(self, path: Path, pair: Direction) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """The pairs (p, 2) and places (2p, 2) that were kept; None without them or with another seed."""
        counts = len(self.space.vectors(pair[0])), len(self.space.vectors(pair[1]))
        return read_arrays(path, BYTES, self.space.origin(*pair), possible_for(self.seed, counts), COMPUTED)


PairsAndPlaces = tuple[NDArray[np.int64], NDArray[np.float64]]


def possible_for(
    seed: int, counts: tuple[int, int]
) -> Callable[[Mapping[str, NDArray[Any]]], PairsAndPlaces | None]:
    """What makes the pairs and places of kept arrays, for so many words of both; None for another seed.

    It raises ValueError for what cannot be.
    """

    def made(parts: Mapping[str, NDArray[Any]]) -> PairsAndPlaces | None:
        rows, places = parts["pairs"].astype(np.int64), parts["places"].astype(np.float64)
        if places.shape != (2 * len(rows), 2) or not (np.abs(places) <= 2).all():
            raise ValueError("places that are none of a picture")
        if rows.shape[1:] != (2,) or (rows < 0).any() or (rows >= np.array(counts)).any():
            raise ValueError("pairs of rows that the space lacks")
        return (rows, places) if int(parts["seed"][0]) == seed else None

    return made


def pair_probabilities(space: Space, pair: Direction, rows: NDArray[np.int64]) -> NDArray[np.float32] | None:
    """The probabilities (p,) of pairs (p, 2) of rows, 0 for those that are no answers; None if unknown."""
    table = space.answers(*pair)
    if table is None or not len(rows):
        return None
    columns, _, probability = table.padded(rows[:, 0])
    return np.asarray(np.where(columns == rows[:, 1:], probability, 0).max(axis=1, initial=0), np.float32)
