"""Paths on the command line: - is standard input, and what a command writes is not what it reads.

They are checked for every command, before it does anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.errors import BadSetting, Contradiction
from muse.options import Declaration

if TYPE_CHECKING:
    from muse.files.space_manifest import Manifest

STDIN_PATH = Path("/dev/stdin")  # read as any other pipe is: once and from the start, or refused
LONGEST_NAME, LONGEST_PATH = 200, 3_800  # bytes; systems take 255 and 4,096


def checked(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the path of standard input for every - that is a file to read.

    Raise BadSetting for a - that is a folder or is written, and if an output is an input, among inputs or
    another output, or destroys a space; Contradiction for two - and for one beside --ray.
    """
    dashes = [(shown, one) for shown, one, path in _paths(options) if path == Path("-")]
    for shown, one in dashes:
        if one.written:
            printed = ", or leave it out to print" if "stdout" in one.help else ""
            raise BadSetting(
                f"{shown} must have a name, since it appears once it is complete, got -; choose a "
                f"name{printed} (or the full path of a file that is called -)"
            )
        if one.name == "space" or str(one.metavar).endswith(("SPACE", "FOLDER")):
            raise BadSetting(f"{shown} must be a folder, got -; give its name")
    if len(dashes) > 1:
        shown = " and ".join(shown for shown, _ in dashes)
        raise Contradiction(f"only one file can be standard input, got - for {shown}; give the others a name")
    if dashes and options.get("ray", options.get("address")) is not None:
        raise Contradiction(f"--ray needs files that several machines read, got - for {dashes[0][0]}")
    replaced = options | {one.name: _from_stdin(options[one.name]) for _, one in dashes}
    _check_outputs([*_paths(replaced)])
    return replaced


def _from_stdin(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_from_stdin, value))
    if isinstance(value, str):
        return f"{value[:-1]}{STDIN_PATH}" if value == "-" or value.endswith("=-") else value
    return STDIN_PATH if value == Path("-") else value


def _check_outputs(given: list[tuple[str, Declaration, Path]]) -> None:
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
    if not out.resolve().name:
        raise BadSetting(
            f"{out}: {written} must be the name of a file or folder, got the root; choose another"
        )
    # The temporary files beside it have longer names and paths.
    name, path = len(os.fsencode(out.name)), len(os.fsencode(out.absolute()))
    if name > LONGEST_NAME or path > LONGEST_PATH:
        raise BadSetting(
            f"{written} must be at most {LONGEST_NAME} bytes, and {LONGEST_PATH:,} with its folders; got "
            f"{name} and {path:,} ({out.name[:40]}...); choose a shorter one"
        )


def _paths(options: dict[str, Any]) -> Iterator[tuple[str, Declaration, Path]]:
    """Yields each file and folder on the command line: the option as typed, its declaration, and the path."""
    for parameter in click.get_current_context().command.params:
        value = options.get(str(parameter.name))
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, str) and str(parameter.metavar).endswith(("|FOLDER", "=FILE")):
                one = Path(one.rpartition("=")[2])  # NAME|FOLDER, LANG=FILE
            if isinstance(one, Path):
                argument = (parameter.metavar or str(parameter.name).upper()).removesuffix("...")
                shown = parameter.opts[0] if isinstance(parameter, click.Option) else argument
                yield shown, getattr(parameter, "declared"), one  # noqa: B009


def _is_same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return first.resolve() == second.resolve()


def _is_inside(inner: Path, folder: Path) -> bool:
    # Whether a path is in a folder that muse has saved. (A Path raises where it may not be looked.)
    saved = os.path.isfile(folder / "manifest.json")  # noqa: PTH113
    return saved and folder.resolve() in inner.resolve().parents
