"""Page: a glossary as one HTML file, in which a person accepts or rejects translations."""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from muse.examples.index import Example
from muse.files.pages import page_around
from muse.languages import english_name, language_code, writes_right_to_left
from muse.terms.rows import GlossaryRow


def page_parts(
    rows: Sequence[GlossaryRow],
    languages: tuple[str, str],
    title: str,
    rejected: Collection[tuple[str, str]],
) -> Iterator[str]:
    """The parts of the page in order; it saves the pairs that were `rejected` before too."""
    styles = "palette.css", "terms/templates/page.css"
    before, after = page_around(
        "$rows", "terms/templates/page.html", styles, ("terms/templates/page.js",), languages, title
    )
    yield before
    data = {
        "rows": [_fields(row) for row in rows],
        "rejected": [*rejected],
        "sides": [
            {"lang": language_code(one) if english_name(one) != one else "",
             "dir": "rtl" if writes_right_to_left(one) else "ltr"}
            for one in languages
        ],
    }  # fmt: skip
    yield json.dumps(data, ensure_ascii=False).replace("<", "\\u003c") + "\n"
    yield after


def _fields(row: GlossaryRow) -> dict[str, Any]:
    return {
        "term": row.term, "translation": row.translation, "probability": row.probability,
        "unsure": row.unsure, "decision": row.decision, "counts": [row.count, row.translation_count],
        "examples": [[*map(_example, some)] for some in (row.examples, row.translation_examples)],
    }  # fmt: skip


def _example(one: Example) -> list[Any]:
    """The text, the places of the word in the units of JavaScript, and where it stands."""

    def units(place: int) -> int:
        return place + sum(letter > "\uffff" for letter in one.text[:place])

    places = [[units(begin), units(end)] for begin, end in one.places]
    return [one.text, places, f"{one.file}:{one.line}"]
