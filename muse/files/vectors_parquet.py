"""Vectors as Parquet: a table with the columns word and vector, for pandas, Polars, DuckDB and Spark.

A table without words has rows in no order, with ids if it has the column `id`, and with texts if it has
the column `text` or `sentence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile
from muse.files.parquet import SENTENCE, parquet_writer, read_column, require_pyarrow, text_columns
from muse.files.row_texts import one_line
from muse.files.source import DAMAGED, refuse_stream
from muse.files.table import Block, Table
from muse.files.writing import check_writable
from muse.vectors import Matrix

TEXTS = ("text", SENTENCE)  # the columns that hold what the rows stand for
ROWS = 10_000  # of a row group: 12 MB at d = 300


def write_parquet(path: Path | str, words: Sequence[str], matrix: Matrix) -> None:
    """Write the columns `word` (string) and `vector` (d float32), in the order of the words."""
    path = Path(path)
    check_writable(path, words, matrix, forbidden="")
    with parquet_writer(path, matrix.shape[1], "word") as write:
        for begin in range(0, len(words), ROWS):
            write(words[begin : begin + ROWS], np.ascontiguousarray(matrix[begin : begin + ROWS]))


def parquet_table(path: Path) -> Table:
    """The table of a Parquet file with a column of vectors and one of words or ids; BadFile without vectors.

    The vectors are in the column `vector`, or else in the only one of lists; words are in `word`, ids in
    `id`, and without either they are row numbers. The texts of rows without words are in `text` or
    `sentence`.
    """
    arrow, parquet = _pyarrow(path)
    refuse_stream(path, "since Parquet is not read from its start")
    try:
        file = parquet.ParquetFile(path)
        column = _vectors(file.schema_arrow)
        kind = file.schema_arrow.field(column).type
        dimension = getattr(kind, "list_size", None) or len(
            next(file.iter_batches(1, columns=[column]))[0][0]
        )
    except (*DAMAGED, StopIteration, arrow.ArrowException) as error:
        raise BadFile(
            f"{path}: expected Parquet with a column of vectors, got other content ({error})"
        ) from error
    names = file.schema_arrow.names
    label = next((name for name in ("word", "id") if name in names), None)
    blocks = _blocks(path, file, (label, column), dimension)
    texts = None if label == "word" else _texts(path, text_columns(file.schema_arrow))
    return Table(path, dimension, file.metadata.num_rows, blocks, ranked=label == "word", texts=texts)


def _texts(path: Path, columns: Sequence[str]) -> Iterator[str] | None:
    chosen = next((name for name in TEXTS if columns.count(name) == 1), None)
    if chosen is None:
        return None
    return (one_line(text) for block in read_column(path, chosen) for text in block)


def _vectors(schema: Any) -> str:
    """The name of the column of vectors; LookupError if it is not clear."""
    lists = [field.name for field in schema if "list" in str(field.type)]
    if "vector" in lists:
        return "vector"
    if len(lists) == 1:
        return str(lists[0])
    raise LookupError(f"columns {', '.join(schema.names)}, of which {len(lists)} hold lists")


def _blocks(path: Path, file: Any, columns: tuple[str | None, str], dimension: int) -> Iterator[Block]:
    arrow, _ = _pyarrow(path)
    label, vector = columns
    begin = 0
    try:
        for batch in file.iter_batches(ROWS, columns=[name for name in columns if name]):
            rows = _rows(batch.column(vector), dimension)  # (b, d)
            numbers = range(begin, begin + len(rows))
            words = [_label(one) for one in (batch.column(label).to_pylist() if label else numbers)]
            good = rows.shape == (len(words), dimension) and bool(np.isfinite(rows).all())
            if not good or not all(words):
                raise BadFile(
                    f"{path}: expected {'a word or id' if label else 'a row'} and {dimension} finite "
                    "numbers in every row, got another row; export it again"
                )
            begin += len(rows)
            yield words, rows
    except (*DAMAGED, arrow.ArrowException) as error:
        raise BadFile(
            f"{path}: expected a valid Parquet file, got a broken one ({error}); export it again"
        ) from error


def _rows(column: Any, dimension: int) -> Matrix:
    """The lists of a column as an array (b, d), without Python's numbers in between if none is missing."""
    flat = column.flatten()
    if column.null_count == 0 and flat.null_count == 0 and len(flat) == len(column) * dimension:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is reported above
            rows = flat.to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
        lengths = (
            {dimension} if hasattr(column.type, "list_size") else set(column.value_lengths().to_pylist())
        )
        if lengths <= {dimension}:
            return np.asarray(rows.reshape(len(column), dimension), np.float32)
    lists = column.to_pylist()
    whole = all(row is not None and len(row) == dimension for row in lists)
    return np.array(lists if whole else [], dtype=np.float32)  # of another shape, which is reported above


def _label(one: object) -> str:
    return str(one) if isinstance(one, str | int) else ""


def _pyarrow(path: Path) -> tuple[Any, Any]:
    require_pyarrow(path)
    import pyarrow as arrow
    from pyarrow import parquet

    return arrow, parquet
