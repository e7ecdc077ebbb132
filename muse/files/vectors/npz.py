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
from muse.files.vectors.broken import Dropped, as_text, keep_whole
from muse.files.vectors.table import Block, Table
from muse.files.writing import check_writable, replaced, unwritable
from muse.vectors import Matrix

_ROWS = 10_000  # rows converted at once
_NO_CHARACTER = 0xD800


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
    dropped = Dropped()
    blocks = _blocks(path, words, matrix, dropped)
    return Table(path, matrix.shape[1], len(matrix), blocks, dropped=dropped)


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


def _blocks(path: Path, words: NDArray[Any], matrix: NDArray[Any], dropped: Dropped) -> Iterator[Block]:
    for begin in range(0, len(words), _ROWS):
        own: list[str | bytes] = _readable(words[begin : begin + _ROWS]).tolist()
        yield keep_whole(path, own, matrix[begin : begin + _ROWS], dropped)


def _readable(words: NDArray[Any]) -> NDArray[Any]:
    # numpy makes text of any 32-bit numbers: those that are no characters become half a surrogate pair.
    if words.dtype.kind == "S" or not words.dtype.itemsize:
        return words
    codes = np.array(words.astype(words.dtype.newbyteorder("="))).view(np.uint32)
    codes[codes > sys.maxunicode] = _NO_CHARACTER
    return codes.view(f"U{len(codes) // len(words)}")


def text_of(path: Path, ids: NDArray[Any]) -> list[str]:
    """Ids (p,), str or UTF-8 bytes, as text; BadFile if one is none."""
    texts = [as_text(one) for one in _readable(ids).tolist()] if len(ids) else []
    for place, text in enumerate(texts):
        if text is None:
            kind = "UTF-8" if ids.dtype.kind == "S" else "words of Unicode characters"
            found = ids[place : place + 1].tobytes()[:40]
            raise BadFile(f"{path}: expected {kind}, got {found!r} in place {place + 1}; save the ids again")
    return [text for text in texts if text is not None]


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
