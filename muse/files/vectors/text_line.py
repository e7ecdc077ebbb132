"""One line of text vectors, with all cases: phrases, irregular spacing, any number of float(), errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from muse.files.detect import is_number
from muse.files.vectors.broken import BrokenWord, WordFault, is_cut
from muse.vectors import Matrix

_TOO_LARGE = 2.0**128 - 2.0**103  # from here on float32 rounds to infinity
_LONGEST_WORD = 1 << 16  # bytes
SAMPLE = 20  # the first lines of a file, which determine its dimension
_SHOWN = 40  # bytes of a field in a message
_FEWEST_LINES = 5  # fewer lines may all be phrases that end in a number
_DECIMAL = re.compile(rb"[.eE]")

Row = Matrix  # (d,)


@dataclass(frozen=True)
class Line:
    """The place of a line and the numbers it must have, for its errors."""

    path: Path
    number: int
    dimension: int

    def after(self, lines: int) -> Line:
        """The place `lines` further down."""
        return Line(self.path, self.number + lines, self.dimension)  # replace() takes four times as long

    def fault(self, word: bytes, expected: str, got: str, advice: str) -> BrokenWord:
        """The error to raise for this line, whose numbers are broken."""
        return self.error(WordFault.NUMBERS, word, f"expected {expected}, got {got}; {advice}")

    def error(self, kind: WordFault, word: bytes, message: str) -> BrokenWord:
        """The error to raise for this line."""
        return BrokenWord(f"{self.path}:{self.number}: {message}", kind, word, f"line {self.number}")


def as_number(field: bytes) -> float | None:
    """The number in a field, None if it is none or too large for float32."""
    if not is_number(field):
        return None
    value = float(field)
    return value if abs(value) < _TOO_LARGE else None


def numbers_at_end(fields: list[bytes]) -> int:
    """The number of fields at the end of a line, after the first, that are numbers."""
    count = 0
    for field in reversed(fields[1:]):
        if not is_number(field):
            break
        count += 1
    return count


def runs_over(lines: list[bytes], dimension: int) -> bool:
    """Whether every one of these lines has a number before its last d fields; False for few lines.

    "route 66" is a word, and a few lines may be such; not all the first lines of a file.
    """
    words = [line.rsplit(None, dimension)[0].split() for line in lines if line.strip()]
    return len(words) >= _FEWEST_LINES and all(len(word) > 1 and is_number(word[-1]) for word in words)


def read_line(line: bytes, where: Line) -> tuple[str, Row] | None:
    """The word, which is everything before the last d fields, and its numbers (d,); None for a blank line.

    Raise BrokenWord for a line that is not so.
    """
    fields = line.rsplit(None, where.dimension)
    if not fields:
        return None
    if len(fields) <= where.dimension:
        raise _no_word(where) if lacks_word(line, where.dimension) else _too_few(line.split(), where)
    if len(fields[0]) > _LONGEST_WORD:
        raise where.fault(
            fields[0],
            f"a word of at most {_LONGEST_WORD} bytes",
            f"{len(fields[0])} bytes before the last {where.dimension} numbers",
            "download the file again, or remove the line",
        )
    word = fields[0].strip(b" \t")
    if _runs_over(fields[0], fields[1]):
        raise _too_many(line.split(), where)
    numbers = _numbers(word, fields[1:], where)
    return _decoded(word, where), numbers


def lacks_word(line: bytes, dimension: int) -> bool:
    """Whether a line has its d numbers alone: after a separator, or with a decimal in the place of the word.

    >>> lacks_word(b" 1 2", 2), lacks_word(b"1.5 2.5", 2), lacks_word(b"1984 2", 2), lacks_word(b"a 1 2", 2)
    (True, True, False, False)
    """
    fields = line.split()
    right = len(fields) == dimension and all(map(is_number, fields))
    return right and (line[:1] in (b" ", b"\t") or (len(fields) > 1 and all(map(_DECIMAL.search, fields))))


def _no_word(where: Line) -> BrokenWord:
    expected = (
        f"a word before the {where.dimension} numbers" if where.dimension > 1 else "a word before the number"
    )
    return where.error(
        WordFault.EMPTY, b"", f"expected {expected}, got none; remove the line, or download the file again"
    )


def _numbers(word: bytes, fields: list[bytes], where: Line) -> Row:
    try:
        values = np.fromiter(map(float, fields), np.float64, len(fields))  # without a list of them
    except ValueError:
        raise _no_number(word, fields, where) from None
    # NaN fails every comparison, so it is caught here too.
    if not (abs(values) < _TOO_LARGE).all() or b"_" in b" ".join(fields):
        raise _no_number(word, fields, where)
    return values.astype(np.float32)


def _decoded(word: bytes, where: Line) -> str:
    try:
        return word.decode()
    except UnicodeDecodeError as error:
        raise where.error(
            WordFault.CUT if is_cut(word) else WordFault.BYTES,
            word,
            f"expected UTF-8, got the byte 0x{word[error.start]:02x} in the word {word[:_SHOWN]!r}; convert "
            "the file to UTF-8, or download it again",
        ) from None


def _runs_over(word: bytes, number: bytes) -> bool:
    # "route 66" before 0.1 is a word; "the 0.2" before 0.1 is one number too many, or two lines in one.
    more = word.split()[1:]
    if not more:  # as in nearly every line
        return False
    decimal = bool(_DECIMAL.search(number))
    return any(is_number(field) and bool(_DECIMAL.search(field)) == decimal for field in more)


def _too_few(fields: list[bytes], where: Line) -> BrokenWord:
    return where.fault(
        fields[0],
        f"{where.dimension} numbers after the word",
        f"{len(fields) - 1} (word {_shown(fields[0])})",
        "the file may be incomplete: download it again",
    )


def _too_many(fields: list[bytes], where: Line) -> BrokenWord:
    return where.fault(
        fields[0],
        f"{where.dimension} numbers after the word",
        f"{sum(map(is_number, fields[1:]))} (word {_shown(fields[0])})",
        "download the file again, or correct the dimension in its first line",
    )


def _no_number(word: bytes, fields: list[bytes], where: Line) -> BrokenWord:
    place = next(i for i, field in enumerate(fields) if as_number(field) is None)
    kind = "a finite number" if is_number(fields[place]) else "a number"
    return where.fault(
        word,
        f"{kind} in place {place + 1} after the word",
        f"{_shown(fields[place])} (word {_shown(word)})",
        "write numbers with a decimal point"
        if b"," in fields[place]
        else "download the file again, or remove the line",
    )


def _shown(field: bytes) -> str:
    return repr(field[:_SHOWN].decode("utf-8", "backslashreplace"))
