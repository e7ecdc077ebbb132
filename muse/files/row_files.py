"""Row files: .npy and Parquet files of rows, written block by block without knowing the number of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from muse.errors import BadSetting
from muse.files.parquet import SENTENCE, parquet_writer, require_pyarrow
from muse.files.writing import check_place, replaced
from muse.vectors import Matrix

Write = Callable[[Sequence[str], Matrix], None]
_SUFFIXES = (".npy", ".parquet")


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
