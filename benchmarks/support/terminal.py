"""A terminal of so many columns: a command runs in it, and what it shows is kept, moment by moment."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROWS = 24
_TOKEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|.", re.DOTALL)


class Screen:
    """What stands on a terminal that scrolls for ever; it knows returns, new lines and erased ends of lines.

    `wrapped` are the rows that a line began because it did not fit, `erased_in_wrapped` counts the times that
    the end of such a row was erased: a line that is changed in place must never need two rows.
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0
        self.wrapped: set[int] = set()
        self.erased_in_wrapped = 0

    def write(self, text: str) -> None:
        """Shows what a command has written."""
        for token in _TOKEN.findall(text):
            if token == "\r":
                self.column = 0
            elif token == "\n":
                self._next_row()
            elif token.startswith("\x1b["):
                if token.endswith("K"):
                    del self.rows[self.row][self.column :]
                    self.erased_in_wrapped += self.row in self.wrapped
            else:
                self._put(token)

    def _put(self, letter: str) -> None:
        if self.column >= self.columns:
            self._next_row()
            self.wrapped.add(self.row)
            self.column = 0
        row = self.rows[self.row]
        row[self.column :] = [*" " * (self.column - len(row)), letter, *row[self.column + 1 :]]
        self.column += 1

    def _next_row(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])

    @property
    def line(self) -> str:
        """The row with the cursor."""
        return "".join(self.rows[self.row])

    @property
    def text(self) -> str:
        """All rows, without empty ones at the end."""
        return "\n".join("".join(row).rstrip() for row in self.rows).rstrip("\n")


@dataclass
class Recording:
    """A run: the row with the cursor after each output, with its seconds, the last screen, the exit code."""

    screen: Screen
    lines: list[tuple[float, str]] = field(default_factory=list)
    written: str = ""
    code: int = 0


def record(
    command: Sequence[str],
    columns: int,
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    resized: Callable[[str], int | None] = lambda line: None,
) -> Recording:
    """The recording of a command that runs in a folder, on a terminal of so many columns.

    `resized` is asked after each output, with the row with the cursor, for a new number of columns.
    """
    controller, terminal = pty.openpty()
    _set_columns(terminal, columns)
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    found, began = Recording(Screen(columns)), time.monotonic()
    with subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, cwd=folder, start_new_session=True,
        env={**known, "TERM": "xterm-256color", **(environment or {})},
    ) as process:  # fmt: skip
        os.close(terminal)
        for text in iter(lambda: _read(controller), ""):
            found.written += text
            found.screen.write(text)
            found.lines.append((time.monotonic() - began, found.screen.line))
            if (new := resized(found.screen.line)) is not None:
                found.screen.columns = new
                _set_columns(controller, new)
    os.close(controller)
    found.code = process.returncode
    return found


def _set_columns(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))


def _read(controller: int) -> str:
    try:
        return os.read(controller, 1 << 16).decode("utf-8", "replace")
    except OSError:  # Linux says so when the other end is closed
        return ""
