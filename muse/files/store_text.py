"""Stores as text: items in JSON lines and in CSV, as vector stores and services write them.

An object a line:
  Qdrant    {"id": 7, "vector": [0.1, 0.2], "payload": {...}}, or named vectors, {"vector": {"title": [...]}};
            or what scroll answers, {"result": {"points": [...]}}
  OpenAI    {"custom_id": "a", "response": {"body": {"data": [{"embedding": [...]}]}}}
  Chroma    {"ids": [...], "embeddings": [...], "documents": [...]}, what collection.get returns
  others    {"id": "a", "embedding": [...]}
CSV, with commas, semicolons or tabs, with a header or without:
  pgvector  a column of [0.1,0.2]

Rows are read as they come: what is in memory is a block of them, and the longest line.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from muse.errors import BadFile
from muse.files import payloads
from muse.files.detect import INTEGER, NULLS, SPARSE_CELL, CsvForm, bracketed, csv_form, list_in_text
from muse.files.payloads import RESERVED, TEXT_NAMES, Label, Payload, Values, columns_of, id_name
from muse.files.plain_text import lines_of_source
from muse.files.source import Source, is_stream, open_source
from muse.files.tables import csv_rows
from muse.files.vectors.broken import Dropped, keep_whole
from muse.files.vectors.table import Block, ReadOptions, Table, chosen_column, item_ids, item_rows, one_line

_MOST_ROWS, _MOST_NUMBERS = 8_192, 1 << 19  # read at once
_SAMPLE = 100  # rows by which the columns are found
_NO_ID = (*NULLS, "null", "None", "nan", "NaN")  # of text
_LONGEST_PATH = 200  # characters that say where a vector is
_AGAIN = "export it again"


class _Record(NamedTuple):
    """A row of a store: its vectors by their names, its text, None without, its line, what else it has."""

    vectors: Mapping[str, Any]
    text: Any
    line: int
    rest: dict[str, Any]
    id: Any = None

    def holders(self) -> list[dict[str, Any]]:
        """What has its columns: the object, and those in it that are its payload."""
        return [self.rest, *(one for name in payloads.NESTED if isinstance(one := self.rest.get(name), dict))]

    def named(self, name: str, *, is_payload: bool) -> "_Record":
        """The row with its id, which the column of this name has; of CSV, what else it has `is_payload`."""
        value = next((one.pop(name) for one in self.holders() if name in one), None)
        rest = self.rest
        if is_payload:
            rest = {payloads.NESTED[0]: rest} if rest else {}
        elif RESERVED[0] in rest:  # another one is the id
            rest[f"{payloads.NESTED[0]}.{RESERVED[0]}"] = rest.pop(RESERVED[0])
        return self._replace(id=value, rest=rest)


_Reader = Callable[[Source], Iterator[_Record]]


def json_table(source: Source, options: ReadOptions) -> Table:
    """The table of JSON lines, whose vectors are in the column, or have the name, that is asked for.

    Rows without a vector are left out. Raise BadSetting if it is not clear which vectors are meant.
    """
    return _table(source, _json_rows, options)


def csv_table(source: Source, options: ReadOptions) -> Table:
    """The table of a CSV, likewise."""
    form = csv_form(source)
    assert form is not None  # noqa: S101 - by which this kind of file is told
    return _table(source, partial(_csv_rows, form=form), options, form)


# The same for both


def _table(source: Source, read: _Reader, options: ReadOptions, form: CsvForm | None = None) -> Table:
    path = source.path
    rows = read(source)
    first = list(islice(rows, _SAMPLE))
    chosen, *others = lists = _vector_columns(path, first, options.column)
    label = _label(path, first, options.id, form)
    words = label is not None and label.words
    count, integers = (None, False) if form is None or is_stream(path) else _counted(path, form, label)
    guess = max(len(first), len(first) * source.size // max(1, source.taken)) if count is None else count

    def named(row: _Record) -> _Record:
        row = row.named("" if label is None else label.name, is_payload=form is not None)
        if integers:
            return row._replace(id=int(row.id))
        return row._replace(id=None) if row.id in _NO_ID and not words else row

    def again() -> Iterator[_Record]:
        with open_source(path) as source:
            yield from map(named, read(source))

    def full_rows() -> Iterator[Values]:
        return (row.rest for row in again() if row.vectors.get(chosen) is not None)

    sample, twice = [*map(named, first)], not is_stream(path)
    known = dict.fromkeys(name for row in sample for name in columns_of(row.rest))
    # All rows of a CSV have the same columns.
    dropped, payload = Dropped(), Payload(known, others, full_rows if twice and form is None else None)
    texts = (one_line(row.text) if isinstance(row.text, str) else "" for row in again())
    has_texts = twice and not words and any(row.text is not None for row in sample)
    column = _Column(path, chosen, lists[chosen], label)
    return Table(
        path, lists[chosen], guess, _blocks(column, chain(sample, map(named, rows)), dropped, payload),
        frequency_ordered=words, texts=texts if has_texts else None, dropped=dropped, payload=payload,
        label=label, counted=count is not None,
    )  # fmt: skip


def _label(path: Path, rows: Sequence[_Record], wanted: str | None, form: CsvForm | None) -> Label | None:
    """The column of the ids or words of these first rows, of which --id may be in the payload."""
    if form is not None and not form.header and wanted is None:  # ids come first
        name = form.names[0]
        return (
            None
            if name in form.vectors
            else Label(name, payloads.are_words([row.rest[name] for row in rows]))
        )
    held = [row.holders()[: 1 if wanted is None else None] for row in rows]
    rows_of = [{name: one[name] for one in reversed(holders) for name in one} for holders in held]
    names = dict.fromkeys(name for row in rows_of for name in row)
    return payloads.label_of(path, {name: [row.get(name) for row in rows_of] for name in names}, wanted)


def _vector_columns(path: Path, sample: Sequence[_Record], column: str | None) -> dict[str, int]:
    """The columns with vectors, that to be read first, and their numbers d; BadFile if there is none."""
    lists, structs = dict[str, int](), dict[str, str]()
    for row in sample:
        for name, value in row.vectors.items():
            if _is_vector(value):
                lists.setdefault(name, len(value))
            elif isinstance(value, dict):
                structs.setdefault(name, ", ".join(value)[:60])
    try:
        chosen = chosen_column(path, list(lists), column, structs)
    except LookupError:
        names = dict.fromkeys(name for row in sample for name in row.vectors)
        got = f"none in {', '.join(names)}"[:80] if names else "no column of vectors"
        line, found = (sample[0].line, {**sample[0].rest, **sample[0].vectors}) if sample else (1, {})
        where = _place_of_numbers(found, "")
        advice = f"take it out: jq -c '{{vector: {where}}}' {path.name} > OUT.jsonl" if where else _AGAIN
        raise BadFile(
            f"{path}:{line}: expected a vector in one of the first {_SAMPLE} rows, got {got}; {advice}"
        ) from None
    return {chosen: lists[chosen]} | lists


def _place_of_numbers(value: object, path: str) -> str:
    """Where jq finds the first list of numbers in a value; "" without one."""
    if _is_vector(value):
        return path
    if isinstance(value, list):
        return _place_of_numbers(value[0], f"{path}[]") if value and len(path) < _LONGEST_PATH else ""
    inner = value.items() if isinstance(value, dict) and len(path) < _LONGEST_PATH else ()
    found = (_place_of_numbers(one, f"{path}.{json.dumps(name, ensure_ascii=False)}") for name, one in inner)
    return next(filter(None, found), "")


def _is_vector(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], int | float)


def _plain(value: Any) -> Any:
    """A value without the types that MongoDB, DynamoDB and Firestore write; a list in a text as a list."""
    if isinstance(value, dict) and len(value) == 1 and _TYPE.fullmatch(next(iter(value))):
        ((kind, inner),) = value.items()
        if not isinstance(inner, str) or not (kind in _INTEGERS or kind.startswith("$number")):
            return _plain(inner) if isinstance(inner, list) else inner
        if kind in _INTEGERS and INTEGER.fullmatch(inner):
            return int(inner)
        return float(inner) if _FLOAT.fullmatch(inner) else inner
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return [*map(_plain, value)] if len(value) > 1 or isinstance(value[0], dict) else _plain(value[0])
    return (list_in_text(value) or value) if isinstance(value, str) and value[:1] in "[({" else value


def _points(row: dict[str, Any], deepest: int = 3) -> list[dict[str, Any]]:
    """The rows that an object has: itself if it has a vector, else those that are a level or more deeper."""
    row = {name: _plain(value) for name, value in row.items()}
    own = [row[name] for name in _OF_ROW if name in row]  # what is no vector, or a sparse one, is no store
    none = any(one is None or (isinstance(one, dict) and one.keys() == _SPARSE) for one in own)
    if none or deepest == 0 or any(map(_is_vector, row.values())):
        return [row]
    if len(row) > 1 and (rows := _by_ids(row, deepest - 1)) and all(map(_has_vector, rows)):
        return rows
    ids = id_name(row)
    for name, value in row.items():
        others = {other: one for other, one in row.items() if other != name}
        found = list[dict[str, Any]]()
        if isinstance(value, list):
            found = [point for one in value if isinstance(one, dict) for point in _points(one, deepest - 1)]
            found = [{**others, **found[0]}] if len(found) == 1 else found
        elif isinstance(value, dict) and (ids is None or name not in _OF_ROW):
            inner = {key: _plain(one) for key, one in value.items()}
            is_one = any(isinstance(one, str | int) for one in others.values()) and len(inner) <= _MOST_NAMED
            plain = name == "vector" or not _OF_VECTOR.isdisjoint(inner)
            if name in _OF_ROW and not is_one and not plain and any(map(_is_vector, inner.values())):
                found = [{"key": key, "vector": one} for key, one in inner.items()]
            else:
                found = _by_ids(inner, deepest - 1, named=name not in _OF_ROW)
            if not any(map(_has_vector, found)):
                found = [{**others, **point} for point in _points(inner, deepest - 1)]
        if any(map(_has_vector, found)):
            return found
    return [row]


def _by_ids(row: dict[str, Any], deepest: int, *, named: bool = False) -> list[dict[str, Any]]:
    """The rows of an object whose names are their ids and whose values are objects; none of another.

    Where vectors may be `named`, an object with nothing but its numbers is no row.
    """
    if not all(isinstance(one, dict) and (one.keys() - _OF_VECTOR or not named) for one in row.values()):
        return []
    return [{"id": key, **point} for key, one in row.items() for point in _points(one, deepest)]


def _has_vector(row: dict[str, Any]) -> bool:
    named = (row[name] for name in _OF_ROW if isinstance(row.get(name), dict))
    return any(map(_is_vector, row.values())) or any(
        _is_vector(one) for inner in named for one in inner.values()
    )


class _Column(NamedTuple):
    """The column of vectors that is read: its name, its numbers d, and the column that labels its rows."""

    path: Path
    name: str
    dimension: int
    label: Label | None


def _blocks(column: _Column, rows: Iterable[_Record], dropped: Dropped, payload: Payload) -> Iterator[Block]:
    path, name, dimension, label = column
    size, begin, waiting = max(1, min(_MOST_ROWS, _MOST_NUMBERS // dimension)), 0, iter(rows)
    while block := list(islice(waiting, size)):
        full = []
        for place, row in enumerate(block, begin):
            if row.vectors.get(name) is None:
                dropped.add_row(path, place, f" ({path.name}:{row.line})")
            else:
                full.append((place, row))
        begin += len(block)
        if full:

            def where(place: int, rows: Sequence[tuple[int, _Record]] = full) -> str:
                return f"{path}:{rows[place][1].line}"

            payload.rows = [row.rest for _, row in full] if payload.wanted else ()
            found = item_rows([row.vectors[name] for _, row in full], dimension, name, where)
            if label is not None and label.words:
                words = (row.id if isinstance(row.id, str) else "" for _, row in full)
                yield keep_whole(path, [*words], found, dropped)
            else:
                dropped.whole += len(full)
                yield item_ids([row.id if label else place for place, row in full], where), found


# JSON lines

_OF_ROW = ("vector", "vectors", "embedding")  # what has a vector, or several by their names
_SPARSE = {"indices", "values"}
_OF_VECTOR, _MOST_NAMED = {"values", "value", "data", "float", "dense"}, 8  # in a vector; vectors of a row
_TYPE = re.compile(r"\$.*|[SNLM]|(?:string|double|integer|array|map)Value")
_INTEGERS = ("$numberInt", "$numberLong", "integerValue", "N")
_FLOAT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|-?Infinity|NaN")
_BESIDE = {  # what lists are called, and one of each
    "ids": "id", "embeddings": "embedding", "documents": "document", "metadatas": "metadata", "uris": "uri",
    "texts": "text", "words": "word", "tokens": "token",
}  # fmt: skip
_BULK = ("index", "create", "update", "delete")  # what lines of Elasticsearch between the rows say


def _json_rows(source: Source) -> Iterator[_Record]:
    path, action = source.path, dict[str, Any]()
    for number, line in enumerate(lines_of_source(source), 1):
        if not line.strip():
            continue
        for found in _objects(path, number, line):
            (name, value), *others = [*found.items()] or [("", None)]
            if "custom_id" in found and "response" in found:
                yield from _of_openai(found, number)
            elif (columns := _columns(path, number, found)) is not None:
                yield from columns
            elif name in _BULK and not others and isinstance(value, dict):
                action = {} if name == "delete" else {one: value[one] for one in ("_id",) if one in value}
            else:
                yield from (_of_point({**action, **point}, number) for point in _points(found))
                action = {}


def _objects(path: Path, number: int, line: str) -> list[dict[str, Any]]:
    """The objects on a line: one, or those of a list, which may begin and end on other lines."""
    text = line.strip().removesuffix(",").removeprefix(",")
    if number == 1 and not text.endswith("]"):
        text = text.removeprefix("[")
    if text.startswith("{"):
        text = text.removesuffix("]")
    try:
        found = json.loads(text) if text.strip("]") else []
    except (ValueError, RecursionError) as error:
        raise BadFile(
            f"{path}:{number}: expected a whole JSON object on each line, got {line[:40]!r} ({error}); "
            "write the rows one on each line, as jq -c does (of a list, jq -c '.[]')"
        ) from None
    rows = found if isinstance(found, list) else [found]
    if not all(isinstance(row, dict) for row in rows):
        raise BadFile(f"{path}:{number}: expected a JSON object on each line, got {line[:40]!r}; {_AGAIN}")
    return rows


def _of_point(point: dict[str, Any], number: int) -> _Record:
    vectors, rest = dict[str, Any](), dict[str, Any]()
    for name, value in point.items():
        if name in _OF_ROW and isinstance(value, dict) and value.keys() != _SPARSE:
            vectors |= value  # named vectors
        elif isinstance(value, list) or name in _OF_ROW:
            vectors[name] = value
        if name not in _OF_ROW and not _is_vector(value):
            rest[name] = value
    payload = point.get("payload")
    holders = point, payload if isinstance(payload, dict) else {}
    texts = (one for holder in holders for name in TEXT_NAMES if isinstance(one := holder.get(name), str))
    return _Record(vectors, next(texts, None), number, rest)


def _columns(path: Path, number: int, page: dict[str, Any]) -> Iterator[_Record] | None:
    """The rows of an object that has a list of vectors, and lists of what stands beside them; else None."""
    lists = {name: value for name, value in page.items() if isinstance(value, list)}
    own = id_name(page)
    tables = [name for name, value in lists.items() if value and all(map(_is_vector, value))]
    if own is not None and own not in lists or (own is None and (len(tables) != 1 or len(lists) < 2)):
        return None
    count = len(lists[own or tables[0]])
    if any(len(lists[name]) != count for name in (*tables, *(name for name in _BESIDE if name in lists))):
        raise BadFile(
            f"{path}:{number}: expected one of `{'`, `'.join(lists)}` for each of {count} rows, got lists of "
            f"other lengths; {_AGAIN}"
        )
    beside = {_BESIDE.get(name, name): value for name, value in lists.items() if len(value) == count}
    rows = ({name: value[place] for name, value in beside.items()} for place in range(count))
    return (_of_point({name: one for name, one in row.items() if one is not None}, number) for row in rows)


def _of_openai(answer: dict[str, Any], number: int) -> Iterator[_Record]:
    # A request that failed has no data; one of several texts has as many, which share its id.
    body = answer["response"].get("body") if isinstance(answer["response"], dict) else None
    data = body.get("data") if isinstance(body, dict) else None
    for one in data if isinstance(data, list) and data else [{}]:
        vector = one.get("embedding") if isinstance(one, dict) else None
        yield _Record({"embedding": vector}, None, number, {"custom_id": answer["custom_id"]})


# CSV


def _records(source: Source, form: CsvForm) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header, with their lines; BadFile for one of another length."""
    lines = lines_of_source(source)
    if form.delimiter == " ":
        lines, form = bracketed(lines), replace(form, delimiter="\t")
    rows = csv_rows(lines, source.path, form.delimiter, exact=True)
    for number, cells in islice(rows, int(form.header), None):
        if cells and len(cells) != len(form.names):
            raise BadFile(
                f"{source.path}:{number}: expected {len(form.names)} columns, as in line 1, got "
                f"{len(cells)}; {_AGAIN}"
            )
        if cells:
            yield number, cells


def _counted(path: Path, form: CsvForm, label: Label | None) -> tuple[int, bool]:
    """The number of rows, and whether all of their ids are integers: the type of a column."""
    own = None if label is None or label.words else form.names.index(label.name)
    count, integers = 0, own is not None
    with open_source(path) as source:
        for count, (_, cells) in enumerate(_records(source, form), 1):  # noqa: B007
            one = "" if own is None else cells[own]
            integers = (
                integers and INTEGER.fullmatch(one) is not None and payloads.type_in_column(int(one)) is int
            )
    return count, integers


def _csv_rows(source: Source, *, form: CsvForm) -> Iterator[_Record]:
    text = next((name for name in TEXT_NAMES if name in form.names), None)
    for line, cells in _records(source, form):
        row = dict(zip(form.names, cells, strict=True))
        vectors = {name: _numbers(source.path, row.pop(name), line, bare=form.bare) for name in form.vectors}
        yield _Record(vectors, row.get(text) if text else None, line, row)


def _numbers(path: Path, cell: str, line: int, *, bare: bool) -> object:
    if cell in NULLS:
        return None
    if SPARSE_CELL.fullmatch(cell):
        return {"indices": None, "values": None}
    if (found := list_in_text(f"[{cell}]" if bare else cell)) is None:
        raise BadFile(f"{path}:{line}: expected a vector such as [0.1,0.2], got {cell[:40]!r}; {_AGAIN}")
    return found
