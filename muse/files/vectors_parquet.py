"""Vectors as Parquet: a table with the columns word and vector, for pandas, Polars, DuckDB and Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile
from muse.files.parquet import parquet_writer, require_pyarrow
from muse.files.source import DAMAGED, refuse_stream
from muse.files.table import Block, Table
from muse.files.writing import check_writable
from muse.vectors import Matrix

ROWS = 10_000  # of a row group: 12 MB at d = 300


def write_parquet(path: Path | str, words: Sequence[str], matrix: Matrix) -> None:
    """Write the columns `word` (string) and `vector` (d float32), in the order of the words."""
    path = Path(path)
    check_writable(path, words, matrix, forbidden="")
    with parquet_writer(path, matrix.shape[1], "word") as write:
        for begin in range(0, len(words), ROWS):
            write(words[begin : begin + ROWS], np.ascontiguousarray(matrix[begin : begin + ROWS]))


def parquet_table(path: Path) -> Table:
    """The table of a Parquet file with the columns `word` and `vector`; BadFile if it lacks them."""
    arrow, parquet = _pyarrow(path)
    refuse_stream(path, "since Parquet is not read from its start")
    try:
        file = parquet.ParquetFile(path)
        kind = file.schema_arrow.field("vector").type
        dimension = getattr(kind, "list_size", None) or len(file.read(["vector"])["vector"][0])
    except (*DAMAGED, arrow.ArrowException) as error:
        raise BadFile(
            f"{path}: expected Parquet with the columns word and vector, got other content ({error})"
        ) from error
    return Table(path, dimension, file.metadata.num_rows, _blocks(path, file, dimension))


def _blocks(path: Path, file: Any, dimension: int) -> Iterator[Block]:
    arrow, _ = _pyarrow(path)
    try:
        for batch in file.iter_batches(ROWS, columns=["word", "vector"]):
            words = batch.column("word").to_pylist()
            rows = np.array(batch.column("vector").to_pylist(), dtype=np.float32)  # (b, d)
            good = rows.shape == (len(words), dimension) and bool(np.isfinite(rows).all())
            if not good or not all(isinstance(word, str) and word for word in words):
                raise BadFile(
                    f"{path}: expected a word and {dimension} finite numbers in every row, got another row; "
                    "export it again"
                )
            yield words, rows
    except (*DAMAGED, arrow.ArrowException) as error:
        raise BadFile(
            f"{path}: expected a valid Parquet file, got a broken one ({error}); export it again"
        ) from error


def _pyarrow(path: Path) -> tuple[Any, Any]:
    require_pyarrow(path)
    import pyarrow as arrow
    from pyarrow import parquet

    return arrow, parquet
