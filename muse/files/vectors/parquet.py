"""Vectors as Parquet: a table with the columns word and vector, for pandas, Polars, DuckDB and Spark.

A table without words has items in no order, with ids if it has the column `id`, and with texts if it has the
column `text` or `sentence`.
"""

import logging
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.errors import BadFile
from muse.files.parquet import SENTENCE, open_parquet, parquet_writer, read_column, text_columns
from muse.files.payloads import RESERVED, Payload, id_name
from muse.files.vectors import table
from muse.files.vectors.broken import Dropped, keep_whole
from muse.files.vectors.table import IntegerId, Table
from muse.files.writing import check_writable
from muse.vectors import Matrix

TEXTS = ("text", SENTENCE)  # the columns that hold what the items stand for
ROWS = 10_000  # of a row group: 12 MB at d = 300
MOST_NUMBERS = 1 << 22  # read at once
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
    words are in `word`, ids in `id`, and without either they are row numbers. The texts of items are in
    `text` or `sentence`. If other columns are ignored, the log says which. Items whose vector is null are
    left out. Raise BadSetting if it is not clear which column is meant.
    """
    with open_parquet(path) as file:
        schema, count = file.schema_arrow, file.metadata.num_rows
        columns = _columns(path, schema, column)
        dimension = _dimension(path, file, columns.vector)
    words, dropped = columns.label == "word", Dropped()
    others = [one for one in schema if one.name not in (columns.label, columns.vector)]
    behind = [  # those of vectors, and those that could not be told apart
        one.name for one in others
        if _holds_numbers(one.type) or one.name in RESERVED or schema.names.count(one.name) > 1
    ]  # fmt: skip
    carried = [one.name for one in others if one.name not in behind]
    payload = None if words else Payload(carried, dict.fromkeys(behind))
    blocks = _blocks(path, columns, dimension, dropped, payload)
    return Table(
        path, dimension, count, blocks, frequency_ordered=words,
        texts=columns.text and map(table.one_line, chain.from_iterable(read_column(path, columns.text))),
        dropped=dropped, payload=payload, numbered=columns.label is None,
    )  # fmt: skip


class _Columns(NamedTuple):
    """The names of the columns that are read; without a `label` the ids are row numbers."""

    vector: str
    label: str | None
    text: str | None


def _columns(path: Path, schema: Any, column: str | None) -> _Columns:
    """The columns to read; LookupError if none has vectors, BadSetting if it is not clear which one."""
    label = "word" if "word" in schema.names else id_name(schema.names)
    texts = [] if label == "word" else text_columns(schema)
    text = next((name for name in TEXTS if texts.count(name) == 1), None)
    lists = [field.name for field in schema if _holds_numbers(field.type)]
    structs = {
        field.name: ", ".join(part.name for part in field.type)
        for field in schema
        if str(field.type).startswith("struct<") and any(_holds_numbers(part.type) for part in field.type)
    }
    if twice := next((name for name in (*lists, label) if name and schema.names.count(name) > 1), None):
        raise BadFile(
            f"{path}: expected columns of different names, got {schema.names.count(twice)} called {twice}; "
            "rename all but one"
        )
    try:
        return _Columns(table.chosen_column(path, lists, column, structs), label, text)
    except LookupError as error:
        raise BadFile(
            f"{path}: expected Parquet with a column of vectors, got the columns {', '.join(schema.names)}; "
            f"{error}"
        ) from None


def _flat(column: Any) -> Any:
    """A column of tensors, or of lists that have one list each, as one of lists; any other as it is."""
    column = getattr(column, "storage", column)
    if not _is_list(column.type) or not _is_list(column.type.value_type):
        return column
    inner = column.flatten()
    return inner if len(inner) == len(column) and not column.null_count else column


def _holds_numbers(kind: Any) -> bool:
    """Whether a column of this type has lists of numbers, or lists of these."""
    kind = getattr(kind, "storage_type", kind)
    if _is_list(kind) and _is_list(kind.value_type):
        kind = kind.value_type
    return _is_list(kind) and str(kind.value_type).startswith(_NUMBERS)


def _is_list(kind: Any) -> bool:
    return "list" in str(kind).partition("<")[0]


def _dimension(path: Path, file: Any, column: str) -> int:
    """The length of the lists, by their type or else by the first that is not empty; BadFile without."""
    size = getattr(file.schema_arrow.field(column).type, "list_size", None)
    rows = (row for batch in file.iter_batches(ROWS, columns=[column]) for row in _flat(batch[0]))
    size = size or next((len(row) for row in rows if row.is_valid and len(row)), None)
    if not size:
        raise BadFile(f"{path}: expected Parquet with a column of vectors, got none in {column}")
    return int(size)


def _blocks(
    path: Path, columns: _Columns, dimension: int, dropped: Dropped, payload: Payload | None
) -> Iterator[table.Block]:
    begin, size = 0, max(1, min(ROWS, MOST_NUMBERS // dimension))
    carried = payload is not None and payload.wanted
    read = [columns.label, columns.vector, *(payload.known if payload is not None and carried else ())]
    with open_parquet(path) as file:
        ignored = [name for name in file.schema_arrow.names if name not in columns]
        if not carried and ignored:
            used = ", ".join(name for name in (columns.label, columns.vector, columns.text) if name)
            log.info("%s: columns read: %s; ignored: %s", path, used, ", ".join(ignored) or "none")
        for batch in file.iter_batches(size, columns=[name for name in read if name]):
            vectors = batch.schema.get_field_index(columns.vector)
            if (flat := _flat(batch[vectors])) is not batch[vectors]:
                batch = batch.set_column(vectors, columns.vector, flat)  # noqa: PLW2901
            places = np.arange(begin, begin + len(batch))  # (b,)
            begin += len(batch)
            if payload is not None and batch.column(columns.vector).null_count:
                known = batch.column(columns.vector).is_valid()
                kept = known.to_numpy(zero_copy_only=False)  # (b,)
                for place in places[~kept].tolist():
                    dropped.add_row(path, place)
                batch, places = batch.filter(known), places[kept]  # noqa: PLW2901
            labels = _labels(batch.column(columns.label)) if columns.label else [*map(IntegerId, places)]
            if payload is None:
                yield keep_whole(path, *_words(labels, batch.column(columns.vector), dimension), dropped)
                continue

            def where(place: int, numbers: Any = places) -> str:
                return f"{path}: row {numbers[place]}"

            rows = _rows(batch.column(columns.vector), dimension)  # (b, d), or None
            if rows is None or not np.isfinite(rows).all():
                lists = batch.column(columns.vector).to_pylist()
                rows = table.item_rows(lists, dimension, columns.vector, where)
            ids = labels if columns.label is None else table.item_ids(labels, where)
            dropped.whole += len(ids)
            if carried:
                payload.rows = [{}] * len(batch)
                payload.batch = batch.select(list(payload.known)) if payload.known else None
            yield ids, rows


def _words(labels: Sequence[Any], column: Any, dimension: int) -> tuple[list[str | bytes], Matrix]:
    """Words and their rows (b, d), of which those that are no vectors have no numbers."""
    if (rows := _rows(column, dimension)) is None:
        lists, empty = column.to_pylist(), [np.nan] * dimension
        whole = (empty if table.fault_of_numbers(one, dimension) else one for one in lists)
        rows = np.array([*whole], np.float32)
    words = ("" if one is None else one for one in labels)
    return [one if isinstance(one, bytes) else str(one) for one in words], rows


def _labels(column: Any) -> list[Any]:
    """The words or ids of a column, None where one is missing, and bytes where they are not UTF-8."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return list(column.cast("large_binary").to_pylist())


def _rows(column: Any, dimension: int) -> Matrix | None:
    """The lists of a column as an array (b, d); None if one is missing, has a null or another length."""
    flat = column.flatten()
    if column.null_count or flat.null_count or len(flat) != len(column) * dimension:
        return None
    if not hasattr(column.type, "list_size") and set(column.value_lengths().to_pylist()) - {dimension}:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is reported
        return np.asarray(flat.to_numpy(zero_copy_only=False), np.float32).reshape(len(column), dimension)
