"""Locks on files and folders: the system forgets them when the process that holds them ends, however it ends.

Where the system has none, or the file system does not know them, nothing is ever locked.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from muse.errors import BadFile
from muse.files.folders import make_parents, remove_empty, writing

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows
    LOCKS = False
else:
    LOCKS = True


def lock(path: Path, flags: int = os.O_RDONLY) -> int | None:
    """A descriptor that holds the lock of a file or folder until it is closed; None if another has it."""
    descriptor = os.open(path, flags)
    try:
        if LOCKS:
            flock(descriptor, LOCK_EX | LOCK_NB)
        # Whoever held it before may have removed it in between: what is locked then has no name.
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:  # a file system without locks
        return descriptor
    os.close(descriptor)
    return None


def is_left(path: Path) -> bool:
    """Whether a file or folder that a writer locks has no writer any more."""
    try:
        descriptor = lock(path) if LOCKS else None
    except OSError:
        return False
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


@contextmanager
def only_writer(out: Path) -> Iterator[None]:
    """A block in which no other process writes `out`; BadFile, with who does, if one is at it already.

    Missing parent folders are created, and removed again if they are empty at the end.
    """
    out = out.resolve()
    place = out.with_name(f".{out.name}.lock")
    with writing(out.parent):
        made = make_parents(place)
        try:
            descriptor = lock(place, os.O_RDWR | os.O_CREAT)
        except OSError:
            remove_empty(made)
            raise
    if descriptor is None:
        holder = ""
        with suppress(OSError):
            holder = place.read_text(encoding="utf-8", errors="replace")
        raise BadFile(
            f"{out}: expected to be the only one that writes it, got another at it ({holder or 'unknown'}); "
            "wait until that has ended, or choose another --out"
        )
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(descriptor)
        remove_empty(made)
