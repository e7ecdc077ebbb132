"""Source: the bytes of a file, unpacked from .gz, .bz2, .xz, .zip or .tar while reading."""

import bz2
import errno
import gzip
import lzma
import os
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tokenize import TokenError
from typing import IO, Protocol, cast

from muse.errors import BadFile

# Raised on reading a broken archive, as observed or documented; RuntimeError: zipfile, for encrypted files.
BROKEN = (
    OSError, EOFError, ValueError, RuntimeError, struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    tarfile.TarError,
)  # fmt: skip
# Raised by what parses damaged content, as observed: archives, numpy's headers, arrays, settings.
DAMAGED = (*BROKEN, ArithmeticError, AttributeError, LookupError, SyntaxError, TokenError, TypeError)
# What is not read: zst, 7z, rar, lz4 and that of the old program compress.
PACKED_OTHERWISE = {
    "zst": b"\x28\xb5\x2f\xfd", "7z": b"7z\xbc\xaf", "rar": b"Rar!\x1a\x07", "lz4": b"\x04\x22\x4d\x18",
    "Z": b"\x1f\x9d",
}  # fmt: skip
_GZIP = b"\x1f\x8b"
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_XZ = (b"\xfd7zXZ\0", b"]\0\0")  # the second is that of the older .lzma
_TAR, _TAR_AT = b"ustar", 257
_LEVELS = 3  # a .vec.gz in a .tar.gz
_MEMBERS = 10_000  # of a .tar, among which there must be one file
_ZIP = (b"PK\3\4", b"PK\5\6")  # the second one has nothing in it
_PARQUET = b"PAR1"
FREE = 1 << 22  # bytes that any compressed file may have
FREE_PAIRS, PAIRS = 1 << 18, 4  # that any table may have, and for each letter of its words
RATIO, RATIO_VARIABLE = 100, "MUSE_UNPACK_RATIO"  # text shrinks to a tenth at best, vectors to a third


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, none only at the end."""


@dataclass(eq=False)
class Source:
    """A stream of bytes, read once from the start, with its path, for messages, and its size, for estimates.

    The size is that on disk, 0 of a pipe. `ahead` are bytes that were already read from the stream, `inner`
    is the source that it is unpacked from, if it can be a pipe; it is what growth is compared with.
    """

    path: Path
    stream: Readable = field(repr=False)
    size: int
    ahead: bytes = field(default=b"", repr=False)
    packed: bool = False
    inner: "Source | None" = None
    at: int = 0  # in `ahead`, which is not copied for every block that is taken from it

    def __post_init__(self) -> None:
        self.taken = len(self.ahead)  # bytes, so far

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end, without consuming them."""
        self.ahead, self.at = self.ahead[self.at :], 0
        while len(self.ahead) < size:
            more = self._take(size - len(self.ahead))
            if not more:
                break
            self.ahead += more
        return self.ahead[:size]

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, none only at the end."""
        if self.at == len(self.ahead):
            self.ahead, self.at = b"", 0
            return self._take(size)
        taken = self.ahead[self.at : self.at + size]
        self.at += len(taken)
        return taken

    def _take(self, size: int) -> bytes:
        try:
            data = self.stream.read(size)
        except (*BROKEN, MemoryError) as error:  # an archive may ask for any amount
            if isinstance(error, OSError) and error.errno is not None:  # the disk's, not the content's
                raise BadFile(cannot_open(self.path, error)) from error
            raise BadFile(
                f"{self.path}: expected a complete file, got a broken one ({error}); download it again"
            ) from error
        self.taken += len(data)
        if self.packed:
            check_ratio(self.path, self.taken, self.inner.taken if self.inner else self.size)
        return data


def check_ratio(path: Path, unpacked: int, packed: int) -> None:
    """Raise BadFile if a compressed file has become too large for its size: it may be made to fill memory."""
    given = os.environ.get(RATIO_VARIABLE, "")
    largest = int(given) if given.isdecimal() and len(given) < 10 else RATIO
    if unpacked > max(FREE, largest * packed):
        raise BadFile(
            f"{path}: expected a compressed file that grows at most {largest} times, got {unpacked} bytes "
            f"out of {packed}; if you trust it, unpack it first or set {RATIO_VARIABLE} to a larger number"
        )


def check_pairs(where: str, pairs: int, letters: int) -> None:
    """Raise BadFile if a table has become too many pairs for its words: two cells with many make millions."""
    if pairs > max(FREE_PAIRS, PAIRS * letters):
        raise BadFile(
            f"{where}: expected at most {PAIRS} pairs for each letter, got cells with so many translations "
            f"that they make {pairs:,} and more; write one pair in each row"
        )


def check_archive(path: Path) -> None:
    """Raise BadFile for a .zip whose members say that they become too large."""
    with zipfile.ZipFile(path) as archive:
        check_ratio(path, sum(entry.file_size for entry in archive.infolist()), path.stat().st_size)


def is_stream(path: Path) -> bool:
    """Whether `path` is a pipe or a device, which can be read only once, and only from its start."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False  # opening it reports the error
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def first_bytes(path: Path, size: int) -> bytes:
    """The first bytes of a file; none of a pipe, in which they would be lost, or if it cannot be read."""
    if is_stream(path):
        return b""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""  # opening it reports the error


def refuse_stream(path: Path, why: str) -> None:
    """Raise BadFile for a pipe or a device where it would be read twice or not from its start."""
    if is_stream(path):
        raise BadFile(
            f"{path}: expected a regular file, {why}, got a pipe or a device; save it to a file first"
        )


def regular_bytes(path: Path) -> bytes:
    """The content of a regular file; OSError for a pipe or a device too, which may have no end."""
    if is_stream(path):
        raise OSError(errno.EINVAL, "a pipe or a device, not a file", str(path))
    return path.read_bytes()


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """The content of `path`, unpacked if its first bytes are those of .gz, .bz2, .xz, .zip or .tar.

    A .zip or .tar, packed or not, must have one file in it, or is a folder of the path of one in it.
    """
    with ExitStack() as stack:
        try:
            archive = path if path.exists() else next(filter(members, path.parents), path)
            raw = stack.enter_context(archive.open("rb"))
            size = 0 if is_stream(archive) else archive.stat().st_size
            magic = raw.read(4)
        except OSError as error:
            raise BadFile(cannot_open(path, error)) from error
        if not magic:
            raise BadFile(f"{path}: expected content, got an empty file; check the program that wrote it")
        on_disk: Source | None = (source := Source(path, raw, size=size, ahead=magic))
        for _ in range(_LEVELS):
            if (inner := _unpacked(source, stack, archive)) is None:
                break
            if not isinstance(inner, gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile):
                on_disk = None  # archives are read by their path
            source = Source(path, inner, size=size, packed=True, inner=on_disk)
        yield source


def members(path: Path) -> list[Path]:
    """The paths of the files in a .zip or .tar that has more than one; none of another file."""
    names = names_in(path)
    return [path / name for name in names] if len(names) > 1 else []


def names_in(path: Path) -> list[str]:
    """The names of the files in a .zip or .tar; none of another file, or of a broken one."""
    try:
        with ExitStack() as stack:
            return files_in(path, stack)[0] if path.is_file() else []
    except (*DAMAGED, MemoryError):
        return []  # opening it reports the error


def files_in(path: Path, stack: ExitStack) -> tuple[list[str], Callable[[str], IO[bytes] | None]]:
    """The names of the files in a .zip or .tar, and what opens one; an error of BROKEN for another file."""
    opened: Callable[[str], IO[bytes] | None]
    if zipfile.is_zipfile(path):
        zipped = stack.enter_context(zipfile.ZipFile(path))
        names, opened = [one.filename for one in zipped.infolist() if not one.is_dir()], zipped.open
    else:
        tarred = stack.enter_context(tarfile.open(path))
        names = [one.name for one in islice(tarred, _MEMBERS) if one.isfile()]
        opened = tarred.extractfile
    # macOS packs files of its own beside each file.
    mac = re.compile(r"^__MACOSX/|(?:^|/)(?:\._[^/]*|\.DS_Store)$")
    return [name for name in names if not mac.search(name)], opened


def _unpacked(source: Source, stack: ExitStack, archive: Path) -> Readable | None:
    head = source.peek(_TAR_AT + len(_TAR))
    if name := next((name for name, magic in PACKED_OTHERWISE.items() if head.startswith(magic)), None):
        raise BadFile(
            f"{source.path}: expected plain text, .gz, .bz2, .xz, .zip or .tar, got {name}; unpack it first"
        )
    tar = head[_TAR_AT:] == _TAR
    if tar or head.startswith((*_ZIP, _PARQUET)):
        refuse_stream(source.path, "since this format is not read from its start")
    stream = cast("IO[bytes]", source)
    if head.startswith(_GZIP):
        return stack.enter_context(gzip.GzipFile(fileobj=stream))
    if _BZIP2.match(head):
        return stack.enter_context(bz2.BZ2File(stream))
    if head.startswith(_XZ):
        return stack.enter_context(lzma.LZMAFile(stream))
    if tar or (head.startswith(_ZIP) and not source.packed):
        return stack.enter_context(_member(source.path, stack, archive, "tar" if tar else "zip"))
    return None


def _member(path: Path, stack: ExitStack, archive: Path, kind: str) -> IO[bytes]:
    try:
        names, opened = files_in(archive, stack)
        wanted = names[0] if len(names) == 1 and path == archive else str(path.relative_to(archive))
        if wanted in names:
            return cast("IO[bytes]", opened(wanted))  # since it is a file
    except DAMAGED as error:
        raise BadFile(
            f"{path}: expected a complete .{kind}, got a broken one ({error}); download it again"
        ) from error
    raise BadFile(
        f"{path}: expected one file in the .{kind}, got {len(names)} ({', '.join(names[:3])}); unpack the "
        f"one you want, or give it as {archive}/{next(iter(names), 'NAME')}"
    )


def is_packed(path: Path) -> bool:
    """Whether a file is compressed; BadFile if it is empty or cannot be read, or only once."""
    refuse_stream(path, "since it is looked at first")
    with open_source(path) as source:
        return source.packed


@contextmanager
def unpacked_path(source: Source) -> Iterator[Path]:
    """A path to the decompressed content: the file itself, or a temporary copy for the block."""
    if not source.packed and not is_stream(source.path):
        yield source.path
        return
    with tempfile.TemporaryDirectory(prefix="muse-") as folder:
        copy = Path(folder) / "unpacked"
        with temporary_file(copy, source.path) as target:
            while data := source.read(1 << 20):
                target.write(data)
        yield copy


@contextmanager
def temporary_file(place: Path, path: Path) -> Iterator[IO[bytes]]:
    """A file to write what is unpacked of `path` to; BadFile if the disk is full."""
    try:
        with place.open("wb") as target:
            yield target
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise BadFile(
            f"{path}: expected room to unpack it in {tempfile.gettempdir()}, got {error.strerror}; free some "
            "space, or set TMPDIR to a folder with more"
        ) from error


def cannot_open(path: Path, error: OSError) -> str:
    """The message of a BadFile where a file could not be opened."""
    if isinstance(error, IsADirectoryError) and (path / "manifest.json").exists():
        return (
            f"{path}: expected a file, got a space or encoder that muse has saved; give a file (muse export "
            "writes the vectors of a space)"
        )
    said = {
        FileNotFoundError: "a file, but it does not exist; check the path",
        IsADirectoryError: "a file, got a folder; give a file in it",
        PermissionError: "a readable file, got permission denied; change its permissions",
    }.get(type(error), f"a readable file, got {error.strerror or error}; check the path and the disk")
    return f"{path}: expected {said}"
