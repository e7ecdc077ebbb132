"""Rows: unlabelled vectors, from the formats that vector stores write, with ids or row numbers.

.npy            n rows of d numbers
.npz            the arrays `ids` and `vectors`, or one array alone
Parquet         a column of vectors, and perhaps one of ids (vectors/parquet.py)
.safetensors    one tensor
faiss           a flat index (IndexFlatIP, IndexFlatL2)

.npy and Parquet files of rows are also written, block by block, without knowing the number of rows.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting, MissingExtra
from muse.files.archive import open_archive, strictly
from muse.files.parquet import SENTENCE, parquet_writer, require_pyarrow
from muse.files.source import DAMAGED, first_bytes
from muse.files.vectors.npz import text_of, unreadable
from muse.files.vectors.table import Block, Table, finite
from muse.files.writing import check_place, replaced
from muse.installation import install_extra
from muse.vectors import Matrix

Write = Callable[[Sequence[str], Matrix], None]
_SUFFIXES = (".npy", ".parquet")
NPY = b"\x93NUMPY"
FLAT = (b"IxFI", b"IxF2", b"IxFl")  # how faiss marks flat indices: inner product, L2, older files
_HEAD = 8  # bytes that say whether a file holds rows
_FLAT_HEADER = struct.Struct("<4sIqqq?I")  # mark, d, n, twice a constant, whether trained, metric
_BLOCK = 8_192  # rows converted at once
_VECTORS = ("vectors", "matrix", "embeddings", "rows")


def check_row_file(path: Path) -> None:
    """Raise what `row_writer` would raise, before any work is done."""
    if path.suffix not in _SUFFIXES:
        raise BadSetting(
            f"{path}: vectors are written to a .npy or .parquet file, got {path.name!r}; choose such a name"
        )
    check_place(path)
    if path.suffix == ".parquet":
        require_pyarrow(path)


@contextmanager
def row_writer(path: Path, dimension: int, text: str = SENTENCE) -> Iterator[Write]:
    """A function that appends sentences and their rows (b, d) to a file, which is written atomically.

    A .npy file has the rows (s, d) alone, float32; a .parquet file has the columns `text` and `vector`.
    """
    check_row_file(path)
    parquet = path.suffix == ".parquet"
    with parquet_writer(path, dimension, text) if parquet else npy_writer(path, dimension) as write:
        yield write


@contextmanager
def npy_writer(path: Path, dimension: int) -> Iterator[Write]:
    """A function that appends rows (b, d) to a .npy file of float32."""
    count = 0

    def header() -> None:
        # numpy pads the header for more digits, so the final one is as long as the first.
        shape = {"descr": "<f4", "fortran_order": False, "shape": (count, dimension)}
        np.lib.format.write_array_header_1_0(stream, shape)

    def write(_: Sequence[str], rows: Matrix) -> None:
        nonlocal count
        count += len(rows)
        stream.write(np.ascontiguousarray(rows, "<f4").data)

    with replaced(path) as stream:
        header()
        yield write
        stream.seek(0)
        header()


def is_rows(path: Path) -> bool:
    """Whether a file can only hold rows, by its first bytes or, for safetensors, by its name."""
    if path.suffix == ".safetensors":
        return True
    head = first_bytes(path, _HEAD)
    return head.startswith(NPY) or _is_index(head)


def _is_index(head: bytes) -> bool:
    """Whether these bytes begin a faiss index of any kind: its mark, then d, whose last byte is 0."""
    return len(head) == _HEAD and head[:1] == b"I" and head[:4].isalnum() and head[7] == 0


def rows_table(path: Path) -> Table:
    """The table of such a file, whose words are row numbers; BadFile if it is broken or of another shape."""
    if path.suffix == ".safetensors":
        return table_of_rows(path, _tensor(path))
    found = _flat_index(path) if _is_index(first_bytes(path, _HEAD)) else _npy(path)
    return _table(path, found.shape, found.dtype, found.blocks())


@dataclass(frozen=True)
class _OnDisk:
    """An array (n, d) in a file, read a block at a time: a memory map would count as its reader's memory."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int  # its first byte

    def blocks(self) -> Iterator[NDArray[Any]]:
        n, d = self.shape
        with self.path.open("rb") as file:
            file.seek(self.start)
            for begin in range(0, n, _BLOCK):
                count = min(_BLOCK, n - begin) * d
                yield np.fromfile(file, self.dtype, count).reshape(-1, d)


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
    except ValueError as error:
        raise unreadable(path, error) from error
    return table_of_rows(path, rows, None if ids is None else _ids(path, ids, rows))


def _ids(path: Path, ids: NDArray[Any], rows: NDArray[Any]) -> list[str]:
    """The ids (n,) as text; BadFile unless there is one for each of the rows (n, d)."""
    if ids.ndim != 1 or ids.dtype.kind not in "USiu" or ids.shape != rows.shape[:1]:
        raise BadFile(
            f"{path}: expected `ids` to be one text or integer for each row of an array of shape "
            f"{rows.shape}, got {ids.dtype} of shape {ids.shape}; save the arrays again"
        )
    return list(map(str, ids.tolist())) if ids.dtype.kind in "iu" else text_of(path, ids)


def table_of_rows(path: Path, rows: NDArray[Any], ids: Sequence[str] | None = None) -> Table:
    """The table of an array (n, d), with the ids of its rows; without, their numbers from 0."""
    n = len(rows) if rows.ndim else 0
    blocks = (rows[begin : begin + _BLOCK] for begin in range(0, n, _BLOCK))
    return _table(path, rows.shape, rows.dtype, blocks, ids)


def _table(
    path: Path,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    blocks: Iterator[NDArray[Any]],
    ids: Sequence[str] | None = None,
) -> Table:
    if len(shape) != 2 or dtype.kind not in "fiu" or not all(shape):
        raise BadFile(
            f"{path}: expected n rows of d real numbers, got {dtype} of shape {shape}; save a "
            "two-dimensional array"
        )
    return Table(path, shape[1], shape[0], _named(path, blocks, ids), ranked=False)


def _named(path: Path, blocks: Iterator[NDArray[Any]], ids: Sequence[str] | None) -> Iterator[Block]:
    begin = 0
    for rows in blocks:
        block = finite(path, rows, begin)
        end = begin + len(block)
        yield (list(map(str, range(begin, end))) if ids is None else list(ids[begin:end])), block
        begin = end


def _npy(path: Path) -> _OnDisk:
    try:
        with strictly():
            # The map checks the size of the file against the header, and takes no memory until it is read.
            array = np.lib.format.open_memmap(path, mode="r")
    except DAMAGED as error:
        if "Python objects" in str(error):
            raise BadFile(
                f"{path}: expected an array of numbers, got one of Python objects; save it with "
                "np.save(path, np.stack(rows))"
            ) from error
        raise BadFile(f"{path}: expected a complete .npy file, got {error}; save it again") from error
    if array.ndim > 1 and not array.flags.c_contiguous:
        raise BadFile(
            f"{path}: expected an array in C order, got Fortran's; save it with np.ascontiguousarray(array)"
        )
    return _OnDisk(path, array.dtype, array.shape, int(array.offset))


def _tensor(path: Path) -> NDArray[Any]:
    names = tensor_names(path)
    if len(names) != 1:
        raise BadFile(
            f"{path}: expected one tensor, got {len(names)} ({', '.join(names[:3])}); save one alone"
        )
    return read_tensor(path, names[0])


def tensor_names(path: Path) -> list[str]:
    """The names of the tensors in a .safetensors file; BadFile if it is none."""
    with _opened_tensors(path, "np") as file:
        return list(file.keys())


def read_tensor(path: Path, name: str) -> NDArray[Any]:
    """The tensor of this name in a .safetensors file."""
    with _opened_tensors(path, "np") as file:
        if file.get_slice(name).get_dtype() != "BF16":
            return np.asarray(file.get_tensor(name))
    with _opened_tensors(path, "pt") as file:  # numpy has no bfloat16
        return np.asarray(file.get_tensor(name).float().numpy())


@contextmanager
def _opened_tensors(path: Path, framework: str) -> Iterator[Any]:
    try:
        from safetensors import safe_open
    except ImportError as error:
        raise MissingExtra(f"{path}: safetensors is missing; run {install_extra('exchange')}") from error
    try:
        with safe_open(path, framework=framework) as file:
            yield file
    except (*DAMAGED, Exception) as error:  # noqa: BLE001 - its own errors derive from Exception alone
        raise BadFile(f"{path}: expected a valid safetensors file, got {error}; save it again") from error


def _flat_index(path: Path) -> _OnDisk:
    """The rows (n, d) of a flat index, whose header is checked against the size of the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_FLAT_HEADER.size + 12)
    if head[:4] not in FLAT:
        raise BadFile(
            f"{path}: expected a flat faiss index (IndexFlatIP, IndexFlatL2), got one of the kind "
            f"{head[:4].decode()}; save its vectors with np.save(path, index.reconstruct_n(0, index.ntotal))"
        )
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
    return _OnDisk(path, np.dtype("<f4"), (n, d), start)
