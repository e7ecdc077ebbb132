"""Rows: vectors without words, from the formats that stores of vectors write, with ids or row numbers.

.npy            n rows of d numbers
.npz            the arrays `ids` and `vectors`, or one array alone
Parquet         a column of vectors, and perhaps one of ids (vectors_parquet)
.safetensors    one tensor
faiss           a flat index (IndexFlatIP, IndexFlatL2)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, MissingExtra
from muse.files.archive import open_archive, strictly
from muse.files.source import DAMAGED, is_stream
from muse.files.table import Block, Table
from muse.installation import install_extra

NPY = b"\x93NUMPY"
FLAT = (b"IxFI", b"IxF2", b"IxFl")  # how faiss marks flat indices: inner product, L2, older files
_FLAT_HEADER = struct.Struct("<4sIqqq?I")  # mark, d, n, twice a constant, whether trained, metric
_BLOCK = 8_192  # rows converted at once
_VECTORS = ("vectors", "matrix", "embeddings", "rows")


def is_rows(path: Path) -> bool:
    """Whether a file is one that only holds rows, by its first bytes or, of safetensors, by its name."""
    if path.suffix == ".safetensors":
        return True
    if is_stream(path):  # what is read here would be lost
        return False
    try:
        with path.open("rb") as file:
            head = file.read(len(NPY))
    except OSError:
        return False  # opening it reports the error
    return head == NPY or head[:4] in FLAT


def rows_table(path: Path) -> Table:
    """The table of such a file, whose words are row numbers; BadFile if it is broken or of another shape."""
    if path.suffix == ".safetensors":
        return table_of_rows(path, _tensor(path))
    with path.open("rb") as file:
        flat = file.read(4) in FLAT
    return table_of_rows(path, _flat_index(path) if flat else _array(path))


def npz_rows_table(path: Path) -> Table | None:
    """The table of an .npz that has no words; None if it has them."""
    try:
        with open_archive(path) as archive:
            names = list(archive)
            vectors = next((name for name in _VECTORS if name in names), None)
            vectors = names[0] if vectors is None and len(names) == 1 else vectors
            if "words" in names or vectors is None:
                return None
            rows = np.asarray(archive[vectors])
            ids = np.asarray(archive["ids"]) if "ids" in names else None
    except ValueError:
        return None  # reading its words reports the error
    if ids is not None and (ids.ndim != 1 or ids.dtype.kind not in "USiu" or len(ids) != len(rows)):
        raise BadFile(
            f"{path}: expected `ids` to be one text or integer for each of {len(rows)} rows, got "
            f"{ids.dtype} of shape {ids.shape}; save the arrays again"
        )
    return table_of_rows(path, rows, None if ids is None else [_text(one) for one in ids.tolist()])


def table_of_rows(path: Path, rows: NDArray[Any], ids: Sequence[str] | None = None) -> Table:
    """The table of an array (n, d), with the ids of its rows; without, their numbers from 0."""
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or not rows.shape[1] or not len(rows):
        raise BadFile(
            f"{path}: expected n rows of d real numbers, got {rows.dtype} of shape {rows.shape}; save a "
            "two-dimensional array"
        )
    return Table(path, rows.shape[1], len(rows), _blocks(path, rows, ids), ranked=False)


def _blocks(path: Path, rows: NDArray[Any], ids: Sequence[str] | None) -> Iterator[Block]:
    for begin in range(0, len(rows), _BLOCK):
        block = finite(path, rows[begin : begin + _BLOCK], begin)
        numbers = range(begin, begin + len(block))
        yield (list(map(str, numbers)) if ids is None else list(ids[begin : begin + len(block)])), block


def finite(path: Path, rows: NDArray[Any], begin: int) -> NDArray[np.float32]:
    """The rows (b, d) as float32; BadFile names the first one that has nan or inf, counted from `begin`."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is reported below
        block = np.asarray(rows, np.float32)
    good = np.isfinite(block).all(axis=1)  # (b,)
    if not good.all():
        raise BadFile(
            f"{path}: expected finite numbers, got nan or inf in row {begin + int(np.argmin(good))}; remove "
            "that row"
        )
    return block


def _text(one: object) -> str:
    return one.decode(errors="replace") if isinstance(one, bytes) else str(one)


def _array(path: Path) -> NDArray[Any]:
    try:
        with strictly():
            return np.lib.format.open_memmap(path, mode="r")
    except DAMAGED as error:
        raise BadFile(f"{path}: expected a complete .npy file, got {error}; save it again") from error


def _tensor(path: Path) -> NDArray[Any]:
    try:
        from safetensors import safe_open
    except ImportError as error:
        raise MissingExtra(f"{path}: safetensors is missing; run {install_extra('exchange')}") from error
    try:
        with safe_open(path, framework="np") as file:
            names = list(file.keys())
            if len(names) == 1:
                return np.asarray(file.get_tensor(names[0]))
    except (*DAMAGED, Exception) as error:  # noqa: BLE001 - its own errors derive from Exception alone
        raise BadFile(f"{path}: expected a valid safetensors file, got {error}; save it again") from error
    raise BadFile(f"{path}: expected one tensor, got {len(names)} ({', '.join(names[:3])}); save one alone")


def _flat_index(path: Path) -> NDArray[np.float32]:
    """The rows (n, d) of a flat index, memory-mapped: its header is checked against its size."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_FLAT_HEADER.size + 12)
    try:
        _, d, n, _, _, _, metric = _FLAT_HEADER.unpack_from(head)
        start = _FLAT_HEADER.size + (4 if metric > 1 else 0)  # other metrics have an argument
        (count,) = struct.unpack_from("<Q", head, start)
    except struct.error as error:
        raise BadFile(f"{path}: expected a complete faiss index, got {size} bytes; write it again") from error
    start += 8
    if not (0 < n < 1 << 40 and 0 < d < 1 << 20 and count == n * d and size == start + 4 * n * d):
        raise BadFile(
            f"{path}: expected a flat faiss index, got {size} bytes that do not hold {n} rows of {d} "
            "numbers; write it again with faiss.write_index"
        )
    return np.memmap(path, np.dtype("<f4"), mode="r", offset=start, shape=(n, d))
