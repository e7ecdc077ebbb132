"""Dictionaries as entries: Wiktionary's from kaikki.org, dict.cc's, FreeDict's TEI, and translation memories.

An entry names its own language and the language of each translation. Of XML only the elements that have words
are read, as the file streams by; a file that declares entities, which can grow without limit, is refused.
"""

from __future__ import annotations

import html
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from muse.errors import BadFile
from muse.files.articles import warn_of_explanations
from muse.files.dictionary_tables import LONGEST_PHRASE, split_translations, stripped
from muse.files.json_text import parse_json
from muse.files.language_names import (
    Languages,
    english_name,
    language_code,
    languages_of_file,
    named_language,
    one_language,
)
from muse.files.source import Readable
from muse.lexicon import PairLine

log = logging.getLogger(__name__)

_BLOCK = 1 << 16
_DEEPEST = 200  # elements in one another; those of TEI are not a tenth as deep
_MOST = 200  # words, translations or languages of one entry
LONGEST_LINE = 1 << 26  # bytes: water has translations into hundreds of languages


class _LanguageFilter:
    """The pairs of the languages that are wanted, and what the others were."""

    def __init__(self, path: Path, languages: Languages | None) -> None:
        self.path = path
        self.wanted: Languages | None = None
        if languages is not None:
            self.wanted = language_code(languages[0]), language_code(languages[1])
        self.others = Counter[tuple[str, str]]()
        self.long = 0
        self.kept = 0

    def pair(self, one: str, two: str, of: tuple[str, str]) -> Iterator[PairLine]:
        """The pair, in the direction wanted, of words in the languages `of`; "" is an unknown one."""
        one, two = (stripped(" ".join(word.split())) for word in (one, two))
        if not one or not two:
            return
        if max(len(one.split()), len(two.split())) > LONGEST_PHRASE:
            self.long += 1
            return
        alone = bool(of[0]) and one_language(of) and not (self.wanted and one_language(self.wanted))
        of = language_code(of[0]), language_code(of[1])
        swapped = None if alone else self._is_swapped(of)
        if swapped is None:
            self.others[of] += 1
            return
        self.kept += 1
        yield PairLine((two, one) if swapped else (one, two))

    def _is_swapped(self, of: tuple[str, str]) -> bool | None:
        # None if these are not the languages wanted; without any wanted, the first two languages are.
        if self.wanted is None:
            self.wanted = of
        for swapped, (source, target) in ((False, of), (True, of[::-1])):
            if source in (self.wanted[0], "") and target in (self.wanted[1], ""):
                return swapped
        return None

    def check(self, what: str) -> None:
        """Raise BadFile if nothing was found; say what was left out."""
        if self.long and self.kept:
            log.info("%s: left out %d pairs of more than %d words", self.path, self.long, LONGEST_PHRASE)
        if self.kept:
            return
        got = f"{self.long} of more than {LONGEST_PHRASE} words" if self.long else "none"
        if self.others:
            named = ", ".join(f"{one or '?'}-{two or '?'}" for (one, two), _ in self.others.most_common(5))
            got = f"pairs of {named}"
        between = f" of {' and '.join(self.wanted)}" if self.wanted else ""
        raise BadFile(
            f"{self.path}: expected pairs of words{between} in {what}, got {got}; check the languages, or "
            "take another file"
        )


# Wiktionary


def is_wiktionary(fields: dict[str, Any] | None) -> bool:
    """Whether a JSON object is an entry as wiktextract writes it, for kaikki.org."""
    return (
        fields is not None
        and isinstance(fields.get("word"), str)
        and any(name in fields for name in ("lang_code", "lang", "translations", "senses"))
    )


def wiktionary_pairs(lines: Iterable[str], path: Path, languages: Languages | None) -> Iterator[PairLine]:
    """The pairs of the languages wanted in entries of Wiktionary, a JSON object on each line.

    The English edition has English words with translations, and words of other languages, whose short glosses
    are their translations.
    """
    found = _LanguageFilter(path, languages)
    for number, line in enumerate(lines, 1):
        if not line.strip(" \t\r"):
            continue
        try:
            entry = parse_json(line)
        except ValueError as error:
            raise BadFile(
                f"{path}:{number}: expected a JSON object, got {line[:60]!r} ({error}); download the file "
                "again"
            ) from None
        if not isinstance(entry, dict):
            raise BadFile(f"{path}:{number}: expected a JSON object, got {line[:60]!r}; remove the line")
        for word, translation, of in _of_entry(entry):
            yield from found.pair(word, translation, of)
    found.check("entries of Wiktionary")


def _of_entry(entry: dict[str, Any]) -> Iterator[tuple[str, str, tuple[str, str]]]:
    word, language = entry.get("word"), _language(entry)
    if not isinstance(word, str):
        return
    senses, verb = _objects(entry.get("senses")), entry.get("pos") == "verb"
    translations = [one for of in (entry, *senses) for one in _objects(of.get("translations"))]
    for one in translations:
        translation = one.get("word")
        if isinstance(translation, str):
            for part in split_translations(translation):
                yield word, part, (language, _language(one))
    if not translations and language not in ("", "en") and not _is_of_another_edition(entry):
        for sense in senses:
            for gloss in _short_glosses(sense):
                yield word, gloss.removeprefix("to ") if verb else gloss, (language, "en")


def _is_of_another_edition(entry: dict[str, Any]) -> bool:
    """Whether glosses are not in English: the edition has another name for the language of the word."""
    name = entry.get("lang")
    if not isinstance(name, str) or named_language(name) is None or name == "Mandarin":
        return False
    return english_name(language_code(name)).casefold() != name.casefold()


def _language(fields: dict[str, Any]) -> str:
    names = (fields.get(name) for name in ("lang_code", "code", "lang"))
    return language_code(next((name for name in names if isinstance(name, str) and name), ""))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _short_glosses(sense: dict[str, Any]) -> Iterator[str]:
    glosses = sense.get("glosses")
    if not isinstance(glosses, list) or "form_of" in sense or "alt_of" in sense:
        return
    for gloss in glosses[-1:]:  # the last is the most special
        if isinstance(gloss, str):
            plain = re.sub(r"\([^()]*\)", " ", gloss).strip(" .;,")
            yield from split_translations(plain)


# dict.cc


_ANNOTATION = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|\([^()]*\)")


def is_dict_cc(sample: Sequence[str]) -> bool:
    """Whether the lines are those of a download from dict.cc, by the comment it begins with."""
    return any(line.startswith("#") and "dict.cc" in line for line in sample[:20])


def dict_cc_pairs(lines: Iterable[str], path: Path, languages: Languages | None) -> Iterator[PairLine]:
    """The pairs of a download from dict.cc, without its annotations, and without its sentences."""
    found, of = _LanguageFilter(path, languages), ("", "")
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            if named := re.match(r"#\s*([A-Za-z]{2})-([A-Za-z]{2})\b", line):
                of = named[1].lower(), named[2].lower()
            continue
        cells = line.removesuffix("\r").split("\t")
        if not line.strip():
            continue
        if len(cells) < 2:
            raise BadFile(
                f"{path}:{number}: expected words with a tab between, as dict.cc has, got {line[:60]!r}; "
                "download the file again"
            )
        verb = len(cells) > 2 and "verb" in cells[2]
        one, two = (
            _plain_dict_cc(cell, verb and language == "en") for cell, language in zip(cells, of, strict=False)
        )
        yield from found.pair(one, two, of)
    found.check("a download from dict.cc")


def _plain_dict_cc(cell: str, infinitive: bool) -> str:
    text = " ".join(_ANNOTATION.sub(" ", html.unescape(cell)).split())
    return text.removeprefix("to ") if infinitive else text


# XML


@dataclass
class _Element:
    name: str
    attributes: dict[str, str]
    language: str  # its own, or that of what it is in
    text: list[str] = field(default_factory=list)


class _Reader:
    """What follows a parser through a file; `pairs` are those of the elements that have ended."""

    what = ""
    kept = frozenset[str]()  # the elements whose text is read

    def __init__(self, found: _LanguageFilter) -> None:
        self.found = found
        self.stack: list[_Element] = []
        self.pairs: list[PairLine] = []

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        own = attributes.get("xml:lang") or attributes.get("lang")
        above = self.stack[-1].language if self.stack else ""
        self.stack.append(_Element(name.rpartition(":")[2], attributes, own or above))

    def data(self, text: str) -> None:
        if self.stack and self.stack[-1].name in self.kept:
            self.stack[-1].text.append(text)

    def end(self, name: str) -> None:
        element = self.stack.pop()
        self.ended(element, " ".join("".join(element.text).split()))

    def ended(self, element: _Element, text: str) -> None:
        """What an element and its text add, once it has ended."""

    def is_inside(self, name: str, **attributes: str) -> bool:
        return any(
            one.name == name and all(one.attributes.get(key) == value for key, value in attributes.items())
            for one in self.stack
        )


_TEI_ENTRIES = ("entry", "entryFree", "re")  # the last is of a word that belongs to another one


@dataclass
class _TeiEntry:
    """The words, translations and definitions of an entry, each with its language."""

    words: list[tuple[str, str]] = field(default_factory=list)
    translations: list[tuple[str, str]] = field(default_factory=list)
    definitions: list[tuple[str, str]] = field(default_factory=list)


class _Tei(_Reader):
    what = "the TEI of FreeDict"
    kept = frozenset({"orth", "quote", "tr", "def", "hi", "seg"})

    def __init__(self, found: _LanguageFilter) -> None:
        super().__init__(found)
        self.entries = [_TeiEntry()]  # the one that is read is the last, within those before it
        self.named = languages_of_file(found.path.name)

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        super().begin(name, attributes)
        if self.stack[-1].name == "include":
            raise BadFile(
                f"{self.found.path}: expected the entries in the file, got a reference to another one, "
                f"{attributes.get('href', '')[:60]!r}; put them into one file: xmllint --xinclude"
            )
        if self.stack[-1].name in _TEI_ENTRIES:
            self.entries.append(_TeiEntry())
        if self.stack[-1].name in ("TEI", "TEI.2", "teiHeader", "text"):
            self.stack[-1].language = ""  # of the description, not of the words

    def ended(self, element: _Element, text: str) -> None:
        if element.name in ("hi", "seg") and self.stack:
            self.stack[-1].text.append(f" {text} ")
        elif element.name in ("quote", "tr", "def", "orth") and self._is_translation(element):
            entry = self.entries[-1]
            found = entry.definitions if element.name == "def" else entry.translations
            found.append((re.sub(r"\([^()]*\)", " ", text), element.language))
        elif element.name == "orth" and not self._is_inflected() and self.is_inside("form"):
            self.entries[-1].words.append((text, element.language))
        elif element.name in _TEI_ENTRIES:
            entry = self.entries.pop()
            # Definitions are translations only where there are no others.
            for word, own in entry.words[:_MOST]:
                for translation, other in (entry.translations or entry.definitions)[:_MOST]:
                    # Where one language alone is named, it is that of the whole file.
                    of = own or self.named[0], other if other not in ("", own) else self.named[1]
                    for part in split_translations(translation):
                        self.pairs += self.found.pair(word, part, of)

    def _is_inflected(self) -> bool:
        return any(self.is_inside("form", type=kind) for kind in ("infl", "inflected"))

    def _is_translation(self, element: _Element) -> bool:
        if self.is_inside("cit", type="example") or self.is_inside("eg"):
            return False
        types = ("trans", "translation", "translationEquivalent")
        return (
            (element.name == "def" and self.is_inside("sense"))
            or self.is_inside("trans")
            or element.attributes.get("type") in types
            or any(self.is_inside("cit", type=kind) for kind in types)
        )


class _Tmx(_Reader):
    what = "a translation memory (TMX)"
    kept = frozenset({"seg", "hi"})

    def __init__(self, found: _LanguageFilter) -> None:
        super().__init__(found)
        self.segments: list[tuple[str, str]] = []

    def ended(self, element: _Element, text: str) -> None:
        if element.name == "hi" and self.stack:
            self.stack[-1].text.append(f" {text} ")
        elif element.name == "seg":
            self.segments.append((text, element.language))
        elif element.name == "tu":
            for place, (one, own) in enumerate(self.segments[:_MOST]):
                for two, other in self.segments[place + 1 : _MOST]:
                    self.pairs += self.found.pair(one, two, (own, other))
            self.segments = []


# Of other kinds, how to convert them: by the Translate Toolkit where it can.
_CONVERT = "convert it into lines of two words with a tab between, as pyglossary does"
_CONVERSIONS = {
    kind: f"convert it: {program} FILE OUT.po, then po2csv OUT.po OUT.csv"
    for kind, program in (("xliff", "xliff2po"), ("TS", "ts2po"), ("martif", "tbx2po"), ("tbx", "tbx2po"))
}
_READERS: dict[str, type[_Reader]] = {"TEI": _Tei, "TEI.2": _Tei, "tmx": _Tmx}


def is_xml(head: bytes) -> bool:
    """Whether a file begins as XML, TEI or TMX does, in UTF-8 or UTF-16."""
    start = head[:400].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    return re.match(rb"<(\?xml\s|TEI[\s>.]|tmx[\s>]|!DOCTYPE\s|html[\s>])", start, re.IGNORECASE) is not None


def xml_pairs(source: Readable, path: Path, languages: Languages | None) -> Iterator[PairLine]:
    """The pairs of a TEI or TMX file; BadFile for any other XML."""
    found = _LanguageFilter(path, languages)
    parsing = _Parsing(path, found)
    while data := source.read(_BLOCK):
        yield from parsing.feed(data)
    yield from parsing.feed(b"", last=True)
    found.check(parsing.reader.what if parsing.reader else "XML")
    if isinstance(parsing.reader, _Tei):
        warn_of_explanations(path, found.long, found.kept)


class _Parsing:
    """A parser, and the reader that the outermost element calls for."""

    def __init__(self, path: Path, found: _LanguageFilter) -> None:
        self.path, self.found = path, found
        self.reader: _Reader | None = None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.EntityDeclHandler = self._entity

    def feed(self, data: bytes, *, last: bool = False) -> Sequence[PairLine]:
        try:
            self._parser.Parse(data, last)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise BadFile(
                f"{self._where()}: expected well-formed XML, got what is incomplete or damaged ({error}); "
                "download the file again"
            ) from None
        if self.reader is None:
            return ()
        pairs, self.reader.pairs = self.reader.pairs, []
        return pairs

    def _where(self) -> str:
        return f"{self.path}:{self._parser.CurrentLineNumber}"

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if self.reader is None:
            kind = _READERS.get(name.rpartition(":")[2])
            if kind is None:
                raise BadFile(
                    f"{self._where()}: expected TEI, as FreeDict has it, or TMX, got XML of the kind "
                    f"{name[:40]!r}; {_CONVERSIONS.get(name, _CONVERT)}"
                )
            self.reader = kind(self.found)
        if len(self.reader.stack) > _DEEPEST:
            raise BadFile(f"{self._where()}: expected elements {_DEEPEST} deep at most, got deeper ones")
        self.reader.begin(name, attributes)

    def _end(self, name: str) -> None:
        if self.reader is not None:
            self.reader.end(name)

    def _data(self, text: str) -> None:
        if self.reader is not None:
            self.reader.data(text)

    def _entity(self, name: str, *more: object) -> None:
        raise BadFile(
            f"{self._where()}: expected no declaration of entities, with which a file can fill memory, got "
            f"one of {name[:40]!r}; write what it stands for into the text"
        )
