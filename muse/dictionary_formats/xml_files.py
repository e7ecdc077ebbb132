"""Dictionaries in XML: FreeDict's TEI, translation memories (TMX) and termbases (TBX).

Only the elements that have words are read, as the file streams by; a file that declares entities, which can
grow without limit, is refused, but for short ones that no entry uses.

The only user of lxml.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from muse.dictionary_formats.language_filter import LanguageFilter, warn_of_explanations
from muse.errors import BadFile
from muse.files.cells import split_translations
from muse.files.dictionary_format import DictionaryFile, DictionaryFormat
from muse.languages import languages_of_file
from muse.lexicon import PairLine

_HEAD = 1 << 16  # bytes in which the outermost element begins
_MOST_OF_ENTRY = 200  # words, translations or languages
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_DESCRIBED = ("TEI", "TEI.2", "teiHeader", "text")  # whose language is that of the description
_INFLECTED = {("form", "infl"), ("form", "inflected")}
_TRANSLATION = ("trans", "translation", "translationEquivalent")
# Of other kinds, how to convert them: by the Translate Toolkit where it can.
_CONVERT = "convert it into lines of two words with a tab between, as pyglossary does"
_NO_DICTIONARY = (
    "if it is a page of an error, download the file again; else put tabs between its "
    "words, as of a table: pandas.read_html(...)[0].to_csv(...)"
)
_CONVERSIONS = {
    "dictionary": r"of Apertium: lt-expand FILE | sed -E 's/<[^>]*>//g; s/:([<>]:)?/\t/' > OUT.tsv",
    "lift": "open it with FieldWorks or WeSay, and write its words and glosses as two columns",
    **dict.fromkeys(("Error", "html", "HTML"), _NO_DICTIONARY),
} | {
    kind: f"convert it: {program} FILE OUT.po, then po2csv OUT.po OUT.csv"
    for kind, program in (("xliff", "xliff2po"), ("TS", "ts2po"))
}
_HARMLESS = re.compile(r"(?:[^&%]|&#\w+;){,100}")  # no entity that has others in it
Found = Iterator[tuple[str, str, tuple[str, str]]]  # two words and the languages they are in


def _pairs(file: DictionaryFile) -> Iterator[PairLine]:
    """The pairs of a TEI, TMX or TBX file; BadFile for any other XML."""
    from lxml import etree

    safe = {"resolve_entities": False, "no_network": True}
    begun = etree.XMLPullParser(("start",), **safe)
    with suppress(etree.XMLSyntaxError):  # reading reports it
        begun.feed(file.beginning.source.peek(_HEAD))
    root = next((element for _, element in begun.read_events()), None)
    kind = None if root is None else _kind(root, file.path)
    found = LanguageFilter(file.path, file.languages, exact=file.exact)
    try:
        for _, element in etree.iterparse(
            file.beginning.source, ("end",), tag=[*_ENTRIES, "{*}include"], **safe
        ):
            kind, name = kind or _kind(element.getroottree().getroot(), file.path), _name(element)
            if name == "include":
                raise BadFile(
                    f"{file.path}:{element.sourceline}: expected the entries in the file, got a reference "
                    f"to another one, {element.get('href', '')[:60]!r}; put them into one file: xmllint "
                    "--xinclude"
                )
            if (entity := next(element.iter(etree.Entity), None)) is not None:
                raise BadFile(
                    f"{file.path}:{element.sourceline}: expected text, got the entity {entity.text[:40]!r}; "
                    "write what it stands for in its place"
                )
            for one, two, languages in _PAIRS[name](element, file.path):
                yield from found.pair(one, two, languages)
            _forget(element)
    except (etree.XMLSyntaxError, RecursionError) as error:
        raise BadFile(
            f"{file.path}:{getattr(error, 'lineno', 1)}: expected well-formed XML, got what is incomplete, "
            f"damaged or too deep ({error}); download the file again"
        ) from None
    found.check(kind or "XML")
    if kind == _TEI:
        warn_of_explanations(file.path, found.long, found.kept)


def _kind(root: Any, path: Path) -> str:
    """What a file is called by its outermost element; BadFile unless it is read."""
    where, document = f"{path}:{root.sourceline}", root.getroottree().docinfo.internalDTD
    declared = () if document is None else document.iterentities()
    if entity := next((one for one in declared if not _HARMLESS.fullmatch(one.content or "&")), None):
        raise BadFile(
            f"{where}: expected no declaration of entities, with which a file can fill memory, got one of "
            f"{str(entity.name)[:40]!r}; write what it stands for into the text"
        )
    name = _name(root)
    if name not in _KINDS:
        raise BadFile(
            f"{where}: expected TEI, as FreeDict has it, TMX or TBX, got XML of the kind {name[:40]!r}; "
            f"{_CONVERSIONS.get(name, _CONVERT)}"
        )
    return _KINDS[name]


def _forget(element: Any) -> None:
    """Drop what an entry that has ended has in it, and what is before it, unless that is in an entry too."""
    element.clear()
    if next(element.iterancestors(*_ENTRIES), None) is None:
        while element.getprevious() is not None:
            del element.getparent()[0]


def _name(element: Any) -> str:
    # Comments have no name.
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _language(element: Any) -> str:
    """The language of an element, its own or that of what it is in; "" without one."""
    one = element
    while one is not None:
        if found := one.get(_LANGUAGE) or one.get("lang"):
            return "" if _name(one) in _DESCRIBED else str(found)
        one = one.getparent()
    return ""


def _text(element: Any) -> str:
    """The text of an element, and of what is highlighted in it, without that of other elements."""
    parts = [element.text or ""]
    for inner in element:
        if _name(inner) in ("hi", "seg"):
            parts.append(f" {_text(inner)} ")
        parts.append(inner.tail or "")
    return " ".join("".join(parts).split())


def _of_entry(entry: Any, path: Path) -> Found:
    named = languages_of_file(path.name)
    words, translations, definitions = list[Any](), list[Any](), list[Any]()
    for element in entry.iter("{*}quote", "{*}tr", "{*}def", "{*}orth"):
        name = _name(element)
        within = [(_name(one), one.get("type")) for one in element.iterancestors()]
        if _is_translation(element, within):
            (definitions if name == "def" else translations).append(element)
        elif name == "orth" and any(one == "form" for one, _ in within) and not _INFLECTED & {*within}:
            words.append(element)
    # Definitions are translations only where there are no others.
    texts = [
        (re.sub(r"\([^()]*\)", " ", _text(element)), _language(element))
        for element in (translations or definitions)[:_MOST_OF_ENTRY]
    ]
    for word in words[:_MOST_OF_ENTRY]:
        own = _language(word)
        for text, other in texts:
            # Where one language alone is named, it is that of the whole file.
            of = own or named[0], other if other not in ("", own) else named[1]
            for part in split_translations(text):
                yield _text(word), part, of


def _is_translation(element: Any, within: Sequence[tuple[str, str | None]]) -> bool:
    if ("cit", "example") in within or any(name == "eg" for name, _ in within):
        return False
    return (
        (_name(element) == "def" and any(name == "sense" for name, _ in within))
        or any(name == "trans" or (name == "cit" and kind in _TRANSLATION) for name, kind in within)
        or element.get("type") in _TRANSLATION
    )


def _of_unit(unit: Any, path: Path) -> Found:
    segments = [(_text(one), _language(one)) for one in unit.iter("{*}seg", "{*}term")][:_MOST_OF_ENTRY]
    for place, (one, own) in enumerate(segments):
        for two, other in segments[place + 1 :]:
            yield one, two, (own, other)


_TEI = "the TEI of FreeDict"
_TBX = "a termbase (TBX)"
_KINDS = {"TEI": _TEI, "TEI.2": _TEI, "tmx": "a translation memory (TMX)", "martif": _TBX, "tbx": _TBX}
# What has the pairs, by name. An entry in another one is of a word that belongs to it.
_PAIRS = {
    "entry": _of_entry, "entryFree": _of_entry, "re": _of_entry,
    "tu": _of_unit, "termEntry": _of_unit, "conceptEntry": _of_unit,
}  # fmt: skip
_ENTRIES = [f"{{*}}{name}" for name in _PAIRS]
TEI = DictionaryFormat("tei", _pairs, kind="xml")
TMX = DictionaryFormat("tmx", _pairs)
TBX = DictionaryFormat("tbx", _pairs)
