"""A pair on each line: the lexicons of Moses, the dictionaries of bicleaner and hunalign, and dict.cc.

Those of Moses and bicleaner have a probability, those of hunalign the translation first. dict.cc has tabs
between, annotations, which are left out, and sentences, which are no pairs.
"""

import html
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from muse.dictionary_formats.language_filter import LanguageFilter
from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import dictionary_format as formats
from muse.files.cells import stripped
from muse.files.dictionary_format import Append, DictionaryFile, DictionaryFormat, lines_writer
from muse.languages import Languages, target_comes_first
from muse.lexicon import Entry, PairLine

_SPACED = re.compile(
    r" *([^ \t]+)[ \t] *([^ \t]+)[ \t] *([01]?[.,]\d+(?:[eE]-?\d+)?|[01]|\d(?:[.,]\d+)?[eE]-\d+)[ \t]*\r?"
)
_ROUNDED = 1.001  # a probability of 1 as some programs write it
_NOTHING = "NULL"  # what Moses aligns with no word


def _has_probabilities(file: DictionaryFile) -> bool:
    """Whether all lines are two words and a probability with spaces between, as in bicleaner and Moses."""
    lines = [line.strip(" \t") for line in file.filled]
    # A number after a second tab is a score.
    found = [None if line.count("\t") > 1 else _SPACED.fullmatch(line) for line in lines]
    # A pair with a tab between may fit, such as F1 and Formula 1.
    return (
        None not in found
        and not all(one[1].isdigit() and one[2].isdigit() for one in found if one)
        and any(
            "\t" not in one.string[: one.start(3)]
            or ("\t" not in one.string[: one.start(2)] and not one[3].isdigit())
            for one in found
            if one is not None
        )
    )


def _pairs(file: DictionaryFile, *, target_first: bool) -> Iterator[PairLine]:
    """The pairs of such lines."""
    for number, line in enumerate(file.lines, 1):
        if not line.strip(" \t"):
            continue
        found = _SPACED.fullmatch(line)
        probability = 2.0 if found is None else float(found[3].replace(",", "."))
        if found is None or probability > _ROUNDED:
            raise BadFile(
                f"{file.path}:{number}: expected two words and a probability from 0 to 1, got "
                f"{line.strip()[:60]!r}; correct the line{formats.OR_ITS_FORMAT}"
            )
        one, two = stripped(found[1]), stripped(found[2])
        if _NOTHING not in (one, two):
            yield PairLine((two, one) if target_first else (one, two), None, min(probability, 1.0))


def _line(path: Path, place: int, entry: Entry) -> str:
    if entry.probability is None:
        raise Mismatch(
            f"{path}: bicleaner needs a probability for every pair, got none for {entry.source!r} and "
            f"{entry.target!r}; leave the pair out"
        )
    return f"{entry.target} {entry.source} {entry.probability:.6g}"


def _write(path: Path, languages: Languages | None) -> AbstractContextManager[Append]:
    if path.suffix != ".gz":
        raise BadSetting(f"{path}: bicleaner reads compressed dictionaries; choose a name that ends in .gz")
    return lines_writer(_line)(path, languages)


LEX_F2E = DictionaryFormat(
    "lex.f2e", partial(_pairs, target_first=True),
    is_text=lambda file: _has_probabilities(file) and target_comes_first(file.path.name, file.languages),
)  # fmt: skip
LEX_E2F = DictionaryFormat("lex.e2f", partial(_pairs, target_first=False), is_text=_has_probabilities)
BICLEANER = DictionaryFormat(
    "bicleaner", partial(_pairs, target_first=True), write=_write,
    can_store=lambda word: word.split() == [word], needs_probability=True,
)  # fmt: skip

# hunalign


def _pairs_of_hunalign(file: DictionaryFile) -> Iterator[PairLine]:
    for number, line in enumerate(file.lines, 1):
        if line.strip():
            if (found := _OF_HUNALIGN.fullmatch(line)) is None:
                raise BadFile(
                    f"{file.path}:{number}: expected a translation, ' @ ' and a word, got "
                    f"{line.strip()[:60]!r}; correct the line{formats.OR_ITS_FORMAT}"
                )
            yield PairLine((" ".join(found[2].split()), " ".join(found[1].split())))


_OF_HUNALIGN = re.compile(r"([^@\t]*[^@\s]) @ ([^@\s][^@\t]*)")
HUNALIGN = DictionaryFormat(
    "hunalign", _pairs_of_hunalign,
    is_text=lambda file: bool(file.filled) and all(map(_OF_HUNALIGN.fullmatch, file.filled)),
    write=lines_writer(lambda path, place, entry: f"{entry.target} @ {entry.source}"),
    can_store=lambda word: bool(word) and word == " ".join(word.split()) and "@" not in word, ending="dic",
)  # fmt: skip


# dict.cc

_ANNOTATION = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|\([^()]*\)")


def _pairs_of_dict_cc(file: DictionaryFile) -> Iterator[PairLine]:
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
        plain = (" ".join(_ANNOTATION.sub(" ", html.unescape(cell)).split()) for cell in cells[:2])
        verb = len(cells) > 2 and "verb" in cells[2]
        one, two = (
            text.removeprefix("to ") if verb and language == "en" else text
            for text, language in zip(plain, of, strict=True)
        )
        yield from found.pair(one, two, of)
    found.check("a download from dict.cc")


DICT_CC = DictionaryFormat(
    "dict.cc", _pairs_of_dict_cc,
    is_text=lambda file: any(line.startswith("#") and "dict.cc" in line for line in file.sample[:20]),
)  # fmt: skip
