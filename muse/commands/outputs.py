"""Outputs: what a command prints does not command the terminal.

Words and names of files may have control characters: a terminal is shown escapes in their place, a pipe gets
the bytes as they are.
"""

import json
import sys
from collections.abc import Iterable
from typing import Any

import click

from muse.options import Common
from muse.progress import printable

Report = tuple[dict[str, Any], list[str]]  # the fields of --json, and the lines printed without it
FAILED = 3  # the exit code of a mapping that was judged failed, and of what is too bad


def show(options: Common, fields: dict[str, Any], lines: Iterable[object]) -> None:
    """Print the fields as one JSON object, or the lines."""
    if options.as_json:  # a name of a file that is not UTF-8 has escapes
        text = json.dumps(fields, ensure_ascii=False)
        lines = [text.encode("utf-8", "backslashreplace").decode()]
    for one in lines:
        echo(one)


def echo(text: object, *, end: str = "\n") -> None:
    """Print a result on stdout: as it is, or with control characters as escapes on a terminal."""
    # click would remove escapes from what goes to a pipe; color keeps them.
    click.echo(safe_on_terminal(str(text)) + end, nl=False, color=True)


def safe_on_terminal(text: str) -> str:
    """The text as stdout may have it."""
    return printable(text) if is_terminal() else text


def is_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()
