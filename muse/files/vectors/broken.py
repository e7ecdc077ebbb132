"""Broken words: what every reader of word vectors leaves out, counts, and refuses where it is too much.

A word is broken if it is empty or not UTF-8, or if its numbers are not d finite ones. Widely used files have
a few: words that word2vec cut inside a character, surrogates that were written as UTF-8, lines without a
word. Those after the words that are wanted are not counted. Rows of items without a vector are left out and
counted here too, any number of them. A line of text is read here with all that it may have: phrases,
irregular spacing, any number of float().
"""

from __future__ import annotations

import codecs
import logging
import re
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.detect import is_number
from muse.vectors import Matrix

log = logging.getLogger(__name__)

FEW_BROKEN = 5  # broken words of a small file
ONE_IN = 10  # words of any other may be broken
ONE_IN_ENCODING = 100  # words may be no UTF-8 where more are no UTF-8 than are beyond ASCII
GIVE_UP_AFTER = 1_000  # words after which a file is refused of which more than half are broken
SAMPLE = 20  # the first lines of a file, which determine its dimension
_UNCUT = 58  # bytes of a long word that word2phrase keeps; word2vec keeps 98
_LONGEST_SHOWN = 40  # characters of a word in a message
_ONE_BY_ONE = 25  # words, for a message of which file is meant
_TOO_LARGE = 2.0**128 - 2.0**103  # from here on float32 rounds to infinity
_LONGEST_WORD = 1 << 16  # bytes
_FEWEST_LINES = 5  # fewer lines may all be phrases that end in a number
_DECIMAL = re.compile(rb"[.eE]")


class WordFault(Enum):
    """What may be wrong with a word, as one and as many have it."""

    CUT = ("word that ends", "words that end")
    BYTES = ("word that is not UTF-8", "words that are not UTF-8")
    EMPTY = ("empty word", "empty words")
    NUMBERS = ("word whose numbers are broken", "words whose numbers are broken")
    VECTORLESS = ("rows without a vector", "rows without a vector")  # so many of all the rows


@dataclass(frozen=True)
class BrokenWord:
    """A broken word as it is in the file: what is wrong, its place such as "line 7", and the error."""

    fault: WordFault
    word: bytes | str
    where: str
    error: str

    def counted(self, count: int, total: int) -> str:
        """So many words with its fault, of which it is the first; of rows, how many of the `total`."""
        of_all = f" of {total:,}" if self.fault is WordFault.VECTORLESS else ""
        cut = " inside a character, as word2vec cuts long ones" if self.fault is WordFault.CUT else ""
        joint = ", the first is " if count > 1 or of_all else ", " if self.word else " "
        named = f"{shown_word(self.word)} ({self.where})" if self.word else f"({self.where})"
        return f"{count:,}{of_all} {self.fault.value[count > 1]}{cut}{joint}{named}"


def shown_word(word: bytes | str) -> str:
    """A word as a message has it: on one line, with what is no text escaped, and not too long."""
    word = word[: 4 * _LONGEST_SHOWN]  # a line may be megabytes long
    text = word.decode(errors="backslashreplace") if isinstance(word, bytes) else word
    return (text if text.isprintable() else repr(text)[1:-1])[:_LONGEST_SHOWN]


class Dropped:
    """The broken words and rows of a file so far, in its order, among the `whole` words yielded."""

    def __init__(self) -> None:
        self.whole = 0
        self._first: dict[WordFault, BrokenWord] = {}  # in the order of the file
        # The number of whole words before each, rising, and before each that neither program would have cut.
        self._before: defaultdict[WordFault, array[int]] = defaultdict(lambda: array("q"))
        self._uncut = array("q")

    def __len__(self) -> int:
        return sum(map(len, self._before.values()))

    @property
    def places(self) -> list[int]:
        """Their places in the file, counted from 0."""
        return [number + before for number, before in enumerate(sorted(chain(*self._before.values())))]

    @property
    def first_error(self) -> str:
        """The error of the first, empty if there is none."""
        return next((one.error for one in self._first.values()), "")

    def add(self, broken: BrokenWord, before: int) -> None:
        """Count one more, which has so many whole words before it."""
        self._first.setdefault(broken.fault, broken)
        self._before[broken.fault].append(before)
        if broken.fault in (WordFault.CUT, WordFault.BYTES) and len(broken.word) < _UNCUT:
            self._uncut.append(before)

    def add_row(self, path: Path, place: int, line: str = "") -> None:
        """Count the row of this place in the file, from 0, and maybe on this line, which has no vector."""
        fault = WordFault.VECTORLESS
        if fault not in self._first:
            where = f"row {place}{line}"
            self._first[fault] = BrokenWord(
                fault, "", where,
                f"{path}: every row needs a vector where rows are known by their places, got none in "
                f"{where}; write a .parquet or .jsonl file, which has ids",
            )  # fmt: skip
        self._before[fault].append(place - len(self))

    def check_hope(self) -> None:
        """Raise the first error where more than half of a thousand words and more are broken."""
        if len(self) > max(self.whole, GIVE_UP_AFTER // 2) and WordFault.VECTORLESS not in self._first:
            raise self._too_many(len(self), len(self) + self.whole)

    def settle(self, path: Path, *, beyond_ascii: int, read: int | None = None) -> None:
        """Warn of the broken words, or raise the first error where they are many.

        Of a file that was read no further than the first `read` whole words, those before the last of them
        count. `beyond_ascii` is the number of whole words that are not ASCII: in another encoding, such as
        Latin-1, few are.
        """
        counts = Counter({fault: _up_to(before, read) for fault, before in self._before.items()})
        uncut, count = _up_to(self._uncut, read), counts.total()
        total = (self.whole if read is None else read) + count
        if uncut > beyond_ascii and not few(uncut, total, ONE_IN_ENCODING):
            raise self._refused(
                total, f"{uncut:,} words are not UTF-8, {beyond_ascii:,} others not ASCII",
                WordFault.CUT, WordFault.BYTES,
            )  # fmt: skip
        harmless = counts[WordFault.CUT] + counts[WordFault.VECTORLESS]
        if not few(count - harmless, total, ONE_IN):
            raise self._too_many(count, total)
        if count:
            said = [one.counted(counts[fault], total) for fault, one in self._first.items() if counts[fault]]
            log.warning("%s: dropped %s", path, "; ".join(said))

    def _too_many(self, count: int, total: int) -> BadFile:
        counts = f"{count:,} of {total:,} words are broken, and at most one in {ONE_IN} is left out"
        return self._refused(total, counts, *WordFault)

    def _refused(self, total: int, counts: str, *faults: WordFault) -> BadFile:
        # Of a handful of words, the first error says it all.
        error = next(one.error for fault, one in self._first.items() if fault in faults)
        return BadFile(f"{error} ({counts})" if total > _ONE_BY_ONE else error)


def few(count: int, total: int, one_in: int) -> bool:
    """Whether so many of all words are few: one in `one_in`, or a handful that is less than half.

    >>> few(0, 1, 10), few(1, 2, 10), few(1, 3, 10), few(9, 90, 10), few(10, 90, 10)
    (True, False, True, True, False)
    """
    return not count or (2 * count < total and count <= max(FEW_BROKEN, total // one_in))


def _up_to(before: array[int], end: int | None) -> int:
    return len(before) if end is None else bisect_left(before, end)


def _no_utf_8(word: bytes | str) -> WordFault:
    """The fault of a word that is no UTF-8: CUT if only its last character is not complete."""
    try:
        cut = isinstance(word, bytes) and codecs.utf_8_decode(word, "strict", False)[1] < len(word)
    except UnicodeDecodeError:
        cut = False
    return WordFault.CUT if cut else WordFault.BYTES


def keep_whole(
    path: Path, words: Sequence[bytes | str], rows: NDArray[Any], dropped: Dropped
) -> tuple[list[str], Matrix]:
    """The whole words of a block, and their rows (p, d) of its rows (b, d); the others are `dropped`.

    Words are UTF-8 or text, which is broken if it has half a surrogate pair.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is dropped
        rows = np.asarray(rows, np.float32)
    finite, texts = np.isfinite(rows).all(axis=1), [*map(as_text, words)]  # (b,)
    if finite.all() and all(texts):
        dropped.whole += len(texts)
        return cast("list[str]", texts), rows
    kept, places, first = list[str](), list[int](), dropped.whole + len(dropped) + 1
    for place, text in enumerate(texts):
        if text and finite[place]:
            kept.append(text)
            places.append(place)
        else:
            dropped.add(_broken(path, words[place], text, first + place), dropped.whole + len(kept))
    dropped.whole += len(kept)
    return kept, rows[places]


def as_text(word: Any) -> str | None:
    """A word or another value as text, None if it is none: not UTF-8, or with half a surrogate pair."""
    try:
        return word.decode() if isinstance(word, bytes) else word.encode().decode()
    except (UnicodeError, AttributeError):
        return None


def _broken(path: Path, word: bytes | str, text: str | None, number: int) -> BrokenWord:
    where, found = f"word {number}", repr(word[:_LONGEST_SHOWN])
    if text is None:
        fault, error = _no_utf_8(word), f"expected UTF-8 in {where}, got {found}"
    elif not text:
        fault, error = WordFault.EMPTY, f"expected text in {where}, got an empty word"
    else:
        fault, error = WordFault.NUMBERS, f"expected finite numbers, got nan or inf in {where} ({found})"
    return BrokenWord(
        fault, word, where, f"{path}: {error}; the file is damaged or in another encoding: download it again"
    )


# Lines of text


@dataclass(frozen=True)
class Line:
    """The place of a line and the numbers d it must have, for its errors."""

    path: Path
    number: int
    dimension: int

    def after(self, lines: int) -> Line:
        """The place `lines` further down."""
        return Line(self.path, self.number + lines, self.dimension)  # replace() takes four times as long

    def broken(self, fault: WordFault, word: bytes, message: str) -> BrokenWord:
        """The broken word of this line."""
        return BrokenWord(fault, word, f"line {self.number}", f"{self.path}:{self.number}: {message}")


def read_line(line: bytes, where: Line) -> tuple[str, Matrix] | BrokenWord | None:
    """The word, which is everything before the last d fields, and its numbers (d,); None for a blank line."""
    d = where.dimension
    fields = line.rsplit(None, d)
    if not fields:
        return None
    if len(fields) <= d and lacks_word(line, d):
        expected = f"expected a word before the {d} numbers, got none"
        return where.broken(WordFault.EMPTY, b"", f"{expected}; remove the line, or download the file again")
    if len(fields) <= d or len(fields[0]) > _LONGEST_WORD or _runs_over(fields[0], fields[1]):
        return _other_count(line, fields[0], where)
    word, numbers = fields[0].strip(b" \t"), _float32(fields[1:])
    if numbers is None:
        return _no_number(word, fields[1:], where)
    try:
        return word.decode(), numbers
    except UnicodeDecodeError as error:
        return where.broken(
            _no_utf_8(word), word,
            f"expected UTF-8, got the byte 0x{word[error.start]:02x} in the word "
            f"{word[:_LONGEST_SHOWN]!r}; convert the file to UTF-8, or download it again",
        )  # fmt: skip


def lacks_word(line: bytes, dimension: int) -> bool:
    """Whether a line has its d numbers alone: after a separator, or with a decimal in the place of the word.

    >>> lacks_word(b" 1 2", 2), lacks_word(b"1.5 2.5", 2), lacks_word(b"1984 2", 2), lacks_word(b"a 1 2", 2)
    (True, True, False, False)
    """
    fields = line.split()
    right = len(fields) == dimension and all(map(is_number, fields))
    return right and (line[:1] in (b" ", b"\t") or (len(fields) > 1 and all(map(_DECIMAL.search, fields))))


def _float32(fields: Sequence[bytes]) -> Matrix | None:
    """The numbers in fields (d,); None if one is none, or not finite in float32."""
    try:
        values = np.fromiter(map(float, fields), np.float64, len(fields))  # without a list of them
    except ValueError:
        return None
    # NaN fails every comparison, so it is caught here too; float() would take 1_000.
    if not (abs(values) < _TOO_LARGE).all() or b"_" in b" ".join(fields):
        return None
    return values.astype(np.float32)


def as_number(field: bytes) -> float | None:
    """The number in a field, None if it is none or not finite in float32."""
    try:
        value = float(field)
    except ValueError:
        return None
    return value if abs(value) < _TOO_LARGE and b"_" not in field else None


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


def _runs_over(word: bytes, number: bytes) -> bool:
    # "route 66" before 0.1 is a word; "the 0.2" before 0.1 is one number too many, or two lines in one.
    more = word.split()[1:]
    if not more:  # as in nearly every line
        return False
    decimal = bool(_DECIMAL.search(number))
    return any(is_number(field) and bool(_DECIMAL.search(field)) == decimal for field in more)


def _other_count(line: bytes, before: bytes, where: Line) -> BrokenWord:
    word, *fields = line.split()
    count = len(fields) if len(fields) < where.dimension else sum(map(is_number, fields))
    got = f"{len(before)} bytes before them" if len(before) > _LONGEST_WORD else str(count)
    return where.broken(
        WordFault.NUMBERS, word,
        f"expected {where.dimension} numbers after the word, got {got} (word {shown_word(word)!r}); the "
        "file may be incomplete: download it again, or correct the dimension in its first line",
    )  # fmt: skip


def _no_number(word: bytes, fields: Sequence[bytes], where: Line) -> BrokenWord:
    place = next(place for place, field in enumerate(fields) if as_number(field) is None)
    comma = b"," in fields[place]
    advice = "write numbers with a decimal point" if comma else "download the file again, or remove the line"
    return where.broken(
        WordFault.NUMBERS, word,
        f"expected a finite number in place {place + 1} after the word, got "
        f"{shown_word(fields[place])!r} (word {shown_word(word)!r}); {advice}",
    )  # fmt: skip
