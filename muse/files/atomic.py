"""Atomic writes: a file or folder appears complete under its name, or not at all.

What is written is a partial file or folder beside its place, `.NAME.0.partial`, until it is renamed. Its
writer holds a lock on it, which the system drops when the process ends, however it ends: one without a lock
was left by a killed process, and the next writer of the same name removes it. Writers at the same time have
different numbers. So a few names are looked up; the folder, which may hold a million files, is not listed.

The same locks, of filelock, admit one writer at a time to a whole output (`only_writer`). Where the file
system has no locks, and for partial files on Windows, where a lock keeps out its owner too, nothing is locked
or removed.
"""

import errno
import logging
import os
import shutil
import socket
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TypeVar

from filelock import lock_descriptor

from muse.errors import BadFile, MuseError
from muse.files.source import is_stream

log = logging.getLogger(__name__)

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the errors of a disk, a quota or a limit that is reached
LONGEST = 200  # bytes of a name that a partial file takes over: file systems take 255 in all
AT_ONCE = 8  # writers of the same name whose partial files are found after a kill
LOCKS = os.name != "nt"
NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # for what writes into a pipe
T = TypeVar("T")


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
def writing(place: Path, kind: str = "folder") -> Iterator[None]:
    """A block in which a full or read-only disk raises BadFile."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        # Beside an error of the disk torch.save raises its own.
        found = error.__context__ if isinstance(error, RuntimeError) else error
        if not isinstance(found, OSError):
            raise
        message = f"{place}: expected a writable {kind}, got {found.strerror or found}; check the folder"
        if found.errno in FULL:
            message = f"{place}: the disk is full ({found.strerror}); free some space or choose another place"
        raise BadFile(message) from found


def lock(path: Path, flags: int = os.O_RDONLY, *, without_locks: bool = True) -> int | None:
    """A descriptor that holds the lock of a file or folder until it is closed; None if another has it.

    On a file system without locks it holds none, or there is None unless this does `without_locks`.
    """
    descriptor = os.open(path, flags | NO_WAIT)
    try:
        # Whoever held it before may have removed it in between: what is locked then has no name.
        held = lock_descriptor(descriptor, blocking=False) and _is_same(path, descriptor, unknown=False)
    except OSError:
        held = without_locks
    if held:
        return descriptor
    os.close(descriptor)
    return None


@contextmanager
def only_writer(out: Path) -> Iterator[None]:
    """A block in which no other process writes `out`; BadFile, with who does, if one is at it already.

    Missing parent folders are created, and removed again if they are empty at the end.
    """
    out = out.resolve()
    place, descriptor = out.with_name(f".{out.name}.lock"), None
    with writing(out.parent):
        made = make_parents(place)
    if place.is_symlink() or (place.exists() and not place.is_file()):
        raise BadFile(
            f"{place}: expected a file, which is locked while {out.name} is written, got a link, a folder "
            "or a pipe; remove it, or choose another --out"
        )
    try:
        with writing(out.parent):
            try:
                # Not through a link that is there by now, which may lead to anything.
                descriptor = lock(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0))
            except PermissionError:  # of another account: to lock it, it need only be read
                if not os.path.lexists(place):
                    raise
                try:
                    descriptor = lock(place)
                except PermissionError as error:
                    raise BadFile(
                        f"{place}: expected a lock that this account can read, got one of another; remove it "
                        f"if nobody writes {out.name} any more, or choose another --out"
                    ) from error
        if descriptor is None:
            holder = ""
            with suppress(OSError):
                holder = place.read_text(encoding="utf-8", errors="replace")
            raise BadFile(
                f"{out}: expected to be the only one that writes it, got another at it "
                f"({holder or 'unknown'}); wait until that has ended, or choose another --out"
            )
        with suppress(OSError):  # it is of another account: what is locked need not be written
            os.truncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):  # or it cannot be removed, which leaves it unlocked
                place.unlink()
            os.close(descriptor)
        remove_empty(made)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to `path` when the block ends without an error.

    On any error, Ctrl-C included, the partial file is removed and `path` is unchanged; what a killed
    process left of the same file is removed first. Raise BadFile for a device or a pipe.
    """
    path = Path(os.path.realpath(path))  # a link stays one
    refuse_special(path)

    def place(partial: Path) -> None:
        # A file that is replaced keeps its mode.
        _allow(partial, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        partial.replace(path)

    with _partial(path, place, is_folder=False) as partial:
        yield partial


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path`, which replaces `path` when the block ends without an error.

    Missing parent folders are created, and removed again on an error. What a killed process left of the
    same folder is removed first.
    """
    path = Path(os.path.realpath(path))

    def place(partial: Path) -> None:
        _allow(partial, 0o777 & ~_umask())
        _swap(partial, path)

    with parents_made(path), _partial(path, place) as partial:
        yield partial


@contextmanager
def atomic_files(folder: Path) -> Iterator[Path]:
    """A temporary folder, whose files go into `folder` when the block ends without an error.

    A new `folder` appears in one step. In one that is there each file does, after all have been written;
    what else is in it stays.
    """
    folder = Path(os.path.realpath(folder))

    def place(partial: Path) -> None:
        places = {path: Path(os.path.realpath(folder / path.name)) for path in sorted(partial.iterdir())}
        for found in places.values():
            refuse_special(found)
        for path, found in places.items():
            path.replace(found)
        partial.rmdir()

    with _partial(folder / folder.name, place) if folder.exists() else atomic_folder(folder) as partial:
        yield partial


def refuse_special(path: Path) -> None:
    """Raise BadFile if `path` is there and neither a file nor a folder: renaming would replace a device."""
    if is_stream(path):
        raise BadFile(f"{path}: expected the name of a file, got a device or a pipe; choose another name")


def refuse_irreplaceable(path: Path) -> None:
    """Raise BadFile if `path` cannot be replaced.

    It has the working folder in it, in which relative names then lead nowhere; or it is of another account,
    in a folder such as /tmp: there everyone may write, but each keeps what is its own (the folder is sticky).
    """
    with suppress(OSError):
        if Path.cwd().is_relative_to(path.resolve()):
            raise BadFile(
                f"{path}: expected another folder than the working one and those above it, which cannot be "
                "replaced while one is in it; choose another name"
            )
    try:
        folder, found = path.resolve().parent.stat(), path.resolve().stat()
    except OSError:  # there is none, or writing it reports the error
        return
    shared = os.name == "posix" and folder.st_mode & stat.S_ISVTX
    if shared and os.geteuid() not in (0, folder.st_uid, found.st_uid):
        raise BadFile(
            f"{path}: expected a name that is free or of this account, got what another account has written "
            f"in {path.resolve().parent}, where only that one may replace it; choose another name"
        )


@contextmanager
def _partial(path: Path, place: Callable[[Path], None], *, is_folder: bool = True) -> Iterator[Path]:
    """A new partial folder or file of `path`, which the end of the block puts in its place.

    Till then it is locked, and its owner alone has access; it is removed on any error, and what a kill left
    of another first.
    """
    for number in range(AT_ONCE if LOCKS else 0):
        _clean(_numbered(path, number), path)
    for number in count():
        partial = _numbered(path, number)
        try:
            if is_folder:
                partial.mkdir(0o700)
            else:
                os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            continue
        # Before it is locked, another process may take it for a left one.
        with suppress(FileNotFoundError):
            held = lock(partial) if LOCKS else os.open(os.devnull, os.O_RDONLY)
            if held is not None:
                descriptor = held
                break
    try:
        yield partial
        _flush(partial)
        place(partial)
    except BaseException:
        _remove(partial)
        raise
    finally:
        os.close(descriptor)


def _remove(partial: Path) -> None:
    if partial.is_dir():
        shutil.rmtree(partial, ignore_errors=True)
    else:
        partial.unlink(missing_ok=True)


def _allow(partial: Path, mode: int) -> None:
    with _tolerating(errno.EPERM, errno.EOPNOTSUPP):  # FAT has no modes, and lets everyone in anyway
        partial.chmod(mode)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def _tolerating(*codes: int) -> Iterator[None]:
    """A block in which these errors of the file system, of what it does not have, do not count."""
    try:
        yield
    except OSError as error:
        if error.errno not in codes:
            raise


def _numbered(path: Path, number: int) -> Path:
    name = os.fsdecode(os.fsencode(path.name)[:LONGEST])
    return path.with_name(f".{name}.{number}.partial")


def _clean(partial: Path, path: Path) -> None:
    """Remove a partial file or folder without a writer, and put back a folder that a kill left aside."""
    with suppress(OSError):  # there is none, or it is of another account
        descriptor = lock(partial, without_locks=False)
        if descriptor is not None:
            _remove(partial)
            os.close(descriptor)
    aside = _aside(partial)
    if aside.is_dir() and not partial.exists():  # else its writer lives, and is about to
        if path.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            with suppress(OSError):
                aside.rename(path)


def present(folder: Path) -> Path:
    """Where a folder is: renamed aside while another replaces it, or where a kill left it then."""
    real = Path(os.path.realpath(folder))
    places = (_aside(_numbered(real, number)) for number in range(AT_ONCE))
    return folder if folder.exists() else next((one for one in places if one.is_dir()), folder)


def read_whole(folder: Path, read: Callable[[Path], T]) -> T:
    """What `read` returns of a folder, all of one version: read again if it was replaced in between."""
    while True:
        place = present(folder)
        try:
            opened = os.open(place, os.O_RDONLY | NO_WAIT)
        except OSError:
            if present(folder) != place:
                continue
            return read(folder)  # which reports the error, or is on a system that opens no folders
        try:
            found = read(place)
            if _is_same(place, opened, unknown=True):
                return found
        except MuseError:
            # One that was renamed aside loses its files before its name.
            if present(folder) == place and _is_same(place, opened, unknown=True):
                raise
        finally:
            os.close(opened)


def _is_same(path: Path, opened: int, *, unknown: bool) -> bool:
    """Whether a path still names what was opened; `unknown`, if it may no longer be looked at."""
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except FileNotFoundError:
        return False
    except OSError:
        return unknown


def _flush(partial: Path) -> None:
    """Has a file, or all files of a folder, written to the disk: else a power cut may leave it empty."""
    flags = os.O_RDWR if os.name == "nt" else os.O_RDONLY
    for path in [one for one in partial.rglob("*") if one.is_file()] if partial.is_dir() else [partial]:
        descriptor = os.open(path, flags)
        try:
            with _tolerating(errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _swap(partial: Path, path: Path) -> None:
    """Give a folder its name; one that has it is renamed aside first, then removed; on an error restored."""
    aside = _aside(partial)
    try:
        while True:
            if path.exists():
                shutil.rmtree(aside, ignore_errors=True)
                path.rename(aside)
            try:
                partial.rename(path)
                break
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another writer was quicker
                    raise
    finally:
        if not path.exists() and aside.exists():
            aside.rename(path)
        shutil.rmtree(aside, ignore_errors=True)
    if aside.exists():
        log.warning("%s is written; what was there before cannot be removed by this account: %s", path, aside)


def _aside(partial: Path) -> Path:
    """Where the folder that a partial one replaces is for a moment."""
    return partial.with_suffix(".old")
