"""Outputs: what a command writes is not what it reads, and what it prints does not command the terminal.

The files are checked for every command, before it does anything. Words and names of files may have control
characters: a terminal is shown escapes in their place, a pipe gets the bytes as they are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.errors import BadSetting
from muse.options import Declaration
from muse.progress import printable

if TYPE_CHECKING:
    from muse.files.space_manifest import Manifest

LONGEST_NAME, LONGEST_PATH = 200, 3_800  # bytes; systems take 255 and 4,096


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


def check_outputs(options: dict[str, Any]) -> None:
    """Raise BadSetting if an output is an input, among inputs or another output, or destroys a space."""
    given = list(_paths(options))
    outputs = [(option, out) for option, one, out in given if one.written]
    for (first, out), (second, path) in combinations(outputs, 2):
        if _is_same(out, path):  # what is written last would silently replace the other
            raise BadSetting(f"{out}: {first} and {second} need different names; choose another {second}")
    for written, out in outputs:
        _check_name(written, out)
        for option, one, path in given:
            if one.of_any_files and path.resolve() in out.resolve().parents:
                # Which of the files are read is known only later, and what is not read today is data too.
                raise BadSetting(
                    f"{out}: {written} must be outside {option} {path}, whose files are read; choose another "
                    f"{written}"
                )
            if one.written or one.grows:
                continue
            if _is_same(out, path):
                raise BadSetting(
                    f"{out}: {written} would replace {option}, which is read; choose another {written}"
                )
            if _is_inside(out, path) or _is_inside(path, out):
                raise BadSetting(
                    f"{out}: {written} and {option} ({path}) are in one another, and a saved folder is "
                    f"replaced as a whole; choose another {written}"
                )


def check_inputs_spared(manifest: Manifest) -> None:
    """Raise BadSetting if the current command writes where a file is that a space was made of."""
    from muse.space.saving import check_not_an_input

    context = click.get_current_context(silent=True)
    for option, one, path in _paths(context.params) if context else ():
        if one.written and path.is_file():
            check_not_an_input(manifest, [path], written=option)


def _check_name(written: str, out: Path) -> None:
    # The temporary files beside it have longer names and paths.
    name, path = len(os.fsencode(out.name)), len(os.fsencode(out.absolute()))
    if name > LONGEST_NAME or path > LONGEST_PATH:
        raise BadSetting(
            f"{written} must be at most {LONGEST_NAME} bytes, and {LONGEST_PATH:,} with its folders; got "
            f"{name} and {path:,} ({out.name[:40]}...); choose a shorter one"
        )


def _paths(options: dict[str, Any]) -> Iterator[tuple[str, Declaration, Path]]:
    # The option as typed, its declaration and the path of all files and folders on the command line.
    for parameter in click.get_current_context().command.params:
        value = options.get(str(parameter.name))
        for one in value if isinstance(value, tuple) else [value]:
            if isinstance(one, str) and str(parameter.metavar).endswith(("|FOLDER", "=FILE")):
                one = Path(one.rpartition("=")[2])  # NAME|FOLDER, LANG=FILE
            if isinstance(one, Path):
                yield parameter.opts[0], getattr(parameter, "declared"), one  # noqa: B009


def _is_same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return first.resolve() == second.resolve()


def _is_inside(inner: Path, folder: Path) -> bool:
    # Whether a path is in a folder that muse has saved. (A Path raises where it may not be looked.)
    saved = os.path.isfile(folder / "manifest.json")  # noqa: PTH113
    return saved and folder.resolve() in inner.resolve().parents
