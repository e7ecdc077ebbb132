"""Files of glossaries: tables and JSON lines, a row for each translation, and those of other programs.

An ending says the format, whatever stands before it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from muse.errors import BadSetting
from muse.files.tables import FORMS, check_rows, form_of, require_form, table_writer
from muse.files.writing import check_place, replaced
from muse.terms.decisions import ACCEPTED, Decisions
from muse.terms.glossary import FoundTerm
from muse.terms.kept import lines_of_rows
from muse.terms.page import page_parts, rows_data
from muse.terms.program_files import anki_parts, martif_parts, omegat_parts, tbx_parts
from muse.terms.rows import COLUMNS, UNSURE, GlossaryRow
from muse.terms.sentences import Find

_TEXTS: Mapping[str, Callable[[Sequence[GlossaryRow], tuple[str, str]], Iterator[str]]] = {
    "jsonl": lines_of_rows, "tbx": tbx_parts, "martif": martif_parts, "omegat": omegat_parts,
    "anki": anki_parts,
}  # fmt: skip
GLOSSARY_FORMS = (*FORMS, *_TEXTS, "html")
ENDINGS = {".anki.txt": "anki", ".txt": "omegat", ".utf8": "omegat"}  # beside the names of formats


def check_glossary(path: Path, form: str | None) -> str:
    """The format of a glossary, given or found by its name; raises what writing it would raise."""
    name = path.name.lower().removesuffix(".gz")
    ended = next((one for ending, one in ENDINGS.items() if name.endswith(ending)), None)
    if (found := form or form_of(path, GLOSSARY_FORMS) or ended) is None:
        endings = [*(f".{one}" for one in GLOSSARY_FORMS if one not in ENDINGS.values()), *ENDINGS]
        raise BadSetting(
            f"{path}: a glossary is written as {', '.join(endings)}, got {path.name!r}; choose such a name, "
            "or give --format"
        )
    check_place(path)
    require_form(path, found)
    return found


def glossary_rows(
    found: Sequence[FoundTerm], least: float, decisions: Decisions, find: tuple[Find, Find], *, doubted: bool
) -> Iterator[GlossaryRow]:
    """The rows of the translations whose probability is `least` or more, with the sentences that are found.

    Terms that are the same in both languages are left out. If all are `doubted`, they are unsure.
    """
    for term in found:
        if not term.translations or term.translations[0].target == term.term:
            continue
        for rank, (target, probability, count) in enumerate(term.translations, 1):
            if probability >= least:
                decision = ACCEPTED if (term.term, target) in decisions.accepted else ""
                domain, association, c_value = (
                    round(one, 3) for one in (term.domain, term.association, term.c_value)
                )
                yield GlossaryRow(
                    term.term, target, rank, round(probability, 4),
                    not decision and (doubted or probability < UNSURE), decision,
                    term.count, count, domain, association, c_value, find[0](term.term), find[1](target),
                )  # fmt: skip


def write_glossary(
    path: Path, form: str, rows: Sequence[GlossaryRow], languages: tuple[str, str], decisions: Decisions
) -> None:
    """Write rows atomically; the page of a glossary has the `decisions` on other pairs too."""
    if form in FORMS:
        check_rows(path, form, len(rows))
        with table_writer(path, COLUMNS, form) as write:
            for row in rows:
                write([_cell(one) for one in vars(row).values()])
        return
    if form == "html":
        parts = page_parts(rows_data(rows), languages, path.stem, decisions)
    else:
        parts = _TEXTS[form](rows, languages)
    with replaced(path) as stream:
        for part in parts:
            stream.write(part.encode(errors="replace"))


def _cell(value: Any) -> Any:
    if isinstance(value, tuple):
        return " | ".join(f"{one.text} ({one.file}:{one.line})" for one in value)
    return None if value != value else value  # noqa: PLR0124 - what nothing is known of
