"""Page: a glossary as one HTML file, in which a person accepts or rejects translations."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from muse.examples.index import Example
from muse.files.pages import PageFiles
from muse.languages import english_name, language_code, writes_right_to_left
from muse.terms.decisions import Decisions
from muse.terms.rows import GlossaryRow

_FILES = PageFiles(
    "terms/templates/page.html", ("palette.css", "terms/templates/page.css"), ("terms/templates/page.js",)
)


def page_parts(
    rows: str, languages: tuple[str, str], title: str, decisions: Decisions, kept: str = ""
) -> Iterator[str]:
    """The parts of the page in order, for `rows_data` and what was decided, of other pairs too.

    It saves decisions as a file, or, served by the explorer, has it keep them in the file named `kept`.
    """
    before, after = _FILES.around(languages, title, served=bool(kept))
    about = {"kept": kept, "decisions": decisions.rows, "sides": [
        {"lang": language_code(one) if english_name(one) != one else "",
         "dir": "rtl" if writes_right_to_left(one) else "ltr"}
        for one in languages
    ]}  # fmt: skip
    yield before
    yield f'{{"rows": {rows}, "about": {_data(about)}}}\n'
    yield after


def rows_data(rows: Sequence[GlossaryRow]) -> str:
    """What the page has of rows, as JSON."""
    return _data([_fields(row) for row in rows])


def _data(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def _fields(row: GlossaryRow) -> dict[str, Any]:
    return {
        "term": row.term, "translation": row.translation, "probability": row.probability,
        "unsure": row.unsure, "counts": [row.count, row.translation_count],
        "examples": [[*map(_example, some)] for some in (row.examples, row.translation_examples)],
    }  # fmt: skip


def _example(one: Example) -> list[Any]:
    """The text, the places of the word in the units of JavaScript, and where it stands."""

    def units(place: int) -> int:
        return place + sum(letter > "\uffff" for letter in one.text[:place])

    places = [[units(begin), units(end)] for begin, end in one.places]
    return [one.text, places, f"{one.file}:{one.line}"]
