"""Files of glossaries: tables and JSON lines, a row for each translation of a term."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from muse.errors import BadSetting
from muse.files.tables import FORMS, check_rows, form_of, require_form, table_writer
from muse.files.writing import check_place, check_unicode, replaced
from muse.terms.glossary import FoundTerm

GLOSSARY_FORMS = (*FORMS, "jsonl")
UNSURE = 0.5  # a translation of a lower probability is more likely wrong than right
_COLUMNS: dict[str, type] = {
    "term": str, "translation": str, "rank": int, "probability": float, "unsure": bool, "count": int,
    "translation_count": int, "domain": float, "association": float, "c_value": float,
}  # fmt: skip


def check_glossary(path: Path, form: str | None) -> str:
    """The format of a glossary, given or found by its name; raises what writing it would raise."""
    if (found := form or form_of(path, GLOSSARY_FORMS)) is None:
        raise BadSetting(
            f"{path}: a glossary is written as .{', .'.join(GLOSSARY_FORMS)}, got {path.name!r}; choose such "
            "a name, or give --format"
        )
    check_place(path)
    require_form(path, found)
    return found


def term_rows(found: Sequence[FoundTerm], least: float = 0.0) -> Iterator[dict[str, Any]]:
    """The fields of each translation whose probability is `least` or more."""
    for term in found:
        for rank, (target, probability, count) in enumerate(term.translations, 1):
            if probability >= least:
                unsure = probability < UNSURE
                values = (term.term, target, rank, round(probability, 4), unsure, term.count, count)
                numbers = (round(one, 3) for one in (term.domain, term.association, term.c_value))
                yield dict(zip(_COLUMNS, (*values, *numbers), strict=True))


def write_glossary(path: Path, form: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows atomically."""
    if form == "jsonl":
        with replaced(path) as stream:
            for place, row in enumerate(rows):
                line = json.dumps(row, ensure_ascii=False)
                check_unicode(path, line, place, kind="line")
                stream.write(line.encode() + b"\n")
        return
    check_rows(path, form, len(rows))
    with table_writer(path, _COLUMNS, form) as write:
        for row in rows:
            write([*row.values()])
