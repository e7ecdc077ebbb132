"""Dictionaries as tables: rows of cells, from text with commas, semicolons or tabs, and from spreadsheets.

A table may have a header, which says what its columns are and in which language; without one it has two
columns, or a number in a third. A cell may be quoted and have several translations. What separates cells is
told by the first lines of a file. An ordinary dictionary, two words with a space or a tab between, is no
table.
"""

from __future__ import annotations

import csv
import logging
import math
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile, MissingExtra, MuseError
from muse.files.json_text import parse_json
from muse.files.language_names import Languages, is_name, language_code, named_language
from muse.files.source import DAMAGED, check_archive, first_bytes
from muse.files.tables import plain_cell
from muse.installation import install_extra
from muse.lexicon import Entry, PairLine
from muse.orthography import BRACKETED, without_gloss

log = logging.getLogger(__name__)

Cells = list[str]
Row = tuple[int, Cells]  # the number of the line, from 1
SAMPLE = 1_000  # lines that tell how a file is laid out
LONGEST_PHRASE = 4  # words; longer entries of dictionaries made for people are explanations or sentences
_MOST_ROWS = 0.6  # the share of rows that must have two cells
_CLEAR_ROWS = 3  # from which on a comma in every line separates columns, though spaces could do so too
# With the spaces of word processors and of Chinese and Japanese keyboards.
_BLANK = (
    " \t\r\n\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)

_SOURCES = {"source", "src", "word", "words", "headword", "lemma", "term", "l1", "front", "entry"} | {
    *"mot mots lemme wort quelle stichwort palabra fuente parola palavra woord".split(),
    *"слово słowo 单词 單詞 単語".split(),
}
_TARGETS = (
    {"target", "tgt", "trg", "translation", "translations", "meaning", "meanings", "gloss", "glosses"}
    | {"l2", "back", "equivalent", "definition"}
    | {"traduction", "übersetzung", "traducción", "traduzione", "tradução", "cible", "ziel", "vertaling"}
    | {"traductions", "übersetzungen", "traducciones", "traduzioni", "перевод", "tłumaczenie", "翻译", "翻譯"}
)  # fmt: skip
_REGIONAL = re.compile(r"([A-Za-z]{2,3})[-_](?:[A-Z]{2}|[A-Z][a-z]{3}|\d{3})")  # fr-FR, fra_Latn
_FILLERS = {"in", "the", "lang", "language", "text", "of"}
SCORES = ("score", "weight", "confidence", "similarity", "sim", "cosine")  # names of a column of scores
_PROBABILITIES = ("probability", "prob")


def stripped(cell: str) -> str:
    r"""The cell without spaces at its ends, the no-break and the ideographic one among them.

    A cell of nothing else stays: it may be a word.

    >>> stripped("\u00a0roi\u3000 ")
    'roi'
    """
    return cell.strip(_BLANK) or cell.strip(" ")


# Cells with several translations


_WORDS = re.compile(r"[^\W\d_][\w\s'\u2019().\u00b7\u200c\u200d\u0300-\u036f\u0591-\u0670\u0900-\u0dff-]*")
_SEPARATORS = (
    # What stands before a separator is stripped afterwards: looked for here, long spaces take quadratic time.
    re.compile(r"\n\s*"),
    re.compile(r"[|\uff5c]"),
    re.compile(r"[;\uff1b\u061b]"),
    re.compile(r"(?<!\d),|,(?!\d)|[\uff0c\u3001\u060c]"),
    re.compile(r"(?<=\s)[\u00b7\u2022](?=\s)"),
    re.compile(r"/"),
)
_SEPARATED = re.compile(r"[\n|\uff5c;\uff1b\u061b,\uff0c\u3001\u060c/\u00b7\u2022\]]|\d[.)]\s")
_SENSE = re.compile(r"(?<!\S)(\d{1,2})[.)](?=\s)")  # its number
_QUOTE = r"""(?:"[^"]*"|'[^']*')"""
_LISTED = re.compile(rf"\[\s*{_QUOTE}(?:\s*,\s*{_QUOTE})*\s*\]|{_QUOTE}(?:\s*,\s*{_QUOTE})+")
_AND_SO_ON = frozenset(("...", "\u2026", "etc.", "etc", "usw."))


def split_translations(cell: str) -> list[str]:
    """The translations in a cell; the cell itself unless it clearly has several.

    >>> [split_translations(cell) for cell in ("king, kings", "roi|monarque", "1,5", "km/h", "well, well")]
    [['king', 'kings'], ['roi', 'monarque'], ['1,5'], ['km/h'], ['well, well']]
    """
    if not _SEPARATED.search(cell):
        return [cell]
    if _LISTED.fullmatch(cell):  # as Python and JSON write several
        return [stripped(one) for quote in re.findall(_QUOTE, cell) if (one := quote[1:-1]).strip()] or [cell]
    senses = [*_SENSE.finditer(cell)]
    if len(senses) > 1 and not senses[0].start() and _are_numbered(senses):
        bounds = [*(sense.start() for sense in senses[1:]), None]
        texts = (cell[sense.end() : end] for sense, end in zip(senses, bounds, strict=True))
        return [part for text in texts for part in split_translations(text.strip(f"{_BLANK},;"))]
    outside = BRACKETED.sub(lambda gloss: "\0" * len(gloss[0]), cell)  # a gloss may have commas
    for separator in _SEPARATORS:
        if separators := [match.span() for match in separator.finditer(outside)]:
            ends, begins = zip(*separators, strict=True)
            cells = (cell[begin:end] for begin, end in zip((0, *begins), (*ends, None), strict=True))
            whole = [stripped(part.strip()) for part in cells]
            # The last sign may end the list.
            whole = [part for place, part in enumerate(whole) if part or not place or place < len(whole) - 1]
            parts = [one for part in whole for one in split_translations(part)]
            parts = [part for part in parts if part not in _AND_SO_ON] or parts
            return parts if _are_translations(parts, bare=_has_bare_slash(outside)) else [cell]
    return [cell]


def _are_numbered(senses: Sequence[re.Match[str]]) -> bool:
    return [int(sense[1]) for sense in senses] == [*range(1, len(senses) + 1)]


def _has_bare_slash(text: str) -> bool:
    return "/" in text and " /" not in text and "/ " not in text


def _are_translations(parts: Sequence[str], *, bare: bool) -> bool:
    # Units, and/or, TCP/IP and paths are one word each; so is what has a bracket on either side of a comma.
    if len(set(parts)) < len(parts) or not all(map(_is_phrase, parts)):
        return False
    return not bare or all(len(part) > 2 and not part.isupper() for part in parts)


def _is_phrase(part: str) -> bool:
    bare = without_gloss(part)
    return (
        _WORDS.fullmatch(bare) is not None
        and len(bare.split()) <= LONGEST_PHRASE
        and bare.count("(") == bare.count(")")
    )


def pairs_of_cells(source: str, target: str) -> list[tuple[str, str]]:
    """The pairs that two cells have: each translation of the one with each of the other.

    If both have as many parts, such as il/elle and he/she, nothing says which belong together: they stay
    whole.
    """
    targets = split_translations(target)
    # Of a word and its translations only these are often written with a bare slash.
    sources = [source] if _has_bare_slash(source) else split_translations(source)
    if len(sources) == len(targets) > 1:
        return [(source, target)]
    return [(one, two) for one in sources for two in targets]


# Columns


@dataclass(frozen=True)
class Columns:
    """Where a row has its words and its numbers, and whether a header says so; `ours` if muse wrote it."""

    source: int = 0
    target: int = 1
    score: int | None = None
    probability: int | None = None
    named: bool = False
    ours: bool = False


class _Name(NamedTuple):
    # What a cell of a header says of its column.
    place: int
    role: str  # "source", "target" or "" for a language alone
    language: str | None


def columns_of_header(cells: Sequence[str], languages: Languages | None) -> Columns | None:
    """The columns that a first row names; None if it is a pair of words.

    `languages` are those of the source and of the target: columns in these are found by them.

    >>> columns_of_header(["English", "French"], ("fr", "en"))
    Columns(source=1, target=0, score=None, probability=None, named=True, ours=False)
    >>> columns_of_header(["roi", "king"], ("fr", "en"))
    """
    wanted = None if languages is None else (language_code(languages[0]), language_code(languages[1]))
    named = [found for place, cell in enumerate(cells) if (found := _named(place, cell)) is not None]
    named = [one for one in named if one.role or _is_sure(cells[one.place], one, cells, wanted)]
    pair = _chosen(named, wanted)
    if pair is None:
        return None
    folded = [stripped(cell).casefold() for cell in cells]
    score, probability = (
        next((folded.index(name) for name in names if name in folded), None)
        for names in (SCORES, _PROBABILITIES)
    )
    return Columns(*pair, score, probability, named=True, ours=tuple(cells) == Entry._fields)


def _named(place: int, cell: str) -> _Name | None:
    cell = stripped(cell)
    if not place:
        cell = stripped(cell.removeprefix("#"))
    cell = stripped(BRACKETED.sub("", cell)) or cell  # translation(s), French (FR)
    if regional := _REGIONAL.fullmatch(cell):
        cell = regional[1]
    words = re.split(r"[\s_-]+", cell.casefold())
    languages = [code for word in words if (code := named_language(word))]
    roles = {"target" if word in _TARGETS else "source" for word in words if word in _SOURCES | _TARGETS}
    known = [word for word in words if word in _SOURCES | _TARGETS | _FILLERS or named_language(word)]
    if len(known) < len(words) or not (languages or roles):
        return None
    role = max(roles, default="")  # of a target word it is the target
    return _Name(place, role, languages[0] if languages else None)


def _is_sure(cell: str, named: _Name, cells: Sequence[str], wanted: Languages | None) -> bool:
    # "es" is "it" in English: codes alone count if they are those of the run, or in capitals.
    if wanted is not None and named.language in wanted:
        return True
    return is_name(stripped(cell)) or (len(cells) > 1 and all(one.strip().isupper() for one in cells[:2]))


def _chosen(named: Sequence[_Name], wanted: Languages | None) -> tuple[int, int] | None:
    if wanted is not None:
        by = {one.language: one.place for one in reversed(named) if one.language}
        if wanted[0] in by and wanted[1] in by and wanted[0] != wanted[1]:
            return by[wanted[0]], by[wanted[1]]
    for one in named:
        for two in named:
            apart = one.role != two.role if one.role and two.role else one.language != two.language
            if one.place < two.place and apart:
                return _in_order(one, two, wanted)
    return None


def _in_order(one: _Name, two: _Name, wanted: Languages | None) -> tuple[int, int] | None:
    turned = one.role == "target" or two.role == "source"
    if wanted is not None:  # the one language that is named may be the other one's
        turned = turned or one.language == wanted[1] or two.language == wanted[0]
    return (two.place, one.place) if turned else (one.place, two.place)


# Rows


def pairs_of_rows(
    rows: Iterable[Row], path: Path, languages: Languages | None, *, sheet: bool = False
) -> Iterator[PairLine]:
    """The pairs of a table, whose first row may be a header.

    Cells that muse wrote are taken as they are; but for those of a `sheet`, without what made them harmless.
    """
    columns, empty, kept = None, list[int](), False
    for number, written in rows:
        cells = [stripped(cell) for cell in written]
        if not any(cells) or (columns is None and cells[0].startswith("sep=")):  # of Excel
            continue
        if columns is None:
            columns = columns_of_header(cells, languages) or Columns()
            if columns.named:
                continue
        where = f"{path}:{number}"
        if columns.ours:
            cells = written if sheet else [plain_cell(cell) for cell in written]
        found = _words(cells, columns, where)
        if found is None:
            empty.append(number)
            continue
        kept = True
        numbers = _numbers(cells, columns, where)
        for pair in [found] if columns.ours else pairs_of_cells(*found):
            yield PairLine(pair, *numbers)
    if empty and not kept:
        raise BadFile(
            f"{path}:{empty[0]}: expected rows with a word and a translation, got none with both; check what "
            "separates its cells, or name the format of the file with --dictionary-format"
        )
    if empty:
        log.warning(
            "%s: left out %d row%s without a word or without a translation, the first is row %d",
            path, len(empty), "s" * (len(empty) != 1), empty[0],
        )  # fmt: skip


def _words(cells: Cells, columns: Columns, where: str) -> tuple[str, str] | None:
    if not columns.named:
        while len(cells) > 2 and not cells[-1]:
            cells.pop()
        if len(cells) > 3 or (len(cells) == 3 and number_in(cells[2]) is None):
            raise BadFile(
                f"{where}: expected two words, and at most a number after them, got {len(cells)} cells "
                f"({' | '.join(cells)[:60]!r}); name the columns in a first row, such as source and target, "
                "or put several translations into one cell, in quotation marks; or, if these are no "
                "columns, name the format of the file with --dictionary-format"
            )
    places = columns.source, columns.target
    source, target = (cells[place] if place < len(cells) else "" for place in places)
    return (source, target) if source and target else None


def _numbers(cells: Cells, columns: Columns, where: str) -> tuple[float | None, float | None]:
    if not columns.named:
        return (read_number(cells[2], where) if len(cells) == 3 else None), None
    score, probability = (
        read_number(cells[place], where)
        if place is not None and place < len(cells) and cells[place]
        else None
        for place in (columns.score, columns.probability)
    )
    if probability is not None and not 0 <= probability <= 1:
        raise BadFile(f"{where}: expected a probability from 0 to 1, got {probability:g}; correct it")
    return score, probability


def read_number(cell: str, where: str) -> float:
    """The finite number in a cell, with a point or a decimal comma; BadFile for anything else."""
    number = number_in(cell)
    if number is None or not math.isfinite(number):
        raise BadFile(f"{where}: expected a finite number, got {cell[:60]!r}; correct it, or remove the row")
    return number


def number_in(cell: str) -> float | None:
    """The number in a cell, perhaps in percent or with a decimal comma; None if it is none."""
    digits = cell.removesuffix("%")
    try:
        number = float(digits.replace(",", ".", 1) if "." not in digits else digits)
        return number if digits == cell else number / 100
    except ValueError:
        return None


# Text


ReadRows = Callable[[Iterator[str], Path], Iterator[Row]]


def table_form(sample: Sequence[str], languages: Languages | None) -> str | None:
    """Whether lines are a table with tabs ("tsv"), with commas or semicolons ("csv"), or an ordinary one."""
    lines = [line for line in sample if line.strip(" \t\r")]
    if not lines:
        return None
    if _is_csv_of_muse(lines):
        return "csv"
    if any("\t" in line for line in lines):
        return "tsv" if _is_tab_table(lines, languages) else None
    if any(_is_delimited(lines, sign) for sign in ";,"):
        return "csv"
    # Of a cell whose quotation marks do not end its reader says so.
    opened = any(re.search(r'(?:^|[,;])"[^"]*$', line) for line in lines)
    return "csv" if opened and not any(map(_could_be_a_pair, lines)) else None


def table_rows(form: str, sample: Sequence[str]) -> ReadRows:
    """What reads the lines of a table of one of these two forms."""
    if form == "tsv":
        return _tab_rows
    lines = [line for line in sample if line.strip(" \t\r")]
    if _is_csv_of_muse(lines):  # whose words may have tabs
        return _rows_between(",", whole=True)
    signs = [sign for sign in ";," if _is_delimited(lines, sign)] or ";,"
    # Where both could, one is between the translations in a cell: the columns come first.
    first = lines[0] if lines else ""
    sign = max(signs, key=lambda sign: (sum(sign in line for line in lines), -first.find(sign)))
    single = all(re.fullmatch(rf"'.*'\s*{sign}\s*'.*'", line.strip(_BLANK)) for line in lines)
    return _rows_between(sign, quote="'" if lines and single else '"')


def _is_csv_of_muse(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[0].removesuffix("\r") == ",".join(Entry._fields)


def _is_tab_table(lines: Sequence[str], languages: Languages | None) -> bool:
    # An ordinary dictionary with tabs, unless a cell has quotation marks or several translations, or there is
    # a header.
    cells = [[stripped(cell) for cell in line.split("\t")] for line in lines]
    if all(len(row) > 1 and all(map(_QUOTED.fullmatch, row[:2])) for row in cells):
        return True
    if any(len(row) < 2 or not row[0] for row in cells):
        return False
    # A lone row is a pair, but for one that muse has always taken for a header.
    alone = len(cells) == 1 and cells[0][:2] != ["source", "target"]
    return (not alone and columns_of_header(cells[0], languages) is not None) or any(
        _is_quoted(cell) or split_translations(cell) not in ([cell], [cell[:-1].rstrip()])
        for row in cells
        for cell in row[:2]
    )


_QUOTED = re.compile(r'"(?:[^"]|"")+"')


def _is_quoted(cell: str) -> bool:
    # As a spreadsheet quotes only what needs it: a word in quotation marks may be one.
    return _QUOTED.fullmatch(cell) is not None and any(sign in cell[1:-1] for sign in ('""', ",", ";"))


def _is_delimited(lines: Sequence[str], delimiter: str) -> bool:
    """Whether lines are cells with delimiters between, rather than pairs with a space between."""
    rows = [cells for cells in _sampled(lines, delimiter) if any(map(stripped, cells))]
    if not rows or sum(len(cells) > 1 for cells in rows) <= _MOST_ROWS * len(rows):
        return False
    if any(sum(cell.count('"') % 2 for cell in cells) > 1 for cells in rows):
        return False  # of a table with another delimiter: this one stands between quotation marks
    if 2 * sum(map(_could_be_a_pair, lines)) < len(lines):
        return True
    same = len({len(cells) for cells in rows}) == 1 and len(rows) >= _CLEAR_ROWS
    decimal = re.compile(rf"\d{re.escape(delimiter)}\d")
    return same and not all(decimal.search(line) for line in lines)


def _could_be_a_pair(line: str) -> bool:
    """Whether a line could be two words with a space between, which "cat, chat" and "cat ;chat" are not."""
    fields = line.split()
    if len(fields) != 2 or (len(fields[0]) > 1 and fields[0][-1] in ",;"):
        return False
    return len(fields[1]) == 1 or fields[1][0] not in ",;"


def _sampled(lines: Sequence[str], delimiter: str) -> Iterator[Cells]:
    try:
        for _, cells in _rows_between(delimiter)(iter(lines), Path()):
            yield cells
    except BadFile:
        return  # the sample may end inside a cell


def _rows_between(delimiter: str, *, whole: bool = False, quote: str = '"') -> ReadRows:
    """What reads rows of cells that may be quoted, with delimiters and ends of lines in them.

    Spaces at the beginning of a cell, which quotation marks may follow, are skipped unless it is `whole`.
    """

    def rows(lines: Iterator[str], path: Path) -> Iterator[Row]:
        texts = (f"{line}\n" for line in lines)
        reader = csv.reader(
            texts, delimiter=delimiter, quotechar=quote, skipinitialspace=not whole, strict=True
        )
        while True:
            number = reader.line_num + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise BadFile(
                    f"{path}:{number}: expected cells with {delimiter!r} between, got a quoted one that does "
                    f"not end before it ({error}); close the quotation marks, or double those that stand in "
                    "a cell; or name the format of the file with --dictionary-format"
                ) from None
            if cells is None:
                return
            yield number, [cell.removesuffix("\r") for cell in cells]

    return rows


def _tab_rows(lines: Iterator[str], path: Path) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        yield number, [_unquoted(cell) for cell in line.removesuffix("\r").split("\t")]


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if _QUOTED.fullmatch(stripped(cell)) else cell


def object_rows(lines: Iterable[str], names: Sequence[str], path: Path) -> Iterator[Row]:
    """The rows of a table whose lines are JSON objects with these names, below a header of the names."""
    yield 1, [*names]
    for number, line in enumerate(lines, 1):
        try:
            found = parse_json(line) if line.strip() else {}
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise BadFile(
                f"{path}:{number}: expected a JSON object as in line 1, got {line[:60]!r}; correct it"
            )
        values = (found.get(name) for name in names)
        yield (
            number,
            ["; ".join(map(_shown, one)) if isinstance(one, list) else _shown(one) for one in values],
        )


# Spreadsheets


def is_workbook(path: Path) -> bool:
    """Whether a file is an Excel workbook (.xlsx), by what is in it."""
    if not first_bytes(path, 4).startswith(b"PK\3\4"):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except DAMAGED:
        return False  # opening it reports the error


def workbook_rows(path: Path) -> Iterator[Row]:
    """The rows of the first sheet of an Excel workbook."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra(
            f"{path}: Excel workbooks need openpyxl, which is missing; run {install_extra('tables')}, or "
            "save it as CSV UTF-8"
        ) from error
    try:
        check_archive(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that it does not know
            workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
            try:
                rows = list(workbook.worksheets[0].iter_rows(values_only=True))
            finally:
                workbook.close()
    except MuseError:
        raise
    except Exception as error:  # noqa: BLE001  # openpyxl raises what it comes across
        raise BadFile(
            f"{path}: expected a complete Excel workbook, got a damaged one ({error}); save it again"
        ) from None
    for number, row in enumerate(rows, 1):
        yield number, [_shown(value) for value in row]


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.15g}" if isinstance(value, float) else str(value)
