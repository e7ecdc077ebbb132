"""Text vectors (fastText .vec, word2vec, GloVe): a word and d numbers a line, maybe after a line "n d"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from muse.errors import BadFile
from muse.files.source import Source
from muse.files.table import Block, CutWords, Table
from muse.files.text_line import SAMPLE, Line, numbers_at_end, runs_over
from muse.files.text_lines import read_block

BLOCK = 1 << 18  # small enough for all intermediate results to stay in the processor's cache
_HEAD = 1 << 20
LONGEST_LINE = 1 << 22  # some 400,000 numbers
_BOM = b"\xef\xbb\xbf"
# Eighteen digits fit in 64 bits, and int() refuses to read several thousand.
_HEADER = re.compile(rb"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t\r]*")


@dataclass(frozen=True)
class Header:
    """The first line of a file: the number of words and of numbers a word."""

    count: int
    dimension: int


def parse_header(head: bytes) -> Header | None:
    """The header if the first line is one: two integers and nothing else."""
    found = _HEADER.fullmatch(head.removeprefix(_BOM).split(b"\n", 1)[0])
    return Header(int(found[1]), int(found[2])) if found else None


def check_header(path: Path, header: Header) -> None:
    """Raise BadFile if the header is impossible."""
    if header.count < 1 or header.dimension < 1:
        raise BadFile(
            f"{path}:1: expected at least 1 word and 1 number a word, got {header.count} and "
            f"{header.dimension}; download the file again or correct its first line"
        )


def text_table(source: Source, *, longest_line: int = LONGEST_LINE) -> Table:
    """The table of a text file, whose words and rows are read lazily.

    Raise BadFile for more than `longest_line` bytes without an end of line: that is no text.
    """
    head = _head(source, longest_line)
    header = parse_header(head)
    if head.startswith(_BOM) and head[3:4] not in (b" ", b"\t"):  # else it is the first word
        source.read(len(_BOM))
        head = head.removeprefix(_BOM)
    if header:
        check_header(source.path, header)
        line, _, head = head.partition(b"\n")
        source.read(len(line) + 1)
    sample = _sample(head)
    if header:
        _check_dimension(source.path, header, sample)
    dimension = header.dimension if header else _dimension(source.path, sample)
    rows = _estimate(source, sample)
    room = min(2 * rows, header.count) if header else rows
    cut = CutWords()
    lines = _whole_lines(source, longest_line)
    blocks = _blocks(lines, Line(source.path, 2 if header else 1, dimension), header, cut)
    return Table(source.path, dimension, room, blocks, cut=cut)


def _head(source: Source, longest_line: int) -> bytes:
    # The start of the file, long enough for one complete line after the header.
    size = _HEAD
    while True:
        head = source.peek(size)
        if head.count(b"\n") > 1 or len(head) < size or size >= longest_line:
            return head
        size *= 2


def _sample(head: bytes) -> list[bytes]:
    lines = head.split(b"\n")
    whole = lines[:-1] or lines  # the last one is incomplete, unless it is the only one
    return [line for line in whole if line.strip()][:SAMPLE]


def _check_dimension(path: Path, header: Header, sample: list[bytes]) -> None:
    if runs_over(sample, header.dimension):
        got = numbers_at_end(sample[0].split())
        raise BadFile(
            f"{path}:2: expected {header.dimension} numbers after the word as line 1 says, got {got} or more "
            "in all of the first lines; correct line 1 or download the file again"
        )


def _dimension(path: Path, sample: list[bytes]) -> int:
    # Without a header the first lines vote, since "route 66 0.1 0.2" alone is ambiguous.
    votes = Counter(numbers_at_end(line.split()) for line in sample)
    dimension = votes.most_common(1)[0][0] if votes else 0
    if not dimension:
        got = repr(sample[0][:40].decode("utf-8", "replace")) if sample else "only blank lines"
        raise BadFile(
            f"{path}:1: expected a word and its numbers, got {got}; "
            "give vectors as text, word2vec binary, fastText .bin, .npz, .npy or Parquet"
        )
    return dimension


def _estimate(source: Source, sample: list[bytes]) -> int:
    # From the length of the first lines; compression shrinks text vectors two- to threefold.
    unpacked = source.size * (3 if source.packed else 1)
    a_line = sum(map(len, sample)) / max(len(sample), 1) + 1
    return int(1.05 * unpacked / a_line) + 1


def _blocks(blocks: Iterator[bytes], line: Line, header: Header | None, cut: CutWords) -> Iterator[Block]:
    path, count = line.path, 0
    for block in blocks:
        before = cut.count
        part = read_block(block, line, cut)
        line = line.after(part.lines)
        count += len(part.words) + cut.count - before
        if header and count > header.count:
            extra = count - header.count
            yield part.words[:-extra], part.rows[:-extra]
            raise BadFile(_too_many(path, header))
        yield part.words, part.rows
        if part.fault:
            raise part.fault
    if header and count < header.count:
        raise BadFile(
            f"{path}: expected {header.count} words as line 1 says, got {count}; "
            "the file may be incomplete: download it again"
        )


def _too_many(path: Path, header: Header) -> str:
    return (
        f"{path}:{header.count + 2}: expected the end after {header.count} words as line 1 says, "
        "got another line; download the file again or correct line 1"
    )


def _whole_lines(source: Source, longest_line: int) -> Iterator[bytes]:
    # Blocks of about BLOCK bytes that end at the end of a line.
    rest: list[bytes] = []
    waiting = 0
    while data := source.read(BLOCK):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, data[:cut]])
            rest, waiting = [data[cut:]], len(data) - cut
            continue
        rest.append(data)
        waiting += len(data)
        if waiting > longest_line:
            raise BadFile(
                f"{source.path}: expected text, got {waiting} bytes without an end of line; "
                "check that it contains word vectors"
            )
    if waiting:
        yield b"".join([*rest, b"\n"])
