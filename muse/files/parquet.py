"""Parquet: words and vectors as a table of two columns, for pandas, Polars, DuckDB and Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile, MissingExtra
from muse.files.writing import check_writable, replaced
from muse.vectors import Matrix, Vectors

ROWS = 10_000  # of a row group: 12 MB at d = 300


def write_parquet(path: Path | str, words: Sequence[str], matrix: Matrix) -> None:
    """Writes the columns `word` (string) and `vector` (d float32 each), in the order of the words."""
    arrow, parquet = _pyarrow()
    path = Path(path)
    check_writable(path, words, matrix, forbidden="")
    schema = arrow.schema(
        [("word", arrow.string()), ("vector", arrow.list_(arrow.float32(), matrix.shape[1]))]
    )
    with replaced(path) as stream, parquet.ParquetWriter(stream, schema) as writer:
        for begin in range(0, len(words), ROWS):
            rows = np.ascontiguousarray(matrix[begin : begin + ROWS]).ravel()
            column = arrow.FixedSizeListArray.from_arrays(arrow.array(rows), matrix.shape[1])
            names = arrow.array(list(words[begin : begin + ROWS]), arrow.string())
            writer.write_table(arrow.Table.from_arrays([names, column], schema=schema))


def read_parquet(path: Path | str, *, language: str) -> Vectors:
    """The Vectors in a file with the columns `word` and `vector`; BadFile where it has not got them."""
    arrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(path, columns=["word", "vector"])
        words = table.column("word").to_pylist()
        rows = table.column("vector").to_pylist()
    except (OSError, KeyError, arrow.ArrowException) as error:
        raise BadFile(
            f"{path}: expected Parquet with the columns word and vector, got {error}; export it again"
        ) from error
    lengths = {len(row) if row is not None else 0 for row in rows}
    if len(lengths) != 1 or not all(isinstance(word, str) for word in words):
        raise BadFile(
            f"{path}: expected a word and as many numbers in every row, got others; export it again"
        )
    return Vectors(language, words, np.array(rows, dtype=np.float32))


def require_pyarrow() -> None:
    """Raises MissingExtra where pyarrow is not installed."""
    _pyarrow()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow; run pip install 'muse[exchange]'") from None
    return arrow, parquet
