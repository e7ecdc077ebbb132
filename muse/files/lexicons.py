"""Dictionaries: read from text, tables and JSON lines, and from what other programs have.

As text, a pair a line is separated by a tab or, if no word has a space, by spaces. The tables and JSON lines
of muse have named fields. What communities and other programs have is read by `dictionary_tables`,
`dictionary_entries` and `stardict`: a format is recognised by its content first, and by its name only then.
"""

from __future__ import annotations

import codecs
import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from muse.errors import BadFile
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
    columns_of_header,
    is_workbook,
    object_rows,
    pairs_of_rows,
    stripped,
    table_layout,
    workbook_rows,
)
from muse.files.json_text import parse_json
from muse.files.language_names import Languages, target_comes_first
from muse.files.plain_text import BOM as UTF8_BOM
from muse.files.plain_text import blocks_of_lines
from muse.files.source import Source, first_bytes, open_source
from muse.files.stardict import base_of_files, stardict_pairs
from muse.files.tables import BOM
from muse.lexicon import Lexicon, Pair, PairLine

log = logging.getLogger(__name__)

WORDS, RATED = "two words", "two words and a rating"
_COMMENT = "#"  # begins a comment in other formats; here it may be a word, or the first letter of one
_LONGEST = 1 << 16  # of a line, in bytes: two words are shorter
_HEAD, _BLOCK = 4_096, 1 << 16  # bytes that tell what a file is, and bytes read at once
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
    ".bgl": "Babylon", ".mdx": "MDict", ".dsl": "ABBYY Lingvo", ".slob": "Aard 2", ".index": "dictd",
}  # fmt: skip
_SPACED = re.compile(r" *([^ \t]+) +([^ \t]+) +([01]?\.\d+(?:[eE]-?\d+)?|[01]|\d(?:\.\d+)?[eE]-\d+) *\r?")
_NOTHING = "NULL"  # what Moses aligns with no word
BLANK = " \t\r\n"  # other kinds of space may be words
_ADVICE = "write the file again with muse induce"


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
    return PairLine(pair, _record_score(fields.get("score"), where), probability)


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


def read_lexicon(path: Path | str, wanted: str = WORDS, *, languages: Languages | None = None) -> Lexicon:
    r"""The pairs of a dictionary, each once, in order; with scores if all lines have a third, tabbed field.

    Reads the MUSE format, and the tables and JSON lines that `muse induce --format` writes, with their
    probabilities; if words are `wanted`, which is what an error says of a line, also the formats of other
    programs. Where a file names its languages, `languages`, of the source and of the target, tell which of
    its words are wanted, and which come first. There are no comments: a warning names a pair that looks like
    one.

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
        for line in _entries(path, wanted, languages)
        if found.setdefault(line.pair, line).score != line.score
    ]
    if differ and wanted == RATED:
        log.warning(
            "%s: %d pairs are repeated with another rating, the first counts; one is %r and %r",
            path, len(differ), *differ[0],
        )  # fmt: skip
    if not found:
        raise BadFile(f"{path}: expected at least one pair of words, got only blank lines; check the file")
    scores = _of_all(path, "score", [line.score for line in found.values()])
    probabilities = _of_all(path, "probability", [line.probability for line in found.values()])
    return Lexicon(tuple(found), scores, probabilities)


def _of_all(path: Path, name: str, numbers: Sequence[float | None]) -> tuple[float, ...] | None:
    """The numbers, None if no pair has one; BadFile if only some have."""
    known = tuple(number for number in numbers if number is not None)
    if known and len(known) < len(numbers):
        raise BadFile(
            f"{path}: expected a {name} for every pair or for none, got {len(known)} for {len(numbers)} "
            "pairs; add the missing ones"
        )
    return known or None


def _entries(path: Path, wanted: str, languages: Languages | None) -> Iterator[PairLine]:
    if wanted != WORDS:
        with open_source(path) as source:
            yield from _plain_pairs(path, _lines(path, source), wanted)
        return
    _check_kind(path)
    if is_workbook(path):
        yield from pairs_of_rows(workbook_rows(path), path, languages, sheet=True)
    elif (base := base_of_files(path)) is not None:
        yield from stardict_pairs(base)
    else:
        with open_source(path) as source:
            if is_xml(source.peek(_HEAD)):
                yield from xml_pairs(source, path, languages)
            else:
                yield from _text_pairs(path, _lines(path, source), languages)


def _text_pairs(path: Path, lines: Iterator[str], languages: Languages | None) -> Iterator[PairLine]:
    sample = list(islice(lines, SAMPLE))
    first = next((line for line in sample if line.strip(" \t\r")), "")
    lines = chain(sample, lines)
    fields = _object(first)
    if is_wiktionary(fields):
        yield from wiktionary_pairs(lines, path, languages)
    elif fields and object_reader(first) is None:
        if columns_of_header([*fields], languages) is None:
            raise BadFile(
                f"{path}:1: expected pairs of words, got JSON without source and target; write an object "
                "with these two names on each line"
            )
        yield from pairs_of_rows(object_rows(lines, [*fields], path), path, languages)
    elif is_dict_cc(sample):
        yield from dict_cc_pairs(lines, path, languages)
    elif " ||| " in first:
        raise BadFile(
            f"{path}:1: expected pairs of words, got a phrase table of Moses; give lex.f2e, which lies "
            "beside it"
        )
    elif _is_of_muse(sample[0] if sample else ""):
        yield from _plain_pairs(path, lines, WORDS)
    elif (rows := table_layout(sample, languages)) is not None:
        yield from pairs_of_rows(rows(lines, path), path, languages)
    elif _has_probabilities(sample):
        yield from _probable_pairs(lines, path, languages)
    else:
        yield from _plain_pairs(path, lines, WORDS)


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
    program = _BY_NAME.get(Path(name).suffix.lower())
    ours = not path.with_suffix(".dict.dz").exists() if program == "dictd" else _is_plain_text(head)
    if program is None or ours:
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
    encoding = _utf_16(head)
    if encoding is None:
        longest = LONGEST_LINE if head.removeprefix(UTF8_BOM).startswith(b"{") else _LONGEST
        blocks = blocks_of_lines(source.read, path, longest=longest)
        yield from _decoded(path, chain.from_iterable(blocks))
        return
    decode, number = codecs.getincrementaldecoder(encoding)(), 1
    rest = ""
    while True:
        data = source.read(_BLOCK)
        try:
            text = decode.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise BadFile(
                f"{path}:{number}: expected UTF-16, got what is none ({error.reason}); save the file as UTF-8"
            ) from None
        *whole, rest = (rest + text).split("\n")
        yield from (line.removeprefix(BOM) if number == 1 else line for line in whole)
        number += len(whole)
        if not data:
            break
    if rest:
        yield rest.removeprefix(BOM)


def _utf_16(head: bytes) -> str | None:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-32" if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) else "utf-16"
    # Without a mark: every other byte of letters in ASCII, spaces and ends of lines is 0, no other one.
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
        raise BadFile(
            f"{where}: expected {wanted}, got {found} ({line.strip()[:60]!r}); {comment}put one pair on a "
            "line, with a space between the two, or a tab where one has a space or a number follows"
        )
    return PairLine((fields[0], fields[1]), score)


def _score(field: str, where: str) -> float | None:
    """The number in a third field, None if it is a word; BadFile for nan and inf, which no score may be."""
    try:
        score = float(field)
    except ValueError:
        return None
    if not math.isfinite(score):
        raise BadFile(
            f"{where}: expected a finite number as the third field, got {field!r}; correct it, or remove the "
            "line"
        )
    return score


def _has_probabilities(sample: Sequence[str]) -> bool:
    """Whether all lines are two words and a probability with spaces between, as in bicleaner and Moses."""
    lines = [line for line in sample if line.strip(" \t\r")]
    return bool(lines) and all(map(_SPACED.fullmatch, lines))


def _probable_pairs(lines: Iterable[str], path: Path, languages: Languages | None) -> Iterator[PairLine]:
    """The pairs of such lines; the name of the file may say that the target comes first."""
    swapped = target_comes_first(path.name, languages)
    for number, line in enumerate(lines, 1):
        if not line.strip(" \t\r"):
            continue
        found = _SPACED.fullmatch(line)
        probability = 2.0 if found is None else float(found[3])
        if found is None or probability > 1:
            raise BadFile(
                f"{path}:{number}: expected two words and a probability from 0 to 1 as in line 1, got "
                f"{line.strip()[:60]!r}; correct the line"
            )
        one, two = stripped(found[1]), stripped(found[2])
        if _NOTHING not in (one, two):
            yield PairLine((two, one) if swapped else (one, two), None, probability)
