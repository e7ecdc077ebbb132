"""Standard input: the lines that arrive there, and a dash for a file that is read from there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from muse.commands.outputs import OUTPUTS
from muse.errors import Contradiction

if TYPE_CHECKING:
    from muse.files.plain_text import Stream

STDIN = "standard input"
STDIN_PATH = Path("/dev/stdin")  # read as any other pipe is: once and from the start, or refused
DASH = "-"
_FOLDERS = ("SPACE", "FOLDER")


def lines_on_stdin() -> Iterator[list[str]]:
    """The lines on stdin in blocks, as they arrive; BadFile if it is closed."""
    from muse.errors import BadFile
    from muse.files.plain_text import read_blocks

    if sys.stdin is None:
        raise BadFile(f"{STDIN}: expected text, but it is closed; send text")
    return read_blocks(cast("Stream", sys.stdin.buffer), STDIN)


def without_dashes(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the path of standard input for every - that is a file to read.

    Raise BadSetting for a - that is a folder or is written, and Contradiction for two of them and for one
    beside --ray.
    """
    found = list(_dashes(options))
    for parameter in found:
        _check(parameter)
    if len(found) > 1:
        names = " and ".join(_shown(parameter) for parameter in found)
        raise Contradiction(f"only one file can be standard input, got - for {names}; give the others a name")
    if found and options.get("address") is not None:
        raise Contradiction(f"--ray needs files that several machines read, got - for {_shown(found[0])}")
    return {**options, **{str(one.name): _replaced(options[str(one.name)]) for one in found}}


def _dashes(options: dict[str, Any]) -> Iterator[click.Parameter]:
    # The parameters whose value is a dash, as often as they have one.
    for parameter in click.get_current_context().command.params:
        value = options.get(str(parameter.name))
        for one in value if isinstance(value, tuple) else [value]:
            if _is_dash(one, named=str(parameter.metavar).endswith("=FILE")):
                yield parameter


def _is_dash(value: Any, *, named: bool = True) -> bool:
    # Of strings only LANG=FILE has files: the word that muse translate is asked may be a dash.
    return value == Path(DASH) or (named and isinstance(value, str) and value.rpartition("=")[2] == DASH)


def _check(parameter: click.Parameter) -> None:
    from muse.errors import BadSetting

    if parameter.name in OUTPUTS:
        printed = ", or leave it out to print" if "stdout" in str(getattr(parameter, "help", "")) else ""
        raise BadSetting(
            f"{_shown(parameter)} must have a name, since it appears once it is complete, got -; choose a "
            f"name{printed} (or the full path of a file that is called -)"
        )
    if str(parameter.metavar or parameter.name).upper().endswith(_FOLDERS):
        raise BadSetting(f"{_shown(parameter)} must be a folder, got -; give its name")


def _shown(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return str(parameter.metavar or parameter.name).upper().removesuffix("...")


def _replaced(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_replaced, value))
    if not _is_dash(value):
        return value
    return STDIN_PATH if isinstance(value, Path) else f"{value[: -len(DASH)]}{STDIN_PATH}"
