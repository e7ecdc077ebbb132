"""Progress of long work: a line with an ETA on a terminal, occasional log lines elsewhere."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from muse.progress_line import Stage, filled, progress_line

log = logging.getLogger(__name__)

LOG_EVERY_SECONDS = 10.0
SHOW_EVERY_SECONDS = 0.1
USUAL_COLUMNS = 80
_CLEAR = "\r\x1b[K"


class Tick(Protocol):
    """Called after each step with the number of steps done and the figures to show."""

    def __call__(self, done: int, **figures: float) -> None:
        """Show that `done` steps are completed."""


Callback = Callable[[str, int, Mapping[str, float]], None]
Block = TypeVar("Block")


@dataclass(eq=False)
class _Line:
    """What the line of a stage shows."""

    stage: Stage
    done: int
    seconds: float = 0.0
    figures: Mapping[str, float] = field(default_factory=dict)

    def text(self, columns: int | None = None) -> str:
        return progress_line(self.stage, self.done, self.seconds, self.figures, columns)


class Progress:
    """Shows the progress of named stages on stderr; `quiet` shows nothing.

    The `callback` is called after every step with the stage, the number of steps done and the figures.
    """

    def __init__(self, *, quiet: bool = False, callback: Callback | None = None) -> None:
        self._quiet = quiet
        self._callbacks = () if callback is None else (callback,)
        self._terminal = on_terminal()
        self._part = (0, 0)
        self._open: list[_Line] = []  # of the stages that run, outermost first; copies share it

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

    def part(self, number: int, of: int) -> Progress:
        """The same progress, for part `number` of the work: its lines begin with [number/of]."""
        found = copy(self)
        found._part = (number, of)
        return found

    def further(self, parts: int = 1) -> Progress:
        """The same progress, some parts further; unchanged if the work has no parts."""
        number, of = self._part
        return self.part(min(number + parts, of), of) if of else self

    def through(
        self, name: str, blocks: Iterable[Block], total: int, size: Callable[[Block], int], unit: str
    ) -> Generator[Block]:
        """The blocks, unchanged; each adds its `size` to the progress once it is processed; see `stage`."""
        with self.stage(name, total, unit) as tick:
            done = 0
            for block in blocks:
                yield block
                done += size(block)
                tick(done)

    @contextmanager
    def stage(
        self, name: str, total: int, unit: str = "steps", *, first: int = 0, may_end_early: bool = False
    ) -> Iterator[Tick]:
        """A context in which the yielded `tick(done, **figures)` reports progress towards `total`.

        A `total` of 0 means that the total is unknown: no remaining time is shown then. For the others see
        `muse.progress_line.Stage`.
        """
        number, of = self._part
        line = _Line(Stage(name, total, unit, first, may_end_early, f"[{number}/{of}]" if of else ""), first)
        self._open.append(line)
        began = last = time.monotonic()
        self._draw()

        def tick(done: int, **figures: float) -> None:
            nonlocal last
            for callback in self._callbacks:
                callback(name, done, figures)
            now = time.monotonic()
            # A terminal line may change ten times a second; log lines would fill the log.
            if now - last < (SHOW_EVERY_SECONDS if self._terminal else LOG_EVERY_SECONDS):
                return
            last = now
            line.done, line.seconds, line.figures = done, now - began, figures
            self._draw()
            if not (self._quiet or self._terminal):
                log.info("%s", line.text())

        try:
            yield tick
        finally:
            self._open.remove(line)
            self._draw()

    def _draw(self) -> None:
        """Draws the line of the innermost stage, or clears it if none is left."""
        if self._terminal and not self._quiet:
            # One column is left free: in the last one, some terminals begin a new line.
            text = self._open[-1].text(columns() - 1) if self._open else ""
            sys.stderr.write(_CLEAR + text)
            sys.stderr.flush()


def on_terminal() -> bool:
    """Whether stderr is a terminal on which a line can be changed."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def columns() -> int:
    """The width of the terminal now: it may have changed since the last line."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_COLUMNS
    except (OSError, ValueError):  # no real terminal, or closed
        return USUAL_COLUMNS


def message(text: str) -> str:
    """The text as it is written on stderr: on a terminal in place of a progress line, broken between words.

    Spaces fill the rows, so that what is copied from the terminal, such as a command, is still one line.
    """
    if not on_terminal():
        return text
    return _CLEAR + "\n".join(filled(line, columns()) for line in text.split("\n"))
