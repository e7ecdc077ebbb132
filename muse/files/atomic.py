"""Atomic writes: a file or folder appears complete under its name, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to `path` when the block ends without an error.

    On any error, Ctrl-C included, the partial file is removed and `path` is unchanged.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(0o666 & ~_umask())  # mkstemp gives access to the owner only
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path`, which replaces `path` when the block ends without an error.

    Missing parent folders are created, and removed again on an error.
    """
    made = make_parents(path)
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
    try:
        yield partial
        partial.chmod(0o777 & ~_umask())
        _swap(partial, path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _swap(partial: Path, path: Path) -> None:
    # A folder cannot replace a non-empty folder in one step: the old one is renamed first, and
    # restored if the second rename fails, for example by Ctrl-C.
    aside = partial.with_suffix(".old")
    try:
        if path.exists():
            path.rename(aside)
        partial.rename(path)
        shutil.rmtree(aside, ignore_errors=True)
    except BaseException:
        if path.exists():
            shutil.rmtree(aside, ignore_errors=True)
        elif aside.exists():
            aside.rename(path)
        raise
