"""Parquet: reading a column of text, and writing text with vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile, BadSetting, MissingExtra
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
    path: Path, dimension: int, text: str = SENTENCE, *, half: bool = False
) -> Iterator[Callable[[Sequence[str] | Sequence[int], Matrix], None]]:
    """A function that appends texts and rows (b, d) to the columns `text` and vector of a Parquet file.

    In place of texts it takes integers, from the first on. The numbers of vectors are float32, or float16 if
    `half`.
    """
    require_pyarrow(path)
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    table: Any = None

    def write(labels: Sequence[str] | Sequence[int], rows: Matrix) -> None:
        nonlocal table
        if table is None:
            kind = pa.int64() if labels and isinstance(labels[0], int) else pa.string()
            number = pa.float16() if half else pa.float32()
            schema = pa.schema([(text, kind), (VECTOR, pa.list_(number, dimension))])
            table = opened.enter_context(ParquetWriter(stream, schema))
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), dimension)
        columns = [pa.array(list(labels), table.schema.field(text).type), vectors]
        table.write_batch(pa.record_batch(columns, schema=table.schema))

    with replaced(path) as stream, ExitStack() as opened:
        yield write
        if table is None:
            write([], np.empty((0, dimension), np.float16 if half else np.float32))


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
