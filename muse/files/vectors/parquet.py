"""Vectors as Parquet: a table with the columns word and vector, for pandas, Polars, DuckDB and Spark.

A table without words has rows in no order, with ids if it has the column `id`, and with texts if it has
the column `text` or `sentence`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.errors import BadFile
from muse.files.parquet import SENTENCE, parquet_writer, read_column, require_pyarrow, text_columns
from muse.files.row_texts import one_line
from muse.files.source import DAMAGED, refuse_stream
from muse.files.vectors.broken import Dropped, keep_whole
from muse.files.vectors.table import Block, Table
from muse.files.writing import check_writable
from muse.vectors import Matrix

TEXTS = ("text", SENTENCE)  # the columns that hold what the rows stand for
ROWS = 10_000  # of a row group: 12 MB at d = 300

log = logging.getLogger(__name__)


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
    `id`, and without either they are row numbers. The texts of unlabelled vectors are in `text` or
    `sentence`. If other columns are ignored, the log says which.
    """
    arrow, parquet = _pyarrow(path)
    refuse_stream(path, "since Parquet is not read from its start")
    try:
        file = parquet.ParquetFile(path)
        columns = _columns(file.schema_arrow)
        dimension = _dimension(file, columns.vector)
    except (*DAMAGED, arrow.ArrowException) as error:
        raise BadFile(
            f"{path}: expected Parquet with a column of vectors, got other content ({error})"
        ) from error
    columns.report(path, file.schema_arrow.names)
    texts = None if columns.text is None else _texts(path, columns.text)
    ranked, dropped = columns.label == "word", Dropped()
    blocks = _blocks(path, file, columns, dimension, dropped)
    return Table(path, dimension, file.metadata.num_rows, blocks, ranked=ranked, texts=texts, dropped=dropped)


class _Columns(NamedTuple):
    """The names of the columns that are read; without a `label` the ids are row numbers."""

    vector: str
    label: str | None
    text: str | None

    def report(self, path: Path, names: Sequence[str]) -> None:
        """Logs which columns are read and which are not, if any is ignored or the ids are missing."""
        ignored = [name for name in names if name not in self]
        if ignored or self.label is None:
            used = ", ".join(name for name in (self.label, self.vector, self.text) if name)
            label = "" if self.label else "; ids are row numbers, since no column is called word or id"
            log.info("%s: columns read: %s; ignored: %s%s", path, used, ", ".join(ignored) or "none", label)

    @property
    def wanted(self) -> str:
        """What each row must have beside its vector."""
        return {"word": "a word", "id": "an id", None: "a row"}[self.label]


def _columns(schema: Any) -> _Columns:
    """The columns to read; LookupError if it is not clear which one has the vectors."""
    label = next((name for name in ("word", "id") if name in schema.names), None)
    texts = [] if label == "word" else text_columns(schema)
    text = next((name for name in TEXTS if texts.count(name) == 1), None)
    return _Columns(_vectors(schema), label, text)


def _vectors(schema: Any) -> str:
    """The name of the column of vectors; LookupError if it is not clear."""
    lists = [field.name for field in schema if "list" in str(field.type)]
    if "vector" in lists:
        return "vector"
    if len(lists) == 1:
        return str(lists[0])
    raise LookupError(f"columns {', '.join(schema.names)}, of which {len(lists)} hold lists")


def _dimension(file: Any, column: str) -> int:
    """The length of the lists, by their type or else by the first that is not empty; LookupError without."""
    size = getattr(file.schema_arrow.field(column).type, "list_size", None)
    rows = (row for batch in file.iter_batches(ROWS, columns=[column]) for row in batch[0])
    size = size or next((len(row) for row in rows if row.is_valid and len(row)), None)
    if not size:
        raise LookupError(f"no vector in column {column}")
    return int(size)


def _texts(path: Path, column: str) -> Iterator[str]:
    return (one_line(text) for block in read_column(path, column) for text in block)


def _blocks(path: Path, file: Any, columns: _Columns, dimension: int, dropped: Dropped) -> Iterator[Block]:
    arrow, _ = _pyarrow(path)
    vector, label, _ = columns
    begin = 0
    try:
        for batch in file.iter_batches(ROWS, columns=[name for name in (label, vector) if name]):
            rows = _rows(batch.column(vector), dimension)  # (b, d), or None
            numbers = range(begin, begin + len(batch))
            words = _labels(batch.column(label)) if label else list(map(str, numbers))
            if label == "word":
                if rows is None:
                    rows = _separate_rows(batch.column(vector), dimension)
                yield keep_whole(path, words, rows, dropped)
                continue
            if rows is None or not np.isfinite(rows).all() or not all(words):
                row, found = _fault(batch, columns, dimension)
                raise BadFile(
                    f"{path}: expected {columns.wanted} and {dimension} finite numbers in every row, got "
                    f"{found} in row {begin + row}; correct or remove that row"
                )
            begin += len(rows)
            yield [str(word) for word in words], rows
    except (*DAMAGED, arrow.ArrowException) as error:
        raise BadFile(
            f"{path}: expected a valid Parquet file, got a broken one ({error}); export it again"
        ) from error


def _labels(column: Any) -> list[str | bytes]:
    """The words or ids of a column, empty where one is missing, and bytes where they are not UTF-8."""
    try:
        return [_label(one) for one in column.to_pylist()]
    except UnicodeDecodeError:
        import pyarrow as arrow

        large = arrow.types.is_large_string(column.type)
        return [
            one or b"" for one in column.cast(arrow.large_binary() if large else arrow.binary()).to_pylist()
        ]


def _separate_rows(column: Any, dimension: int) -> Matrix:
    """The lists of a column as an array (b, d), of nan where one is missing, has a null or another length."""
    rows = np.full((len(column), dimension), np.nan, np.float32)
    for place, numbers in enumerate(column.to_pylist()):
        if _fault_of_vector(numbers, dimension) is None:
            rows[place] = _float32(numbers)
    return rows


def _rows(column: Any, dimension: int) -> Matrix | None:
    """The lists of a column as an array (b, d); None if one is missing, has a null or another length."""
    flat = column.flatten()
    if column.null_count or flat.null_count or len(flat) != len(column) * dimension:
        return None
    if not hasattr(column.type, "list_size") and set(column.value_lengths().to_pylist()) - {dimension}:
        return None
    return _float32(flat.to_numpy(zero_copy_only=False)).reshape(len(column), dimension)


def _float32(numbers: Any) -> Matrix:
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is reported
        return np.asarray(numbers, np.float32)


def _label(one: object) -> str:
    return str(one) if isinstance(one, str | int) else ""


def _fault(batch: Any, columns: _Columns, dimension: int) -> tuple[int, str]:
    """The first row of a batch that is not as it must be, and what it has; LookupError if all are."""
    for row, values in enumerate(batch.to_pylist()):
        found = _fault_of_vector(values[columns.vector], dimension)
        if columns.label is not None and not _label(values[columns.label]):
            found = _fault_of_label(values[columns.label], columns.label)
        if found is not None:
            return row, found
    raise LookupError("a row that cannot be read")


def _fault_of_label(label: object, name: str) -> str:
    if label is None or label == "":
        return f"an empty {name}"
    return f"the {name} {label!r}, which is neither text nor an integer,"


def _fault_of_vector(numbers: list[Any] | None, dimension: int) -> str | None:
    if numbers is None:
        return "no vector"
    if len(numbers) != dimension:
        return f"a vector of length {len(numbers)}"
    if None in numbers:
        return "a vector with a null"
    return None if np.isfinite(_float32(numbers)).all() else "nan or inf"


def _pyarrow(path: Path) -> tuple[Any, Any]:
    require_pyarrow(path)
    import pyarrow as arrow
    from pyarrow import parquet

    return arrow, parquet
