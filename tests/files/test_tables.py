"""Tables for other programs, read back by those: Python's csv, pandas, openpyxl and pyarrow."""

import csv
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch, MissingExtra
from muse.files import tables
from muse.files.tables import (
    FORMS,
    QUOTED,
    fits,
    form_of,
    harmless,
    open_table,
    plain_cell,
    table_writer,
)  # fmt: skip
from tests.support.vector_files import write_sheet

COLUMNS = {"source": str, "rank": int, "probability": float, "mutual": bool, "reason": str}
ROWS: list[list[Any]] = [
    ["=HYPERLINK(1)", 1, -0.125, True, None],
    ["+1", 2, 0.5, False, 'with, "quotes"'],
    ["-", 1, 1e-9, True, "été"],
    ["@home", None, None, None, "unknown"],
    ["'quoted", 1, 0.25, False, "#N/A"],
    ["'-tis", 1, 1.0, True, "  blanks "],
    ["naïve 東京", 1, 2.0, True, "TRUE"],
]


def written(path: Path, rows: list[list[Any]] = ROWS) -> Path:
    with table_writer(path, COLUMNS) as write:
        for row in rows:
            write(row)
    return path


def plain(value: Any) -> str:
    """A value as text has it."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_csv_is_read_by_python(tmp_path: Path) -> None:
    path = written(tmp_path / "words.csv")
    assert path.read_bytes().startswith(b"\xef\xbb\xbfsource,rank,probability,mutual,reason\n")
    with path.open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == list(COLUMNS)
    assert not [cell for row in rows for cell in (row[0], row[4]) if cell[:1] in tuple("=+-@")]
    assert [plain_cell(row[0]) for row in rows] == [row[0] for row in ROWS]
    assert [row[4] for row in rows] == [plain(row[4]) for row in ROWS]
    assert [(row[1], row[3]) for row in rows] == [(plain(row[1]), plain(row[3])) for row in ROWS]
    assert [row[2] and float(row[2]) for row in rows] == ["" if row[2] is None else row[2] for row in ROWS]


@pytest.mark.slow
def test_csv_is_read_by_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(written(tmp_path / "words.csv.gz", ROWS[:3] + ROWS[4:]))
    assert list(frame) == list(COLUMNS)
    assert [str(frame[name].dtype) for name in ("rank", "probability", "mutual")] == [
        "int64",
        "float64",
        "bool",
    ]
    assert list(map(plain_cell, frame["source"])) == [row[0] for row in ROWS[:3] + ROWS[4:]]


def test_tsv_has_the_text_as_it_is(tmp_path: Path) -> None:
    text = written(tmp_path / "words.tsv").read_text(encoding="utf-8")
    assert [line.split("\t")[0] for line in text.splitlines()] == ["source", *(row[0] for row in ROWS)]
    rows = [["a", 1, np.float32(0.1), True, ""]]
    assert "a\t1\t0.1\ttrue\t\n" in written(tmp_path / "words.tsv", rows).read_text(encoding="utf-8")


def test_a_sheet_is_read_by_openpyxl(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(written(tmp_path / "words.xlsx"))
    cells = list(book.active.iter_rows())
    assert [tuple(cell.value for cell in row) for row in cells] == [tuple(COLUMNS), *map(tuple, ROWS)]
    assert all(
        cell.data_type == "s" for row in cells for cell in (row[0], row[4]) if cell.value
    )  # no formula
    formats = {cell.number_format for row in cells[1:] for cell in row[2:3] if cell.value is not None}
    assert formats == {"0%"}
    assert book.active.auto_filter.ref


def test_parquet_is_read_by_pyarrow(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(written(tmp_path / "words.parquet"))
    assert [str(field.type) for field in table.schema] == ["string", "int64", "double", "bool", "string"]
    assert table.to_pylist() == [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]


def test_many_rows_of_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [[str(row), row, None, None, None] for row in range(20_000)]
    assert parquet.read_table(written(tmp_path / "words.parquet", rows))["rank"].to_pylist() == [
        *range(20_000)
    ]


@pytest.mark.parametrize("form", FORMS)
def test_an_error_leaves_what_was_there(tmp_path: Path, form: str) -> None:
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    path = tmp_path / f"words.{form}"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt), table_writer(path, COLUMNS) as write:
        write(ROWS[0])
        raise KeyboardInterrupt
    assert (path.read_text(), list(tmp_path.iterdir())) == ("before", [path])


UNFIT = [("tsv", "a\tb"), ("csv", "a\nb"), ("xlsx", "a\x07"), ("xlsx", "x" * 32_768), ("xlsx", "😀" * 16_384)]


@pytest.mark.parametrize(("form", "text"), [*UNFIT, *((form, "\ud800") for form in FORMS)], ids=ascii)
def test_text_that_a_format_lacks_is_an_error(tmp_path: Path, form: str, text: str) -> None:
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    with pytest.raises(Mismatch, match=r"words\.\w+: expected words that this format can represent.*row 2"):
        written(tmp_path / f"words.{form}", [ROWS[0], [text, 1, 0.0, True, None]])
    assert not list(tmp_path.iterdir())


def test_what_just_fits(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(written(tmp_path / "words.xlsx", [["x" * 32_767, 1, 0.0, True, "a\tb\nc"]]))
    assert [cell.value for cell in book.active[2]][::4] == ["x" * 32_767, "a\tb\nc"]
    assert not fits("xlsx", "\r") and fits("parquet", "\x00\r\n\t")


def test_a_sheet_has_so_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openpyxl")
    monkeypatch.setattr(tables, "MOST_ROWS", 4)
    assert written(tmp_path / "words.xlsx", ROWS[:3]).exists()
    with pytest.raises(BadSetting, match="more.xlsx: a sheet of Excel has at most 4 rows .*, got 5"):
        written(tmp_path / "more.xlsx", ROWS[:4])
    assert not (tmp_path / "more.xlsx").exists()


@pytest.mark.parametrize("name", ["words.txt", "words", "words.xlsx.gz", "words.ods"])
def test_another_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadSetting, match="must be one of tsv, csv, xlsx, parquet"):
        written(tmp_path / name)
    with pytest.raises(BadFile, match="got a folder"), table_writer(tmp_path, COLUMNS, "csv"):
        pass


@pytest.mark.parametrize(("form", "package"), [("xlsx", "openpyxl"), ("parquet", "pyarrow.parquet")])
def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, package: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingExtra, match=rf"words.{form}: .* needs .* which is missing; run .*\[tables\]"):
        written(tmp_path / f"words.{form}")


def test_names() -> None:
    names = ("a.csv", "a.CSV", "a.tsv.gz", "a.b.XLSX", "a.parquet", "a.parquet.gz", "csv", ".csv", "a.txt")
    found = ["csv", "csv", "tsv", "xlsx", "parquet", None, None, None, None]
    assert [form_of(Path(name)) for name in names] == found
    assert harmless("\tx") == "'\tx" and harmless("x=1") == "x=1"


@pytest.mark.parametrize("form", ["xlsx", "parquet"])
def test_what_is_packed_already_is_not_compressed(tmp_path: Path, form: str) -> None:
    with pytest.raises(BadSetting, match=f"{form} is packed already"):
        with table_writer(tmp_path / f"words.{form}.gz", COLUMNS, form):
            pass
    assert not list(tmp_path.iterdir())
    assert form_of(Path("words.csv.GZ")) is None  # which nothing would compress


def test_a_full_disk_under_a_sheet_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openpyxl")
    etree = pytest.importorskip("lxml.etree")

    def full(*given: object) -> None:
        raise etree.SerialisationError("IO_ENOSPC")

    monkeypatch.setattr("openpyxl.worksheet._write_only.WriteOnlyWorksheet.append", full)
    monkeypatch.setattr("openpyxl.worksheet._write_only.WriteOnlyWorksheet.close", full)
    with pytest.raises(BadFile, match=r"words.xlsx: .* got IO_ENOSPC"):
        written(tmp_path / "words.xlsx")
    assert not (tmp_path / "words.xlsx").exists()


FAR = {  # the cells with something in them beside a table of 39 rows above, and whether it is read
    "a cell below": ([(1_048_576, 1)], True),
    "a cell at the right": ([(50, 16_384)], True),
    "a column beyond Excel's": ([(50, 18_278)], True),
    "below the last row": ([(2_000_000, 1)], False),
    "far below": ([(2_000_000_000, 1)], False),
    "wide rows": ([(row, 16_384) for row in range(40, 1_000)], False),
    "rows that are wide at the end": ([(row, 2_000) for row in range(9_000, 10_000)], False),
}


@pytest.mark.parametrize("kind", FAR)
def test_cells_far_from_the_others_take_little(tmp_path: Path, kind: str) -> None:
    cells, read = FAR[kind]
    write_sheet(tmp_path / "x.xlsx", [*((row, column) for row in range(1, 40) for column in (1, 2)), *cells])
    if read:
        assert len([*open_table(tmp_path / "x.xlsx").rows]) == 40
        return
    with pytest.raises(BadFile, match="expected at most 1,048,576 rows and [0-9,]+ cells, got more"):
        open_table(tmp_path / "x.xlsx")


def test_a_long_quoted_cell_is_recognised_without_memory_for_each_character() -> None:
    cell = f'"{"a " * 500_000}""b"'
    tracemalloc.start()
    assert QUOTED.fullmatch(cell)
    assert not QUOTED.fullmatch(cell[:-1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(cell)
