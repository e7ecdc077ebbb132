"""Parquet: text from a column of a table, and text with its vectors into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting, MissingExtra
from muse.files.writing import replaced
from muse.installation import install_extra
from muse.vectors import Matrix

MAGIC = b"PAR1"
SENTENCE, VECTOR = "sentence", "vector"
_ROWS = 8_192  # read at once


def is_parquet(path: Path) -> bool:
    """Whether a file is one of Parquet, by its name or by how it begins."""
    if path.suffix == ".parquet":
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False  # whoever opens it says what is wrong


def require_pyarrow(path: Path) -> None:
    """Raise MissingExtra if pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            f"{path}: Parquet needs pyarrow, found none; run {install_extra('parquet')}"
        ) from error


def read_column(path: Path, column: str | None) -> Iterator[list[str]]:
    """The text of a column, block by block; without its name, that of the only column of text.

    What is null is an empty sentence. Raise BadFile for a file that is no Parquet, and BadSetting, before
    anything is read, where there is no such column or it holds no text.
    """
    require_pyarrow(path)
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            chosen = _column(path, file.schema_arrow, column)
            for batch in file.iter_batches(_ROWS, columns=[chosen]):
                yield [text or "" for text in batch.column(0).to_pylist()]
    except (ArrowException, OSError) as error:
        raise BadFile(
            f"{path}: expected a whole Parquet file, got {_one_line(error)}; make it again"
        ) from error


def _column(path: Path, schema: Any, column: str | None) -> str:
    texts = [field.name for field in schema if str(field.type) in ("string", "large_string", "string_view")]
    if column is None and len(texts) == 1:
        return str(texts[0])
    if column in texts and schema.names.count(column) == 1:
        return str(column)
    found = "no column named" if column is None else repr(column)
    raise BadSetting(
        f"{path}: expected --column to be one column of text, of {', '.join(texts) or 'which it has none'}; "
        f"got {found}"
    )


@contextmanager
def parquet_writer(
    path: Path, dimension: int, text: str = SENTENCE
) -> Iterator[Callable[[Sequence[str], Matrix], None]]:
    """A function that adds texts and their rows (b, d) to the columns `text` and vector of a Parquet file."""
    require_pyarrow(path)
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = pa.schema([(text, pa.string()), (VECTOR, pa.list_(pa.float32(), dimension))])

    def write(texts: Sequence[str], rows: Matrix) -> None:
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), dimension)
        table.write_batch(pa.record_batch([pa.array(list(texts), pa.string()), vectors], schema=schema))

    with replaced(path) as stream, ParquetWriter(stream, schema) as table:
        yield write


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
