"""Dictionaries: read from text, tables and JSON lines, and written for other programs.

As text, a pair a line is separated by a tab or, if no word has a space, by spaces. Tables have a header, and
JSON lines an object each, with named fields. Written are the MUSE format, tables with ranks (as TSV, or as
the CSV and Excel sheets of `muse.files.tables`), and JSON lines.
What communities and other programs have is read by `dictionary_tables`, `dictionary_entries` and `stardict`:
a format is recognised by its content first, and by its name only then.
"""

from __future__ import annotations

import codecs
import json
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting, Mismatch
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
    Languages,
    check_kind,
    columns_of_header,
    has_probabilities,
    is_workbook,
    object_rows,
    pairs_of_rows,
    probable_pairs,
    stripped,
    table_layout,
    workbook_rows,
)
from muse.files.json_text import parse_json
from muse.files.plain_text import BOM as UTF8_BOM
from muse.files.plain_text import blocks_of_lines
from muse.files.source import Source, open_source
from muse.files.stardict import base_of_files, can_be_headword, stardict_pairs, stardict_writer
from muse.files.tables import BOM, fits, table_writer
from muse.files.writing import check_place, check_text_name, check_unicode, replaced, unwritable
from muse.lexicon import Entry, Lexicon, Pair, PairLine

log = logging.getLogger(__name__)

WORDS, RATED = "two words", "two words and a rating"
_COMMENT = "#"  # begins a comment in other formats; here it may be a word, or the first letter of one
_LONGEST = 1 << 16  # of a line, in bytes: two words are shorter
_HEAD, _BLOCK = 4_096, 1 << 16  # bytes that tell what a file is, and bytes read at once
_LEAST_UNMARKED = 16  # bytes from which on UTF-16 without a byte order mark is told
Write = Callable[[Entry], None]
Append = Callable[[Entry, int], None]  # the entry and its place from 0
FormatLine = Callable[[Path, int, Entry], str]  # the file, the entry's place from 0, the entry


ReadLine = Callable[[str, str], PairLine]  # from a line and its place, for errors

_BLANK = " \t\r\n"  # other kinds of space may be words
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
    if not (source.strip(_BLANK) and target.strip(_BLANK)):
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
    check_kind(path)
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
    elif has_probabilities(sample):
        yield from probable_pairs(lines, path, languages)
    else:
        yield from _plain_pairs(path, lines, WORDS)


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


def write_lexicon(path: Path | str, lexicon: Lexicon, *, scores: bool = False) -> None:
    r"""Write one pair a line, compressed if the name ends in .gz; `scores` adds a third field.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.txt"
    ...     write_lexicon(path, Lexicon((("cat", "chat"), ("new york", "ny"))))
    ...     path.read_text()
    'cat chat\nnew york\tny\n'
    """
    path = Path(path)
    values = lexicon.scores if scores else None
    if scores and values is None:
        raise Mismatch(f"{path}: expected a lexicon with scores, got one without; write it with scores=False")
    if not lexicon.pairs:
        raise Mismatch(f"{path}: expected at least one pair of words to write, got none")
    lines = [pair_line(path, place, pair) for place, pair in enumerate(lexicon.pairs)]
    if values is not None:
        tabbed = ("\t".join(pair) for pair in lexicon.pairs)
        lines = [f"{line}\t{value!r}" for line, value in zip(tabbed, values, strict=True)]
    text = "\n".join([*lines, ""])
    # Readers strip a byte order mark: a first word that begins with one needs another before it.
    mark = BOM if text.startswith(BOM) else ""
    with replaced(path) as stream:
        stream.write((mark + text).encode())


def survives_line_round_trip(word: str) -> bool:
    """Whether a word comes back unchanged from a line of text; UTF-8 may still lack it (`check_unicode`)."""
    return bool(word) and word == stripped(word) and survives_field_round_trip(word)


def survives_field_round_trip(word: str) -> bool:
    """Whether a word comes back unchanged from a field of a table with tabs."""
    return not any(sign in word for sign in "\t\n\r")


def pair_line(path: Path, place: int, pair: Pair) -> str:
    """A pair as one line, separated by a space, or by a tab if a word has one; `place` is for the error."""
    for word in pair:
        if not survives_line_round_trip(word):
            raise unwritable(path, word, place, kind="pair")
        check_unicode(path, word, place, kind="pair")
    return ("\t" if any(" " in word for word in pair) else " ").join(pair)


@contextmanager
def dictionary_writer(
    path: Path | str, *, form: str = "muse", languages: Languages | None = None
) -> Iterator[Write]:
    r"""A function that appends an entry to `path`; the file appears once complete, or not at all.

    `form` is one of FORMS; the file is compressed if its name ends in .gz. muse is a pair a line; tsv, csv
    and xlsx have a header, and the fields of `Entry`; jsonl is an object a line with the same names. Unknown
    values are empty in tables and null in jsonl. Of OTHER_FORMS, kaikki is an object a word, with the
    `languages`, of the source and of the target; bicleaner has the translation, the word and the probability;
    stardict is three files. All entries of a word must follow one another.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.tsv"
    ...     with dictionary_writer(path, form="tsv") as write:
    ...         write(Entry("cat", "chat", 0.5, 1, 0.875))
    ...     path.read_text()
    'source\ttarget\tscore\trank\tprobability\ncat\tchat\t0.5\t1\t0.875\n'
    """
    if form not in (*FORMS, *OTHER_FORMS):
        names = ", ".join((*FORMS, *OTHER_FORMS))
        raise BadSetting(f"a dictionary format must be one of {names}; got {form!r}")
    path, count = Path(path), 0
    check_place(path)
    with _writer(path, form, languages) as append:

        def write(entry: Entry) -> None:
            nonlocal count
            for word in (entry.source, entry.target):
                check_unicode(path, word, count, kind="pair")
            append(entry, count)
            count += 1

        yield write
        if not count:
            raise Mismatch(f"{path}: expected at least one pair of words to write, got none")


def _writer(path: Path, form: str, languages: Languages | None) -> AbstractContextManager[Append]:
    if form == "stardict":
        return _stardict(path, languages)
    if form == "kaikki":
        return _kaikki(path, languages)
    return _table(path, form) if form in TABLES else _lines_of_text(path, form)


@contextmanager
def _stardict(path: Path, languages: Languages | None) -> Iterator[Append]:
    with stardict_writer(path, " - ".join(languages or ())) as write:
        yield lambda entry, place: write(entry)


@contextmanager
def _kaikki(path: Path, languages: Languages | None) -> Iterator[Append]:
    """Appends entries to objects as wiktextract writes them: a word, its language and its translations."""
    if languages is None:
        raise BadSetting(
            f"{path}: the format kaikki names languages: give those of the source and the target"
        )
    word, translations = "", list[dict[str, object]]()
    with replaced(path) as stream:

        def end() -> None:
            if translations:
                made = {"word": word, "lang_code": languages[0], "translations": translations}
                stream.write(f"{json.dumps(made, ensure_ascii=False)}\n".encode())

        def append(entry: Entry, place: int) -> None:
            nonlocal word, translations
            if entry.source != word:
                end()
                word, translations = entry.source, []
            made = {"word": entry.target, "lang_code": languages[1], "probability": entry.probability}
            translations.append({name: value for name, value in made.items() if value is not None})

        yield append
        end()


@contextmanager
def _table(path: Path, form: str) -> Iterator[Append]:
    with table_writer(path, _COLUMNS, form) as write:
        yield lambda entry, place: write(entry)


@contextmanager
def _lines_of_text(path: Path, form: str) -> Iterator[Append]:
    line = _LINES[form]
    if form == "bicleaner" and path.suffix != ".gz":
        raise BadSetting(f"{path}: bicleaner reads compressed dictionaries; choose a name that ends in .gz")
    with replaced(path) as stream:

        def append(entry: Entry, place: int) -> None:
            stream.write(f"{line(path, place, entry)}\n".encode())

        if form == "tsv":
            stream.write(("\t".join(Entry._fields) + "\n").encode())
        yield append


def can_store(form: str, word: str) -> bool:
    r"""Whether a dictionary of this format can have a word: a tab, for one, only in jsonl.

    >>> can_store("muse", "new york"), can_store("tsv", "a\tb"), can_store("jsonl", "a\tb")
    (True, False, True)
    """
    if form == "bicleaner":
        return len(word.split()) == 1 and word == word.split()[0]
    if form == "stardict":
        return can_be_headword(word)
    if form in TABLES:
        return bool(word.strip(_BLANK)) and fits(form, word)
    return form in ("jsonl", "kaikki") or (
        survives_field_round_trip(word) if form == "tsv" else survives_line_round_trip(word)
    )


def can_store_entry(form: str, entry: Entry) -> bool:
    """Whether a dictionary of this format can have a pair: in bicleaner each has a probability."""
    return (entry.probability is not None or form != "bicleaner") and all(
        can_store(form, word) for word in entry[:2]
    )


def _muse(path: Path, place: int, entry: Entry) -> str:
    line = pair_line(path, place, entry[:2])
    # Readers strip a byte order mark: a first word that begins with one needs another before it.
    return f"{BOM}{line}" if not place and line.startswith(BOM) else line


def _tsv(path: Path, place: int, entry: Entry) -> str:
    for word in entry[:2]:
        if not survives_field_round_trip(word):
            raise unwritable(path, word, place, kind="pair")
    score, probability = (
        "" if number is None else f"{number:.6g}" for number in (entry.score, entry.probability)
    )
    return f"{entry.source}\t{entry.target}\t{score}\t{entry.rank}\t{probability}"


def _jsonl(path: Path, place: int, entry: Entry) -> str:
    return json.dumps(entry._asdict(), ensure_ascii=False)


def _bicleaner(path: Path, place: int, entry: Entry) -> str:
    for word in entry[:2]:
        if not can_store("bicleaner", word):
            raise unwritable(path, word, place, kind="pair")
    if entry.probability is None:
        raise Mismatch(
            f"{path}: bicleaner needs a probability for every pair, got none for {entry.source!r} and "
            f"{entry.target!r}; leave the pair out"
        )
    return f"{entry.target} {entry.source} {entry.probability:.6g}"


_LINES: dict[str, FormatLine] = {"muse": _muse, "tsv": _tsv, "jsonl": _jsonl, "bicleaner": _bicleaner}
_COLUMNS = dict(zip(Entry._fields, (str, str, float, int, float), strict=True))
TABLES = ("csv", "xlsx")
FORMS = ("muse", "tsv", "jsonl", *TABLES)
OTHER_FORMS = ("bicleaner", "kaikki", "stardict")  # of other programs
# The endings of names that say a format.
ENDINGS = {**{form: form for form in FORMS[1:]}, "ifo": "stardict"}


def form_of_name(path: Path) -> str:
    """The format that a name says: pairs of words as text, unless it ends in the name of another one.

    Raise BadSetting for the ending of a format that is not written.

    >>> form_of_name(Path("fr-en.CSV")), form_of_name(Path("fr-en.tsv.gz")), form_of_name(Path("fr-en.txt"))
    ('csv', 'tsv', 'muse')
    """
    ending = Path(path.name.removesuffix(".gz")).suffix[1:].lower()
    if ending in ENDINGS and (ending != "xlsx" or path.suffix != ".gz"):
        return ENDINGS[ending]
    check_text_name(path, "pairs", ".txt, .tsv, .csv, .xlsx or .jsonl")
    return "muse"
