"""Vectors as Parquet: a table with the columns word and vector, for pandas, Polars, DuckDB and Spark.

A table without words has items in no order, with ids if it has the column `id`, and with texts if it has the
column `text` or `sentence`.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.errors import BadFile
from muse.files.detect import list_in_text
from muse.files.parquet import SENTENCE, number_lists, open_parquet, parquet_writer, read_column, text_columns
from muse.files.payloads import RESERVED, Label, Payload, label_of
from muse.files.vectors import table
from muse.files.vectors.broken import Dropped, keep_whole
from muse.files.vectors.table import IntegerId, ReadOptions, Table
from muse.files.writing import check_writable
from muse.vectors import Matrix

TEXTS = ("text", SENTENCE)  # the columns that hold what the items stand for
ROWS = 10_000  # of a row group: 12 MB at d = 300
MOST_NUMBERS = 1 << 22  # read at once
_NUMBERS = ("float", "double", "halffloat", "int", "uint", "decimal")  # how their types begin
_NO_LABELS = (*"list large_list fixed_size_list struct map time date dur extension<arrow.f".split(),)
_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,5})")  # the columns d0, d1, ...
_SAMPLE = 100  # rows by which the column of words or ids is found

log = logging.getLogger(__name__)


def write_parquet(path: Path | str, words: Sequence[str], matrix: Matrix) -> None:
    """Write the columns `word` (string) and `vector` (d float32), in the order of the words."""
    path = Path(path)
    check_writable(path, words, matrix, forbidden="")
    with parquet_writer(path, matrix.shape[1], "word") as write:
        for begin in range(0, len(words), ROWS):
            write(words[begin : begin + ROWS], np.ascontiguousarray(matrix[begin : begin + ROWS]))


def parquet_table(path: Path, options: ReadOptions) -> Table:
    """The table of a Parquet file, or of a folder of its parts, with vectors; BadFile without.

    The vectors are in the column asked for, else in `vector`, else in the only one of lists of numbers, else
    in a column for each dimension. Words or ids are in the column that `label_of` tells; without one, ids are
    row numbers. The texts of items are in `text` or `sentence`. If other columns are ignored, the log says
    which. Items whose vector is null are left out. Raise BadSetting if it is not clear which column is meant.
    """
    parts = _parts(path) if path.is_dir() else [path]
    counts, schemas = dict[Path, int](), dict[Path, Any]()
    for part in parts:
        with open_parquet(part) as file:
            counts[part], schemas[part] = file.metadata.num_rows, file.schema_arrow
    filled = next((part for part in parts if counts[part]), parts[0])
    with open_parquet(filled) as file:
        schema, columns = file.schema_arrow, _columns(path, file, options)
    if odd := next((part for part in parts if not schemas[part].equals(schema)), None):
        expected, got = (
            ", ".join(f"{one.name} {one.type}" for one in many)[:200] for many in (schema, schemas[odd])
        )
        raise BadFile(
            f"{odd}: expected the columns of {filled.name} ({expected}), got {got}; give one kind of file at "
            "a time"
        )
    words, dropped = columns.label is not None and columns.label.words, Dropped()
    dimension = len(columns.wide) or _dimension(path, parts, columns.vector)
    read, times = {*columns.read()}, Counter(schema.names)
    others = [one for one in schema if one.name not in read]
    behind = [  # those of vectors, and those that could not be told apart
        one.name for one in others
        if _holds_numbers(one.type) or one.name in RESERVED or times[one.name] > 1
    ]  # fmt: skip
    carried = [one.name for one in others if one.name not in behind]
    behind += {one.partition("=")[0] for part in parts for one in part.relative_to(path).parts if "=" in one}
    payload = None if words else Payload(carried, dict.fromkeys(behind))
    texts = (text for part in parts for block in read_column(part, columns.text) for text in block)
    blocks = _blocks((path, parts), columns, dimension, dropped, payload)
    return Table(
        path, dimension, sum(counts.values()), blocks, frequency_ordered=words,
        texts=map(table.one_line, texts) if columns.text else None, dropped=dropped,
        payload=payload, label=columns.label,
    )  # fmt: skip


def _parts(folder: Path) -> list[Path]:
    """The files that Spark and others write to a folder; what begins with a point or _ is none."""
    files = sorted(folder.rglob("*.parquet"))
    return [one for one in files if not re.search(r"(?:^|/)[._]", str(one.relative_to(folder)))] or files


class _Columns(NamedTuple):
    """The columns that are read: without a `label` ids are row numbers; `wide` ones are the dimensions."""

    vector: str
    wide: Sequence[str]
    label: Label | None
    text: str | None

    def read(self) -> list[str]:
        """Their names, but for that of the texts."""
        return [*([self.label.name] if self.label else ()), *(self.wide or [self.vector])]


def _columns(path: Path, file: Any, options: ReadOptions) -> _Columns:
    """The columns to read; BadFile if none has vectors, BadSetting if it is not clear which one."""
    schema = file.schema_arrow
    lists = [field.name for field in schema if _holds_numbers(field.type)]
    structs = {
        field.name: ", ".join(part.name for part in field.type)
        for field in schema
        if str(field.type).startswith("struct<") and any(_holds_numbers(part.type) for part in field.type)
    }
    plain = [field.name for field in schema if not str(field.type).startswith(_NO_LABELS)]
    times = Counter(schema.names)
    if twice := next((one for one in (*lists, *plain) if times[one] > 1), None):
        raise BadFile(
            f"{path}: expected columns of different names, got {times[twice]} called {twice}; "
            "rename all but one"
        )
    first = next(file.iter_batches(_SAMPLE, columns=plain), None) if plain else None
    values = {name: _labels(first.column(name)) if first else [] for name in plain}
    lists += [name for name, known in values.items() if not lists and _are_written(known)]
    wide = _dimensions(schema) if not lists and not structs and options.column is None else []
    try:
        vector = wide[0] if wide else table.chosen_column(path, lists, options.column, structs)
    except LookupError as error:
        raise BadFile(
            f"{path}: expected Parquet with a column of vectors, got the columns "
            f"{', '.join(schema.names)[:200]}; {error}: where each number has a column of its own, write "
            "frame['vector'] = frame[names].values.tolist(); where bytes are numbers, "
            "frame['vector'] = [numpy.frombuffer(one, '<f4').tolist() for one in frame[name]]"
        ) from None
    numbers = {*wide, *lists}
    beside = {name: known for name, known in values.items() if name not in numbers}
    label = label_of(path, beside, options.id)
    texts = [] if label is not None and label.words else text_columns(schema)
    return _Columns(vector, wide, label, next((name for name in TEXTS if name in texts), None))


def _are_written(values: Sequence[Any]) -> bool:
    """Whether these are texts of lists of numbers."""
    known = [one for one in values if one is not None]
    return bool(known) and all(isinstance(one, str) and list_in_text(one) is not None for one in known)


def _dimensions(schema: Any) -> list[str]:
    """The columns called d0, d1, ... or alike, in the order of their numbers; none if some are missing."""
    numbers = [field.name for field in schema if str(field.type).startswith(_NUMBERS)]
    found = [(match[1], int(match[2]), name) for name in numbers if (match := _NUMBERED.fullmatch(name))]
    whole = list[list[str]]()
    for before in {before for before, _, _ in found}:
        own = dict(sorted((place, name) for other, place, name in found if other == before))
        if len(own) > 1 and [*own] in ([*range(len(own))], [*range(1, len(own) + 1)]):
            whole.append([*own.values()])
    return whole[0] if len(whole) == 1 else []


def _flat(column: Any) -> Any:
    """A column of tensors, of texts that are lists, or of lists that have one list each, as one of lists."""
    column = getattr(column, "storage", column)
    if "string" in str(column.type):
        return number_lists(
            Path(), [None if one is None else list_in_text(one) for one in column.to_pylist()]
        )
    if not _is_list(column.type) or not _is_list(column.type.value_type):
        return column
    inner = column.flatten()
    if len(inner.flatten()) == len(inner) > len(column):  # lists of single numbers
        rows = ([number for one in row for number in one] if row else row for row in column.to_pylist())
        return number_lists(Path(), [*rows])
    return inner if len(inner) == len(column) and not column.null_count else column


def _holds_numbers(kind: Any) -> bool:
    """Whether a column of this type has lists of numbers, or lists of these."""
    kind = getattr(kind, "storage_type", kind)
    if _is_list(kind) and _is_list(kind.value_type):
        kind = kind.value_type
    return _is_list(kind) and str(kind.value_type).startswith(_NUMBERS)


def _is_list(kind: Any) -> bool:
    return "list" in str(kind).partition("<")[0]


def _dimension(path: Path, parts: Sequence[Path], column: str) -> int:
    """The length of the lists, by their type or else by the first that is not empty; BadFile without."""
    for part in parts:
        with open_parquet(part) as file:
            rows = (row for batch in file.iter_batches(ROWS, columns=[column]) for row in _flat(batch[0]))
            if (row := next((row for row in rows if row.is_valid and len(row)), None)) is not None:
                if _is_list(row.type.value_type):
                    raise BadFile(
                        f"{path}: expected one vector in each row of {column}, got {len(row)}; write each "
                        f"in a row of its own: frame.explode({column!r})"
                    )
                return len(row)
    raise BadFile(f"{path}: expected Parquet with a column of vectors, got none in {column}")


def _batches(parts: Sequence[Path], columns: _Columns, size: int, carried: Sequence[str]) -> Iterator[Any]:
    """Batches of the columns that are read, of all parts, and the lists of numbers in them."""
    for part in parts:
        with open_parquet(part) as file:
            for batch in file.iter_batches(size, columns=[*columns.read(), *carried]):
                if columns.wide:
                    numbers = [batch.column(name).to_numpy(zero_copy_only=False) for name in columns.wide]
                    yield batch, number_lists(part, np.column_stack(numbers).astype(np.float32))
                else:
                    yield batch, _flat(batch.column(columns.vector))


def _blocks(
    files: tuple[Path, Sequence[Path]],
    columns: _Columns,
    dimension: int,
    dropped: Dropped,
    payload: Payload | None,
) -> Iterator[table.Block]:
    path, parts = files
    begin, size = 0, max(1, min(ROWS, MOST_NUMBERS // dimension))
    carried = payload.known if payload is not None and payload.wanted else ()
    with open_parquet(parts[0]) as file:
        known = {*columns.read(), columns.text}
        ignored = [name for name in file.schema_arrow.names if name not in known]
    if ignored and not (payload is not None and payload.wanted):
        used = ", ".join([*columns.read(), *filter(None, (columns.text,))])
        log.info("%s: columns read: %s; ignored: %s", path, used[:200], ", ".join(ignored)[:200])
    for batch, lists in _batches(parts, columns, size, [*carried]):
        places = np.arange(begin, begin + len(batch))  # (b,)
        begin += len(batch)
        if payload is not None and lists.null_count:
            known = lists.is_valid()
            kept = known.to_numpy(zero_copy_only=False)  # (b,)
            for place in places[~kept].tolist():
                dropped.add_row(path, place)
            batch, lists, places = batch.filter(known), lists.filter(known), places[kept]  # noqa: PLW2901
        labels = _labels(batch.column(columns.label.name)) if columns.label else [*map(IntegerId, places)]
        if payload is None:
            yield keep_whole(path, *_words(labels, lists, dimension), dropped)
            continue

        def where(place: int, numbers: Any = places) -> str:
            return f"{path}: row {numbers[place]}"

        rows = _rows(lists, dimension)  # (b, d), or None
        if rows is None or not np.isfinite(rows).all():
            rows = table.item_rows(lists.to_pylist(), dimension, columns.vector, where)
        ids = labels if columns.label is None else table.item_ids(labels, where)
        dropped.whole += len(ids)
        if payload.wanted:
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
    if _is_list(flat.type) or column.null_count or flat.null_count or len(flat) != len(column) * dimension:
        return None
    if not hasattr(column.type, "list_size") and set(column.value_lengths().to_pylist()) - {dimension}:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is reported
        return np.asarray(flat.to_numpy(zero_copy_only=False), np.float32).reshape(len(column), dimension)
