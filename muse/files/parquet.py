"""Parquet: reading a column of text, and writing text with vectors."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files.payloads import Payload, as_cell, type_in_column
from muse.files.source import DAMAGED, check_ratio, first_bytes, refuse_stream
from muse.files.writing import replaced
from muse.optional import library
from muse.vectors import Matrix

MAGIC = b"PAR1"
SENTENCE, VECTOR = "sentence", "vector"
_ROWS = 8_192  # rows read at once
_WIDTH = {"BOOLEAN": 1, "INT64": 8, "DOUBLE": 8, "INT96": 12, "BYTE_ARRAY": 8}  # bytes of a value, at least
_LEAST = 4  # of others
_CHECKED = set[tuple[Path, int, int, int]]()  # files, as they were, that are opened again for each slice


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its name or its first bytes."""
    return path.suffix == ".parquet" or first_bytes(path, len(MAGIC)) == MAGIC


def require_pyarrow(path: Path, extra: str = "parquet") -> Any:
    """The package pyarrow; MissingExtra, with an `extra` that has it, if it is not installed."""
    library("pyarrow.parquet", f"{path}: Parquet", extra)
    return library("pyarrow", f"{path}: Parquet", extra)


def read_column(path: Path, column: str | None) -> Iterator[list[str]]:
    """The text of a column, block by block; without a name, of the only text column.

    Nulls become empty sentences. Raise BadFile if the file is no Parquet, and BadSetting, before anything
    is read, if there is no such column or it is not text.
    """
    with open_parquet(path) as file:
        chosen = text_column(path, text_columns(file.schema_arrow), column)
        for batch in file.iter_batches(_ROWS, columns=[chosen]):
            yield [text or "" for text in batch.column(0).to_pylist()]


def row_groups(path: Path, column: str | None) -> tuple[str, list[int]]:
    """The name of the column that `read_column` reads, and the number of rows in each group of rows."""
    with open_parquet(path) as file:
        counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        return text_column(path, text_columns(file.schema_arrow), column), counts


def read_rows(path: Path, column: str, group: int, begin: int, end: int) -> list[str]:
    """The text of a column in the rows from `begin` to `end` of a group; nulls become empty sentences."""
    with open_parquet(path) as file:
        rows = file.read_row_group(group, columns=[column]).column(0)
        return [text or "" for text in rows.slice(begin, end - begin).to_pylist()]


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """The Parquet file; in the block, BadFile for whatever is broken in it."""
    arrow = require_pyarrow(path)
    refuse_stream(path, "since Parquet is not read from its start")
    try:
        with arrow.parquet.ParquetFile(path) as file:
            found = path.stat()
            if (mark := (path.absolute(), found.st_ino, found.st_size, found.st_mtime_ns)) not in _CHECKED:
                check_ratio(path, _unpacked(file), found.st_size)
                _CHECKED.add(mark)
            yield file
    except (arrow.ArrowException, *DAMAGED) as error:
        raise BadFile(
            f"{path}: expected a valid Parquet file, got {_one_line(error)}; create it again"
        ) from error


def _unpacked(file: Any) -> int:
    """The bytes of all values, at least: what repeats itself takes hardly any in the file, even unpacked."""
    groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
    for place in range(len(groups)):
        # Damaged figures of a column end the process when they are asked for; reading it raises an error.
        next(file.iter_batches(1, row_groups=[place]), None)
    columns = (group.column(place) for group in groups for place in range(group.num_columns))
    return sum(column.num_values * _WIDTH.get(column.physical_type, _LEAST) for column in columns)


def text_columns(schema: Any) -> list[str]:
    """The names of the columns of text, but for one that another column has too."""
    texts = (field.name for field in schema if str(field.type) in ("string", "large_string", "string_view"))
    times = Counter(schema.names)
    return [str(name) for name in texts if times[name] == 1]


def text_column(path: Path, texts: Sequence[str], column: str | None) -> str:
    """The column that is read of those of text: the one asked for, or the only one; BadSetting without."""
    if column in texts or (column is None and len(texts) == 1):
        return column or texts[0]
    raise BadSetting(
        f"{path}: --column must be one of its text columns ({', '.join(texts)[:200] or 'it has none'}), got "
        f"{'none' if column is None else repr(column)}"
    )


def number_lists(path: Path, rows: NDArray[Any] | Sequence[Sequence[float] | None]) -> Any:
    """Rows, of one length where they are an array (n, d), as a column of n lists."""
    arrow = require_pyarrow(path)
    if isinstance(rows, np.ndarray):
        return arrow.FixedSizeListArray.from_arrays(arrow.array(rows.ravel()), rows.shape[1])
    return arrow.array(rows, arrow.list_(arrow.float32()))


@contextmanager
def parquet_writer(
    path: Path, dimension: int, text: str = SENTENCE, *, half: bool = False, payload: Payload | None = None
) -> Iterator[Callable[[Sequence[str] | Sequence[int], Matrix], None]]:
    """A function that appends texts and rows (b, d) to the columns `text` and vector of a Parquet file.

    In place of texts it takes integers, from the first on. The numbers of vectors are float32, or float16 if
    `half`. What the rows have beside these, in the `payload`, are further columns.
    """
    arrow = require_pyarrow(path)
    table: Any = None

    def write(labels: Sequence[str] | Sequence[int], rows: Matrix) -> None:
        nonlocal table
        if table is None:
            kind = arrow.int64() if labels and isinstance(labels[0], int) else arrow.string()
            number = arrow.float16() if half else arrow.float32()
            own = [(text, kind), (VECTOR, arrow.list_(number, dimension))]
            schema = arrow.schema([*own, *(_fields(arrow, payload) if payload else ())])
            table = opened.enter_context(arrow.parquet.ParquetWriter(stream, schema))
        vectors = number_lists(path, rows)
        columns = [arrow.array(list(labels), table.schema.field(text).type), vectors]
        columns += _arrays(arrow, path, payload, [*table.schema][2:]) if payload else []
        table.write_batch(arrow.record_batch(columns, schema=table.schema))

    with replaced(path) as stream, ExitStack() as opened:
        yield write
        if table is None:
            write([], np.empty((0, dimension), np.float16 if half else np.float32))


def _fields(arrow: Any, payload: Payload) -> list[Any]:
    """The fields of further columns: those of a Parquet file as they are, or by the values of the rows."""
    if payload.batch is not None:
        return list(payload.batch.schema)
    rows, fields = list(payload.columns()), []
    for name in payload.names():
        known = payload.kinds or {name: {type_in_column(row.get(name)) for row in rows}}
        kinds = frozenset(known[name] - {type(None)})
        # Numbers or truth values if all are, else text.
        numbers = arrow.float64() if kinds and kinds <= {int, float} else arrow.string()
        kind = {frozenset((bool,)): arrow.bool_(), frozenset((int,)): arrow.int64()}.get(kinds, numbers)
        fields.append(arrow.field(name, kind))
    return fields


def _arrays(arrow: Any, path: Path, payload: Payload, fields: Sequence[Any]) -> list[Any]:
    """The further columns of the block read last; Mismatch for a value of another kind than the first."""
    if payload.batch is not None:
        return list(payload.batch.columns)
    rows, arrays = list(payload.columns(path, [field.name for field in fields])), []
    for field in fields:
        values = [row.get(field.name) for row in rows]
        if arrow.types.is_string(field.type):
            values = [None if one is None else as_cell(path, one) for one in values]
        try:
            arrays.append(arrow.array(values, field.type))
        except (arrow.ArrowException, OverflowError, TypeError) as error:
            raise Mismatch(
                f"{path}: values of the column {field.name!r} must be {field.type}, as the first ones, got "
                f"others ({_one_line(error)}); write a .jsonl file, or leave them out with --vectors-only"
            ) from None
    return arrays


@contextmanager
def table_of_columns(path: Path, columns: Mapping[str, type]) -> Iterator[Callable[[Sequence[Any]], None]]:
    """A function that appends a row to a Parquet file whose columns have these types of Python, or None."""
    arrow = require_pyarrow(path)
    types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    schema = arrow.schema([(name, types[kind]) for name, kind in columns.items()])
    rows: list[Sequence[Any]] = []
    with replaced(path) as stream, arrow.parquet.ParquetWriter(stream, schema) as table:

        def write(row: Sequence[Any]) -> None:
            rows.append(row)
            if len(rows) == _ROWS:
                flush()

        def flush() -> None:
            cells = zip(*rows, strict=True)
            arrays = [arrow.array(one, field.type) for one, field in zip(cells, schema, strict=True)]
            table.write_batch(arrow.record_batch(arrays, schema=schema))
            rows.clear()

        yield write
        if rows:
            flush()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
