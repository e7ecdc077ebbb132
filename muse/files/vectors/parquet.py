"""Vectors as Parquet: a table with the columns word and vector, for pandas, Polars, DuckDB and Spark.

A table without words has rows in no order, with ids if it has the column `id`, and with texts if it has
the column `text` or `sentence`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from muse.errors import BadFile
from muse.files.parquet import SENTENCE, parquet_writer, read_column, require_pyarrow, text_columns
from muse.files.payloads import RESERVED, Payload
from muse.files.row_texts import one_line
from muse.files.source import DAMAGED, refuse_stream
from muse.files.vectors.broken import Dropped, keep_whole
from muse.files.vectors.table import Block, IntegerId, Table, Vectorless, chosen_column
from muse.files.writing import check_writable
from muse.vectors import Matrix

TEXTS = ("text", SENTENCE)  # the columns that hold what the rows stand for
ROWS = 10_000  # of a row group: 12 MB at d = 300
MOST_NUMBERS = 1 << 22  # of unlabelled vectors read at once
_NUMBERS = ("float", "double", "halffloat", "int", "uint")  # how their types begin

log = logging.getLogger(__name__)


def write_parquet(path: Path | str, words: Sequence[str], matrix: Matrix) -> None:
    """Write the columns `word` (string) and `vector` (d float32), in the order of the words."""
    path = Path(path)
    check_writable(path, words, matrix, forbidden="")
    with parquet_writer(path, matrix.shape[1], "word") as write:
        for begin in range(0, len(words), ROWS):
            write(words[begin : begin + ROWS], np.ascontiguousarray(matrix[begin : begin + ROWS]))


def parquet_table(path: Path, column: str | None = None) -> Table:
    """The table of a Parquet file with a column of vectors and one of words or ids; BadFile without vectors.

    The vectors are in the `column` asked for, else in `vector`, or else in the only one of lists of numbers;
    words are in `word`, ids in `id`, and without either they are row numbers. The texts of unlabelled vectors
    are in `text` or `sentence`. If other columns are ignored, the log says which. Unlabelled rows whose
    vector is null are left out. Raise BadSetting if it is not clear which column is meant.
    """
    arrow, parquet = _pyarrow(path)
    refuse_stream(path, "since Parquet is not read from its start")
    try:
        file = parquet.ParquetFile(path)
        columns = _columns(path, file.schema_arrow, column)
        dimension = _dimension(file, columns.vector)
    except (*DAMAGED, arrow.ArrowException) as error:
        raise BadFile(
            f"{path}: expected Parquet with a column of vectors, got other content ({error})"
        ) from error
    texts = None if columns.text is None else _texts(path, columns.text)
    dropped, vectorless = Dropped(), Vectorless()
    payload = None if columns.label == "word" else columns.payload(file.schema_arrow)
    if payload is None:
        columns.report(path, file.schema_arrow.names)
        blocks = _word_blocks(path, file, columns, dimension, dropped)
    else:
        blocks = _row_blocks(path, file, columns, vectorless, payload)
    return Table(
        path, dimension, file.metadata.num_rows, _checked(path, blocks),
        frequency_ordered=columns.label == "word",
        texts=texts, dropped=dropped, vectorless=vectorless, payload=payload, numbered=columns.label is None,
    )  # fmt: skip


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

    def payload(self, schema: Any) -> Payload:
        """The other columns, of which those of vectors and those that could not be told apart stay behind."""
        others = [one for one in schema if one.name not in (self.label, self.vector)]
        behind = [
            one.name for one in others
            if _holds_numbers(one.type) or one.name in RESERVED or schema.names.count(one.name) > 1
        ]  # fmt: skip
        return Payload((one.name for one in others if one.name not in behind), dict.fromkeys(behind))

    @property
    def wanted(self) -> str:
        """What each row must have beside its vector."""
        return {"word": "a word", "id": "an id", None: "a row"}[self.label]


def _columns(path: Path, schema: Any, column: str | None) -> _Columns:
    """The columns to read; LookupError if none has vectors, BadSetting if it is not clear which one."""
    label = next((name for name in ("word", "id") if name in schema.names), None)
    texts = [] if label == "word" else text_columns(schema)
    text = next((name for name in TEXTS if texts.count(name) == 1), None)
    lists = [field.name for field in schema if _holds_numbers(field.type)]
    structs = {
        field.name: ", ".join(part.name for part in field.type)
        for field in schema
        if str(field.type).startswith("struct<") and any(_holds_numbers(part.type) for part in field.type)
    }
    try:
        return _Columns(chosen_column(path, lists, column, structs), label, text)
    except LookupError as error:
        raise LookupError(f"columns {', '.join(schema.names)}; {error}") from None


def _holds_numbers(kind: Any) -> bool:
    """Whether a column of this type has lists of numbers."""
    return "list" in str(kind).partition("<")[0] and str(kind.value_type).startswith(_NUMBERS)


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


def _checked(path: Path, blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks, with BadFile for what is broken in the file."""
    arrow, _ = _pyarrow(path)
    try:
        yield from blocks
    except (*DAMAGED, arrow.ArrowException) as error:
        raise BadFile(
            f"{path}: expected a valid Parquet file, got a broken one ({error}); export it again"
        ) from error


def _word_blocks(
    path: Path, file: Any, columns: _Columns, dimension: int, dropped: Dropped
) -> Iterator[Block]:
    for batch in file.iter_batches(ROWS, columns=[columns.label, columns.vector]):
        rows = _rows(batch.column(columns.vector), dimension)  # (b, d), or None
        if rows is None:
            rows = _separate_rows(batch.column(columns.vector), dimension)
        yield keep_whole(path, _labels(batch.column(columns.label)), rows, dropped)


def _row_blocks(
    path: Path, file: Any, columns: _Columns, vectorless: Vectorless, payload: Payload
) -> Iterator[Block]:
    arrow, _ = _pyarrow(path)
    begin, dimension = 0, _dimension(file, columns.vector)
    if not payload.wanted:
        columns.report(path, file.schema_arrow.names)
    size = max(1, min(ROWS, MOST_NUMBERS // dimension))
    read = [columns.label, columns.vector, *(payload.known if payload.wanted else ())]
    for batch in file.iter_batches(size, columns=[name for name in read if name]):
        places = np.arange(begin, begin + len(batch))  # (b,)
        begin += len(batch)
        if batch.column(columns.vector).null_count:
            known = batch.column(columns.vector).is_valid().to_numpy(zero_copy_only=False)  # (b,)
            for place in places[~known].tolist():
                vectorless.add(place, f"row {place}")
            batch, places = batch.filter(arrow.array(known)), places[known]
        rows = _rows(batch.column(columns.vector), dimension)  # (b, d), or None
        ids = _labels(batch.column(columns.label)) if columns.label else list(map(IntegerId, places))
        if rows is None or not np.isfinite(rows).all() or not all(ids):
            row, found = _fault(batch, columns, dimension)
            raise BadFile(
                f"{path}: expected {columns.wanted} and {dimension} finite numbers in every row, got "
                f"{found} in row {places[row]}; correct or remove that row"
            )
        if payload.wanted:
            payload.rows = [{}] * len(batch)
            payload.batch = batch.select(list(payload.known)) if payload.known else None
        yield [one if isinstance(one, str) else str(one) for one in ids], rows


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
    if isinstance(one, int) and not isinstance(one, bool):
        return IntegerId(one)
    return str(one) if isinstance(one, str | UUID) else ""


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
