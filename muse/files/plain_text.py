"""Plain text: the lines of a file, or of a stream that is still being written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from muse.errors import BadFile
from muse.files.lines import blocks_of_lines
from muse.files.source import open_source

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
    number = 1
    for lines in blocks_of_lines(read, name):
        if number == 1:
            lines[0] = lines[0].removeprefix(BOM)
        yield [_decoded(line, name, place) for place, line in enumerate(lines, number)]
        number += len(lines)


def _decoded(line: bytes, name: str, number: int) -> str:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{name}:{number}: expected UTF-8, got the byte 0x{line[error.start]:02x}; "
            "convert the text to UTF-8"
        ) from None
