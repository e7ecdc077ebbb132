"""Arrays: words or items with their vectors in files of numpy, faiss and safetensors.

.npz            the arrays `words` and `matrix`; of items, `ids` and `vectors`, or one array alone
.npy            n rows of d numbers
.safetensors    one tensor
faiss           a flat index (IndexFlatIP, IndexFlatL2), alone or in an IDMap or IDMap2, which has ids

Items are embeddings without a vocabulary: without ids they are known by the numbers of their rows. A pickle
can run any code when it is loaded, so muse loads none.
"""

import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.archive import open_archive, strictly
from muse.files.payloads import Label, label_of
from muse.files.source import DAMAGED
from muse.files.vectors.table import IntegerId, RowsOnDisk, Table, item_ids, items_table, words_table
from muse.files.writing import check_writable, replaced, unwritable
from muse.optional import library
from muse.vectors import Matrix

INDEX_HEADER = struct.Struct("<4sIqqq?I")  # mark, d, n, twice a constant, whether trained, metric
_FLAT = (b"IxFI", b"IxF2", b"IxFl")  # how faiss marks flat indices: inner product, L2, older files
_WITH_IDS = (b"IxMp", b"IxM2")  # IDMap and IDMap2: another index, then the ids of its rows
_SAVE = "np.save(path, index.reconstruct_n(0, index.ntotal))"
# In an IDMap, reconstruct_n takes row numbers for ids, and ends the process where there is none.
_SAVE_MAPPED = (
    "np.savez(path, ids=faiss.vector_to_array(index.id_map), "
    "vectors=faiss.downcast_index(index.index).reconstruct_n(0, index.ntotal))"
)
_VECTORS = ("matrix", "vectors", "embeddings", "rows")  # names of arrays
_SAMPLE = 100  # labels that tell whether they are words
_NO_CHARACTER = 0xD800


# numpy


def npz_table(path: Path) -> Table:
    """The table of an .npz: of words if it has the array `words` or one of words, else of items."""
    try:
        with open_archive(path) as archive:
            arrays = {name: _of_characters(np.asarray(archive[name])) for name in archive}
    except ValueError as error:
        advice = "create it again"
        if "pickle" in str(error):
            advice = "save it without pickled objects: words as np.array(words, dtype=str)"
        raise BadFile(f"{path}: expected plain arrays, got unreadable ones ({error}); {advice}") from error
    flat = {name: array for name, array in arrays.items() if array.ndim == 1}
    texts = [name for name, array in arrays.items() if array.ndim and array.dtype.kind in "US"]
    tables = [name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiu"]
    alone = [*arrays] if len(arrays) == 1 and not texts else tables if len(tables) == 1 else []
    vectors = next((name for name in (*_VECTORS, *alone) if name in arrays), None)
    if vectors is None:
        raise BadFile(
            f"{path}: expected the arrays `words` and `matrix` or, of embeddings without a vocabulary, `ids` "
            f"and `vectors` or one array, got {', '.join(arrays) or 'none'}; save it with np.savez(path, "
            "words=..., matrix=...)"
        )
    rows = arrays[vectors]
    fitting = {
        name: array[:_SAMPLE].tolist() for name, array in flat.items() if array.shape == rows.shape[:1]
    }
    named = next((Label(name, name == "words") for name in ("words", "ids") if name in arrays), None)
    if (label := named or label_of(path, fitting)) is not None:
        return _labelled(path, label, arrays[label.name], rows)
    if texts:
        sizes = ", ".join(f"{name} of shape {arrays[name].shape}" for name in texts)
        raise BadFile(
            f"{path}: expected one array of a text for each of {len(rows)} rows, got {sizes}; call it "
            "`words` or, of embeddings without a vocabulary, `ids`"
        )
    return items_table(path, rows)


def _of_characters(array: NDArray[Any]) -> NDArray[Any]:
    """The array; of text, which numpy makes of any numbers, what is no character is half a surrogate."""
    if array.dtype.kind != "U" or not array.ndim or not array.dtype.itemsize or not array.size:
        return array
    codes = np.array(array.astype(array.dtype.newbyteorder("=")), order="C").view(np.uint32)
    codes[codes > sys.maxunicode] = _NO_CHARACTER
    return codes.view(f"U{array.dtype.itemsize // 4}")


def _labelled(path: Path, label: Label, labels: NDArray[Any], rows: NDArray[Any]) -> Table:
    """The table of rows (n, d) with words or ids (n,); BadFile unless they are texts or, of ids, integers."""
    kinds = "US" if label.words else "USiu"
    if labels.ndim != 1 or labels.dtype.kind not in kinds or labels.shape != rows.shape[:1]:
        raise BadFile(
            f"{path}: expected `{label.name}` to be one text{' or integer' * (not label.words)} for each row "
            f"of an array of shape {rows.shape}, got {labels.dtype} of shape {labels.shape}; save them again"
        )
    if label.words:
        return words_table(path, labels.tolist(), rows)
    ids = item_ids(labels.tolist(), lambda place: f"{path}: row {place}")
    return replace(items_table(path, rows, ids), label=label)


def npy_table(path: Path) -> Table:
    """The table of the rows of a .npy file."""
    try:
        with strictly():
            # The map checks the size of the file against the header, and takes no memory until it is read.
            array = np.lib.format.open_memmap(path, mode="r")
    except DAMAGED as error:
        raise BadFile(
            f"{path}: expected a complete .npy file of numbers, got {error}; save it again with "
            "np.save(path, np.stack(rows)), or words and vectors with np.savez(path, words=..., matrix=...)"
        ) from error
    if array.ndim > 1 and not array.flags.c_contiguous:
        raise BadFile(
            f"{path}: expected an array in C order, got Fortran's; save np.ascontiguousarray(array)"
        )
    return items_table(path, RowsOnDisk(path, array.dtype, array.shape, int(array.offset)))


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


# safetensors


def safetensors_table(path: Path) -> Table:
    """The table of the rows of the only tensor in a file."""
    names = tensor_names(path)
    if len(names) == 1:
        return items_table(path, read_tensor(path, names[0]))
    raise BadFile(f"{path}: expected one tensor, got {len(names)} ({', '.join(names[:3])}); save one alone")


def tensor_names(path: Path) -> list[str]:
    """The names of the tensors in a .safetensors file; BadFile if it is none."""
    with _opened_tensors(path, "np") as file:
        return list(file.keys())


def tensor_shapes(path: Path) -> dict[str, list[int]]:
    """The shapes of the tensors in a .safetensors file by their names; BadFile if it is none."""
    with _opened_tensors(path, "np") as file:
        return {name: list(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


def read_tensor(path: Path, name: str) -> NDArray[Any]:
    """The tensor of this name in a .safetensors file."""
    with _opened_tensors(path, "np") as file:
        if not file.get_slice(name).get_dtype().startswith(("BF", "F4", "F6_", "F8")):
            return np.asarray(file.get_tensor(name))
    with _opened_tensors(path, "pt") as file:  # numpy has no bfloat16, and no floats of a byte
        return np.asarray(file.get_tensor(name).float().numpy())


@contextmanager
def _opened_tensors(path: Path, framework: str) -> Iterator[Any]:
    safe_open = library("safetensors", f"{path}: a file of tensors", "exchange").safe_open
    try:
        with safe_open(path, framework=framework) as file:
            yield file
    except Exception as error:  # its own errors derive from Exception alone
        raise BadFile(f"{path}: expected a valid safetensors file, got {error}; save it again") from error


# faiss


def faiss_table(path: Path) -> Table:
    """The table of the rows (n, d) of a flat index, with their ids (n,) if it is in an IDMap.

    Read here, since faiss itself ends the process for a damaged file.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(3 * INDEX_HEADER.size)
    mapped, start = head[:4] in _WITH_IDS, 0
    try:
        for inner in range(1 + mapped):
            mark, (_, d, n, *_, metric) = head[start : start + 4], INDEX_HEADER.unpack_from(head, start)
            if mark not in (_FLAT if inner or not mapped else _WITH_IDS):
                kind = f"{'an IDMap of ' * mapped}one of the kind {mark.decode(errors='replace')}"
                raise BadFile(
                    f"{path}: expected a flat faiss index (IndexFlatIP, IndexFlatL2), got {kind}; save its "
                    f"vectors with {_SAVE_MAPPED if mapped else _SAVE}"
                )
            start += INDEX_HEADER.size + (4 if metric > 1 else 0)  # other metrics have an argument
        (count,) = struct.unpack_from("<Q", head, start)
    except struct.error:
        n = d = count = 0
    rows = RowsOnDisk(path, np.dtype("<f4"), (n, d), start + 8)
    end = rows.start + 4 * n * d
    whole = 0 < n < 1 << 40 and 0 < d < 1 << 20 and count == n * d and size == end + mapped * 8 * (n + 1)
    if not whole or (mapped and int(np.fromfile(path, "<i8", 1, offset=end)[0]) != n):
        raise BadFile(
            f"{path}: expected a flat faiss index, got {size} bytes that do not hold {n} rows of {d} "
            "numbers; write it again with faiss.write_index"
        )
    ids = np.fromfile(path, "<i8", n, offset=end + 8).tolist() if mapped else None
    return items_table(path, rows, ids and [*map(IntegerId, ids)])
