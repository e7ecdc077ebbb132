"""Progress of long work: one line with the time left on a terminal or in a notebook, log lines elsewhere.

A line has the name of the stage, its share, rate, time left and figures; on a narrow terminal the least
important go first. It is ours: tqdm opens a second row for a stage within a stage and cuts the time left,
rich cuts the share first, and both take four to ten times as long for a step.
"""

import logging
import math
import os
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from muse.errors import shortened

log = logging.getLogger(__name__)

BYTES = "bytes"  # the unit that is shown as kB, MB or GB
MORE = "..."  # the end of a name that is cut
_TIMES = ((1, "s"), (60, "min"))
LOG_EVERY_SECONDS = 10.0
SHOW_EVERY_SECONDS = 0.1
IN_NOTEBOOK_EVERY_SECONDS = 0.5  # each change is a message to a browser
USUAL_COLUMNS = 80
_CLEAR = "\r\x1b[K"
_CLEAR_IN_NOTEBOOK = f"\r{' ' * (USUAL_COLUMNS - 1)}\r"  # a notebook obeys the return, and no escape


@dataclass(frozen=True)
class Stage:
    """What the lines of a stage have in common.

    `total` of 0: unknown. `first` were done before the stage began, by the run that this one resumes.
    `may_end_early`: the time left is an upper bound. `part` is such as "[2/4]", or empty.
    """

    name: str
    total: int = 0
    unit: str = "steps"
    first: int = 0
    may_end_early: bool = False
    part: str = ""


def progress_line(
    stage: Stage, done: int, seconds: float, figures: Mapping[str, float], columns: int | None = None
) -> str:
    """The line after `seconds`, cut to `columns` if given: the name stays longest, then share and time left.

    >>> progress_line(Stage("refine", 40, "rounds", part="[3/4]"), 10, 5.0, {"objective": 0.5})
    '[3/4] refine: 25 %, 2 rounds/s, 15 s left, objective 0.5'
    >>> progress_line(Stage("refine", 40, "rounds", part="[3/4]"), 10, 5.0, {"objective": 0.5}, 32)
    '[3/4] refine: 25 %, 15 s left'
    """
    # A name of a file may have an escape or the end of a line, which would break the line.
    head = "".join(one if one.isprintable() else "?" for one in f"{stage.part} {stage.name}".strip())
    rate = (done - stage.first) / seconds if seconds > 0 else 0.0
    share = f"{min(100 * done // stage.total, 100)} %" if stage.total else ""
    left = (stage.total - done) / rate if stage.total and rate > 0 else 0.0
    # In the order shown, each with its rank when there is no room for all.
    pieces = [
        (0, share or (amount(done, stage.unit) if done else "")),
        (2, _rate(rate, stage.unit)),
        # Of less than a second: by the time that it is read, it is over.
        (1, f"{'at most ' if stage.may_end_early else ''}{duration(left)} left" if left >= 1 else ""),
        *((3 + place, f"{name} {figure(value)}") for place, (name, value) in enumerate(figures.items())),
    ]
    pieces = [(rank, text) for rank, text in pieces if text]
    ranks = sorted(rank for rank, _ in pieces)
    for kept in range(len(ranks), -1, -1):
        shown = ", ".join(text for rank, text in pieces if rank in ranks[:kept])
        line = f"{head}: {shown}" if shown else head
        if columns is None or width(line) <= columns:
            return line
    while width(head) > max(0, (columns or 0) - len(MORE)):
        head = head[:-1]
    return head + MORE[:columns]


def _rate(per_second: float, unit: str) -> str:
    if per_second <= 0:
        return ""
    if unit == BYTES:
        return f"{amount(per_second, unit)}/s"
    # Below one a second, a count per minute is easier to read than a fraction; below that, the time left.
    found = next((pair for pair in _TIMES if per_second * pair[0] >= 1), None)
    return "" if found is None else f"{_two_digits(per_second * found[0])} {unit}/{found[1]}"


def duration(seconds: float) -> str:
    """The time in words, rounded up to what matters.

    >>> duration(7.2), duration(61), duration(4000), duration(200_000)
    ('8 s', '2 min', '1 h 7 min', '56 h')
    """
    if seconds <= 60:
        return f"{math.ceil(seconds)} s"
    minutes = math.ceil(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes and hours < 10 else f"{hours + (minutes > 0)} h"


def amount(count: float, unit: str) -> str:
    """A count with its unit; bytes as kB, MB or GB.

    >>> amount(8812, "words"), amount(1_312_000_000, "bytes"), amount(312_000, "bytes")
    ('8,812 words', '1.3 GB', '310 kB')
    """
    if unit != BYTES:
        return f"{count:,.0f} {unit}"
    scale, name = next(pair for pair in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (0, "B")) if count >= pair[0])
    return f"{_two_digits(count / (scale or 1))} {name}"


def figure(value: float) -> str:
    """A figure of training, with four digits.

    >>> figure(0.123456), figure(20_000)
    ('0.1235', '20,000')
    """
    return f"{value:,.4g}" if abs(value) < 1_000 else f"{value:,.0f}"


def _two_digits(value: float) -> str:
    # 8,812 is 8,800, 312 is 310, 3.14 is 3.1, 2.0 is 2.
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def filled(text: str, columns: int) -> str:
    """The text with spaces in place of one, where a terminal would break it inside a word.

    >>> filled("expected two words, got one", 20)
    'expected two words, got one'
    >>> filled("expected a file, found none", 20)
    'expected a file,    found none'
    """
    parts, column = list[str](), 0
    for word in text.split(" "):
        room = columns - column
        if parts and width(word) + 1 > room and width(word) <= columns:
            parts.append(" " * room)
            column = 0
        elif parts:
            parts.append(" ")
            column += 1
        parts.append(word)
        column = (column + width(word)) % columns
    return "".join(parts)


def width(text: str) -> int:
    """The columns that a text takes on a terminal: letters of East Asian scripts take two.

    >>> width("mots de 日本語")
    14
    """
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


# Controls that a terminal obeys, in words and names of files too: they set its title, hide text, reorder it.
_CONTROLS = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""The text with its control characters as escapes, but for tabs and ends of lines.

    Those that reorder text are among them; the joiners of Persian words and of emoji are not.

    >>> print(printable("roi\x1b[8m"))
    roi\u001b[8m
    """
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


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
        self._clear = clearing()
        # A terminal line may change ten times a second; log lines would fill the log.
        clearing_once = {_CLEAR: SHOW_EVERY_SECONDS, "": LOG_EVERY_SECONDS}
        self._every = clearing_once.get(self._clear, IN_NOTEBOOK_EVERY_SECONDS)
        self._part = (0, 0)
        # The lines of the stages that run, outermost first, as `progress_line` takes them; copies share it.
        self._open: list[list[Any]] = []

    def with_callback(self, callback: Callback) -> "Progress":
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

    def part(self, number: int, of: int) -> "Progress":
        """The same progress, for part `number` of the work: its lines begin with [number/of]."""
        found = copy(self)
        found._part = (number, of)
        return found

    def skip_parts(self, parts: int = 1) -> "Progress":
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
        `muse.progress.Stage`.
        """
        number, of = self._part
        stage = Stage(name, total, unit, first, may_end_early, f"[{number}/{of}]" if of else "")
        line: list[Any] = [stage, first, 0.0, {}]
        self._open.append(line)
        began = last = time.monotonic()
        self._draw()

        def tick(done: int, **figures: float) -> None:
            nonlocal last
            for callback in self._callbacks:
                callback(name, done, figures)
            now = time.monotonic()
            if now - last < self._every:
                return
            last = now
            line[1:] = done, now - began, figures
            self._draw()
            if not (self._quiet or self._clear):
                log.info("%s", progress_line(*line))

        try:
            yield tick
        finally:
            self._open[:] = [one for one in self._open if one is not line]
            self._draw()

    def _draw(self) -> None:
        """Draws the line of the innermost stage, or clears it if none is left."""
        if self._clear and not self._quiet:
            # One column is left free: in the last one, some terminals begin a new line.
            room = columns() if self._clear == _CLEAR else USUAL_COLUMNS
            text = progress_line(*[*self._open[-1], room - 1]) if self._open else ""
            sys.stderr.write(self._clear + text)
            sys.stderr.flush()


def clearing() -> str:
    """What clears the line of stderr that can be changed; empty where none can."""
    if on_terminal():
        return _CLEAR
    return _CLEAR_IN_NOTEBOOK if in_notebook() else ""


def on_terminal() -> bool:
    """Whether stderr is a terminal on which a line can be changed."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, such as Jupyter's."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def columns() -> int:
    """The width of the terminal now: it may have changed since the last line."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_COLUMNS
    except (OSError, ValueError):  # no real terminal, or closed
        return USUAL_COLUMNS


def message(text: str) -> str:
    """The text as it is written on stderr: on a terminal in place of a progress line, broken between words.

    Spaces fill the rows, so that what is copied from the terminal, such as a command, is still one line.
    Control characters that it quotes are shown as escapes, wherever it goes, and long quotations cut.
    """
    text, clear = "\n".join(map(shortened, printable(text).split("\n"))), clearing()
    if clear != _CLEAR:
        return clear + text
    return clear + "\n".join(filled(line, columns()) for line in text.split("\n"))


@contextmanager
def messages_shown(level: int = logging.INFO) -> Iterator[None]:
    """A context in which the messages of muse from this level on are shown on stderr, as the commands do.

    Those that logging is set up to show already are left to its handlers, which get no others than before.
    """
    ours, root = logging.getLogger("muse"), logging.getLogger()
    least = ours.getEffectiveLevel() if ours.hasHandlers() else logging.CRITICAL + 1
    if least <= level:
        yield
        return

    def shown_anyway(record: logging.LogRecord) -> bool:
        name = f"{record.name}."
        own = (part.level for part in _parents(record.name) if part.name != "muse")
        return record.levelno >= least or not name.startswith("muse.") or any(own)

    before, added = ours.level, AboveTheLine(level)
    handlers = [*ours.handlers, *root.handlers]
    added.addFilter(lambda record: not shown_anyway(record))
    for handler in handlers:
        handler.addFilter(shown_anyway)
    ours.addHandler(added)
    ours.setLevel(level)
    try:
        yield
    finally:
        ours.setLevel(before)
        ours.removeHandler(added)
        for handler in handlers:
            handler.removeFilter(shown_anyway)


def _parents(name: str) -> Iterator[logging.Logger]:
    """Yields the loggers of muse that have a message: some have a level of their own."""
    while name.startswith("muse"):
        yield logging.getLogger(name)
        name = name.rpartition(".")[0]


class AboveTheLine(logging.Handler):
    """Writes messages on stderr, above the progress line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the message of a record."""
        sys.stderr.write(message(record.getMessage()) + "\n")
        sys.stderr.flush()
