"""Rows: unlabelled vectors, from the formats that vector stores write, with ids or row numbers.

.npy            n rows of d numbers
.npz            the arrays `ids` and `vectors`, or one array alone
Parquet         a column of vectors, and perhaps one of ids (vectors/parquet.py)
.safetensors    one tensor
faiss           a flat index (IndexFlatIP, IndexFlatL2), alone or in an IDMap or IDMap2, which has ids

JSON lines and CSV are read by muse.files.store_text, and rows are written by muse.files.row_writers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, MissingExtra
from muse.files.archive import open_archive, strictly
from muse.files.source import DAMAGED, first_bytes
from muse.files.vectors.npz import text_of, unreadable
from muse.files.vectors.table import Block, IntegerId, Table, finite, row_numbers
from muse.installation import install_extra

NPY = b"\x93NUMPY"
FLAT = (b"IxFI", b"IxF2", b"IxFl")  # how faiss marks flat indices: inner product, L2, older files
WITH_IDS = (b"IxMp", b"IxM2")  # IDMap and IDMap2: another index, then the ids of its rows
_HEAD = 8  # bytes that say whether a file holds rows
INDEX_HEADER = struct.Struct("<4sIqqq?I")  # mark, d, n, twice a constant, whether trained, metric
_BLOCK = 8_192  # rows converted at once
_VECTORS = ("vectors", "matrix", "embeddings", "rows")


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
    if not _is_index(first_bytes(path, _HEAD)):
        return _table(path, found := _npy(path), found.blocks())
    found, ids = _index(path)
    return _table(path, found, found.blocks(), None if ids is None else map(_as_ids, ids.blocks()))


def _as_ids(integers: NDArray[Any]) -> list[str]:
    return [IntegerId(one) for one in integers.ravel().tolist()]


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


def _ids(path: Path, ids: NDArray[Any], rows: NDArray[Any]) -> Sequence[str]:
    """The ids (n,) as text; BadFile unless there is one for each of the rows (n, d)."""
    if ids.ndim != 1 or ids.dtype.kind not in "USiu" or ids.shape != rows.shape[:1]:
        raise BadFile(
            f"{path}: expected `ids` to be one text or integer for each row of an array of shape "
            f"{rows.shape}, got {ids.dtype} of shape {ids.shape}; save the arrays again"
        )
    return _as_ids(ids) if ids.dtype.kind in "iu" else text_of(path, ids)


def table_of_rows(path: Path, rows: NDArray[Any], ids: Sequence[str] | None = None) -> Table:
    """The table of an array (n, d), with the ids of its rows; without, their numbers from 0."""
    begins = range(0, len(rows) if rows.ndim else 0, _BLOCK)
    named = None if ids is None else (list(ids[begin : begin + _BLOCK]) for begin in begins)
    return _table(path, rows, (rows[begin : begin + _BLOCK] for begin in begins), named)


def _table(
    path: Path,
    array: NDArray[Any] | _OnDisk,
    blocks: Iterator[NDArray[Any]],
    ids: Iterator[list[str]] | None = None,
) -> Table:
    shape, dtype = array.shape, array.dtype
    if len(shape) != 2 or dtype.kind not in "fiu" or not all(shape):
        raise BadFile(
            f"{path}: expected n rows of d real numbers, got {dtype} of shape {shape}; save a "
            "two-dimensional array"
        )
    return Table(
        path, shape[1], shape[0], _named(path, blocks, ids), frequency_ordered=False, numbered=ids is None
    )  # fmt: skip


def _named(path: Path, blocks: Iterator[NDArray[Any]], ids: Iterator[list[str]] | None) -> Iterator[Block]:
    begin = 0
    for rows in blocks:
        block = finite(path, rows, begin)
        end = begin + len(block)
        yield (row_numbers(begin, end) if ids is None else next(ids)), block
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


def _index(path: Path) -> tuple[_OnDisk, _OnDisk | None]:
    """The rows (n, d) of a flat index and, in an IDMap, their ids (n, 1), checked against the file's size."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(3 * INDEX_HEADER.size)
    mapped = head[:4] in WITH_IDS
    try:
        start = _after_header(head, 0) if mapped else 0
        if head[start : start + 4] not in FLAT:
            raise _not_flat(path, head[start : start + 4], mapped=mapped)
        _, d, n, *_ = INDEX_HEADER.unpack_from(head, start)
        start = _after_header(head, start)
        (count,) = struct.unpack_from("<Q", head, start)
    except struct.error as error:
        raise BadFile(f"{path}: expected a complete faiss index, got {size} bytes; write it again") from error
    start += 8
    end = start + 4 * n * d
    whole = 0 < n < 1 << 40 and 0 < d < 1 << 20 and count == n * d and size == end + mapped * 8 * (n + 1)
    if not whole or (mapped and _integer_at(path, end) != n):
        raise BadFile(
            f"{path}: expected a flat faiss index, got {size} bytes that do not hold {n} rows of {d} "
            "numbers; write it again with faiss.write_index"
        )
    ids = _OnDisk(path, np.dtype("<i8"), (n, 1), end + 8) if mapped else None
    return _OnDisk(path, np.dtype("<f4"), (n, d), start), ids


def _after_header(head: bytes, start: int) -> int:
    """Where the header of an index ends that begins at `start`."""
    metric = INDEX_HEADER.unpack_from(head, start)[-1]
    return start + INDEX_HEADER.size + (4 if metric > 1 else 0)  # other metrics have an argument


def _integer_at(path: Path, place: int) -> int:
    with path.open("rb") as file:
        file.seek(place)
        return int.from_bytes(file.read(8), "little")


def _not_flat(path: Path, mark: bytes, *, mapped: bool) -> BadFile:
    # In an IDMap, reconstruct_n takes row numbers for ids, and ends the process where there is none.
    vectors = "vectors=faiss.downcast_index(index.index).reconstruct_n(0, index.ntotal)"
    advice = (
        f"np.savez(path, ids=faiss.vector_to_array(index.id_map), {vectors})"
        if mapped
        else "np.save(path, index.reconstruct_n(0, index.ntotal))"
    )
    kind = f"{'an IDMap of ' * mapped}one of the kind {mark.decode(errors='replace')}"
    return BadFile(
        f"{path}: expected a flat faiss index (IndexFlatIP, IndexFlatL2), got {kind}; save its vectors with "
        f"{advice}"
    )
