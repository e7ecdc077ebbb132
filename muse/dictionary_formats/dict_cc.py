"""Downloads from dict.cc: words with tabs between, without their annotations, and without sentences."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from muse.dictionary_formats.language_filter import LanguageFilter
from muse.errors import BadFile
from muse.files.dictionary_format import DictionaryFile, DictionaryFormat
from muse.lexicon import PairLine

_ANNOTATION = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|\([^()]*\)")


def _is_dict_cc(file: DictionaryFile) -> bool:
    return any(line.startswith("#") and "dict.cc" in line for line in file.sample[:20])


def _pairs(file: DictionaryFile) -> Iterator[PairLine]:
    found, of = LanguageFilter(file.path, file.languages), ("", "")
    for number, line in enumerate(file.lines, 1):
        if line.startswith("#"):
            if named := re.match(r"#\s*([A-Za-z]{2})-([A-Za-z]{2})\b", line):
                of = named[1].lower(), named[2].lower()
            continue
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) < 2:
            raise BadFile(
                f"{file.path}:{number}: expected words with a tab between, as dict.cc has, got "
                f"{line[:60]!r}; download the file again"
            )
        verb = len(cells) > 2 and "verb" in cells[2]
        one, two = (
            _plain(cell, verb and language == "en") for cell, language in zip(cells, of, strict=False)
        )
        yield from found.pair(one, two, of)
    found.check("a download from dict.cc")


def _plain(cell: str, infinitive: bool) -> str:
    text = " ".join(_ANNOTATION.sub(" ", html.unescape(cell)).split())
    return text.removeprefix("to ") if infinitive else text


DICT_CC = DictionaryFormat("dict.cc", _pairs, is_text=_is_dict_cc)
