"""Atomic writes: a file or folder appears whole under its name, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the name `path` when the block ends well.

    On any error, Ctrl-C included, the partial file is removed and `path` is as it was.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(0o666 & ~_umask())  # mkstemp's files are for their owner alone
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A folder beside `path` to fill; it takes the name `path`, replacing it, when the block ends well."""
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
    try:
        yield partial
        partial.chmod(0o777 & ~_umask())
        _swap(partial, path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _swap(partial: Path, path: Path) -> None:
    # A folder cannot replace a full folder in one step: the old one steps aside first, and
    # comes back if the new one cannot take its place.
    if not path.exists():
        partial.rename(path)
        return
    aside = partial.with_suffix(".old")
    path.rename(aside)
    try:
        partial.rename(path)
    except OSError:
        aside.rename(path)
        raise
    shutil.rmtree(aside, ignore_errors=True)
