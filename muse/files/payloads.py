"""Payloads: what the rows of a store have beside ids and vectors, carried from one file to another.

A line of JSON keeps what else its object had. Columns of CSV and Parquet become the object `payload` of a
line, as Qdrant's points have it. The other way each value of `payload` and `metadata` is a column of its own;
what has parts is written as JSON there. The names of columns are written first, and a row may have one that
no row had before: so JSON lines are read twice. Of a pipe the columns are those of the first rows.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from muse.errors import Mismatch

Values = Mapping[str, Any]
_LARGEST = 1 << 63  # integers of 64 bits are smaller
_OTHERWISE = "write a .jsonl file, whose rows may differ, or leave them out with --vectors-only"
# What stores call ids, whatever the case.
ID_NAMES = (
    *(
        "id",
        "_id",
        "ids",
        "uuid",
        "guid",
        "pk",
        "doc_id",
        "docid",
        "document_id",
        "point_id",
        "vector_id",
        "item_id",
    ),
    *("chunk_id", "record_id", "object_id", "objectid", "primary_key", "custom_id", "key"),
)
NESTED = ("payload", "metadata")  # objects whose values become columns
RESERVED = ("id", "vector")  # columns that are written anyway
MOST_COLUMNS = 1_000  # where names differ from row to row, they are no columns


@dataclass(eq=False)
class Payload:
    """What the rows of the block read last have beside id and vector, read if it is `wanted`.

    `rows` are of JSON lines and CSV, and `batch` is a record batch of Parquet, whose types stay. `known` are
    the columns of the first rows, and `vectors` the names of other vectors, which are not mapped. `again`
    reads what all rows have, of rows that may differ; then `kinds` are the types in each column.
    """

    known: Collection[str] = ()
    vectors: Collection[str] = ()
    again: Callable[[], Iterator[Values]] | None = None
    kinds: Mapping[str, set[type]] | None = None
    wanted: bool = False
    rows: Sequence[Values] = ()
    batch: Any = None

    def find_columns(self, path: Path) -> None:
        """Reads the file once for the columns of all rows; Mismatch if they are too many for a table."""
        if self.again is None:
            return
        kinds = dict[str, set[type]]()
        for row in self.again():
            for name, value in columns_of(row).items():
                kinds.setdefault(name, set()).add(kind_of(value))
            if len(kinds) > MOST_COLUMNS:
                raise Mismatch(
                    f"{path}: the rows of a table may have at most {MOST_COLUMNS} columns together, got more "
                    f"({', '.join(list(kinds)[:3])}, ...); {_OTHERWISE}"
                )
        self.known, self.kinds = tuple(kinds), kinds

    def objects(self) -> Iterator[Values]:
        """What each row has, as a line of JSON takes it."""
        if self.batch is None:
            yield from self.rows
        else:
            yield from ({"payload": row} for row in self.batch.to_pylist())

    def names(self) -> list[str]:
        """The columns of all rows, or else of the first ones."""
        return list(dict.fromkeys(chain(self.known, *self.columns())))

    def columns(self, path: Path = Path(), names: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """What each row has, a value for a column; Mismatch for a column that is not among the names."""
        for row in map(columns_of, self.objects()):
            odd = next((name for name in row if names is not None and name not in names), None)
            if odd is not None:
                raise Mismatch(
                    f"{path}: the columns of a table are those of the first rows "
                    f"({', '.join(names or ()) or 'none'}) where they come from a pipe, got {odd!r} later; "
                    f"give a file, {_OTHERWISE}"
                )
            yield row


def id_name(names: Iterable[str]) -> str | None:
    """The name among these that is of ids: the one that most surely is.

    >>> id_name(["Text", "Doc_ID", "pk"]), id_name(["text"])
    ('pk', None)
    """
    folded = {name.casefold(): name for name in names}
    return next((folded[name] for name in ID_NAMES if name in folded), None)


def columns_of(row: Values) -> dict[str, Any]:
    """The columns of a row, of which those in `payload` or `metadata` come last; one name has one column.

    >>> columns_of({"text": "A dog", "payload": {"page": 7, "id": "x"}})
    {'text': 'A dog', 'page': 7, 'payload.id': 'x'}
    """
    inner = {name: row[name] for name in NESTED if isinstance(row.get(name), dict)}
    found = {name: value for name, value in row.items() if name not in inner}
    for outer, values in inner.items():
        for name, value in values.items():
            taken = name in found or name in RESERVED
            found[f"{outer}.{name}" if taken else name] = value
    return {_written(name): value for name, value in found.items() if name not in RESERVED}


def kind_of(value: object) -> type:
    """The type of a value as a column has it: text for an integer of more than 64 bits.

    >>> kind_of(None), kind_of(7), kind_of(1 << 64)
    (<class 'NoneType'>, <class 'int'>, <class 'str'>)
    """
    return str if isinstance(value, int) and not -_LARGEST <= value < _LARGEST else type(value)


def as_json(path: Path, value: object) -> str:
    """A value as JSON, in which times and the like are text; Mismatch for one that JSON cannot have."""

    def text(odd: object) -> str:
        if isinstance(odd, bytes | bytearray | memoryview):
            raise Mismatch(
                f"{path}: JSON and CSV have no bytes, which a column of the store has; write a .parquet "
                "file, or leave the columns out with --vectors-only"
            )
        return str(odd)

    return json.dumps(value, ensure_ascii=False, default=text)


def as_cell(path: Path, value: object) -> str:
    """A value as the text of a cell: what has parts is JSON, and null is empty."""
    text = value if isinstance(value, str) else "" if value is None else as_json(path, value).strip('"')
    return _written(text)


def _written(text: str) -> str:
    return text if text.isascii() else text.encode(errors="replace").decode()
