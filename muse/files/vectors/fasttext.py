"""FastText models (.bin): vectors of known words, and of any string from its n-grams.

Only this module uses fasttext, and only for the n-grams of a string: packages of that name return different
vectors (fasttext-community scales them to unit length). The mean computed here agrees with .vec files.

The layout of the file is checked before the library reads it, which takes missing parts of a truncated matrix
for zeros, never returns if the dictionary is truncated, and follows invalid indices of a damaged file. In
order: magic, version, 12 settings, a float64; the counts of the dictionary; its entries (a word, a zero byte,
an int64 count, a type); the kind and matrix of the inputs, then of the outputs.
"""

import mmap
import struct
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from muse.errors import BadFile, Mismatch, MissingExtra
from muse.files.detect import FASTTEXT
from muse.files.source import Source, open_source, unpacked_path
from muse.files.vectors.table import Table, WordRows
from muse.installation import install_packages
from muse.vectors import Matrix

_START = struct.Struct("<14id3iqq")
_ENTRY = struct.Struct("<xqb")
_MATRIX = struct.Struct("<?qq")
_VERSIONS = (11, 12)
LONG = 100  # characters of an n-gram: models of longer ones are refused
_MOST_OCCURRENCES = 10**14  # occurrences of a word: the library's trees need counts below 10^15


def check_layout(path: Path, *, named: Path) -> tuple[int, bool]:
    """The dimension of a model, and whether it has n-grams; BadFile, of `named`, if it is damaged."""
    with path.open("rb") as stream, closing(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)) as data:
        try:
            dimension, longest, buckets, words, labels = _settings(data)
            at = _START.size
            for place in range(words + labels):
                if (end := data.find(b"\0", at)) < 0:
                    raise struct.error
                count, kind = _ENTRY.unpack_from(data, end)
                if kind != (place >= words) or not 0 <= count < _MOST_OCCURRENCES:
                    raise ValueError(f"the count {count} and the type {kind} after word {place + 1}")
                at = end + _ENTRY.size
            # Looking up any string may need a row of a word or a bucket.
            at = _matrix(data, at, rows=words + (buckets if longest > 0 else 0), columns=dimension)
            _matrix(data, at, rows=0, columns=dimension)
        except (struct.error, ValueError) as error:
            got = "one that ends early" if isinstance(error, struct.error) else str(error)
            raise BadFile(
                f"{named}: expected a complete fastText model that is not quantized, got {got}; use another "
                "or download it again"
            ) from None
    return dimension, longest > 0


def _settings(data: mmap.mmap) -> tuple[int, int, int, int, int]:
    # The dimension, the length of the longest n-gram, and the numbers of buckets, words and labels.
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
    return dimension, longest, buckets, words, labels


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
    return _load(source).table(words)


def subword_vectors(path: Path | str, words: Sequence[str]) -> Matrix:
    """The vectors (n, d) of any n strings by a fastText model, known or not.

    The mean of the vectors of a word's character n-grams, and of its own if it has one (Bojanowski et al.
    2017, section 3.2; the paper has a sum, the program computes the mean).
    """
    return load_fasttext(path).rows(words)


def load_fasttext(path: Path | str) -> WordRows:
    """The fastText model in a file; BadFile if it is another kind of file."""
    path = Path(path)
    with open_source(path) as source:
        if source.peek(len(FASTTEXT)) != FASTTEXT:
            raise BadFile(f"{path}: expected a fastText model (.bin), got another; only .bin has n-grams")
        return _load(source)


def _load(source: Source) -> WordRows:
    try:
        import fasttext
    except ImportError as error:
        raise MissingExtra(
            "fastText models (.bin) need the package fasttext-community, which is missing; "
            f"run {install_packages('fasttext-community')}, or use the .vec file"
        ) from error
    with unpacked_path(source) as path:
        dimension, has_ngrams = check_layout(path, named=source.path)
        try:
            library = fasttext.load_model(str(path))
        except (ValueError, RuntimeError, MemoryError, IndexError, OverflowError) as error:
            raise BadFile(
                f"{source.path}: expected a fastText model, got one that fasttext cannot load ({error}); "
                "download it again"
            ) from error
    # The public get_input_matrix() would copy what may be gigabytes.
    inputs = np.asarray(library.f.getInputMatrix())

    def lookup(words: Sequence[str]) -> Matrix:
        rows = np.zeros((len(words), dimension), np.float32)
        for place, word in enumerate(words):
            try:
                parts = [int(row) for row in library.get_subwords(word)[1]]
            except TypeError:  # what the binding raises for half a surrogate pair
                raise Mismatch(f"{source.path}: expected words in UTF-8, got {word!r}; correct it") from None
            if not parts and not has_ngrams:
                raise BadFile(
                    f"{source.path}: expected a model with n-grams for the unknown word {word!r}, got one "
                    "without; train it with maxn above 0"
                )
            # A label of a classifier counts as known but has no row here.
            if parts := [row for row in parts if row < len(inputs)]:
                with np.errstate(over="ignore", invalid="ignore"):  # the caller looks for it
                    rows[place] = inputs[parts].mean(axis=0)
        return rows

    def encoded() -> list[bytes]:  # published models have some words that are no UTF-8
        known = library.get_words(on_unicode_error="surrogateescape")
        return [word.encode(errors="surrogateescape") for word in known]

    return WordRows(source.path, dimension, encoded, has_ngrams, lookup)
