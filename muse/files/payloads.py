"""Payloads: what the rows of a store have beside ids and vectors, carried from one file to another.

A line of JSON keeps what else its object had. Columns of CSV and Parquet become the object `payload` of a
line, as Qdrant's points have it. The other way each value of `payload` and `metadata` is a column of its own;
what has parts is written as JSON there. The names of columns are written first, and a row may have one that
no row had before: so JSON lines are read twice. Of a pipe the columns are those of the first rows.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from muse.errors import BadSetting, Mismatch
from muse.files.json_text import without_surrogates

Values = Mapping[str, Any]
_LARGEST = 1 << 63  # integers of 64 bits are smaller
_OTHERWISE = "write a .jsonl file, whose rows may differ, or leave them out with --vectors-only"
# What words and ids are called, whatever the case and the signs between, the surest first.
WORD_NAMES = (
    "word", "words", "token", "term", "vocab", "wordform", "lemma", "ngram", "itos", "indextokey",
    "index2word",
)  # fmt: skip
LOOSE = ("key", "index", "indexlevel0", "unnamed0", "")  # may be either: but for `key`, an index of pandas
ID_NAMES = (
    "id", "ids", "uuid", "guid", "pk", "docid", "documentid", "pointid", "vectorid", "itemid", "chunkid",
    "recordid", "objectid", "primarykey", "customid", *LOOSE,
)  # fmt: skip
_OF_IDS = re.compile(r"(?:[\W_](?i:id|key|uuid|guid)|[a-z](?:Id|ID))$")  # how the names of others end
TEXT_NAMES = ("text", "document", "page_content", "sentence")  # what a row stands for
_WORD = re.compile(r"[^\W\d_]+")
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
                kinds.setdefault(name, set()).add(type_in_column(value))
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
    return _first_of(ID_NAMES, names)


def _first_of(known: Iterable[str], names: Iterable[str]) -> str | None:
    folded = {folded_name(name): name for name in sorted(names, key=len, reverse=True)}
    return next((folded[name] for name in known if name in folded), None)


def folded_name(name: str) -> str:
    """What a column is called, without case, spaces and signs."""
    return re.sub(r"[\W_]+", "", name.casefold())


class Label(NamedTuple):
    """The column that says what a row is: its name, whether it has words, was guessed, repeats."""

    name: str
    words: bool = False
    guessed: bool = False
    repeats: bool = False


def label_of(path: Path, columns: Mapping[str, Sequence[Any]], wanted: str | None = None) -> Label | None:
    """The column of words or ids among those beside the vectors, of which the first values are given.

    It is the one that is `wanted`, else one that is called so, else the only one whose values all differ that
    is called an id or has texts; None without. Raise BadSetting if there is none that is wanted.
    """
    if wanted is not None:
        if wanted in columns:
            return Label(wanted)
        raise BadSetting(
            f"{path}: --id must be one of its columns beside the vectors "
            f"({', '.join(columns)[:200] or 'it has none'}), got {wanted!r}"
        )
    texts = {name: [*map(_text, values)] for name, values in columns.items()}
    texts = {name: known for name, known in texts.items() if any(known) and None not in known}
    differing = [name for name, values in columns.items() if len({*map(str, values)}) == len(values)]
    words = _first_of(WORD_NAMES, texts)
    own = id_name(differing) or id_name(name for name in columns if folded_name(name) not in LOOSE)
    if words and (own is None or folded_name(words) == WORD_NAMES[0]):
        return Label(words, words=True)
    if own is not None:
        is_words = folded_name(own) in LOOSE and are_words(texts.get(own, ()))
        return Label(own, is_words, repeats=own not in differing)
    likely = {name for name in texts if name.casefold() not in TEXT_NAMES or are_words(texts[name])}
    found = [name for name in differing if name in likely and all(texts[name])]
    named = [name for name in differing if _OF_IDS.search(name)]
    if len(named) == 1:
        return Label(named[0], guessed=True)
    if len(found) != 1:
        return None
    return Label(found[0], len(columns) == 1 and are_words(texts[found[0]]), guessed=True)


def _text(value: object) -> str | None:
    """A value that is text, maybe as bytes, the empty string for null; None for another."""
    text = value.decode(errors="ignore") if isinstance(value, bytes) else value
    return text if isinstance(text, str) else "" if text is None else None


def are_words(texts: Sequence[str | None]) -> bool:
    """Whether most of these texts are single words of letters alone.

    >>> are_words(["le", "roi", "2"]), are_words(["a0", "a1"]), are_words(["A dog", "It runs"])
    (True, False, False)
    """
    return 2 * sum(_WORD.fullmatch(text or "") is not None for text in texts) > len(texts)


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
    return {without_surrogates(name): value for name, value in found.items() if name not in RESERVED}


def type_in_column(value: object) -> type:
    """The type of a value as a column has it: text for an integer of more than 64 bits.

    >>> type_in_column(None), type_in_column(7), type_in_column(1 << 64)
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
    return without_surrogates(text)
