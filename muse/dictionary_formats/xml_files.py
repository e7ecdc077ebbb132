"""Dictionaries in XML: FreeDict's TEI, and translation memories (TMX).

Only the elements that have words are read, as the file streams by; a file that declares entities, which can
grow without limit, is refused.

The only user of lxml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from muse.dictionary_formats.language_filter import LanguageFilter, warn_of_explanations
from muse.errors import BadFile
from muse.files.cells import split_translations
from muse.files.dictionary_format import DictionaryFile, DictionaryFormat
from muse.languages import languages_of_file
from muse.lexicon import PairLine

_DEEPEST = 200  # elements in one another; those of TEI are not a tenth as deep
_MOST_OF_ENTRY = 200  # words, translations or languages
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_DESCRIBED = ("TEI", "TEI.2", "teiHeader", "text")  # whose language is that of the description
_TRANSLATION = ("trans", "translation", "translationEquivalent")
# Of other kinds, how to convert them: by the Translate Toolkit where it can.
_CONVERT = "convert it into lines of two words with a tab between, as pyglossary does"
_CONVERSIONS = {
    kind: f"convert it: {program} FILE OUT.po, then po2csv OUT.po OUT.csv"
    for kind, program in (("xliff", "xliff2po"), ("TS", "ts2po"), ("martif", "tbx2po"), ("tbx", "tbx2po"))
}
Found = Iterator[tuple[str, str, tuple[str, str]]]  # two words and the languages they are in


class _XmlKind(NamedTuple):
    """What XML is called, the elements that are entries, and their pairs."""

    what: str
    entries: tuple[str, ...]
    pairs: Callable[[Any, Path], Found]


def _pairs(file: DictionaryFile) -> Iterator[PairLine]:
    """The pairs of a TEI or TMX file; BadFile for any other XML."""
    from lxml import etree

    found = LanguageFilter(file.path, file.languages)
    events = etree.iterparse(
        file.beginning.source, ("start", "end"), resolve_entities=False, no_network=True, load_dtd=False
    )
    kind, depth, inside = None, 0, 0
    try:
        for event, element in events:
            name = _name(element)
            kind = kind or _kind(element, file.path)
            if event == "start":
                depth, inside = depth + 1, inside + (name in kind.entries)
                _check_element(element, depth, file.path)
                continue
            depth, inside = depth - 1, inside - (name in kind.entries)
            if name in kind.entries:
                for one, two, languages in kind.pairs(element, file.path):
                    yield from found.pair(one, two, languages)
                element.clear()  # an entry that it is in has its own words
            if not inside:
                _forget(element)
    except etree.XMLSyntaxError as error:
        raise BadFile(
            f"{file.path}:{error.lineno}: expected well-formed XML, got what is incomplete or damaged "
            f"({error.msg}); download the file again"
        ) from None
    found.check(kind.what if kind else "XML")
    if kind is _TEI:
        warn_of_explanations(file.path, found.long, found.kept)


def _kind(root: Any, path: Path) -> _XmlKind:
    where, document = f"{path}:{root.sourceline}", root.getroottree().docinfo.internalDTD
    if entity := next(document.iterentities(), None) if document is not None else None:
        raise BadFile(
            f"{where}: expected no declaration of entities, with which a file can fill memory, got one of "
            f"{str(entity.name)[:40]!r}; write what it stands for into the text"
        )
    name = _name(root)
    if name not in _KINDS:
        raise BadFile(
            f"{where}: expected TEI, as FreeDict has it, or TMX, got XML of the kind {name[:40]!r}; "
            f"{_CONVERSIONS.get(name, _CONVERT)}"
        )
    return _KINDS[name]


def _check_element(element: Any, depth: int, path: Path) -> None:
    where = f"{path}:{element.sourceline}"
    if depth > _DEEPEST:
        raise BadFile(f"{where}: expected elements {_DEEPEST} deep at most, got deeper ones")
    if _name(element) == "include":
        raise BadFile(
            f"{where}: expected the entries in the file, got a reference to another one, "
            f"{element.get('href', '')[:60]!r}; put them into one file: xmllint --xinclude"
        )


def _forget(element: Any) -> None:
    """Drop what an element that has ended has in it, and those before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def _name(element: Any) -> str:
    # Comments have no name.
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _language(element: Any) -> str:
    """The language of an element, its own or that of what it is in; "" without one."""
    for one in (element, *element.iterancestors()):
        if _name(one) in _DESCRIBED:
            return ""
        if found := one.get(_LANGUAGE) or one.get("lang"):
            return str(found)
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
    for element in entry.iter():
        name = _name(element)
        if name in ("quote", "tr", "def", "orth") and _is_translation(element):
            (definitions if name == "def" else translations).append(element)
        elif name == "orth" and _is_inside(element, "form") and not _is_inflected(element):
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


def _is_inside(element: Any, name: str, *types: str) -> bool:
    return any(
        _name(one) == name and (not types or one.get("type") in types) for one in element.iterancestors()
    )


def _is_inflected(element: Any) -> bool:
    return _is_inside(element, "form", "infl", "inflected")


def _is_translation(element: Any) -> bool:
    if _is_inside(element, "cit", "example") or _is_inside(element, "eg"):
        return False
    return (
        (_name(element) == "def" and _is_inside(element, "sense"))
        or _is_inside(element, "trans")
        or element.get("type") in _TRANSLATION
        or _is_inside(element, "cit", *_TRANSLATION)
    )


def _of_unit(unit: Any, path: Path) -> Found:
    segments = [(_text(one), _language(one)) for one in unit.iter() if _name(one) == "seg"][:_MOST_OF_ENTRY]
    for place, (one, own) in enumerate(segments):
        for two, other in segments[place + 1 :]:
            yield one, two, (own, other)


# An entry in another one is of a word that belongs to it.
_TEI = _XmlKind("the TEI of FreeDict", ("entry", "entryFree", "re"), _of_entry)
_KINDS = {"TEI": _TEI, "TEI.2": _TEI, "tmx": _XmlKind("a translation memory (TMX)", ("tu",), _of_unit)}
TEI = DictionaryFormat("tei", _pairs, kind="xml")
TMX = DictionaryFormat("tmx", _pairs)
