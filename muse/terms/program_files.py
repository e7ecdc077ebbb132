"""Files of other programs: TBX for termbases, tables for OmegaT, and cards for Anki.

Of a term they have the first translation, and others that are more likely right than wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from muse.examples.index import Example
from muse.languages import language_code
from muse.terms.rows import GlossaryRow, terms_of

_TBX = """<?xml version="1.0" encoding="UTF-8"?>
<tbx type="TBX-Basic" style="dca" xml:lang="{language}" xmlns="urn:iso:std:iso:30042:ed-2">
<tbxHeader><fileDesc><sourceDesc><p>muse terms</p></sourceDesc></fileDesc></tbxHeader>
<text><body>
"""
_MARTIF = """<?xml version="1.0" encoding="UTF-8"?>
<martif type="TBX" xml:lang="{language}">
<martifHeader><fileDesc><sourceDesc><p>muse terms</p></sourceDesc></fileDesc></martifHeader>
<text><body>
"""
_NAMES = {"conceptEntry": "termEntry", "langSec": "langSet", "termSec": "tig"}  # in 2019, in 2008
_ANKI_BEGINNING = """#separator:tab
#html:true
#columns:Term\tTranslation\tExample\tExample of the translation\tTags
#tags column:5
"""


def tbx_parts(rows: Sequence[GlossaryRow], languages: tuple[str, str]) -> Iterator[str]:
    """TBX-Basic (ISO 30042:2019, style DCA): a concept for each term."""
    yield _TBX.format(language=escape(language_code(languages[0])))
    yield from _concepts(rows, languages, {name: name for name in _NAMES})
    yield "</body></text>\n</tbx>\n"


def martif_parts(rows: Sequence[GlossaryRow], languages: tuple[str, str]) -> Iterator[str]:
    """TBX-Basic of 2008, which most programs still read alone."""
    yield _MARTIF.format(language=escape(language_code(languages[0])))
    yield from _concepts(rows, languages, _NAMES)
    yield "</body></text>\n</martif>\n"


def _concepts(
    rows: Sequence[GlossaryRow], languages: tuple[str, str], names: Mapping[str, str]
) -> Iterator[str]:
    concept, side, term = names.values()
    source, target = (escape(language_code(one)) for one in languages)
    for number, found in enumerate(terms_of(rows), 1):
        first = found[0]
        own = _tbx_term(term, first.term, first.examples, note=f"{first.count} times")
        others = "".join(
            _tbx_term(
                term, row.translation, row.translation_examples,
                status="preferred" if row.decision else "admitted" if not row.unsure else "",
                note=f"{row.remark}; {row.translation_count} times",
            )
            for row in found
        )  # fmt: skip
        sides = ((source, own), (target, others))
        inner = "".join(f'<{side} xml:lang="{one}">{terms}</{side}>' for one, terms in sides)
        yield f'<{concept} id="c{number}">{inner}</{concept}>\n'


def _tbx_term(name: str, term: str, examples: Sequence[Example], *, note: str, status: str = "") -> str:
    shown = f'<termNote type="administrativeStatus">{status}Term-admn-sts</termNote>' if status else ""
    contexts = "".join(
        f'<descripGrp><descrip type="context">{_text(one.text)}</descrip>'
        f'<admin type="source">{_text(f"{one.file}:{one.line}")}</admin></descripGrp>'
        for one in examples
    )
    return f"<{name}><term>{_text(term)}</term>{shown}{contexts}<note>{_text(note)}</note></{name}>"


def _text(text: str) -> str:
    return escape(text, quote=False)


def omegat_parts(rows: Sequence[GlossaryRow], languages: tuple[str, str]) -> Iterator[str]:
    """Lines with a term, its translation and a comment, as OmegaT reads glossaries."""
    for found in terms_of(rows):
        for row in found:
            example = f"; {row.examples[0].text}" if row.examples else ""
            yield f"{row.term}\t{row.translation}\t{row.remark}{example}\n"


def anki_parts(rows: Sequence[GlossaryRow], languages: tuple[str, str]) -> Iterator[str]:
    """Notes for Anki: a term, its translations, and a sentence with each; unsure ones are tagged."""
    yield _ANKI_BEGINNING
    for found in terms_of(rows):
        first = found[0]
        sentences = [one[0].html if one else "" for one in (first.examples, first.translation_examples)]
        sides = [_text(first.term), ", ".join(_text(row.translation) for row in found)]
        tag = first.decision or ("unsure" if first.unsure else "")
        yield "\t".join(cell.replace('"', "&quot;") for cell in (*sides, *sentences, tag)) + "\n"
