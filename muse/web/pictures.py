"""Pictures: a map of each pair of languages, the same in both directions.

Each is drawn once, in a background thread of low priority, while the server answers other queries.
"""

import logging
import os
import sys
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.ranking.probability import find_calibration
from muse.ranking.ranker import Ranker
from muse.report.word_map import Picture, Region, draw_picture, frequent_pairs, regions
from muse.space import Space

log = logging.getLogger(__name__)

NICE = 10  # of threads that take long: a query that is awaited comes first
PAIRS = 1_000  # drawn within a second
AMID = 3  # a word that is not in the picture is placed amid its nearest words that are
Direction = tuple[str, str]


@dataclass
class Background:
    """Results by key, each computed in a thread that is started when it is first asked for.

    A process that ends while one is at work is aborted: it must `join` them.
    """

    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _futures: dict[Hashable, Future[Any]] = field(default_factory=dict, repr=False)
    _threads: list[threading.Thread] = field(default_factory=list, repr=False)

    def once(self, key: Hashable, work: Callable[[], Any]) -> Future[Any]:
        """The result of `work`, or of what was given for this key before; errors are kept as results are."""
        with self._lock:
            if key in self._futures:
                return self._futures[key]
            future = self._futures[key] = Future()
            name = "-".join(map(str, key)) if isinstance(key, tuple) else str(key)
            thread = threading.Thread(target=_do, args=[future, work, name], name=name, daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def join(self) -> None:
        """Wait for the work that has begun."""
        for thread in [*self._threads]:
            thread.join()


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


class Located(NamedTuple):
    """The form of a word that was looked up, and its place in the picture.

    `exact` is whether the word itself is in the picture.
    """

    form: str
    place: tuple[float, float]
    exact: bool


@dataclass(frozen=True, eq=False)
class Drawn:
    """A picture and its regions.

    `probabilities` (p,) are those of the pairs as translations, None if they are unknown.
    """

    picture: Picture
    regions: tuple[Region, ...]
    probabilities: NDArray[np.float32] | None = None

    @cached_property
    def _numbers(self) -> dict[tuple[str, str], int]:
        p, picture = len(self.picture.pairs), self.picture
        sides = (picture.source, picture.target)
        return {(sides[side], picture.pairs[i][side]): i + side * p for side in (1, 0) for i in range(p)}

    def locate(self, language: str, word: str, row: Tensor) -> Located:
        """Where a word with this row (d,) is: amid its nearest ones, if it is not in the picture."""
        own, rows = self._numbers.get((language, word)), self.picture.rows
        amid = torch.topk(rows @ row, min(AMID, len(rows))).indices.tolist() if own is None else [own]
        x, y = self.picture.places[amid].mean(axis=0).tolist()
        return Located(word, (x, y), own is not None)


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
        rows = frequent_pairs(self.space, *pair)[:PAIRS]
        picture = draw_picture(self.space, *pair, rows, self.seed)
        shares = pair_probabilities(self.space, pair, rows)
        labels = {self.space.manifest.language(name).label for name in pair if name != self.space.pivot}
        # Where it failed, and where it is doubtful or not known which pairs are right, none names a region.
        by_csls = self.space.answers(*pair) is None
        named = shares is not None and "failed" not in labels and not (by_csls and "doubtful" in labels)
        return Drawn(picture, regions(picture, self.seed, shares) if named else (), shares)


def pair_probabilities(space: Space, pair: Direction, rows: NDArray[np.int64]) -> NDArray[np.float32] | None:
    """The probabilities (p,) of pairs (p, 2) of rows as translations, the lower of both directions.

    They are 0 for those that are no answers. None if they are unknown.
    """
    lowest = np.ones(len(rows), np.float32)
    for way, sides in ((pair, rows), (pair[::-1], rows[:, ::-1])):
        rated = space.answers(*way) is not None
        calibration = None if rated or not len(rows) else find_calibration(space, *way)
        if not rated and calibration is None:
            return None
        found = Ranker(space, way, calibration=calibration).best(sides[:, 0], fill=False)
        shares = np.where(found.columns == sides[:, 1:], np.nan_to_num(found.probability), 0)
        lowest = np.minimum(lowest, shares.max(axis=1, initial=0))
    return lowest
