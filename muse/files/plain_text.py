"""Plain text: its lines, from a file or from a stream that somebody still writes to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from muse.errors import BadFile
from muse.files.source import open_source

_BLOCK = 1 << 16
_BOM = b"\xef\xbb\xbf"


class Stream(Protocol):
    """What standard input is: `read1` returns what is there, and waits only where there is nothing."""

    def read1(self, size: int = ..., /) -> bytes:
        """Up to `size` bytes, none only at the end."""


def read_lines(path: Path | str) -> Iterator[str]:
    """The lines of a text file, also of a .gz, without their ends."""
    path = Path(path)
    with open_source(path) as source:
        for block in _blocks(source.read, str(path)):
            yield from block


def read_blocks(stream: Stream, name: str) -> Iterator[list[str]]:
    """The lines of a stream, without their ends: each time all that have come, so that none waits."""
    yield from _blocks(stream.read1, name)


def _blocks(read: Callable[[int], bytes], name: str) -> Iterator[list[str]]:
    number, begun = 1, [b""]  # of a line that has not ended
    while data := read(_BLOCK):
        if number == 1 and begun == [b""]:
            data = data.removeprefix(_BOM)
        begun.append(data)
        if b"\n" not in data:
            continue
        *lines, rest = b"".join(begun).split(b"\n")
        begun = [rest]
        yield [_decoded(line, name, place) for place, line in enumerate(lines, number)]
        number += len(lines)
    if rest := b"".join(begun):
        yield [_decoded(rest, name, number)]


def _decoded(line: bytes, name: str, number: int) -> str:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{name}:{number}: expected UTF-8, got the byte 0x{line[error.start]:02x}; "
            "convert the text to UTF-8"
        ) from None
