"""Folders that are made to write in, and removed again if nothing is written."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from muse.errors import BadFile

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the errors of a disk, a quota or a limit that is reached


def make_parents(path: Path) -> list[Path]:
    """The missing parent folders of `path`, created now, innermost first."""
    made = [parent for parent in path.parents if not parent.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    return made


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove the folders in turn, up to the first that is not empty."""
    with suppress(OSError):  # rmdir refuses a folder that is not empty
        for folder in folders:
            folder.rmdir()


@contextmanager
def parents_made(path: Path) -> Iterator[None]:
    """A block that has the parent folders of `path`; those made for it are removed again on an error."""
    made = make_parents(path.resolve())
    try:
        yield
    except BaseException:
        remove_empty(made)
        raise


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """A block in which a full or read-only disk raises BadFile."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            message = f"{folder}: the disk is full; free some space or choose another --out"
        else:
            message = f"{folder}: expected a writable folder, got {error.strerror or error}; check it"
        raise BadFile(message) from error
