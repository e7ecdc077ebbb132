"""Progress of long work: a line with an ETA on a terminal, occasional log lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Protocol, TypeVar

log = logging.getLogger(__name__)

LOG_EVERY_SECONDS = 10.0


class Tick(Protocol):
    """Called after each step with the number of steps done and the figures to show."""

    def __call__(self, done: int, **figures: float) -> None:
        """Show that `done` steps are completed."""


Callback = Callable[[str, int, Mapping[str, float]], None]
Block = TypeVar("Block")


class Progress:
    """Shows the progress of named stages on stderr; `quiet` shows nothing.

    The `callback` is called after every step with the stage, the number of steps done and the figures.
    """

    def __init__(self, *, quiet: bool = False, callback: Callback | None = None) -> None:
        self._quiet = quiet
        self._callbacks = () if callback is None else (callback,)
        self._terminal = sys.stderr.isatty()

    def with_callback(self, callback: Callback) -> Progress:
        """The same progress, with one more callback, called after those it has.

        >>> steps = []
        >>> first = Progress(quiet=True, callback=lambda stage, done, figures: steps.append("first"))
        >>> both = first.with_callback(lambda stage, done, figures: steps.append("second"))
        >>> with both.stage("work", 1) as tick:
        ...     tick(1)
        >>> steps
        ['first', 'second']
        """
        found = copy(self)  # of its own class: a caller may have written one
        found._callbacks = (*self._callbacks, callback)
        return found

    def through(
        self, name: str, blocks: Iterable[Block], total: int, size: Callable[[Block], int]
    ) -> Iterator[Block]:
        """The blocks, unchanged; each adds its `size` to the progress once it is processed; see `stage`."""
        with self.stage(name, total) as tick:
            done = 0
            for block in blocks:
                yield block
                done += size(block)
                tick(done)

    @contextmanager
    def stage(self, name: str, total: int) -> Iterator[Tick]:
        """A context in which the yielded `tick(done, **figures)` reports progress towards `total`.

        A `total` of 0 means that the total is unknown: no remaining time is shown then.
        """
        start = last = time.monotonic()

        def tick(done: int, **figures: float) -> None:
            nonlocal last
            for callback in self._callbacks:
                callback(name, done, figures)
            now = time.monotonic()
            # A terminal line may change ten times a second; log lines would fill the log.
            if self._quiet or (now - last < (0.1 if self._terminal else LOG_EVERY_SECONDS)):
                return
            last = now
            line = _line(name, done, total, now - start) + "".join(
                f"  {key} {value:,.4g}" if value < 1_000 else f"  {key} {value:,.0f}"
                for key, value in figures.items()
            )
            if self._terminal:
                sys.stderr.write(f"\r\x1b[K{line}")
                sys.stderr.flush()
            else:
                log.info(line)

        try:
            yield tick
        finally:
            if self._terminal and not self._quiet:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()


def _line(name: str, done: int, total: int, seconds: float) -> str:
    rate = f"{done / max(seconds, 1e-9):,.3g} a second"
    if not total:
        return f"{name}: {done}, {rate}"
    left = seconds / max(done, 1) * max(total - done, 0)
    return f"{name}: {done}/{total}, {rate}, at most {left:.0f} s left"
