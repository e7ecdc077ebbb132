"""Source: the bytes of a file, decompressed from .gz or .zip while reading."""

from __future__ import annotations

import gzip
import lzma
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, cast

from muse.errors import BadFile

# Raised on reading a broken archive, as observed or documented; RuntimeError: zipfile, for encrypted files.
BROKEN = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)
_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\3\4", b"PK\5\6")  # the second one has nothing in it


class Source:
    """A stream of bytes with its path, for messages, and its size on disk, for estimates.

    `ahead` are the bytes of an uncompressed file that were already read; a compressed one has none.
    """

    def __init__(self, path: Path, stream: IO[bytes], *, size: int, ahead: bytes | None = None) -> None:
        self.path = path
        self.size = size
        self.packed = ahead is None
        self._stream = stream
        self._ahead = ahead or b""

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end, without consuming them."""
        while len(self._ahead) < size:
            more = self._take(size - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead[:size]

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, none only at the end."""
        if not self._ahead:
            return self._take(size)
        taken, self._ahead = self._ahead[:size], self._ahead[size:]
        return taken

    def _take(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except BROKEN as error:
            raise BadFile(
                f"{self.path}: expected a complete file, got a broken one ({error}); download it again"
            ) from error


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """The content of `path`, decompressed if its first bytes are those of a .gz or .zip (of one file)."""
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(path.open("rb"))
            size = path.stat().st_size
            magic = raw.read(4)
        except OSError as error:
            raise BadFile(_cannot_open(path, error)) from error
        if not magic:
            raise BadFile(
                f"{path}: expected content, got an empty file; check the program that wrote it, or download "
                "it again"
            )
        if magic.startswith(_GZIP):
            raw.seek(0)
            unpacked = stack.enter_context(gzip.GzipFile(fileobj=raw))
            yield Source(path, cast("IO[bytes]", unpacked), size=size)
        elif magic.startswith(_ZIP):
            yield Source(path, stack.enter_context(_only_member(path, stack)), size=size)
        else:
            yield Source(path, raw, size=size, ahead=magic)  # not read again: a pipe cannot seek


def _only_member(path: Path, stack: ExitStack) -> IO[bytes]:
    try:
        archive = stack.enter_context(zipfile.ZipFile(path))
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        if len(names) == 1:
            return archive.open(names[0])
    except BROKEN as error:
        raise BadFile(
            f"{path}: expected a complete .zip, got a broken one ({error}); download it again"
        ) from error
    raise BadFile(
        f"{path}: expected one file in the .zip, got {len(names)} ({', '.join(names[:3])}); "
        "unpack the one you want"
    )


def is_packed(path: Path) -> bool:
    """Whether a file is compressed; BadFile if it cannot be read or is empty."""
    with open_source(path) as source:
        return source.packed


@contextmanager
def unpacked_path(source: Source) -> Iterator[Path]:
    """A path to the decompressed content: the file itself, or a temporary copy for the block."""
    if not source.packed:
        yield source.path
        return
    with tempfile.TemporaryDirectory(prefix="muse-") as folder:
        copy = Path(folder) / "unpacked"
        with copy.open("wb") as target:
            while data := source.read(1 << 20):
                target.write(data)
        yield copy


def _cannot_open(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{path}: expected a file, but it does not exist; check the path"
    if isinstance(error, IsADirectoryError):
        if (path / "manifest.json").exists():
            return f"{path}: expected a file, got a space or encoder that muse has saved; check the order"
        return f"{path}: expected a file, got a folder; give a file in it"
    if isinstance(error, PermissionError):
        return f"{path}: expected a readable file, got permission denied; change its permissions"
    return f"{path}: expected a readable file, got {error.strerror or error}"
