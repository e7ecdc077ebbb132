"""FastText models (.bin): vectors of known words, and of any string from its n-grams.

Only this module uses fasttext, and only for the n-grams of a string: packages of that name return different
vectors (fasttext-community scales them to unit length). The mean computed here agrees with .vec files.

The layout of the file is checked before the library reads it, which takes missing parts of a truncated matrix
for zeros, never returns if the dictionary is truncated, and follows invalid indices of a damaged file. In
order: magic, version, 12 settings, a float64; the counts of the dictionary; its entries (a word, a zero byte,
an int64 count, a type); the kind and matrix of the inputs, then of the outputs.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile, Mismatch, MissingExtra
from muse.files.detect import FASTTEXT
from muse.files.source import Source, open_source, unpacked_path
from muse.files.vectors.broken import Dropped, keep_whole
from muse.files.vectors.table import Table, finite_rows, table_of
from muse.installation import install_packages
from muse.vectors import Matrix

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
            layout = _start(data)
            at = _entries(data, layout)
            at = _matrix(data, at, rows=layout.input_rows, columns=layout.dimension)
            _matrix(data, at, rows=0, columns=layout.dimension)
        except (struct.error, ValueError) as error:
            got = "one that ends early" if isinstance(error, struct.error) else str(error)
            raise BadFile(
                f"{named}: expected a complete fastText model that is not quantized, got {got}; use another "
                "or download it again"
            ) from None
    return layout


def _start(data: mmap.mmap) -> Layout:
    _, version, dimension, *settings, size, words, labels, _, pruned = _START.unpack_from(data)
    loss, model, buckets, _, longest = settings[5:10]
    if version not in _VERSIONS:
        raise ValueError(f"version {version}")
    if pruned >= 0:
        raise ValueError("a quantized or pruned one")
    # The library divides by the buckets, and cuts each word into pieces of up to `longest` characters.
    kinds = loss in range(1, 5) and model in range(1, 4)
    if dimension < 1 or not kinds or not 0 <= longest < LONG or (longest and buckets < 1):
        raise ValueError(f"settings that fastText does not write ({settings})")
    if min(words, labels) < 0 or words + labels != size:
        raise ValueError(f"{words} words and {labels} labels for {size}")
    return Layout(dimension, longest, buckets, words, labels, pruned)


def _entries(data: mmap.mmap, layout: Layout) -> int:
    # The offset after the dictionary.
    at = _START.size
    for place in range(layout.words + layout.labels):
        if (end := data.find(b"\0", at)) < 0:
            raise struct.error
        count, kind = _ENTRY.unpack_from(data, end)
        if kind != (place >= layout.words) or not 0 <= count < _MANY:
            raise ValueError(f"the count {count} and the type {kind} after word {place + 1}")
        at = end + _ENTRY.size
    return at


def _matrix(data: mmap.mmap, at: int, *, rows: int, columns: int) -> int:
    # The offset after a matrix, which must have at least `rows` rows and exactly `columns` columns.
    quantized, n, d = _MATRIX.unpack_from(data, at)
    if quantized or n < rows or d != columns:
        raise ValueError(f"a {'quantized ' * quantized}matrix of {n} rows by {d}, not {rows} by {columns}")
    if (end := at + _MATRIX.size + 4 * int(n) * int(d)) > len(data):
        raise struct.error
    return end


def fasttext_table(source: Source, words: Sequence[str] | None = None) -> Table:
    """The table of the known words of a fastText model, or of the given ones, known or not."""
    model = _load(source)
    known = model.encoded_words() if words is None else words
    return table_of(source.path, model.layout.dimension, known, model.composed)


def subword_vectors(path: Path | str, words: Sequence[str]) -> Matrix:
    """The vectors (n, d) of any n strings by a fastText model, known or not.

    The mean of the vectors of a word's character n-grams, and of its own if it has one (Bojanowski et al.
    2017, section 3.2; the paper has a sum, the program computes the mean).
    """
    return load_fasttext(path).rows(words)


def load_fasttext(path: Path | str) -> FastTextModel:
    """The fastText model in a file; BadFile if it is another kind of file."""
    path = Path(path)
    with open_source(path) as source:
        if source.peek(len(FASTTEXT)) != FASTTEXT:
            raise BadFile(
                f"{path}: expected a fastText model (.bin), got another kind of file; only .bin has n-grams"
            )
        return _load(source)


@dataclass(frozen=True, eq=False)
class FastTextModel:
    """A model of the library; `inputs` (rows of words, then of n-grams) is a view of its memory."""

    path: Path
    layout: Layout
    library: Any
    inputs: Matrix

    @property
    def has_ngrams(self) -> bool:
        """Whether it has vectors for unknown words."""
        return self.layout.longest_ngram > 0

    def words(self) -> list[str]:
        """The known words, most frequent first, but for a few that are no UTF-8, which a warning counts."""
        encoded, dropped = self.encoded_words(), Dropped()
        words, _ = keep_whole(self.path, encoded, np.zeros((len(encoded), 1)), dropped)
        dropped.settle(self.path, beyond_ascii=sum(not word.isascii() for word in words))
        return words

    def encoded_words(self) -> list[bytes]:
        """The known words as they are in the file: published models have some that are no UTF-8."""
        words: list[str] = self.library.get_words(on_unicode_error="surrogateescape")
        return [word.encode(errors="surrogateescape") for word in words]

    def rows(self, words: Sequence[str]) -> Matrix:
        """The vectors (n, d) of any n strings; see `subword_vectors`."""
        rows = self.composed(words)
        return finite_rows(self.path, rows, "download it again", lambda place: f"for {words[place]!r}")

    def composed(self, words: Sequence[str]) -> Matrix:
        """The vectors (n, d) of any n strings, finite or not."""
        rows = np.zeros((len(words), self.layout.dimension), np.float32)
        for place, word in enumerate(words):
            if parts := self._parts(word):
                with np.errstate(over="ignore", invalid="ignore"):  # the caller looks for it
                    rows[place] = self.inputs[parts].mean(axis=0)
        return rows

    def _parts(self, word: str) -> list[int]:
        # The rows of the word's n-grams, and of the word itself if it is known.
        try:
            parts = [int(row) for row in self.library.get_subwords(word)[1]]
        except TypeError:  # what the binding raises for half a surrogate pair
            raise Mismatch(
                f"{self.path}: expected words that UTF-8 can encode, got {word!r}; correct it"
            ) from None
        if not parts and not self.has_ngrams:
            raise BadFile(
                f"{self.path}: expected a model with n-grams for the unknown word {word!r}, got one without; "
                "train it with maxn above 0"
            )
        # A label of a classifier counts as known but has no row here.
        return [row for row in parts if row < len(self.inputs)]


def _load(source: Source) -> FastTextModel:
    with unpacked_path(source) as path:
        layout = check_layout(path, named=source.path)
        try:
            library = _fasttext().load_model(str(path))
        except (ValueError, RuntimeError, MemoryError, IndexError, OverflowError) as error:
            raise BadFile(
                f"{source.path}: expected a fastText model, got one that fasttext cannot load ({error}); "
                "download it again"
            ) from error
    # The public get_input_matrix() would copy what may be gigabytes.
    return FastTextModel(source.path, layout, library, np.asarray(library.f.getInputMatrix()))


def _fasttext() -> Any:
    try:
        import fasttext
    except ImportError as error:
        raise MissingExtra(
            "fastText models (.bin) need the package fasttext-community, which is missing; "
            f"run {install_packages('fasttext-community')}, or use the .vec file"
        ) from error
    return fasttext
