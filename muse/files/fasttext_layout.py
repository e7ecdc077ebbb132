"""The layout of a fastText model on disk, checked before the fasttext library reads it.

The library reads missing parts of a truncated matrix as zeros, never returns if the dictionary is truncated,
and follows invalid indices of a damaged file. In order: magic, version, 12 settings, a float64; the counts
of the dictionary; its entries (a word, a zero byte, an int64 count, a type); the kind and matrix of the
inputs, then of the outputs.
"""

from __future__ import annotations

import mmap
import struct
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from muse.errors import BadFile

MAGIC = struct.pack("<i", 793712314)
_START = struct.Struct("<14id3iqq")
_ENTRY = struct.Struct("<xqb")
_MATRIX = struct.Struct("<?qq")
_VERSIONS = (11, 12)
LONG = 100  # characters of an n-gram: models of longer ones are refused
_MANY = 10**14  # occurrences of a word: the library's trees need counts below 10^15


@dataclass(frozen=True)
class Layout:
    """The sizes in the header of a model."""

    dimension: int
    longest_ngram: int
    buckets: int
    words: int
    labels: int
    pruned: int

    @property
    def input_rows(self) -> int:
        """The number of rows that looking up any string may need."""
        return self.words + (self.buckets if self.longest_ngram > 0 else 0)


def check_layout(path: Path, *, named: Path) -> Layout:
    """The layout of a model; BadFile, naming the file `named`, if it is truncated or damaged."""
    with path.open("rb") as stream, closing(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)) as data:
        try:
            layout = _start(data, named)
            at = _entries(data, layout, named)
            at = _matrix(data, at, named, rows=layout.input_rows, columns=layout.dimension)
            _matrix(data, at, named, rows=0, columns=layout.dimension)
        except struct.error:
            raise _cut_off(named) from None
    return layout


def _start(data: mmap.mmap, named: Path) -> Layout:
    _, version, dimension, *settings, size, words, labels, _, pruned = _START.unpack_from(data)
    loss, model, buckets, _, longest = settings[5:10]
    layout = Layout(dimension, longest, buckets, words, labels, pruned)
    if version not in _VERSIONS:
        raise _damaged(named, f"version {' or '.join(map(str, _VERSIONS))}", str(version))
    if pruned >= 0:
        raise _damaged(named, "a full model", "a quantized or pruned one")
    # The library divides by the buckets, and cuts each word into pieces of up to `longest` characters.
    kinds = loss in range(1, 5) and model in range(1, 4)
    if dimension < 1 or not kinds or not 0 <= longest < LONG or (longest and buckets < 1):
        raise _damaged(named, "settings that fastText writes", str(settings))
    if min(words, labels) < 0 or words + labels != size:
        raise _damaged(named, "words and labels that add up", f"{words} and {labels} for {size}")
    return layout


def _entries(data: mmap.mmap, layout: Layout, named: Path) -> int:
    # The offset after the dictionary.
    at = _START.size
    for place in range(layout.words + layout.labels):
        end = data.find(b"\0", at)
        if end < 0:
            raise _cut_off(named)
        count, kind = _ENTRY.unpack_from(data, end)
        if kind != (place >= layout.words) or not 0 <= count < _MANY:
            raise _damaged(
                named, "a count and a type after each word", f"{count} and {kind} after word {place + 1}"
            )
        at = end + _ENTRY.size
    return at


def _matrix(data: mmap.mmap, at: int, named: Path, *, rows: int, columns: int) -> int:
    # The offset after a matrix, which must have at least `rows` rows and exactly `columns` columns.
    quantized, n, d = _MATRIX.unpack_from(data, at)
    if quantized:
        raise _damaged(named, "a full model", "a quantized one")
    if n < rows or d != columns:
        raise _damaged(named, f"a matrix of {rows} rows by {columns}", f"{n} by {d}")
    end = at + _MATRIX.size + 4 * int(n) * int(d)
    if end > len(data):
        raise _cut_off(named)
    return end


def _cut_off(path: Path) -> BadFile:
    return BadFile(f"{path}: expected a complete fastText model, got one that ends early; download it again")


def _damaged(path: Path, expected: str, got: str) -> BadFile:
    return BadFile(
        f"{path}: expected {expected} in the fastText model, got {got}; use another or download it again"
    )
