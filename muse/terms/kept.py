"""Kept: a glossary as JSON lines, which the explorer and the report show, and beside it what was decided."""

import json
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from muse.errors import BadFile, Mismatch
from muse.examples.index import Example
from muse.files.plain_text import read_lines
from muse.files.tables import json_object
from muse.files.writing import check_place
from muse.terms.decisions import REJECTED, Decisions, Pair, read_decisions, write_decisions
from muse.terms.page import page_parts, rows_data
from muse.terms.rows import COLUMNS, EXAMPLES, GlossaryRow, terms_of

DECISIONS = ".decisions.tsv"  # in place of .jsonl


def lines_of_rows(rows: Sequence[GlossaryRow], languages: tuple[str, str]) -> Iterator[str]:
    """The rows as JSON objects, each with the languages of the glossary."""
    for row in rows:
        fields = {
            name: [one._asdict() for one in value] if name in EXAMPLES else None if value != value else value
            for name, value in vars(row).items()
        }
        yield json.dumps({**fields, "languages": languages}, ensure_ascii=False) + "\n"


@dataclass(frozen=True, eq=False)
class KeptGlossary:
    """The rows of a glossary in a file, and its languages."""

    path: Path
    rows: Sequence[GlossaryRow]
    languages: tuple[str, str]
    _lock: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def read(cls, path: Path, known: Collection[str]) -> "KeptGlossary":
        """The glossary that `muse terms` wrote as JSON lines; its languages must be among those `known`.

        Raise BadFile, Mismatch for other languages, or BadFile if decisions cannot be read and kept.
        """
        found = [_read_row(line, f"{path}:{number}") for number, line in enumerate(read_lines(path), 1)]
        both = {languages for _, languages in found}
        if len(both) != 1:
            raise BadFile(f"{path}: expected rows in two languages, got {len(both) or 'no rows'}")
        (languages,) = both
        if not {*languages} <= {*known}:
            raise Mismatch(
                f"{path}: expected a glossary of languages of the space, {', '.join(known)}, got "
                f"{' and '.join(languages)}; give another"
            )
        made = cls(path, [row for row, _ in found], languages)
        check_place(made.place)
        made.decisions()
        return made

    @property
    def place(self) -> Path:
        """The file with the decisions: terms.decisions.tsv beside terms.jsonl."""
        return self.path.with_suffix(DECISIONS)

    def decisions(self) -> Decisions:
        """What was decided, as the file has it now; without one, what the rows say."""
        if self.place.exists():
            return read_decisions(self.place)
        return Decisions([(row.term, row.translation) for row in self.rows if row.decision])

    def decide(self, pair: Pair, decision: str) -> bool:
        """Keep a decision on a pair, "" for none, unless the glossary lacks it; whether it was kept."""
        if pair not in self._pairs:
            return False
        with self._lock:
            write_decisions(self.place, self.decisions().decided(pair, decision))
        return True

    def page(self, *, served: bool) -> Iterator[str]:
        """The parts of the page that shows it; `served` by the explorer, or a file."""
        kept = self.place.name if served else ""
        return page_parts(self._data, self.languages, self.path.stem, self.decisions(), kept)

    @property
    def terms(self) -> list[GlossaryRow]:
        """The first row of each term that was not rejected, with what was decided."""
        decided = {(term, translation): decision for term, translation, decision in self.decisions().rows}
        rows = [replace(row, decision=decided.get((row.term, row.translation), "")) for row in self.rows]
        return [first for first, *_ in terms_of([row for row in rows if row.decision != REJECTED])]

    @cached_property
    def _data(self) -> str:
        return rows_data(self.rows)

    @cached_property
    def _pairs(self) -> set[Pair]:
        return {(row.term, row.translation) for row in self.rows}


def _read_row(line: str, where: str) -> tuple[GlossaryRow, tuple[str, str]]:
    """A row, and the languages of the glossary."""
    fields = json_object(line, where)
    try:
        source, target = map(str, fields["languages"])
        values: dict[str, Any] = {
            name: tuple(map(_read_example, fields[name])) if name in EXAMPLES
            else math.nan if fields[name] is None else kind(fields[name])
            for name, kind in COLUMNS.items()
        }  # fmt: skip
        return GlossaryRow(**values), (source, target)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadFile(
            f"{where}: expected a row of a glossary, got {line[:60]!r} ({error}); write it with muse terms "
            "--out FILE.jsonl"
        ) from None


def _read_example(found: Any) -> Example:
    places = tuple((int(begin), int(end)) for begin, end in found["places"])
    return Example(str(found["text"]), places, str(found["file"]), int(found["line"]))
