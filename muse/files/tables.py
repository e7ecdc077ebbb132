"""Tables: rows below a header, as CSV or TSV text, an Excel sheet or Parquet, by the ending of the name.

CSV is for spreadsheets: UTF-8 with a byte order mark, quoted where needed. A spreadsheet would run a cell of
CSV that begins with =, +, -, @, a tab or a carriage return as a formula, so such text gets an apostrophe in
front (`harmless`), which `plain_cell` removes again. A sheet of Excel and TSV have the text as it is.

The only user of openpyxl that writes.
"""

from __future__ import annotations

import csv
import io
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting, MissingExtra
from muse.files.parquet import require_pyarrow, table_of_columns
from muse.files.writing import check_place, check_unicode, replaced, unwritable
from muse.installation import install_extra

Cell = str | int | float | bool | None
Row = Sequence[Cell]
WriteRow = Callable[[Row], None]
Columns = Mapping[str, type]  # the type of the cells of each column; any cell may be None

ZIP_YEARS = 1980, 2107  # between which the times of a .zip lie, which a sheet is
FORMS = ("tsv", "csv", "xlsx", "parquet")
TEXT_FORMS = ("tsv", "csv")
BOM = "\ufeff"
MOST_ROWS, LONGEST_CELL = 1_048_576, 32_767  # of a sheet of Excel, which counts the header, and UTF-16 units
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
# What XML cannot have, and a carriage return, which it does not keep.
_NOT_IN_A_SHEET = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def form_of(path: Path, forms: Sequence[str] = FORMS) -> str | None:
    """The one of these formats that a name ends in, whatever its case; None if it ends in no such format.

    >>> form_of(Path("words.CSV.gz")), form_of(Path("words.xlsx")), form_of(Path("words.txt"))
    ('csv', 'xlsx', None)
    """
    packed = path.suffix == ".gz"  # as files are written
    ending = Path(path.stem if packed else path.name).suffix[1:].lower()
    return ending if ending in forms and (ending in TEXT_FORMS or not packed) else None


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
        try:
            import openpyxl  # noqa: F401
        except ImportError as error:
            raise MissingExtra(
                f"{path}: a sheet of Excel needs openpyxl, which is missing; run {install_extra('tables')}"
            ) from error
        if not ZIP_YEARS[0] <= (year := time.localtime().tm_year) <= ZIP_YEARS[1]:
            raise BadSetting(
                f"{path}: a sheet of Excel needs a clock from {ZIP_YEARS[0]} to {ZIP_YEARS[1]}, got the year "
                f"{year}; set the clock of this machine, or write a .csv"
            )


def check_rows(path: Path, form: str, rows: int) -> None:
    """Raise BadSetting if a table of so many rows does not fit the format."""
    if form == "xlsx" and rows >= MOST_ROWS:
        raise BadSetting(
            f"{path}: a sheet of Excel has at most {MOST_ROWS:,} rows with its header, got {rows + 1:,} or "
            "more; write a .csv, or fewer rows"
        )


def line_maker(path: Path, form: str) -> Callable[[Row], str]:
    """What makes a row a line of CSV or TSV; `path` is for errors."""
    places = count(0)
    if form == "tsv":
        return lambda row: "\t".join(map(_shown, _checked(path, form, row, next(places)))) + "\n"
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")

    def line(row: Row) -> str:
        checked = _checked(path, form, row, next(places))
        writer.writerow([harmless(cell) if isinstance(cell, str) else _shown(cell) for cell in checked])
        found = buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        return found

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
    ...         write(["chat", 0.875, True])
    ...         write(["zzz", None, None])
    ...     path.read_text()
    'source\tprobability\tmutual\nchat\t0.875\ttrue\nzzz\t\t\n'
    """
    path = Path(path)
    form = form or form_of(path)
    if form not in FORMS:
        raise BadSetting(f"a table format must be one of {', '.join(FORMS)}; got {form or path.name!r}")
    check_place(path)
    require_form(path, form)
    make = {"xlsx": _sheet, "parquet": _parquet}.get(form, _text)
    with make(path, columns, form) as write:
        yield write


@contextmanager
def _text(path: Path, columns: Columns, form: str) -> Iterator[WriteRow]:
    line = line_maker(path, form)
    with replaced(path) as stream:

        def append(row: Row) -> None:
            stream.write(line(row).encode())

        stream.write(header(columns, form).encode())
        yield append


@contextmanager
def _parquet(path: Path, columns: Columns, form: str) -> Iterator[WriteRow]:
    places = count(0)
    with table_of_columns(path, columns) as write:

        def append(row: Row) -> None:
            write(_checked(path, form, row, next(places)))

        yield append


@contextmanager
def _sheet(path: Path, columns: Columns, form: str) -> Iterator[WriteRow]:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet = book.create_sheet("muse")
    sheet.freeze_panes = "A2"  # the header stays in sight
    places = count(0)

    def cell(value: Cell) -> Any:
        made = WriteOnlyCell(sheet, value if not isinstance(value, float) else float(_number(value)))
        if isinstance(value, str):
            made.data_type = "s"  # openpyxl would take =... for a formula, and #N/A for an error
        return made

    def append(row: Row) -> None:
        place = next(places)
        check_rows(path, form, place + 1)
        sheet.append([cell(value) for value in _checked(path, form, row, place)])

    try:
        with replaced(path) as stream:
            sheet.append(list(columns))
            yield append
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
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, bool):
        return str(cell).lower()
    return _number(cell)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"
