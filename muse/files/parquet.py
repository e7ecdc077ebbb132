"""Parquet: reading a column of text, and writing text with vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile, BadSetting, Mismatch, MissingExtra
from muse.files.payloads import ColumnNames, Payload, as_cell, kind_of
from muse.files.source import DAMAGED, first_bytes, refuse_stream
from muse.files.writing import replaced
from muse.installation import install_extra
from muse.vectors import Matrix

MAGIC = b"PAR1"
SENTENCE, VECTOR = "sentence", "vector"
_ROWS = 8_192  # rows read at once


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its name or its first bytes."""
    return path.suffix == ".parquet" or first_bytes(path, len(MAGIC)) == MAGIC


def require_pyarrow(path: Path, extra: str = "parquet") -> None:
    """Raise MissingExtra, with an `extra` that has it, if pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            f"{path}: Parquet needs pyarrow, which is missing; run {install_extra(extra)}"
        ) from error


def read_column(path: Path, column: str | None) -> Iterator[list[str]]:
    """The text of a column, block by block; without a name, of the only text column.

    Nulls become empty sentences. Raise BadFile if the file is no Parquet, and BadSetting, before anything
    is read, if there is no such column or it is not text.
    """
    with open_parquet(path) as file:
        chosen = _column(path, file.schema_arrow, column)
        for batch in file.iter_batches(_ROWS, columns=[chosen]):
            yield [text or "" for text in batch.column(0).to_pylist()]


def row_groups(path: Path, column: str | None) -> tuple[str, list[int]]:
    """The name of the column that `read_column` reads, and the number of rows in each group of rows."""
    with open_parquet(path) as file:
        counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        return _column(path, file.schema_arrow, column), counts


def read_rows(path: Path, column: str, group: int, begin: int, end: int) -> list[str]:
    """The text of a column in the rows from `begin` to `end` of a group; nulls become empty sentences."""
    with open_parquet(path) as file:
        rows = file.read_row_group(group, columns=[column]).column(0)
        return [text or "" for text in rows.slice(begin, end - begin).to_pylist()]


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """The Parquet file; in the block, BadFile for whatever is broken in it."""
    require_pyarrow(path)
    refuse_stream(path, "since Parquet is not read from its start")
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            yield file
    except (ArrowException, *DAMAGED) as error:
        raise BadFile(
            f"{path}: expected a valid Parquet file, got {_one_line(error)}; create it again"
        ) from error


def text_columns(schema: Any) -> list[str]:
    """The names of the columns of text."""
    return [field.name for field in schema if str(field.type) in ("string", "large_string", "string_view")]


def _column(path: Path, schema: Any, column: str | None) -> str:
    texts = text_columns(schema)
    if column is None and len(texts) == 1:
        return str(texts[0])
    if column in texts and schema.names.count(column) == 1:
        return str(column)
    found = "none" if column is None else repr(column)
    raise BadSetting(
        f"{path}: --column must be one of its text columns ({', '.join(texts) or 'it has none'}), got {found}"
    )


@contextmanager
def parquet_writer(
    path: Path, dimension: int, text: str = SENTENCE, *, half: bool = False, payload: Payload | None = None
) -> Iterator[Callable[[Sequence[str] | Sequence[int], Matrix], None]]:
    """A function that appends texts and rows (b, d) to the columns `text` and vector of a Parquet file.

    In place of texts it takes integers, from the first on. The numbers of vectors are float32, or float16 if
    `half`. What the rows have beside these, in the `payload`, are further columns.
    """
    require_pyarrow(path)
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    table: Any = None
    more: _Carried | None = None

    def write(labels: Sequence[str] | Sequence[int], rows: Matrix) -> None:
        nonlocal table, more
        if table is None:
            more = None if payload is None else _Carried(path, payload)
            kind = pa.int64() if labels and isinstance(labels[0], int) else pa.string()
            number = pa.float16() if half else pa.float32()
            own = [(text, kind), (VECTOR, pa.list_(number, dimension))]
            schema = pa.schema([*own, *(more.fields() if more else ())])
            table = opened.enter_context(ParquetWriter(stream, schema))
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), dimension)
        columns = [pa.array(list(labels), table.schema.field(text).type), vectors]
        columns += more.arrays([*table.schema][2:]) if more else []
        table.write_batch(pa.record_batch(columns, schema=table.schema))

    with replaced(path) as stream, ExitStack() as opened:
        yield write
        if table is None:
            write([], np.empty((0, dimension), np.float16 if half else np.float32))


class _Carried:
    """The further columns of a table: those of a Parquet file as they are, or values of one kind each."""

    def __init__(self, path: Path, payload: Payload) -> None:
        self._path, self._payload = path, payload
        self._header = ColumnNames(path, payload) if payload.batch is None else None

    def fields(self) -> list[Any]:
        """The fields of the columns, by the first rows."""
        import pyarrow as pa

        if self._header is None:
            return list(self._payload.batch.schema)
        kinds = self._payload.kinds
        if kinds is None:
            rows = list(self._payload.columns())
            kinds = {name: {kind_of(row.get(name)) for row in rows} for name in self._header.names}
        return [pa.field(name, _column_type(kinds[name])) for name in self._header.names]

    def arrays(self, fields: Sequence[Any]) -> list[Any]:
        """The columns of the block read last; Mismatch if a value is of another kind than the first ones."""
        if self._header is None:
            return list(self._payload.batch.columns)
        rows = list(self._payload.columns())
        for row in rows:
            self._header.check(row)
        return [self._array(field, [row.get(field.name) for row in rows]) for field in fields]

    def _array(self, field: Any, values: list[Any]) -> Any:
        import pyarrow as pa

        if pa.types.is_string(field.type):
            values = [None if one is None else as_cell(self._path, one) for one in values]
        try:
            return pa.array(values, field.type)
        except (pa.ArrowException, OverflowError, TypeError) as error:
            raise Mismatch(
                f"{self._path}: values of the column {field.name!r} must be {field.type}, as the first ones, "
                f"got others ({_one_line(error)}); write a .jsonl file, or leave them out with --vectors-only"
            ) from None


def _column_type(kinds: set[type]) -> Any:
    """The type of a column with values of these kinds: numbers or truth values if all are, else text."""
    import pyarrow as pa

    kinds = kinds - {type(None)}
    if kinds in ({bool}, {int}):
        return pa.bool_() if kinds == {bool} else pa.int64()
    return pa.float64() if kinds and kinds <= {int, float} else pa.string()


@contextmanager
def table_of_columns(path: Path, columns: Mapping[str, type]) -> Iterator[Callable[[Sequence[Any]], None]]:
    """A function that appends a row to a Parquet file whose columns have these types of Python, or None."""
    require_pyarrow(path)
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    rows: list[Sequence[Any]] = []
    with replaced(path) as stream, ParquetWriter(stream, schema) as table:

        def write(row: Sequence[Any]) -> None:
            rows.append(row)
            if len(rows) == _ROWS:
                flush()

        def flush() -> None:
            by_column = zip(*rows, strict=True)
            arrays = [pa.array(cells, field.type) for cells, field in zip(by_column, schema, strict=True)]
            table.write_batch(pa.record_batch(arrays, schema=schema))
            rows.clear()

        yield write
        if rows:
            flush()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
