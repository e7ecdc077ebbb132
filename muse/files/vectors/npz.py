"""Npz: numpy's archive with the arrays `words` and `matrix` (or `vectors`), never pickled."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.archive import open_archive
from muse.files.source import DAMAGED
from muse.files.vectors.table import Block, Table, finite
from muse.files.writing import check_writable, replaced, unwritable
from muse.vectors import Matrix

_ROWS = 10_000  # rows converted at once


def is_npz(path: Path) -> bool:
    """Whether the file is a .zip with numpy arrays in it."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".npy") for name in archive.namelist())
    except DAMAGED:
        return False  # opening it as a .zip reports the error


def npz_table(path: Path) -> Table:
    """The table of an .npz file."""
    words, matrix = _arrays(path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu" or not matrix.shape[1]:
        raise BadFile(_expected(path, "`matrix` to be n rows of d real numbers", matrix))
    if words.ndim != 1 or words.dtype.kind not in "US":
        raise BadFile(_expected(path, "`words` to be one row of text (str or UTF-8 bytes)", words))
    if len(words) != len(matrix):
        raise BadFile(_expected(path, f"one row of `matrix` for each of {len(words)} words", matrix))
    return Table(path, matrix.shape[1], len(matrix), _blocks(path, words, matrix))


def _arrays(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with open_archive(path) as archive:
            names = list(archive)
            vectors = next((name for name in ("matrix", "vectors") if name in names), None)
            if "words" in names and vectors:
                return np.asarray(archive["words"]), np.asarray(archive[vectors])
    except ValueError as error:
        raise unreadable(path, error) from error
    raise BadFile(
        f"{path}: expected the arrays `words` and `matrix` (or `vectors`) or, for unlabelled vectors, `ids` "
        f"and `vectors` or one array, got {', '.join(names) or 'none'}; save it with np.savez(path, "
        "words=..., matrix=...) or np.savez(path, ids=..., vectors=...)"
    )


def unreadable(path: Path, error: ValueError) -> BadFile:
    """The error to raise where numpy cannot read an array."""
    advice = "save it without pickled objects" if "pickle" in str(error) else "it is damaged: create it again"
    return BadFile(f"{path}: expected plain arrays, got unreadable ones ({error}); {advice}")


def _expected(path: Path, what: str, array: NDArray[Any]) -> str:
    return f"{path}: expected {what}, got {array.dtype} of shape {array.shape}; save the two arrays again"


def _blocks(path: Path, words: NDArray[Any], matrix: NDArray[Any]) -> Iterator[Block]:
    for begin in range(0, len(words), _ROWS):
        rows = finite(path, matrix[begin : begin + _ROWS], begin)  # (p, d)
        yield text_of(path, words[begin : begin + _ROWS], begin), rows


def text_of(path: Path, words: NDArray[Any], begin: int) -> list[str]:
    """The words (p,), str or UTF-8 bytes, as text; BadFile, which counts from `begin`, if they are not."""
    if words.dtype.kind == "U":
        _check_characters(path, words, begin)
        return [str(word) for word in words.tolist()]
    try:
        return [word.decode() for word in words.tolist()]
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{path}: expected words in UTF-8, got {error.object[:40]!r} after word {begin}; "
            "encode them as UTF-8"
        ) from None


def _check_characters(path: Path, words: NDArray[Any], begin: int) -> None:
    # numpy makes text of any 32-bit numbers, which then breaks wherever it is used.
    codes = np.ascontiguousarray(words.astype(words.dtype.newbyteorder("="))).view(np.uint32)
    wrong = (codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))
    if wrong.any():
        raise BadFile(
            f"{path}: expected words of Unicode characters, got the number {codes[wrong][0]:#x} after word "
            f"{begin}; save the words again"
        )


def write_npz(path: Path | str, words: Sequence[str], matrix: Matrix) -> None:
    """Write the arrays `words` (n,) and `matrix` (n, d) atomically."""
    path = Path(path)
    check_writable(path, words, matrix, forbidden="")
    # numpy's fixed-width text cannot distinguish a trailing zero character from padding.
    for place, word in enumerate(words):
        if word.endswith("\0"):
            raise unwritable(path, word, place)
    with replaced(path) as stream:
        np.savez(stream, words=np.array(words, dtype=np.str_), matrix=np.asarray(matrix, np.float32))
