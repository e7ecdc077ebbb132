"""Wiktionary's entries as wiktextract writes them for kaikki.org: a JSON object on each line."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from muse.dictionary_formats.language_filter import LanguageFilter
from muse.errors import BadFile, BadSetting
from muse.files.cells import split_translations
from muse.files.dictionary_format import BLANK, Append, DictionaryFile, DictionaryFormat
from muse.files.tables import json_object
from muse.files.writing import replaced
from muse.languages import Languages, english_name, language_code, named_language
from muse.lexicon import Entry, PairLine

_FIRST_OBJECTS = 20  # in which an entry follows redirections


def _is_entry(line: str) -> bool:
    try:
        fields = json_object(line, "")
    except BadFile:
        return False
    return isinstance(fields.get("word"), str) and any(
        name in fields for name in ("lang_code", "lang", "translations", "senses")
    )


def _pairs(file: DictionaryFile) -> Iterator[PairLine]:
    """The pairs of the languages wanted.

    The English edition has English words with translations, and words of other languages, whose short glosses
    are their translations.
    """
    found = LanguageFilter(file.path, file.languages)
    for number, line in enumerate(file.lines, 1):
        if line.strip(BLANK):
            entry = json_object(line, f"{file.path}:{number}")
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


@contextmanager
def _write(path: Path, languages: Languages | None) -> Iterator[Append]:
    """Appends entries to objects as wiktextract writes them: a word, its language and its translations."""
    if languages is None:
        raise BadSetting(f"{path}: kaikki names languages: give those of the source and the target")
    word, forms, translations = "", list[dict[str, str]](), list[dict[str, object]]()
    with replaced(path) as stream:

        def end() -> None:
            if translations:
                made = {"word": word, "lang_code": languages[0], "translations": translations}
                made |= {"forms": forms} if forms else {}
                stream.write(f"{json.dumps(made, ensure_ascii=False)}\n".encode())

        def append(entry: Entry, place: int) -> None:
            nonlocal word, forms, translations
            if entry.source != word:
                end()
                word, forms, translations = entry.source, [{"form": one} for one in entry.forms], []
            made = {"word": entry.target, "lang_code": languages[1], "probability": entry.probability}
            translations.append({name: value for name, value in made.items() if value is not None})

        yield append
        end()


KAIKKI = DictionaryFormat(
    "kaikki", _pairs, write=_write,
    is_text=lambda file: file.first.startswith("{") and any(map(_is_entry, file.sample[:_FIRST_OBJECTS])),
)  # fmt: skip
