"""Tables: rows of cells, read from and written to CSV, TSV, Excel, JSON lines and Parquet.

Which columns are wanted of one is told in `muse.files.columns`. CSV is written for spreadsheets: UTF-8
with a byte order mark, quoted where needed. A spreadsheet would run a cell of CSV that begins with =, +, -,
@, a tab or a carriage return as a formula, so such text gets an apostrophe in front (`harmless`), which
`plain_cell` removes again. A sheet of Excel and TSV have the text as it is.

The only user of openpyxl. CSV is read by Python's csv: pyarrow's refuses rows of several lengths, and names
no line.
"""

import csv
import json
import logging
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import chain, count, islice, zip_longest
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting, MuseError
from muse.files.cells import number_in
from muse.files.detect import TABLE, TEXT, open_beginning, readable_kind
from muse.files.json_text import parse_json
from muse.files.parquet import open_parquet, require_pyarrow, table_of_columns
from muse.files.plain_text import read_lines
from muse.files.source import RATIO, check_archive, is_stream
from muse.files.writing import check_place, check_unicode, replaced, unwritable
from muse.optional import library

log = logging.getLogger(__name__)

Cell = str | int | float | bool | None
Row = Sequence[Cell]
WriteRow = Callable[[Row], object]
Columns = Mapping[str, type]  # the type of the cells of each column; any cell may be None
NumberedRow = tuple[int, list[str]]  # the number of the row or line, from 1
SheetRows = list[tuple[int, Sequence[object]]]  # of Excel, with their numbers

FORMS = ("tsv", "csv", "xlsx", "parquet")
TEXT_FORMS = ("tsv", "csv")
BOM = "\ufeff"
BARS = " ||| "  # between the fields of a line, as Moses and fast_align have them
QUOTED = re.compile(r'"(?!"\Z)[^"]*+(?:""[^"]*+)*+"')  # without memory for each character
MOST_ROWS, LONGEST_CELL = 1_048_576, 32_767  # of a sheet of Excel, which counts the header, and UTF-16 units
MOST_COLUMNS = 1 << 14  # that a row has, as many as a sheet of Excel
MOST_CELLS = 1 << 24  # that are read of a workbook, empty ones included
FREE_CELLS = 1 << 20  # that rows of any workbook may have, and RATIO for each byte
_SAMPLE = 1_000  # lines that tell what a file is
_WIDTHS = {True: 28, False: 12}  # of columns of text and of numbers in a sheet
JSON = re.compile(r"""\s*(?:\[\s*(?:\{|$)|\{\s*(?:"|$))""")
_CELL_OF_R = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[-+.\w]+)(?: |$)')
_OF_R = re.compile(rf'(?=.*" "|"[^"]*"$)(?:{_CELL_OF_R.pattern})+')
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
# What XML cannot have, and a carriage return, which it does not keep.
_NOT_IN_A_SHEET = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")


@dataclass(frozen=True)
class TableRows:
    """The rows of a table, and what an error writes before the number of one.

    `names` are those of the columns in JSON lines and Parquet, which always have them; of other tables the
    first row may have names.
    """

    form: str
    rows: Iterator[NumberedRow]
    place: str
    names: list[str] | None = None


def open_table(path: Path, columns: int = 2, *, spaced: bool = False) -> TableRows:
    """A table by what is in the file, whatever its name says.

    What separates the cells of text is told by the lines and by the number of `columns`: a tab, three bars, a
    comma, a semicolon, a bar or, if they may be `spaced`, a space.
    """
    with open_beginning(path) as file:
        kind = TEXT.name if is_stream(path) else readable_kind(file, TABLE).name
    if kind in ("xlsx", "parquet"):
        return workbook(path) if kind == "xlsx" else columns_of_parquet(path)
    lines = read_lines(path)
    sample = list(islice(lines, _SAMPLE))
    first = next(filter(str.strip, sample), "")
    lines = chain(sample, lines)
    if JSON.match(first):
        return objects(objects_of_text([line for line in sample if line.strip()], lines), path)
    sign = first[4:] if re.fullmatch("sep=[,;|\t]", first) else _separator(sample, columns, " " * spaced)
    if sign != "\t" and is_of_r([line for line in sample if line.strip()]):
        return TableRows("csv", rows_of_r(lines), f"{path}:")
    if sign == "\t" and _all_quoted(sample):
        return TableRows("tsv", csv_rows(lines, path, sign), f"{path}:")
    if sign == " ":
        lines = (" ".join(line.split()) for line in lines)
    if sign in ",;|":
        rows = csv_rows(lines, path, sign)
        return TableRows("csv", (row for row in rows if not row[1][:1] == ["sep="]), f"{path}:")
    return TableRows("tsv", tab_rows(lines, sign), f"{path}:")


def objects_of_text(first: Sequence[str], lines: Iterator[str]) -> Iterator[str]:
    """JSON lines, also of one array of objects, alone or in another object, and of an object of columns."""
    with suppress(ValueError):
        if len(first) > 1 and isinstance(parse_json(first[0]), dict):
            return lines
    lines = iter(whole := [*lines])
    with suppress(ValueError):
        found = parse_json("\n".join(whole))
        values = [*found.values()] if isinstance(found, dict) else [found]
        if (rows := next(filter(_has_objects, values), None)) is None:
            rows = _rows_of_columns(found) if isinstance(found, dict) else [found]
        return map(json.dumps, rows)
    return lines


def _has_objects(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def _rows_of_columns(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object of columns, as pandas writes it; the object itself if it is a row."""
    columns = {
        name: [*one.values()] if isinstance(one, dict) and all(map(str.isdecimal, one)) else one
        for name, one in found.items()
    }
    lengths = {len(one) if isinstance(one, list) else 0 for one in columns.values()}
    if len(columns) < 2 or len(lengths) > 1 or max(lengths) < 2:
        return [found]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _separator(sample: Sequence[str], columns: int, others: str) -> str:
    """What stands between the cells of most lines, of several signs what gives this many columns."""
    lines = [line for line in sample if line.strip()]
    for sign in ("\t", BARS.strip()):
        if 2 * sum(sign in line for line in lines) > len(lines):
            return sign

    def rank(sign: str) -> tuple[float, bool]:
        rows = [len(line.split()) for line in lines] if sign == " " else _widths(lines, sign)
        ((width, count),) = Counter(width for width in rows if width > 1).most_common(1) or [(0, 0)]
        return count / max(1, len(rows)), width == columns

    best = max(f",;|{others}", key=rank)
    return best if rank(best)[0] else "\t"


def _widths(lines: Iterable[str], delimiter: str) -> list[int]:
    found = list[int]()
    with suppress(BadFile):  # the sample may end inside a cell; reading the table reports other errors
        found.extend(len(cells) for _, cells in csv_rows(lines, Path(), delimiter) if cells)
    return found


def _all_quoted(sample: Sequence[str]) -> bool:
    """Whether all cells of lines with tabs between that are no numbers have quotation marks around them."""
    cells = {cell for line in sample if line.strip() for cell in line.split("\t") if cell}
    quoted = {cell for cell in cells if QUOTED.fullmatch(cell)}
    return bool(quoted) and all(number_in(cell) is not None for cell in cells - quoted)


def is_of_r(lines: Sequence[str]) -> bool:
    """Whether lines are cells in quotation marks or numbers with spaces between, as R writes them."""
    return bool(lines) and all(map(_OF_R.fullmatch, lines))


def rows_of_r(lines: Iterable[str]) -> Iterator[NumberedRow]:
    """The rows of such lines."""
    for number, line in enumerate(lines, 1):
        cells = (cell.removesuffix(" ") for cell in _CELL_OF_R.findall(line))
        yield number, [cell[1:-1].replace('\\"', '"') if cell.startswith('"') else cell for cell in cells]


def tab_rows(lines: Iterable[str], sign: str = "\t") -> Iterator[NumberedRow]:
    """The rows of TSV, whose cells are as they are: quotation marks belong to the text."""
    return (
        (number, line.split("\t") if sign == "\t" else [cell.strip() for cell in line.split(sign)])
        for number, line in enumerate(lines, 1)
    )


def csv_rows(
    lines: Iterable[str], path: Path, delimiter: str = ",", *, quote: str = '"', exact: bool = False
) -> Iterator[NumberedRow]:
    """The rows of CSV, whose cells may be quoted, with delimiters and ends of lines in them.

    Spaces at the beginning of a cell, which quotation marks may follow, are skipped unless it is `exact`:
    then text may also follow the quotation marks that end a cell.
    """
    texts, strict = (f"{line}\n" for line in lines), not exact
    reader = csv.reader(texts, delimiter=delimiter, quotechar=quote, skipinitialspace=strict, strict=strict)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            wrong = f"cells with {delimiter!r} between, got a quoted one that does not end before it"
            if "field larger than field limit" in str(error):
                wrong = f"cells of at most {csv.field_size_limit()} characters, got another"
            raise BadFile(
                f"{path}:{number}: expected {wrong} ({error}); close the quotation marks, or double those "
                "that stand in a cell"
            ) from None
        if cells is None:
            return
        yield number, cells


def objects(lines: Iterable[str], path: Path) -> TableRows:
    """The table whose lines are JSON objects, with the names that the first ones have.

    What is in an object of theirs, as in `{"translation": {"fr": "roi", "en": "king"}}`, counts as theirs.
    """
    filled = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    return _of_named("jsonl", path, ((at, json_object(line, f"{path}:{at}")) for at, line in filled))


def _of_named(
    form: str, path: Path, found: Iterator[tuple[int, dict[str, Any]]], names: Sequence[str] = ()
) -> TableRows:
    flat = ((number, _flat(one)) for number, one in found)
    sample = list(islice(flat, _SAMPLE))
    names = [*dict.fromkeys(name for _, one in sample for name in one)] or [*names]
    rows = ((number, [_text_of(one.get(name)) for name in names]) for number, one in chain(sample, flat))
    return TableRows(form, rows, f"{path}:", names)


def _flat(found: Mapping[str, Any]) -> dict[str, Any]:
    parts = [(key, one if isinstance(one, dict) else {key: one}) for key, one in found.items()]
    counts = Counter(name for _, part in parts for name in part)
    return {
        name if counts[name] == 1 else f"{key} {name}": one
        for key, part in parts
        for name, one in part.items()
    }


def json_object(line: str, where: str) -> dict[str, Any]:
    """The JSON object on a line; BadFile, with its place, for anything else."""
    try:
        found = parse_json(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadFile(f"{where}: expected a JSON object on each line, got {line[:60]!r}; correct it")
    return found


def columns_of_parquet(path: Path) -> TableRows:
    """The table of a Parquet file, likewise."""
    with open_parquet(path) as file:
        names = list(map(str, file.schema_arrow.names))

    def rows() -> Iterator[tuple[int, dict[str, Any]]]:
        with open_parquet(path) as file:
            found = (row for batch in file.iter_batches() for row in zip(*batch.columns, strict=True))
            for number, row in enumerate(found, 1):
                yield number, {name: cell.as_py() for name, cell in zip(names, row, strict=True)}

    return _of_named("parquet", path, rows(), names)


def workbook(path: Path) -> TableRows:
    """The first sheet of an Excel workbook with two columns, or else with any, of at most MOST_CELLS.

    Blank columns and a title above the others are left out. Raise BadFile for formulas without results.
    """
    openpyxl = require_openpyxl(path)
    try:
        check_archive(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that it does not know
            sheets = _sheets_of(path, openpyxl.load_workbook(path, read_only=True, data_only=True))
            if not sheets:
                raise ValueError("without sheets")
            title = next((name for name, rows in sheets.items() if _is_table(rows)), None)
            if title is None:  # no program has computed what it would show
                formulas = _sheets_of(path, openpyxl.load_workbook(path, read_only=True))
                cells = (cell for rows in formulas.values() for _, row in rows for cell in row)
                if any(str(cell).startswith("=") for cell in cells):
                    raise BadFile(
                        f"{path}: expected cells with text, got formulas without results; open it in a "
                        "spreadsheet program and save it, or save it as CSV UTF-8"
                    )
    except MuseError:
        raise
    except Exception as error:  # noqa: BLE001  # openpyxl raises what it comes across
        raise BadFile(
            f"{path}: expected a complete Excel workbook, got a damaged one ({error}); save it again"
        ) from None
    title = title or next((name for name, rows in sheets.items() if rows), next(iter(sheets)))
    if len(sheets) > 1:
        log.warning("%s: of its %d sheets %s is read; put first the one you mean", path, len(sheets), title)
    rows, place = sheets[title], f"{path}:{title}!A"
    if odd := _no_text(rows):
        log.warning(
            "%s%d: %s is no text, as %d of the cells; a spreadsheet makes dates of words such as march 1, "
            "and TRUE of true: make such cells text, and type the words again",
            place, odd[0][0], odd[0][1], len(odd),
        )  # fmt: skip
    return TableRows("xlsx", iter(_trimmed(rows)), place)


def _sheets_of(path: Path, book: Any) -> dict[str, SheetRows]:
    """The rows of each sheet that have any cell, up to the first table; BadFile for too many.

    A cell far from the others takes no room in the file, but all between are empty cells of its row.
    """
    sheets, cells, kept = {sheet.title: SheetRows() for sheet in book.worksheets}, 0, 0
    most = max(FREE_CELLS, RATIO * path.stat().st_size)
    try:
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # of what a file says of its size, which may be anything
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
                filled = any(cell is not None for cell in row)
                cells, kept = cells + max(1, len(row)), kept + len(row) * filled
                if number > MOST_ROWS or cells > MOST_CELLS or kept > most:
                    raise BadFile(
                        f"{path}: expected at most {MOST_ROWS:,} rows and {min(most, MOST_CELLS):,} cells, "
                        "got more, empty ones included; save it as CSV UTF-8"
                    )
                if filled:
                    sheets[sheet.title].append((number, row))
            if _is_table(sheets[sheet.title]):
                break
    finally:
        book.close()
    return sheets


def _no_text(rows: SheetRows) -> list[tuple[int, str]]:
    """The dates and truth values, with the numbers of their rows, in columns of text."""
    found = list[tuple[int, str]]()
    for column in zip_longest(*(row for _, row in rows)):
        odd = [place for place, cell in enumerate(column) if isinstance(cell, bool | date)]
        if odd and 2 * sum(isinstance(cell, str) for cell in column[1:]) > len(column):
            found += ((rows[place][0], _text_of(column[place])) for place in odd)
    return found


def _is_table(rows: SheetRows) -> bool:
    """Whether two rows have two cells."""
    return sum(sum(cell is not None for cell in row) > 1 for _, row in rows) > 1


def _trimmed(rows: SheetRows) -> list[NumberedRow]:
    """The cells as text, all rows of one width, without blank columns and what stands above a table."""
    width = max((len(row) for _, row in rows), default=0)
    texts = [(number, [*map(_text_of, row), *[""] * (width - len(row))]) for number, row in rows]
    if _is_table(rows):
        begin = next(at for at, (_, row) in enumerate(texts) if sum(map(bool, row)) > 1)
        texts = texts[begin:]
    filled = [place for place in range(width) if any(row[place] for _, row in texts)]
    return [(number, [row[place] for place in filled]) for number, row in texts]


def require_openpyxl(path: Path) -> Any:
    """The package openpyxl; MissingExtra if it is not installed."""
    return library("openpyxl", f"{path}: a sheet of Excel (unlike CSV)", "tables")


def _text_of(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).upper()
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, list):
        return "; ".join(map(_text_of, value))
    if isinstance(value, float) and float(short := f"{value:.15g}") == value:
        return short
    return str(value)


# Writing


def form_of(path: Path, forms: Sequence[str] = FORMS) -> str | None:
    """The one of these formats that a name ends in, whatever its case; None if it ends in no such format.

    >>> form_of(Path("words.CSV.gz")), form_of(Path("words.xlsx")), form_of(Path("words.txt"))
    ('csv', 'xlsx', None)
    """
    packed = path.suffix == ".gz"  # as files are written
    ending = Path(path.stem if packed else path.name).suffix[1:].lower()
    return ending if ending in forms and not (packed and ending in ("xlsx", "parquet")) else None


def harmless(text: str) -> str:
    """The text as a cell of CSV, with an apostrophe in front if a spreadsheet would run it as a formula.

    >>> harmless("=1+1"), harmless("porte-clés"), plain_cell(harmless("'-"))
    ("'=1+1", 'porte-clés', "'-")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def plain_cell(cell: str) -> str:
    """The text that `harmless` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def fits(form: str, text: str) -> bool:
    r"""Whether a cell of this format can have a text.

    >>> fits("csv", "a\tb"), fits("tsv", "a\tb"), fits("xlsx", "a\x07")
    (True, False, False)
    """
    if form == "xlsx":
        return (
            not _NOT_IN_A_SHEET.search(text) and len(text.encode("utf-16-le", "replace")) <= 2 * LONGEST_CELL
        )
    lacking = {"tsv": "\t\n\r", "csv": "\n\r"}.get(form, "")
    return not any(sign in text for sign in lacking)


def require_form(path: Path, form: str) -> None:
    """Raise MissingExtra if a package is missing that writes this format, BadSetting for a name of another.

    That is .gz of what is packed already, and .xlsx of text or the reverse, which Excel does not open.
    """
    if form in FORMS and form not in TEXT_FORMS and path.suffix == ".gz":
        raise BadSetting(f"{path}: {form} is packed already; choose a name that ends in .{form}, without .gz")
    ending = path.suffix[1:].lower()
    if (ending == "xlsx") != (form == "xlsx") and (ending == "xlsx" or ending in TEXT_FORMS):
        raise BadSetting(
            f"{path}: expected the name of a file of the format {form}, got one that ends in .{ending}; "
            "choose another name, or leave the format to the name"
        )
    if form == "parquet":
        require_pyarrow(path, "tables")
    elif form == "xlsx":
        require_openpyxl(path)


def check_rows(path: Path, form: str, rows: int) -> None:
    """Raise BadSetting if a table of so many rows does not fit the format."""
    if form == "xlsx" and rows >= MOST_ROWS:
        raise BadSetting(
            f"{path}: a sheet of Excel has at most {MOST_ROWS:,} rows with its header, got {rows + 1:,} or "
            "more; write a .csv, or fewer rows"
        )


class _Echo:
    write = staticmethod(str)  # so that csv's writerow returns the line


def line_maker(path: Path, form: str) -> Callable[[Row], str]:
    """What makes a row a line of CSV or TSV; `path` is for errors."""
    places, as_csv = count(0), csv.writer(_Echo(), lineterminator="\n").writerow

    def line(row: Row) -> str:
        checked = _checked(path, form, row, next(places))
        if form == "tsv":
            return "\t".join(map(_shown, checked)) + "\n"
        return str(as_csv([harmless(cell) if isinstance(cell, str) else _shown(cell) for cell in checked]))

    return line


def header(columns: Columns, form: str) -> str:
    """The first line of a table as text."""
    return f"{BOM}{','.join(columns)}\n" if form == "csv" else "\t".join(columns) + "\n"


@contextmanager
def table_writer(path: Path | str, columns: Columns, form: str | None = None) -> Iterator[WriteRow]:
    r"""A function that appends a row to `path`; the file appears once complete, or not at all.

    Without a `form`, one of FORMS, the name says it. Raise BadSetting for another name, MissingExtra if a
    package is missing, and Mismatch for text that the format cannot represent.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "words.tsv"
    ...     with table_writer(path, {"source": str, "probability": float, "mutual": bool}) as write:
    ...         _ = write(["chat", 0.875, True])
    ...         _ = write(["zzz", None, None])
    ...     path.read_text()
    'source\tprobability\tmutual\nchat\t0.875\ttrue\nzzz\t\t\n'
    """
    path = Path(path)
    form = form or form_of(path)
    if form not in FORMS:
        raise BadSetting(f"a table format must be one of {', '.join(FORMS)}; got {form or path.name!r}")
    check_place(path)
    require_form(path, form)
    if form in TEXT_FORMS:
        line = line_maker(path, form)
        with replaced(path) as stream:
            stream.write(header(columns, form).encode())
            yield lambda row: stream.write(line(row).encode())
        return
    places = count()
    with (_sheet if form == "xlsx" else table_of_columns)(path, columns) as write:
        yield lambda row: write(_checked(path, form, row, next(places)))


@contextmanager
def _sheet(path: Path, columns: Columns) -> Iterator[WriteRow]:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils import get_column_letter

    book, places = Workbook(write_only=True), count(1)
    sheet = book.create_sheet("muse")
    sheet.freeze_panes = "A2"  # the header stays in sight
    letters = [*map(get_column_letter, range(1, len(columns) + 1))]
    for letter, (name, kind) in zip(letters, columns.items(), strict=True):
        # With room for the button of the filter.
        sheet.column_dimensions[letter].width = max(_WIDTHS[kind is str], len(name) + 4)

    def cell(name: str, value: Cell) -> Any:
        made = WriteOnlyCell(sheet, value if not isinstance(value, float) else float(_shown(value)))
        if isinstance(value, str):
            made.data_type = "s"  # openpyxl would take =... for a formula, and #N/A for an error
        elif name == "probability":
            made.number_format = "0%"
        return made

    def append(row: Row) -> None:
        check_rows(path, "xlsx", next(places))
        sheet.append([*map(cell, columns, row)])

    try:
        with replaced(path) as stream:
            sheet.append(list(columns))
            yield append
            sheet.auto_filter.ref = f"A1:{letters[-1]}{next(places)}"
            book.save(stream)
    except BaseException as error:
        with suppress(Exception):  # on a full disk this fails too
            sheet.close()  # its temporary file is open
        if type(error).__name__ == "SerialisationError":  # lxml's, if openpyxl has it, for errors of disks
            raise BadFile(
                f"{path}: expected a disk with room, also for temporary files, got {error}; free some space, "
                "or set TMPDIR"
            ) from error
        raise


def _checked(path: Path, form: str, row: Row, place: int) -> Row:
    for cell in row:
        if isinstance(cell, str):
            check_unicode(path, cell, place, kind="row")
            if not fits(form, cell):
                raise unwritable(path, cell[:60], place, kind="row")
    return row


def _shown(cell: Cell) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    return "" if cell is None else str(cell) if isinstance(cell, int | str) else f"{cell:.6g}"
