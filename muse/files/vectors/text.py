"""Text vectors (fastText .vec, word2vec, GloVe): a word and d numbers a line, maybe after a line "n d".

Plain lines of a block are parsed at once, the others one by one (`muse.files.vectors.broken`). Plain
numbers ("-0.01234") are parsed by vectorised arithmetic, with exactly the results of float(). Such a number
is a sign or none, one digit, a point and up to 14 digits. Its digits make an integer below 2^53 and the
divisor is a power of ten below 10^22: both are exact in float64, so the one division rounds once and gives
the float64 that float() gives (Clinger 1990). Eight digits are read as one 64-bit word: three multiplications
join neighbouring digits, then pairs, then fours.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.detect import EXPECTED, HEADER, VECTORS, is_number
from muse.files.plain_text import BOM
from muse.files.source import Source
from muse.files.vectors import broken
from muse.files.vectors.broken import BrokenWord, Dropped, Line, as_number, numbers_at_end, read_line
from muse.files.vectors.table import Block, Table
from muse.vectors import Matrix

log = logging.getLogger(__name__)

Bytes = NDArray[np.uint8]
Places = NDArray[np.intp]
Octets = NDArray[np.uint64]  # eight bytes in each
MARGIN = 16  # a number is read in windows of 16 bytes up to its end: the text is padded by as much
_LONGEST = 14  # digits after the point
# Up to this many numbers in a line that are not plain (exponents, integers) are parsed one by one; with more,
# the whole line is.
_LEAST_LINES = 5  # lines that show a column of counts: fewer may be phrases that end in a number
_NO_WORD = re.compile(rb"(?:\S*[,;|])?[-+]?\d*\.\d+(?:[eE][-+]?\d+)?\s+\S")  # or a number behind its comma
_WITH_COUNT = 3  # numbers behind a word: its count, and two or more
_FEW_ODD = 16
BLOCK = 1 << 18  # small enough for all intermediate results to stay in the processor's cache
_HEAD = 1 << 20
_KEPT_FREE = 1 << 24  # bytes
LONGEST_LINE = 1 << 22  # some 400,000 numbers
ONE_IN_HEADER = 1_000  # words may be more or fewer than line 1 says
_MINUS, _POINT, _ZERO = (np.uint8(ord(sign)) for sign in "-.0")
_ZEROS, _CARRY, _HIGHEST = (np.uint64(byte * 0x0101010101010101) for byte in (0x30, 0x76, 0x80))
# For k decimals, the bytes to keep of the last octet, and of the one before it.
_KEEP_LAST = np.array([(2**64 - 1) & ~(2 ** (64 - 8 * min(k, 8)) - 1) for k in range(15)], np.uint64)
_KEEP_FIRST = np.array([0] * 8 + [(2**64 - 1) & ~(2 ** (64 - 8 * k) - 1) for k in range(7)], np.uint64)
_POWERS = 10.0 ** np.arange(15)


def with_margins(block: bytes) -> Bytes:
    """The bytes of a block padded before and after, to a whole number of 64-bit words."""
    text = np.zeros(MARGIN + (len(block) + 7) // 8 * 8 + MARGIN, np.uint8)
    text[MARGIN : MARGIN + len(block)] = np.frombuffer(block, np.uint8)
    return text


def plain_numbers(text: Bytes, starts: Places, ends: Places) -> tuple[Matrix, NDArray[np.bool_]]:
    """The numbers (f,) at text[starts:ends], and which are not plain, so that their values are meaningless.

    `text` comes from `with_margins`, `starts` and `ends` are (f,).
    """
    negative = text[starts] == _MINUS
    point = starts + negative + 1
    lead = text[point - 1] - _ZERO  # any byte but a digit wraps round to more than 9
    decimals = ends - point - 1
    odd = (lead > 9) | (text[point] != _POINT) | (decimals < 0) | (decimals > _LONGEST)
    np.clip(decimals, 0, _LONGEST, out=decimals)
    fraction, wrong = _fractions(text, ends, decimals)
    odd |= wrong
    scale = _POWERS[decimals]
    digits = lead * scale
    digits += fraction
    scale *= 1.0 - 2.0 * negative  # the sign goes to the divisor, for the sake of -0.0
    return (digits / scale).astype(np.float32), odd


def _fractions(text: Bytes, ends: Places, decimals: Places) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    # The integers in the last `decimals` bytes before `ends`, and whether any byte is no digit.
    octets = text.view("<u8")
    low, wrong = _eight_digits(_window(octets, ends), _KEEP_LAST[decimals])
    if decimals.max(initial=0) <= 8:
        return low, wrong
    high, also_wrong = _eight_digits(_window(octets, ends - 8), _KEEP_FIRST[decimals])
    return high * 1e8 + low, wrong | also_wrong


def _window(octets: Octets, ends: Places) -> Octets:
    # The 8 bytes before each end, combined from two aligned octets.
    place = ends >> 3
    shift = (ends & 7).astype(np.uint64) << np.uint64(3)
    window: Octets = octets[place - 1] >> shift
    # Shifting in two steps: a shift by 64 at once is undefined.
    window |= (octets[place] << np.uint64(1)) << (np.uint64(63) - shift)
    return window


def _eight_digits(window: Octets, keep: Octets) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    digits = window ^ _ZEROS
    digits &= keep
    # Adding 0x76 sets the highest bit of every byte above 9, unless it is already set.
    wrong = ((digits + _CARRY) | digits) & _HIGHEST
    for factor, width, mask in _JOIN:
        digits *= factor
        digits >>= width
        digits &= mask
    return digits.view(np.int64).astype(np.float64), wrong != 0


# Multiplying by 10 * 2^8 + 1 adds ten times each byte to the next one; likewise for pairs and fours.
_JOIN = (
    (np.uint64(10 * 2**8 + 1), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(100 * 2**16 + 1), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(10000 * 2**32 + 1), np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
)


def _read_block(block: bytes, first: Line, dropped: Dropped) -> tuple[int, Block, BrokenWord | None]:
    """The number of lines of a block, its whole words with their rows, and its last line's word if broken.

    `first` is the place of the first line; broken words are `dropped`.
    """
    block = (block if block.endswith(b"\n") else block + b"\n").replace(b"\r\n", b"\n")
    text = with_margins(block)
    newline = text == ord("\n")
    breaks, line_ends = np.flatnonzero(newline | (text == ord(" "))), np.flatnonzero(newline)  # (l,)
    line_starts = np.concatenate([[MARGIN], line_ends[:-1] + 1])  # (l,)
    last = np.searchsorted(breaks, line_ends)  # (l,)
    last -= text[line_ends - 1] == ord(" ")  # fastText itself ends its lines with a space
    begin = last - first.dimension  # the separator after the word
    regular = np.flatnonzero(begin >= 0)
    regular = regular[breaks[begin[regular]] >= line_starts[regular]]  # (r,) the lines with as many numbers
    plain, last_read = dict[int, tuple[str, Matrix]](), None
    if len(regular):  # otherwise an absurd dimension in a header would allocate a huge array
        around = breaks[begin[regular, None] + np.arange(first.dimension + 1)]  # (r, d + 1)
        found, rejected = _read_numbers(block, text, around)
        starts = line_starts[regular] - MARGIN
        words = [_plain_word(block[a:b]) for a, b in zip(starts, around[:, 0] - MARGIN, strict=True)]
        if len(words) == len(line_ends) and not rejected and all(words):
            dropped.whole += len(words)
            return len(words), (words, found), None
        lines = zip(regular.tolist(), words, found, strict=True)
        plain = {line: (word, row) for i, (line, word, row) in enumerate(lines) if word and i not in rejected}
    whole, rows = list[str](), list[Matrix]()
    for place, (a, b) in enumerate(zip(line_starts - MARGIN, line_ends - MARGIN, strict=True)):
        last_read = plain.get(place) or read_line(block[a:b], first.after(place))
        if isinstance(last_read, BrokenWord):
            dropped.add(last_read, dropped.whole + len(whole))
        elif last_read is not None:
            whole.append(last_read[0])
            rows.append(last_read[1])
    dropped.whole += len(whole)
    last_broken = last_read if isinstance(last_read, BrokenWord) else None
    return len(line_ends), (whole, np.array(rows, np.float32)), last_broken


def _read_numbers(block: bytes, text: Bytes, around: Places) -> tuple[Matrix, set[int]]:
    """The numbers (r, d) between separators (r, d + 1), and the rows with many odd or with invalid ones."""
    starts, ends = (around[:, :-1] + 1).ravel(), around[:, 1:].ravel()
    values, is_odd = plain_numbers(text, starts, ends)
    odd, rows = np.flatnonzero(is_odd), values.reshape(len(around), -1)
    of_row = odd // rows.shape[1]
    rejected = set(np.flatnonzero(np.bincount(of_row) > _FEW_ODD).tolist())
    for place, row in zip(odd.tolist(), of_row.tolist(), strict=True):
        if row not in rejected:
            value = as_number(block[starts[place] - MARGIN : ends[place] - MARGIN])
            if value is None:
                rejected.add(row)
            else:
                values[place] = value
    return rows, rejected


def _plain_word(word: bytes) -> str:
    """The word if it is one without spaces in UTF-8, else ""."""
    word = word.removeprefix(b" ")  # with which every line of a file may begin
    try:
        return "" if b" " in word or b"\t" in word else word.decode()
    except UnicodeDecodeError:
        return ""


@dataclass(frozen=True)
class Header:
    """The first line of a file: the number of words and of numbers a word."""

    count: int
    dimension: int

    @property
    def tolerance(self) -> int:
        """The number of words by which it may be wrong: published files, too, are off by one."""
        return min(max(1, self.count // ONE_IN_HEADER), (self.count - 1) // 2)

    def check(self, path: Path, count: int, odd: str = "") -> None:
        """Warn of a header that is off by a word or a thousandth; BadFile for more, or for what is `odd`."""
        if odd or abs(count - self.count) > self.tolerance:
            right = f", or if it was shortened, correct line 1 to {count} {self.dimension}" if count else ""
            raise BadFile(
                f"{path}: expected {self.count} words of {self.dimension} numbers as line 1 says, got "
                f"{odd or count}; the file is damaged or incomplete: download it again{'' if odd else right}"
            )
        if count != self.count:
            log.warning("%s: line 1 says %d words, got %d, and all were read", path, self.count, count)


def parse_header(path: Path, head: bytes) -> Header | None:
    """The header if the first line is one: two integers and nothing else; BadFile if one of them is 0."""
    found = HEADER.fullmatch(head.removeprefix(BOM).split(b"\n", 1)[0])
    header = Header(int(found[1]), int(found[2])) if found else None
    if header and (header.count < 1 or header.dimension < 1):
        raise BadFile(
            f"{path}:1: expected at least 1 word and 1 number a word, got {header.count} and "
            f"{header.dimension}; download the file again or correct its first line"
        )
    return header


def text_table(source: Source) -> Table:
    """The table of a text file, whose words and rows are read lazily; BadFile for what is no text."""
    # What glibc sees freed at once, up to 32 MB, it keeps from then on: else each block is paged in anew.
    np.empty(_KEPT_FREE, np.uint8)
    size = _HEAD
    while (head := source.peek(size)).count(b"\n") < 2 and size <= len(head) < LONGEST_LINE:
        size *= 2
    if b"\n" not in head and head.count(b"\r") > 1:
        raise BadFile(
            f"{source.path}:1: expected lines that end in LF or CR LF, got CR alone, as on old Macs; convert "
            "the file: tr '\\r' '\\n' < FILE > OUT"
        )
    header = parse_header(source.path, head)
    if head.startswith(BOM) and head[3:4] not in (b" ", b"\t"):  # else it is the first word
        source.read(len(BOM))
        head = head.removeprefix(BOM)
    if header:
        line, _, head = head.partition(b"\n")
        source.read(len(line) + 1)
    lines = head.split(b"\n")
    # The last line is incomplete, unless it is the only one.
    sample = [line for line in lines[:-1] or lines if line.strip()][: broken.SAMPLE]
    _check_counts(source.path, sample)
    dimension = _dimension(source.path, header, sample)
    # From the length of the first lines; compression shrinks text vectors two- to threefold.
    a_line = sum(map(len, sample)) / max(len(sample), 1) + 1
    rows = int(1.05 * source.size * (3 if source.packed else 1) / a_line) + 1
    dropped = Dropped()
    place = Line(source.path, 2 if header else 1, dimension)
    blocks = _blocks(_whole_lines(source), place, header, dropped)
    most = min(2 * rows, header.count) if header else rows
    return Table(source.path, dimension, most, blocks, dropped=dropped)


def _check_counts(path: Path, sample: list[bytes]) -> None:
    """Raise BadFile if each word has its frequency or rank behind it, before numbers with decimals."""
    rows = [line.split()[1:] for line in sample]
    if len(rows) < _LEAST_LINES or min(map(len, rows)) < _WITH_COUNT:
        return
    counts, others = [row[0] for row in rows], [number for row in rows for number in row[1:]]
    whole = all(map(bytes.isdigit, counts)) and len(set(counts) - {b"0", b"1"}) > 1
    if whole and all(b"." in number or b"e" in number for number in others):
        raise BadFile(
            f"{path}: expected the numbers of a vector after each word, got a count or rank before them "
            f"({counts[0].decode()[:20]}) on all of the first lines; remove the second column"
        )


def _dimension(path: Path, header: Header | None, sample: list[bytes]) -> int:
    """The numbers on a line, as the header says or most of the first lines have: route 66 0.1 0.2."""
    if header is None:
        votes = Counter(numbers_at_end(line.split()) for line in sample)
        if len(sample) >= _LEAST_LINES and all(map(_NO_WORD.match, sample[-_LEAST_LINES:])):
            got = sample[-1].split()[0][:40].decode("utf-8", "replace")
            raise BadFile(
                f"{path}: expected a word and a space before the numbers, got {got!r}; of numbers alone, "
                "write np.save('vectors.npy', np.loadtxt(FILE)), else put a space behind each word"
            )
        if dimension := votes.most_common(1)[0][0] if votes else 0:
            return dimension
        first = sample[0] if sample else b""
        got = repr(first[:40].decode("utf-8", "replace")) if sample else "only blank lines"
        raise BadFile(f"{path}:1: expected a word and its numbers, got {got}; {_advice(first)}")
    worded = [line for line in sample if not broken.lacks_word(line, header.dimension)]
    got_numbers = {min(numbers_at_end(line.split()), header.dimension) for line in worded}
    if broken.runs_over(sample, header.dimension):
        got_numbers = {numbers_at_end(sample[0].split())}
    elif len(got_numbers) != 1 or not 0 < min(got_numbers) < header.dimension:
        return header.dimension
    raise BadFile(
        f"{path}:2: expected {header.dimension} numbers after the word as line 1 says, got "
        f"{min(got_numbers)} in all of the first lines; correct line 1 or download the file again"
    )


def _advice(line: bytes) -> str:
    if re.fullmatch(rb"\S+(?:\s+-?\d+,\d+)+\s*", line):
        return "write numbers with a decimal point, not with a comma"
    for sign, name in ((b";", "semicolons"), (b",", "commas")):
        if len(line.split(sign)) > 1 and all(map(is_number, line.split(sign))):
            load = f"np.loadtxt(FILE, delimiter={sign.decode()!r})"
            return f"of numbers alone, write np.save('vectors.npy', {load})"
        if numbers_at_end(line.split(sign)) > 1 or (line.count(sign) > 1 and b" " not in line.strip()):
            return (
                f"there are {name} between the columns: put spaces in their place, and drop a line of names"
            )
    return f"give {EXPECTED[VECTORS]}"


def _blocks(blocks: Iterator[bytes], line: Line, header: Header | None, dropped: Dropped) -> Iterator[Block]:
    count, block, last = 0, b"\n", None
    for block in blocks:
        lines, found, last = _read_block(block, line, dropped)
        line, count = line.after(lines), dropped.whole + len(dropped)
        yield found
        if header and count > header.count + header.tolerance:
            raise BadFile(
                f"{line.path}:{header.count + 2}: expected the end after {header.count} words as line 1 "
                "says, got another line; download the file again or correct line 1"
            )
    if header:
        header.check(line.path, count)
    elif last and not block.endswith(b"\n"):
        raise BadFile(last.error)  # the last line was cut off: who knows how many are missing


def _whole_lines(source: Source) -> Iterator[bytes]:
    """Blocks of about BLOCK bytes that end at the end of a line, the last as the file ends."""
    rest, waiting = list[bytes](), 0
    while data := source.read(BLOCK):
        if cut := data.rfind(b"\n") + 1:
            yield b"".join([*rest, data[:cut]])
            rest, waiting = [], 0
        rest.append(data[cut:])
        waiting += len(data) - cut
        if waiting > LONGEST_LINE:
            raise BadFile(
                f"{source.path}: expected text, got {waiting} bytes without an end of line; "
                "check that it contains word vectors"
            )
    if waiting:
        yield b"".join(rest)
