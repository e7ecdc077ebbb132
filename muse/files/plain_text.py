"""Plain text: the lines of a file, or of a stream that is still being written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from muse.errors import BadFile
from muse.files.source import open_source

_BLOCK = 1 << 16
BOM = b"\xef\xbb\xbf"


class Stream(Protocol):
    """A stream such as standard input: `read1` returns the bytes available, and waits if there are none."""

    def read1(self, size: int = ..., /) -> bytes:
        """Up to `size` bytes, none only at the end."""


def read_lines(path: Path | str) -> Iterator[str]:
    """The lines of a text file, compressed or not, without line ends."""
    path = Path(path)
    with open_source(path) as source:
        for block in _blocks(source.read, str(path)):
            yield from block


def read_blocks(stream: Stream, name: str) -> Iterator[list[str]]:
    """The lines of a stream, without line ends, in blocks of all lines that have arrived so far."""
    yield from _blocks(stream.read1, name)


def lines_of(data: bytes, name: str, number: int) -> list[str]:
    """The lines of a part of a text, without line ends; the first is line `number` of what `name` names."""
    lines = data.removesuffix(b"\n").split(b"\n")
    return [_decoded(line, name, place) for place, line in enumerate(lines, number)]


def _blocks(read: Callable[[int], bytes], name: str) -> Iterator[list[str]]:
    number, begun = 1, [b""]  # of the line that is still incomplete
    while data := read(_BLOCK):
        if number == 1 and begun == [b""]:
            data = data.removeprefix(BOM)
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
