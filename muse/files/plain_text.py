"""Plain text: the lines of a file, or of a stream that is still being written.

Lines are read block by block, in linear time, with a bound on how long one may be. They end in LF, or in CR
and LF; in CR alone, as on old Macs, if there is no LF: amid other text CR is part of a line. Text in UTF-16
or UTF-32 with a byte order mark, as Excel and Notepad write it, is read as UTF-8 is, and so is UTF-16 without
one if its zeros tell it.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from muse.errors import BadFile
from muse.files.source import Source, open_source

BLOCK = 1 << 16
_NO_LF = 1 << 16  # bytes without LF from which a text with CR has lines that end in CR
LONGEST = 1 << 26  # of text: a book without an end of line still is one
_LEAST_UNMARKED = 16  # bytes from which on UTF-16 without a byte order mark is told
BOM = b"\xef\xbb\xbf"
# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
Read = Callable[[int], bytes]  # up to so many bytes of a stream, none only at the end


def marked_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32, if a text begins with its byte order mark; None for any other, which is UTF-8."""
    return next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)


def as_utf8(read: Read, encoding: str | None, name: object) -> Read:
    """What reads a stream in this encoding as UTF-8, in which ends of lines are single bytes.

    Raise BadFile for bytes that are not in it; `name` is the file in its message.
    """
    if encoding is None:
        return read
    decode, number = codecs.getincrementaldecoder(encoding)().decode, 1

    def read_utf8(size: int) -> bytes:
        nonlocal number
        while True:
            data = read(size)
            try:
                text = decode(data, not data)
            except UnicodeDecodeError as error:
                raise BadFile(
                    f"{name}:{number}: expected {encoding[:6].upper()}, got what is none ({error.reason}); "
                    "save the file as UTF-8"
                ) from None
            number += text.count("\n")
            if text or not data:  # a block may end inside its first character
                return text.encode()

    return read_utf8


def blocks_of_lines(
    read: Read, name: object, *, longest: int = LONGEST, ends: bool = False
) -> Iterator[list[bytes]]:
    r"""The lines of a stream, with or without what `ends` each, in blocks of all that were read.

    Without it a \r before \n stays. Raise BadFile for a line of more than `longest` bytes; `name` is the file
    in its message.
    """
    number, begun, waiting = 1, list[bytes](), 0  # of the line that is still incomplete
    end, has_cr = b"\n", False
    while data := read(BLOCK):
        if end == b"\r" and b"\n" in data:
            raise BadFile(
                f"{name}:{number}: expected lines that end in CR, as before, got an LF; write all ends in "
                "one way"
            )
        first, *others = data.split(end)
        begun.append(first)
        waiting += len(first)
        has_cr = has_cr or b"\r" in first
        if number == 1 and end == b"\n" and has_cr and not others and waiting >= _NO_LF:
            end = b"\r"
            first, *others = b"".join(begun).split(end)
            begun, waiting = [first], len(first)
        if waiting > longest:
            raise BadFile(
                f"{name}:{number}: expected a line of at most {longest} bytes, got a longer one; check "
                "that it is the file you mean"
            )
        if not others:
            continue
        *whole, rest = others
        yield [line + end * ends for line in (b"".join(begun), *whole)]
        number += len(others)
        begun, waiting = [rest], len(rest)
    last = b"".join(begun)
    if number == 1 and end == b"\n" and has_cr:
        yield re.findall(rb"[^\r]*\r|[^\r]+\Z", last) if ends else last.removesuffix(b"\r").split(b"\r")
    elif last:
        yield [last]


def read_lines(path: Path | str, encoding: str | None = None) -> Iterator[str]:
    """The lines of a text file, compressed or not, without line ends.

    The encoding is that of its byte order mark, else the one given, else UTF-16 if its zeros tell it, else
    UTF-8; BadFile where it is not.
    """
    with open_source(Path(path)) as source:
        yield from lines_of_source(source, encoding)


def lines_of_source(source: Source, encoding: str | None = None) -> Iterator[str]:
    """The lines of an open text, likewise."""
    for block in read_blocks(source.read, str(source.path), encoding):
        yield from block


def read_blocks(
    read: Read, name: str, otherwise: str | None = None, *, ends: bool = False
) -> Iterator[list[str]]:
    """The lines of a stream, in blocks of all lines that have arrived so far.

    With `ends` each has that of its line, and the first one a byte order mark that it has.
    """
    number, begun = 1, [read(BLOCK)]
    encoding = marked_encoding(begun[0]) or otherwise or _unmarked_utf_16(begun[0])
    whole = as_utf8(lambda size: begun.pop() if begun else read(size), encoding, name)
    for lines in blocks_of_lines(whole, name, ends=ends):
        if number == 1 and not ends:
            lines[0] = lines[0].removeprefix(BOM)
        yield [decoded_line(line, name, place) for place, line in enumerate(lines, number)]
        number += len(lines)


def _unmarked_utf_16(head: bytes) -> str | None:
    # As of Excel's "Unicode text": every other byte of letters in ASCII, spaces and ends of lines is 0.
    even, odd = head[::2].count(0), head[1::2].count(0)
    if len(head) >= _LEAST_UNMARKED and 4 * max(even, odd) > len(head) and not min(even, odd):
        return "utf-16-le" if odd else "utf-16-be"
    return None


def decoded_line(line: bytes, name: str | Path, number: int) -> str:
    """The line as text, without the end of a line of Windows; BadFile if it is not UTF-8."""
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{name}:{number}: expected UTF-8, got the byte 0x{line[error.start]:02x}; "
            "convert the text to UTF-8"
        ) from None
