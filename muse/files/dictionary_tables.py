"""Dictionaries as tables: which text is a table, what its columns are, and the pairs of its rows.

A table may have a header, which says what its columns are and in which language; without one it has two
columns, or a number in a third. A cell may have several translations. An ordinary dictionary, two words with
a space or a tab between, is no table.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile
from muse.files import dictionary_format as formats
from muse.files import tables
from muse.files.cells import number_in, pairs_of_cells, read_number, split_translations, stripped
from muse.files.detect import TABLE, TEXT, kind_of
from muse.files.dictionary_format import BLANK, Append, DictionaryFile, DictionaryFormat, lines_writer
from muse.files.json_text import parse_json, yaml_item
from muse.files.plain_text import read_lines
from muse.files.source import FREE_PAIRS, check_pairs, is_stream
from muse.files.tables import QUOTED, NumberedRow, TableRows, csv_rows, plain_cell
from muse.languages import Languages, are_reversed, is_name, language_code, named_language
from muse.lexicon import Entry, PairLine
from muse.orthography import BRACKETED

log = logging.getLogger(__name__)

_SHARE_DELIMITED = 0.6  # of rows that must have two cells
_LISTS = re.compile(r'\[\s*(?:\[\s*)?(?:"|$)')
_LETTER = re.compile(r"[^\W\d_]")
_SHOWN = 100  # rows that show what columns have
_LEAST_WORDS = 2  # of one object of JSON, of which more are a dictionary
_TITLE = 10  # rows of which one may be a header below a title
_CLEAR_ROWS = 3  # from which on a comma in every line separates columns, though spaces could do so too

_SOURCES = {
    *"source src pivot word words headword lemma term l1 front entry".split(),
    *"mot mots lemme wort quelle stichwort palabra fuente parola palavra woord".split(),
    *"слово słowo 单词 單詞 単語".split(),
}
_TARGETS = {
    *"target tgt trg translation translations meaning meanings gloss glosses l2 back equivalent".split(),
    *"definition traduction übersetzung traducción traduzione tradução cible ziel vertaling".split(),
    *"traductions übersetzungen traducciones traduzioni перевод tłumaczenie 翻译 翻譯".split(),
}
_REGIONAL = re.compile(r"([A-Za-z]{2,3})[-_](?:[A-Z]{2}|[A-Z][a-z]{3}|\d{3})")  # fr-FR, fra_Latn
_OF_VARIANT = re.compile(r"(?<=[a-z]{3})-\d{3}$")  # PanLex: fra-000
_FILLERS = {"in", "the", "lang", "language", "text", "of", "sentence", "sentences", "segment", "side"}
_SCORES = (  # names of a column of scores
    "score", "weight", "confidence", "similarity", "sim", "cosine", "rating", "human (mean)", "simlex999",
)  # fmt: skip
_PROBABILITIES = ("probability", "prob")


@dataclass(frozen=True)
class PairColumns:
    """Where a row has its words and its numbers, and whether a header says so; `ours` if muse wrote it."""

    source: int = 0
    target: int = 1
    score: int | None = None
    probability: int | None = None
    named: bool = False
    ours: bool = False
    codes: tuple[int, ...] = ()  # the two columns that say which languages a row has


class ColumnName(NamedTuple):
    """What a cell of a header says of its column."""

    place: int
    role: str  # "source", "target" or "" for a language alone
    language: str | None


def columns_of_header(cells: Sequence[str], languages: Languages | None) -> PairColumns | None:
    """The columns that a first row names; None if it is a pair of words.

    `languages` are those of the source and of the target: columns in these are found by them.

    >>> columns_of_header(["English", "French"], ("fr", "en"))
    PairColumns(source=1, target=0, score=None, probability=None, named=True, ours=False, codes=())
    >>> columns_of_header(["roi", "king"], ("fr", "en"))
    """
    wanted = None if languages is None else (language_code(languages[0]), language_code(languages[1]))
    cells = cells[: tables.MOST_COLUMNS]
    named = [found for place, cell in enumerate(cells) if (found := name_of_column(place, cell)) is not None]
    # "es" is "it" in English: codes alone count if they are those of the run, or in capitals.
    capitals = len(cells) > 1 and all(one.strip().isupper() for one in cells[:2])
    known = wanted or ()
    pair = _chosen(
        [
            one for one in named
            if one.role or capitals or one.language in known or is_name(stripped(cells[one.place]))
        ],
        wanted,
    )  # fmt: skip
    if pair is None:
        return None
    folded = [stripped(cell).casefold() for cell in cells]
    score, probability = (
        next((folded.index(name) for name in names if name in folded), None)
        for names in (_SCORES, _PROBABILITIES)
    )
    return PairColumns(*pair, score, probability, named=True, ours=_is_of_muse(cells))


def name_of_column(place: int, cell: str) -> ColumnName | None:
    """What a cell of a header says of the column at a place; None if it says nothing of language or side."""
    cell = stripped(cell)
    if not place:
        cell = stripped(cell.removeprefix("#"))
    cell = stripped(BRACKETED.sub("", cell)) or cell  # translation(s), French (FR)
    if regional := _REGIONAL.fullmatch(cell):
        cell = regional[1]
    words = re.split(r"[\s_/-]+", cell.casefold())
    languages = [code for word in words if (code := named_language(word))]
    roles = {"target" if word in _TARGETS else "source" for word in words if word in _SOURCES | _TARGETS}
    known = [word for word in words if word in _SOURCES | _TARGETS | _FILLERS or named_language(word)]
    if len(known) < len(words) or not (languages or roles):
        return None
    role = max(roles, default="")  # of a target word it is the target
    return ColumnName(place, role, languages[0] if languages else None)


def _chosen(named: Sequence[ColumnName], wanted: Languages | None) -> tuple[int, int] | None:
    if wanted is not None:
        by = {one.language: one.place for one in reversed(named) if one.language}
        if wanted[0] in by and wanted[1] in by and wanted[0] != wanted[1]:
            return by[wanted[0]], by[wanted[1]]
    for one in named:
        for two in named:
            apart = one.role != two.role if one.role and two.role else one.language != two.language
            if one.place < two.place and apart:
                turned = one.role == "target" or two.role == "source"
                if wanted is not None:  # the one language that is named may be the other one's
                    turned = turned or one.language == wanted[1] or two.language == wanted[0]
                return (two.place, one.place) if turned else (one.place, two.place)
    return None


def _pairs_of_table(table: TableRows, file: DictionaryFile) -> Iterator[PairLine]:
    columns, width, rows = _layout(table, file)
    empty, kept, pairs, letters = list[str](), False, 0, 0
    for where, cells in _filled_rows(replace(table, rows=rows), columns, file):
        found = _words(cells, columns, where)
        if columns.ours and (found is None or len(cells) != width):
            raise BadFile(
                f"{where}: expected {width} cells as in the header, with two words, got "
                f"{' | '.join(cells)[:60]!r}; write the file again with muse induce"
            )
        if found is None:
            empty.append(where)
            continue
        codes = [cells[place] for place in columns.codes if place < len(cells)]
        if len(codes) > 1 and are_reversed((codes[0], codes[1]), file.languages):
            found = found[::-1]
        kept, numbers = True, _numbers(cells, columns, where)
        letters += len(found[0]) + len(found[1])
        for pair in [found] if columns.ours or file.exact else pairs_of_cells(*found):
            if (pairs := pairs + 1) > FREE_PAIRS:
                check_pairs(where, pairs, letters)
            yield PairLine(pair, *numbers)
    if empty and not kept:
        raise BadFile(
            f"{empty[0]}: expected rows with a word and a translation, got none with both; check what "
            f"separates its cells{file.advice}"
        )
    if empty:
        log.warning(
            "%s: left out %d row%s without a word or without a translation, the first is %s",
            file.path, len(empty), "s" * (len(empty) != 1), empty[0],
        )  # fmt: skip


def _filled_rows(
    table: TableRows, columns: PairColumns, file: DictionaryFile
) -> Iterator[tuple[str, list[str]]]:
    """The place and the cells of each row that has any.

    Cells that muse wrote are taken as they are, but for those of CSV, without what made them harmless. In
    others, what stands under a word and has none is another translation of it: of merged cells the first has
    the word, as has the first row of many lists.
    """
    continued, headword = list[str](), ""
    for number, written in table.rows:
        where = f"{table.place}{number}"
        if columns.ours:
            cells = [plain_cell(cell) for cell in written] if table.form == "csv" else [*written]
        else:
            cells = _stripped_cells(written, table.form)
        if not columns.ours and not file.exact and max(columns.source, columns.target) < len(cells):
            if headword and not cells[columns.source] and cells[columns.target]:
                cells[columns.source] = headword
                continued.append(where)
            headword = cells[columns.source] if cells[columns.target] else ""
        if any(cells):
            yield where, cells
    if continued:
        log.info(
            "%s: %d translation%s without a word %s taken for the word above, the first in %s",
            file.path, len(continued), *(("s", "are") if len(continued) > 1 else ("", "is")), continued[0],
        )  # fmt: skip


def _layout(table: TableRows, file: DictionaryFile) -> tuple[PairColumns, int, Iterator[NumberedRow]]:
    """The columns of a table, how many a header names, and the rows below it."""
    if table.names is not None:
        columns = columns_of_header(table.names, file.languages)
        if columns is None:
            raise BadFile(
                f"{table.place}1: expected pairs of words, got columns without source and target "
                f"({', '.join(table.names)[:60]}); name two columns so"
            )
        ours = {"source", "target"} <= {*table.names}
        return replace(columns, ours=ours), len(table.names), table.rows
    for number, written in table.rows:
        cells = _stripped_cells(written, table.form)
        if any(cells) and not cells[0].startswith("sep="):  # of Excel
            first = [(number, written), *islice(table.rows, _SHOWN - 1)]
            shown = [_stripped_cells(written, table.form) for _, written in first]
            if beside := _beside_codes(shown) or (None if file.exact else _beside_numbers(shown)):
                return beside[0], 0, chain(first[beside[1] :], table.rows)
            pairs = False  # above, of which a row of names of columns may be one: word, traduction
            for header, named in enumerate(shown[: 1 if file.exact else _TITLE]):
                names = _with_names_of_rows(named, shown[header + 1 :])
                columns = columns_of_header(names, file.languages)
                if columns is not None and (not pairs or _names_languages(names, columns)):
                    return columns, len(names), chain(first[header + 1 :], table.rows)
                pairs = pairs or sum(map(bool, names)) > 1
            return PairColumns(score=2), 0, chain(first, table.rows)
    return PairColumns(), 0, table.rows


def _names_languages(names: Sequence[str], columns: PairColumns) -> bool:
    found = (name_of_column(at, names[at]) for at in (columns.source, columns.target))
    return all(one is not None and one.language for one in found)


def _beside_codes(rows: Sequence[Sequence[str]]) -> tuple[PairColumns, int] | None:
    """The columns of words where two others say their languages, the same two in all of the first rows.

    And the number of rows above, with names that say nothing of languages.
    """
    rows = [cells for cells in rows if any(cells)]
    if len(rows) < 2 or len({*map(len, rows)}) > 1:
        return None
    for header in (0, 1):
        columns = [*zip(*rows[header:], strict=True)]
        named = [{named_language(_OF_VARIANT.sub("", cell)) for cell in cells} for cells in columns]
        codes = [place for place, found in enumerate(named) if None not in found]
        words = [
            place for place, cells in enumerate(columns)
            if place not in codes and not all(number_in(cell) is not None for cell in cells)
        ]  # fmt: skip
        if len(codes) == 2 and len(words) > 1 and len(named[codes[0]] | named[codes[1]]) == 2:
            between = [place for place in words if codes[0] < place < codes[1]]
            behind = [place for place in words if place > codes[1]]
            source, target = (between[0], behind[0]) if between and behind else words[:2]
            return PairColumns(source, target, named=True, codes=(codes[0], codes[1])), header
    return None


def _beside_numbers(rows: Sequence[Sequence[str]]) -> tuple[PairColumns, int] | None:
    """The last two of three columns whose first one has the numbers of rows, or nothing, and no name.

    And the number of rows above.
    """
    rows = [_with_names_of_rows(rows[0], rows[1:]), *rows[1:]]
    below = [row for row in rows[1:] or rows if any(row)]
    if {*map(len, rows)} != {3} or not all(not row[0] or row[0].isdecimal() for row in below):
        return None
    header = int(not rows[0][0] and all(row[0] for row in below))
    plain = not rows[0][0] or rows[0][0].isdecimal()
    if not plain or all(number_in(row[2]) is not None for row in below):
        return None
    return PairColumns(1, 2, named=True), header


def _with_names_of_rows(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The names of columns, one more if all rows have a cell more than these, as R writes them."""
    numbered = {len(row) for row in rows if any(row)} == {len(names) + 1}
    return ["", *names] if numbered and not _is_of_muse(names) else names


def _stripped_cells(written: Sequence[str], form: str) -> list[str]:
    """The cells without spaces around them and, of TSV, the quotation marks around all of one."""
    cells = [*map(stripped, written)]
    if form != "tsv":
        return cells
    return [stripped(one[1:-1].replace('""', '"')) if QUOTED.fullmatch(one) else one for one in cells]


def _words(cells: list[str], columns: PairColumns, where: str) -> tuple[str, str] | None:
    if not columns.named:
        while len(cells) > 2 and not cells[-1]:
            cells.pop()
        if len(cells) > 3 or (len(cells) == 3 and number_in(cells[2]) is None):
            raise BadFile(
                f"{where}: expected two words, and at most a number after them, got {len(cells)} cells "
                f"({' | '.join(cells)[:60]!r}); name the columns in a first row, such as source and target, "
                f"or put several translations into one cell, in quotation marks{formats.OR_ITS_FORMAT}"
            )
    places = columns.source, columns.target
    source, target = (cells[place] if place < len(cells) else "" for place in places)
    return (source, target) if source.strip() and target.strip() else None


def _numbers(cells: list[str], columns: PairColumns, where: str) -> tuple[float | None, float | None]:
    score, probability = (
        read_number(cells[place], where)
        if place is not None and place < len(cells) and cells[place]
        else None
        for place in (columns.score, columns.probability)
    )
    if probability is not None and not 0 <= probability <= 1:
        raise BadFile(f"{where}: expected a probability from 0 to 1, got {probability:g}; correct it")
    return score, probability


def listed_words(path: Path) -> Iterator[tuple[int, str]]:
    """The words of a list, one on each line, or all on one, with the numbers of their lines.

    Of a table the first column that has letters counts, without its name.
    """
    if is_stream(path) or kind_of(path, TABLE) is TEXT:
        lines = read_lines(path)
        sample = [*islice(lines, _SHOWN)]
        filled = [line for line in sample if line.strip()]
        signs = (sum(sign in line for line in filled) > _SHARE_DELIMITED * len(filled) for sign in "\t,;")
        if is_stream(path) or not (any(signs) or tables.JSON.match("".join(filled[:1]))):
            items = [yaml_item(line) for line in filled]
            is_yaml = None not in items and any(items)
            words = (
                line if item is None else item for line in chain(sample, lines) for item in [yaml_item(line)]
            )
            return enumerate(words if is_yaml else chain(sample, lines), 1)
    table = tables.open_table(path, 1)
    first = [row for row in islice(table.rows, _SHOWN) if any(row[1])]
    if len(first) == 1 and table.names is None:
        return ((first[0][0], cell) for cell in first[0][1])
    columns = zip_longest(*(cells for _, cells in first[1:] or first), fillvalue="")
    place = next((at for at, cells in enumerate(columns) if any(map(_LETTER.search, cells))), 0)
    rows = (
        (number, cells[place] if place < len(cells) else "") for number, cells in chain(first, table.rows)
    )
    if first and table.names is None and name_of_column(0, "".join(first[0][1][place : place + 1])):
        next(rows)
    return rows


# Which text is a table, and how it is laid out


def _is_tsv(file: DictionaryFile) -> bool:
    """Whether lines are a table with tabs, rather than an ordinary dictionary with tabs.

    That is if a cell has quotation marks or several translations, or if there is a header.
    """
    lines = file.filled
    if _is_csv_of_muse(lines) or not any("\t" in line for line in lines):
        return False
    cells = [[stripped(cell) for cell in line.split("\t")] for line in lines]
    if all(len(row) > 1 and all(map(QUOTED.fullmatch, row[:2])) for row in cells):
        return True
    if any(len(row) < 2 for row in cells):
        return _is_of_muse(cells[0])
    if _beside_codes(cells) is not None or _beside_numbers(cells) is not None:
        return True
    if any(not row[0] for row in cells):  # of the word above; or the column of row numbers has no name
        return bool(cells[0][0]) or columns_of_header(cells[0], file.languages) is not None
    # A lone row is a pair, but for one that muse has always taken for a header.
    alone = len(cells) == 1 and cells[0][:2] != ["source", "target"]
    return (not alone and columns_of_header(cells[0], file.languages) is not None) or any(
        # A spreadsheet quotes only what needs it: a word in quotation marks may be one.
        (QUOTED.fullmatch(cell) and any(sign in cell[1:-1] for sign in ('""', ",", ";")))
        or split_translations(cell) not in ([cell], [cell[:-1].rstrip()])
        for row in cells
        for cell in row[:2]
    )


def _is_csv(file: DictionaryFile) -> bool:
    lines = file.filled
    if not lines or _is_csv_of_muse(lines):
        return bool(lines)
    if any("\t" in line for line in lines):
        return False
    if _is_of_r(lines):
        return True
    if any(_is_delimited(lines, sign) for sign in ";,"):
        return True
    # Of a cell whose quotation marks do not end its reader says so.
    opened = any(re.search(r'(?:^|[,;])"[^"]*$', line) for line in lines)
    return opened and not any(map(_could_be_a_pair, lines))


def _csv(file: DictionaryFile) -> TableRows:
    lines = file.filled
    if _is_of_r(lines):
        return TableRows("csv", tables.rows_of_r(file.lines), f"{file.path}:")
    exact = _is_csv_of_muse(lines)  # whose words may have tabs
    signs = "," if exact else [sign for sign in ";," if _is_delimited(lines, sign)] or ";,"
    # Where both could, one is between the translations in a cell: the columns come first.
    first = lines[0] if lines else ""
    sign = max(signs, key=lambda sign: (sum(sign in line for line in lines), -first.find(sign)))
    single = all(re.fullmatch(rf"'.*'\s*{sign}\s*'.*'", line.strip()) for line in lines)
    quote = "'" if lines and single else '"'
    return TableRows("csv", csv_rows(file.lines, file.path, sign, quote=quote, exact=exact), f"{file.path}:")


def _is_of_muse(cells: Sequence[str]) -> bool:
    return "rank" in cells and [*cells[:2]] == ["source", "target"]


def _is_csv_of_muse(lines: Sequence[str]) -> bool:
    return bool(lines) and _is_of_muse(lines[0].split(","))


def _is_of_r(lines: Sequence[str]) -> bool:
    return tables.is_of_r(lines) and not all(map(_could_be_a_pair, lines))


def _is_delimited(lines: Sequence[str], delimiter: str) -> bool:
    """Whether lines are cells with delimiters between, rather than pairs with a space between."""
    rows = list[list[str]]()
    with suppress(BadFile):  # the sample may end inside a cell
        rows.extend(cells for _, cells in csv_rows(lines, Path(), delimiter) if any(map(stripped, cells)))
    if not rows or sum(len(cells) > 1 for cells in rows) <= _SHARE_DELIMITED * len(rows):
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


# Formats


# Without other forms.
_COLUMNS = dict(zip(Entry._fields, (str, str, float, int, float), strict=False)) | {"frequency_rank": int}


def _format(
    name: str,
    table: Callable[[DictionaryFile], TableRows],
    *,
    kind: str = "",
    is_text: Callable[[DictionaryFile], bool] | None = None,
) -> DictionaryFormat:
    @contextmanager
    def write(path: Path, languages: Languages | None) -> Iterator[Append]:
        with tables.table_writer(path, _COLUMNS, name) as append:
            yield lambda entry, place: append((*entry[:5], entry.frequency_rank))

    return DictionaryFormat(
        name, lambda file: _pairs_of_table(table(file), file), kind=kind, is_text=is_text, write=write,
        can_store=lambda word: bool(word.strip(BLANK)) and tables.fits(name, word), ending=name,
    )  # fmt: skip


XLSX = _format("xlsx", lambda file: tables.workbook(file.path), kind="xlsx")
TSV = _format(
    "tsv", lambda file: TableRows("tsv", tables.tab_rows(file.lines), f"{file.path}:"), is_text=_is_tsv
)
CSV = _format("csv", _csv, is_text=_is_csv)
PARQUET = DictionaryFormat(
    "parquet", lambda file: _pairs_of_table(tables.columns_of_parquet(file.path), file), kind="parquet"
)


def _json(file: DictionaryFile) -> TableRows:
    """Objects or lists of two words, on each line or in a list; or one object, of words and translations."""
    if _LISTS.match("\n".join(file.filled[:2])):
        lines = [line for line in file.lines if line.strip()]
        for text in ("\n".join(lines), f"[{','.join(lines)}]"):
            with suppress(ValueError):
                found = parse_json(text)
                if all(isinstance(one, list) for one in found):
                    rows = ((number, [*map(str, one)]) for number, one in enumerate(found, 1))
                    return TableRows("jsonl", rows, f"{file.path}:")
        raise BadFile(f"{file.path}:1: expected pairs of words in JSON, got {file.first[:60]!r}; correct it")
    table = tables.objects(tables.objects_of_text(file.filled, file.lines), file.path)
    names, first = table.names or [], [*islice(table.rows, 2)]
    if len(first) == 1 and len(names) > _LEAST_WORDS and columns_of_header(names, file.languages) is None:
        return replace(table, rows=enumerate(map(list, zip(names, first[0][1], strict=True)), 1), names=None)
    return replace(table, rows=chain(first, table.rows))


JSONL = DictionaryFormat(
    "jsonl", lambda file: _pairs_of_table(_json(file), file),
    is_text=lambda file: any(one.match("\n".join(file.filled[:2])) for one in (tables.JSON, _LISTS)),
    write=lines_writer(lambda path, place, entry: json.dumps(
        {name: value for name, value in entry._asdict().items() if value != ()}, ensure_ascii=False
    )),
    ending="jsonl",
)  # fmt: skip
