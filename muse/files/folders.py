"""Folders that are made to write in, and removed again if nothing is written."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the errors of a disk, a quota or a limit that is reached


@contextmanager
def parents_for(path: Path) -> Iterator[None]:
    """A block in which `path` has its parent folders; those made for it go again with an error, if empty."""
    made = make_parents(path)
    try:
        yield
    except BaseException:
        remove_empty(made)
        raise


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
