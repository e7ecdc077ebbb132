"""Dictionaries: read from text, tables and JSON lines, and from what other programs have.

As text, a pair a line is separated by a tab or, if no word has a space, by spaces. The tables and JSON lines
of muse have named fields. What communities and other programs have is read by `dictionary_tables`,
`dictionary_entries` and `articles`. A format is recognised by its content first, and by its name only then,
unless it is given: FORMS are its names.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting
from muse.files.articles import (
    base_of_dictd,
    base_of_stardict,
    dictd_pairs,
    is_tab_file,
    stardict_pairs,
    tab_file_pairs,
)
from muse.files.dictionary_entries import (
    LONGEST_LINE,
    dict_cc_pairs,
    is_dict_cc,
    is_wiktionary,
    is_xml,
    wiktionary_pairs,
    xml_pairs,
)
from muse.files.dictionary_tables import (
    SAMPLE,
    SCORES,
    columns_of_header,
    is_workbook,
    number_in,
    object_rows,
    pairs_of_rows,
    stripped,
    table_form,
    table_rows,
    workbook_rows,
)
from muse.files.json_text import parse_json
from muse.files.language_names import Languages, target_comes_first
from muse.files.plain_text import as_utf8, blocks_of_lines, marked_encoding
from muse.files.source import Source, first_bytes, open_source
from muse.files.tables import BOM
from muse.lexicon import Lexicon, Pair, PairLine

log = logging.getLogger(__name__)

WORDS, RATED = "two words", "two words and a rating"
_COMMENT = "#"  # begins a comment in other formats; here it may be a word, or the first letter of one
_LONGEST = 1 << 16  # of a line, in bytes: two words are shorter
_HEAD = 4_096  # bytes that tell what a file is
_BEFORE_TEXT = b"\0\xef\xbb\xbf\xff\xfe"  # byte order marks, and half of each letter in UTF-16
_LEAST_UNMARKED = 16  # bytes from which on UTF-16 without a byte order mark is told
ReadLine = Callable[[str, str], PairLine]  # from a line and its place, for errors
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument"
# What is known and not read, by first bytes and by names: what it is, and what to do.
_KINDS = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("an old Excel workbook", "save it as .xlsx or as CSV UTF-8"),
    b"%PDF": ("a PDF", "copy its words into a table"),
    b"SQLite format 3": ("a database", "export its table as CSV"),
}
_BY_NAME = {
    ".bgl": "Babylon", ".mdx": "MDict", ".dsl": "ABBYY Lingvo", ".slob": "Aard 2",
}  # fmt: skip
_SPACED = re.compile(
    r" *([^ \t]+)[ \t] *([^ \t]+)[ \t] *([01]?[.,]\d+(?:[eE]-?\d+)?|[01]|\d(?:[.,]\d+)?[eE]-\d+)[ \t]*\r?"
)
_ROUNDED = 1.001  # a probability of 1 as some programs write it
_MESSAGE, _COLON = re.compile(r'msgid\s+"'), re.compile(r"[^\s:][^:\t]*: +[^\s:]+ *\r?")
_CEDICT = re.compile(r"\S+ (?:\S+ )?\[[^\]]*\] /.*/ *\r?$")
_ARRAY, _TAG = re.compile(r"\[\s*(?:[\[{]|$)|\{\s*$"), re.compile(r"<[A-Za-z!][^<>]*>")
_BETWEEN = ("|||", "::", "->", "=>", "\u2192", "|", "=", " - ", " \u2013 ")
_FIRST_OBJECTS = 20  # in which an entry of Wiktionary follows redirections
# What Anki writes before the notes that it exports.
_SETTING = re.compile("#(?:separator|html|(?:notetype|deck|guid|tags|columns)(?: column)?):", re.IGNORECASE)
_NOTHING = "NULL"  # what Moses aligns with no word
_OF_VECTORS = 9  # numbers behind a word, as fields of a line, that are a vector
BLANK = " \t\r\n"  # other kinds of space may be words
_TAB = "\t"
_OR_COLUMNS = "; or name the columns in a first row, such as source, target and note"
_ADVICE = "write the file again with muse induce"
_OR_ITS_FORMAT = "; or name the format of the file with --dictionary-format"


def table_reader(header: str) -> ReadLine | None:
    """The reader of the lines below `header`; None if its fields are not source, target, ... score."""
    names = header.removesuffix("\r").split("\t")
    if names[:2] != ["source", "target"] or ("score" not in names and len(names) > 2):
        return None
    score = names.index("score") if "score" in names else None
    probability = names.index("probability") if "probability" in names else None

    def read(line: str, where: str) -> PairLine:
        fields = line.removesuffix("\r").split("\t")
        if len(fields) != len(names):
            raise BadFile(
                f"{where}: expected {len(names)} fields with tabs between as in line 1, got {len(fields)}; "
                f"{_ADVICE}"
            )
        known = None if probability is None else _probability(fields[probability] or None, where)
        rated = None if score is None else _record_score(fields[score] or None, where)
        return PairLine(_pair(fields[0], fields[1], where), rated, known)

    return read


def object_reader(first: str) -> ReadLine | None:
    """The reader of all lines of a file whose first line is `first`; None if that is no JSON object."""
    fields = _object(first) or {}  # "{ }" could be a pair of words
    return _read_object if {"source", "target"} <= fields.keys() else None


def _read_object(line: str, where: str) -> PairLine:
    fields = _object(line)
    words = [] if fields is None else [fields.get(name) for name in ("source", "target")]
    if fields is None or not all(isinstance(word, str) for word in words):
        raise BadFile(f"{where}: expected a JSON object with source and target, got {line[:60]!r}; {_ADVICE}")
    pair, probability = _pair(words[0], words[1], where), _probability(fields.get("probability"), where)
    score = next((fields[name] for name in SCORES if name in fields), None)
    return PairLine(pair, _record_score(score, where), probability)


def _pair(source: Any, target: Any, where: str) -> Pair:
    if not (source.strip(BLANK) and target.strip(BLANK)):
        raise BadFile(f"{where}: expected two words, got {source!r} and {target!r}; drop the line")
    return source, target


def _object(line: str) -> dict[str, Any] | None:
    try:
        fields = parse_json(line) if line.startswith("{") else None
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _probability(field: Any, where: str) -> float | None:
    probability = _record_score(field, where, "probability")
    if probability is not None and not 0 <= probability <= 1:
        raise BadFile(f"{where}: expected a probability from 0 to 1, got {field!r}; {_ADVICE}")
    return probability


def _record_score(field: Any, where: str, name: str = "score") -> float | None:
    if field is None:
        return None
    try:
        score = float(field)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise BadFile(f"{where}: expected a finite number as the {name}, got {field!r}; {_ADVICE}")
    return score


def read_lexicon(
    path: Path | str, wanted: str = WORDS, *, languages: Languages | None = None, form: str | None = None
) -> Lexicon:
    r"""The pairs of a dictionary, each once, in order; with scores if all lines have a third, tabbed field.

    Reads the MUSE format, and the tables and JSON lines that `muse induce --format` writes, with their
    probabilities; if words are `wanted`, which is what an error says of a line, also the formats of other
    programs. Where a file names its languages, `languages`, of the source and of the target, tell which of
    its words are wanted, and which come first. `form`, one of FORMS, is the format where it should not be
    recognised. There are no comments: a warning names a pair that looks like one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.txt"
    ...     _ = path.write_text("cat chat\nnew york\tnew york\n")
    ...     read_lexicon(path).pairs
    (('cat', 'chat'), ('new york', 'new york'))
    """
    path = Path(path)
    found: dict[Pair, PairLine] = {}
    differ = [
        line.pair
        for line in _entries(path, wanted, languages, form)
        if found.setdefault(line.pair, line).score != line.score
    ]
    if differ:
        log.warning(
            "%s: %d pairs are repeated with another %s, the first counts; one is %r and %r",
            path, len(differ), "rating" if wanted == RATED else "score", *differ[0],
        )  # fmt: skip
    if not found:
        raise BadFile(
            f"{path}: expected at least one pair of words, got only blank lines or a header; check the file"
        )
    scores = _of_all(path, "score", {line.pair: line.score for line in found.values()})
    probabilities = _of_all(path, "probability", {line.pair: line.probability for line in found.values()})
    return Lexicon(tuple(found), scores, probabilities)


def _of_all(path: Path, name: str, numbers: Mapping[Pair, float | None]) -> tuple[float, ...] | None:
    """The numbers of the pairs, None if no pair has one; BadFile if only some have."""
    known = tuple(number for number in numbers.values() if number is not None)
    if known and len(known) < len(numbers):
        without = next(pair for pair, number in numbers.items() if number is None)
        raise BadFile(
            f"{path}: expected a {name} for every pair or for none, got {len(known)} for {len(numbers)} "
            f"pairs; add the missing ones, such as that of {without[0]!r} and {without[1]!r}"
        )
    return known or None


def check_form(form: str | None, option: str = "--dictionary-format") -> None:
    """Raise BadSetting if there is no such format of a dictionary, which is the value of `option`."""
    if form is not None and form not in FORMS:
        raise BadSetting(f"{option} must be one of {', '.join(FORMS)}; got {form!r}")


@dataclass(frozen=True)
class _LexiconText:
    """The lines of a file, the first of which are its sample too, and the languages wanted of it."""

    path: Path
    lines: Iterator[str]
    sample: Sequence[str]
    languages: Languages | None

    @property
    def first(self) -> str:
        """The first line that is not blank; "" without one."""
        return next((line for line in self.sample if line.strip(" \t\r")), "")


def _entries(path: Path, wanted: str, languages: Languages | None, form: str | None) -> Iterator[PairLine]:
    check_form(form)
    if wanted != WORDS:
        with open_source(path) as source:
            yield from _plain_pairs(path, _lines(path, source), wanted)
        return
    if form is None:
        _check_kind(path)
        form = _form_of_file(path)
    if form in _OF_FILES:
        yield from _OF_FILES[form](path, languages)
        return
    with open_source(path) as source:
        if form in _XML or (form is None and is_xml(source.peek(_HEAD))):
            yield from xml_pairs(source, path, languages)
            return
        lines = _lines(path, source)
        sample = _without_settings(list(islice(lines, SAMPLE)))
        text = _LexiconText(path, chain(sample, lines), sample, languages)
        yield from _OF_TEXT[form or _form_of_text(text)](text)


def _without_settings(sample: Sequence[str]) -> Sequence[str]:
    """The first lines of a file, blank for what Anki says of the others there; but for names of columns."""
    if not (sample and _SETTING.match(sample[0])):
        return sample
    end = next((place for place, line in enumerate(sample) if not _SETTING.match(line)), len(sample))
    named = (line.partition(":")[2] if line.lower().startswith("#columns:") else "" for line in sample[:end])
    return [*named, *sample[end:]]


def _form_of_file(path: Path) -> str | None:
    """The format of a workbook, or of one of several files; None for what is read from its start."""
    if is_workbook(path):
        return "xlsx"
    if base_of_stardict(path) is not None:
        return "stardict"
    return None if base_of_dictd(path) is None else "dictd"


def _of_workbook(path: Path, languages: Languages | None) -> Iterator[PairLine]:
    return pairs_of_rows(workbook_rows(path), path, languages, sheet=True)


def _of_stardict(path: Path, languages: Languages | None) -> Iterator[PairLine]:
    base = base_of_stardict(path)
    if base is None:
        raise _no_files(path, "NAME.ifo, NAME.idx and NAME.dict or NAME.dict.dz", "StarDict")
    return stardict_pairs(base, languages)


def _of_dictd(path: Path, languages: Languages | None) -> Iterator[PairLine]:
    base = base_of_dictd(path)
    if base is None:
        raise _no_files(path, "NAME.index and NAME.dict or NAME.dict.dz", "dictd")
    return dictd_pairs(base, languages)


def _no_files(path: Path, names: str, program: str) -> BadFile:
    return BadFile(
        f"{path}: expected one of the files of {program}, {names} beside one another, got another file; "
        "check the name"
    )


def _form_of_text(text: _LexiconText) -> str:
    """The format of lines of text, by its sample, and of pairs with probabilities by the name of the file."""
    fields, found = _object(text.first), ""
    if fields and any(is_wiktionary(_object(line)) for line in text.sample[:_FIRST_OBJECTS]):
        found = "kaikki"
    elif fields:
        found = "jsonl"
    elif text.first.startswith('{"') and fields is None and not text.first.endswith("{"):
        raise BadFile(
            f"{text.path}:1: expected a JSON object on each line, got {text.first[:60]!r}; correct it"
            f"{_OR_ITS_FORMAT}"
        )
    elif is_tab_file(text.sample):
        found = "tabfile"
    elif is_dict_cc(text.sample):
        found = "dict.cc"
    elif text.first.count(" ||| ") > 1:
        raise BadFile(
            f"{text.path}:1: expected pairs of words, got a phrase table of Moses; give lex.f2e, which lies "
            "beside it"
        )
    elif conversion := _conversion(text.sample):
        raise BadFile(
            f"{text.path}:1: expected two words with a space or a tab between, got {conversion}"
            f"{_OR_ITS_FORMAT}"
        )
    elif _has_probabilities(text.sample):
        found = "lex.f2e" if target_comes_first(text.path.name, text.languages) else "lex.e2f"
    elif not _is_of_muse(text.sample[0] if text.sample else ""):
        found = table_form(text.sample, text.languages) or ""
    return found or "muse"


def _conversion(sample: Sequence[str]) -> str | None:
    """What lines are that would be read as pairs and are none, and what to do; None for others."""
    lines = [line for line in sample if line.strip(" \t\r") and not line.startswith(_COMMENT)]
    if sample and re.match("#(?:stripmethod|sametypesequence|bookname)=", sample[0]):
        return "the source of a dictionary for Babylon; convert it: pyglossary FILE.gls OUT.txt"
    if any(map(_MESSAGE.match, lines)) and any(line.startswith("msgstr") for line in lines):
        return "a catalogue of gettext; convert it: po2csv FILE.po FILE.csv"
    if len(lines) > 1 and all(map(_COLON.fullmatch, lines)):
        return "a colon behind each first word, as in YAML; put a tab in its place"
    if lines and all(map(_CEDICT.match, lines)):
        return "CC-CEDICT or EDICT; convert it into lines with tabs: pyglossary FILE OUT.txt"
    if lines and len(_fields(lines[0])) != 2 and _ARRAY.match(lines[0]):
        return "JSON that is no object on each line; convert a list of objects: jq -c '.[]' FILE > OUT.jsonl"
    if not lines or any("\t" in line or len(_fields(line)) == 2 for line in lines):
        return None
    if _TAG.match(lines[0]):
        return (
            "XML or HTML that is neither TEI nor TMX; convert it into lines of two words with a tab between"
        )
    sign = next((sign for sign in _BETWEEN if all(sign in line.strip()[1:-1] for line in lines)), None)
    return None if sign is None else f"{sign!r} between the words; put a tab in its place"


def _of_objects(text: _LexiconText) -> Iterator[PairLine]:
    if object_reader(text.first) is not None:
        return _plain_pairs(text.path, text.lines, WORDS)
    names = [*(_object(text.first) or ())]
    if columns_of_header(names, text.languages) is None:
        raise BadFile(
            f"{text.path}:1: expected pairs of words, got JSON without source and target; write an object "
            "with these two names on each line"
            if names
            else f"{text.path}:1: expected a JSON object on each line, got {text.first[:60]!r}; check "
            "--dictionary-format"
        )
    return pairs_of_rows(object_rows(text.lines, names, text.path), text.path, text.languages)


def _of_table(text: _LexiconText, form: str) -> Iterator[PairLine]:
    rows = table_rows(form, text.sample)
    return pairs_of_rows(rows(text.lines, text.path), text.path, text.languages)


_OF_FILES: dict[str | None, Callable[[Path, Languages | None], Iterator[PairLine]]] = {
    "xlsx": _of_workbook,
    "stardict": _of_stardict,
    "dictd": _of_dictd,
}


def _check_kind(path: Path) -> None:
    """Raise BadFile for a dictionary in a format that is known and not read, with how to convert it."""
    head = first_bytes(path, 120)
    for magic, (kind, advice) in _KINDS.items():
        if head.startswith(magic):
            raise BadFile(f"{path}: expected a dictionary as text or a table, got {kind}; {advice}")
    if head.startswith(b"PK") and _OPEN_DOCUMENT in head:
        raise BadFile(
            f"{path}: expected a dictionary as text or a table, got OpenDocument, as LibreOffice writes; "
            f"save it as CSV or .xlsx, or run soffice --headless --convert-to csv {path.name}"
        )
    name = path.name.removesuffix(".dz")
    if path.name.endswith(".dict.dz") and not (base_of_stardict(path) or base_of_dictd(path)):
        raise _no_files(path, "NAME.ifo with NAME.idx, or NAME.index, and NAME.dict.dz", "StarDict or dictd")
    program = _BY_NAME.get(Path(name).suffix.lower())
    if program is None or _is_plain_text(head):
        return
    raise BadFile(
        f"{path}: expected a dictionary as text or a table, got the format of {program}; convert it into "
        f"lines with tabs: pyglossary {path.name} {Path(name).stem}.txt"
    )


def _is_plain_text(head: bytes) -> bool:
    # The first bytes may end inside a character; Lingvo's text begins with the names of its languages.
    return b"\0" not in head and "\ufffd" not in head.decode(errors="replace")[:-4] and b"#NAME" not in head


def _is_of_muse(first: str) -> bool:
    """Whether a first line is that of a table with ranks, or of objects, as muse writes them."""
    ranked = "rank" in first.removesuffix("\r").split("\t")
    return (ranked and table_reader(first) is not None) or object_reader(first) is not None


def _plain_pairs(path: Path, lines: Iterator[str], wanted: str) -> Iterator[PairLine]:
    first = next(lines, "")
    table = table_reader(first)
    named = table or object_reader(first)
    read = named or partial(_read_pair, wanted=wanted)
    comments = []
    for number, line in enumerate(chain([""] if table else [first], lines), 1):
        if line.strip(" \t\r"):
            found = read(line, f"{path}:{number}")
            if named is None and _looks_like_comment(found.pair):
                comments.append((number, found.pair))
            yield found
    if comments:
        log.warning(
            "%s:%d: read as the pair %r and %r; %s",
            path, comments[0][0], *comments[0][1], _if_comments(len(comments)),
        )  # fmt: skip


def _looks_like_comment(pair: Pair) -> bool:
    # "#" and hashtags translate into their like.
    return pair[0].startswith(_COMMENT) and not pair[1].startswith(_COMMENT)


def _if_comments(count: int) -> str:
    if count == 1:
        return "remove the line if it is a comment"
    return f"remove it and the {count - 1:,} others that begin with {_COMMENT} if they are comments"


def _lines(path: Path, source: Source) -> Iterator[str]:
    """The lines of a file in UTF-8, or in UTF-16 as Excel's "Unicode text" is, without a byte order mark."""
    head = source.peek(_HEAD)
    longest = LONGEST_LINE if head.translate(None, _BEFORE_TEXT).startswith(b"{") else _LONGEST
    read = as_utf8(source.read, marked_encoding(head) or _unmarked_utf_16(head), path)
    yield from _decoded(path, chain.from_iterable(blocks_of_lines(read, path, longest=longest)))


def _unmarked_utf_16(head: bytes) -> str | None:
    # Every other byte of letters in ASCII, spaces and ends of lines is 0, no other one.
    even, odd = head[::2].count(0), head[1::2].count(0)
    if len(head) >= _LEAST_UNMARKED and 4 * max(even, odd) > len(head) and not min(even, odd):
        return "utf-16-le" if odd else "utf-16-be"
    return None


def _decoded(path: Path, lines: Iterator[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise BadFile(
                f"{path}:{number}: expected UTF-8, got the byte 0x{line[error.start]:02x} in {line[:60]!r}; "
                "convert the file to UTF-8"
            ) from None
        yield text.removeprefix(BOM) if number == 1 else text


def _fields(line: str) -> list[str]:
    # Only the ASCII space and the tab are separators: a word may contain any other kind of space.
    separator = "\t" if "\t" in line else " "
    return [field for part in line.removesuffix("\r").split(separator) if (field := stripped(part))]


def _read_pair(line: str, where: str, wanted: str) -> PairLine:
    fields = _fields(line)
    score = _score(fields[2], where) if len(fields) == 3 and "\t" in line else None
    if wanted == RATED and len(fields) == 3 and score is None:
        raise BadFile(
            f"{where}: expected a number as the third field, after a tab, got {fields[2]!r}; correct "
            "the line, or remove it if it is a header"
        )
    if (len(fields) != 2 and score is None) or line.startswith("\t"):
        found = f"{len(fields)} field{'s' * (len(fields) != 1)}"
        comment = "remove the line if it is a comment; else " if line.startswith(_COMMENT) else ""
        if len(fields) > _OF_VECTORS and _are_numbers(fields[1:]):
            raise BadFile(
                f"{where}: expected {wanted}, got {found}; word vectors are no dictionary: check the file"
            )
        raise BadFile(
            f"{where}: expected {wanted}, got {found} ({line.strip()[:60]!r}); {comment}put one pair on a "
            "line, with a space between the two, or a tab where one has a space or a number follows"
            f"{_OR_COLUMNS if len(fields) > 2 and line.count(_TAB) > 1 and wanted == WORDS else ''}"
            f"{_OR_ITS_FORMAT if wanted == WORDS else ''}"
        )
    return PairLine((fields[0], fields[1]), score)


def _are_numbers(fields: Sequence[str]) -> bool:
    try:
        return all(math.isfinite(float(field)) for field in fields)
    except ValueError:
        return False


def _score(field: str, where: str) -> float | None:
    """The number in a third field, None if it is a word; BadFile for nan and inf, which no score may be."""
    score = number_in(field)
    if score is not None and not math.isfinite(score):
        raise BadFile(
            f"{where}: expected a finite number as the third field, got {field!r}; correct it, or remove the "
            "line"
        )
    return score


def _has_probabilities(sample: Sequence[str]) -> bool:
    """Whether all lines are two words and a probability with spaces between, as in bicleaner and Moses."""
    lines = [line.strip(" \t\r") for line in sample if line.strip(" \t\r")]
    # A number after a second tab is a score.
    found = [None if line.count("\t") > 1 else _SPACED.fullmatch(line) for line in lines]
    return None not in found and any(one is not None and _is_no_phrase(one) for one in found)


def _is_no_phrase(line: re.Match[str]) -> bool:
    """Whether a line that fits _SPACED is no pair with a tab between, such as F1 and Formula 1."""
    before, number = line.string[: line.start(3)], line[3]
    return "\t" not in before or ("\t" not in line.string[: line.start(2)] and not number.isdigit())


def _probable_pairs(text: _LexiconText, *, target_first: bool) -> Iterator[PairLine]:
    """The pairs of such lines."""
    for number, line in enumerate(text.lines, 1):
        if not line.strip(" \t\r"):
            continue
        found = _SPACED.fullmatch(line)
        probability = 2.0 if found is None else float(found[3].replace(",", "."))
        if found is None or probability > _ROUNDED:
            raise BadFile(
                f"{text.path}:{number}: expected two words and a probability from 0 to 1, got "
                f"{line.strip()[:60]!r}; correct the line{_OR_ITS_FORMAT}"
            )
        one, two = stripped(found[1]), stripped(found[2])
        if _NOTHING not in (one, two):
            yield PairLine((two, one) if target_first else (one, two), None, min(probability, 1.0))


_OF_TEXT: dict[str, Callable[[_LexiconText], Iterator[PairLine]]] = {
    "muse": lambda text: _plain_pairs(text.path, text.lines, WORDS),
    "tsv": partial(_of_table, form="tsv"),
    "csv": partial(_of_table, form="csv"),
    "jsonl": _of_objects,
    "bicleaner": partial(_probable_pairs, target_first=True),
    "lex.f2e": partial(_probable_pairs, target_first=True),
    "lex.e2f": partial(_probable_pairs, target_first=False),
    "kaikki": lambda text: wiktionary_pairs(text.lines, text.path, text.languages),
    "dict.cc": lambda text: dict_cc_pairs(text.lines, text.path, text.languages),
    "tabfile": lambda text: tab_file_pairs(text.lines, text.path, text.languages),
}
_XML = ("tei", "tmx")
FORMS = (
    "muse", "tsv", "csv", "xlsx", "jsonl", "bicleaner", "lex.f2e", "lex.e2f", "kaikki", "dict.cc", *_XML,
    "stardict", "dictd", "tabfile",
)  # fmt: skip
