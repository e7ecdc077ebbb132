"""The pages of results: their tables have the figures of their CSV files, or are said to be without rows.

A figure is right if a cell of a CSV file that its page links rounds to it, as it is or in percent, in a row
with the values that its line, with or without its column, names; or the mean of such rows over seeds or
draws does. A figure with an interval is in one row with both ends. A difference may be that of two figures
of its line, or of the figure before it and a row. Published figures have "paper" or "thesis" in their line
or column.
"""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from benchmarks.support.kept_rows import read_rows
from tests.conftest import ROOT

RESULTS = ROOT / "benchmarks" / "results"
PAGES = sorted(RESULTS.glob("*/*.md"))
LINK = re.compile(r"\]\(([\w./-]+\.csv(?:\.gz)?)\)")
NUMBER = r"(?<![\w@.-])[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?![\w@]|\.\d)"
FIGURE = re.compile(rf"({NUMBER})(?: %)?(?:\*\*)?(?: \[({NUMBER}), ({NUMBER})\])?")
WITHOUT = (
    "- **Without rows**:"  # the item of a page that names tables (by their first cell), columns and lines
)
DATES = ("date", "commit")
VARIES = (*DATES, "seed", "draw", "run", "chosen", "setting", "verdict")  # in the rows of one mean
Array = np.ndarray[Any, Any]


class Cell(NamedTuple):
    """A cell of a table: its text, the table's first cell, its column's name, the cells of its line."""

    text: str
    table: str
    column: str
    line: tuple[str, ...]


class Rows(NamedTuple):
    """The rows of a CSV file and, after them, means over seeds."""

    size: int
    names: list[dict[str, Array]]  # of each column with texts: where each of its values is
    figures: Array  # in order
    places: Array  # the row of each


def cells_of(page: str) -> Iterator[Cell]:
    """The cells of all tables of a page but for headers and first columns."""
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        header, _, *lines = map(split, table.splitlines())
        for line in lines:
            for column, text in zip(header[1:], line[1:], strict=True):
                yield Cell(text, header[0], column, tuple(line))


def split(line: str) -> list[str]:
    """The cells of a line, without marks of code, emphasis, footnotes and links."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)
    return [re.sub(r"[`*†‡]", "", cell).strip() for cell in re.split(r"(?<!\\)\|", plain)[1:-1]]


def named(texts: Sequence[str]) -> set[str]:
    """What texts may name: each as it is, and its parts between commas, colons and slashes."""
    plain = [re.sub(r"(?<=\d),(?=\d{3})", "", text.lower()) for text in texts]
    return {part.strip() for text in plain for part in (text, *re.split(r", |: | / ", text))} - {""}


def number(text: str) -> float:
    """The number, nan of another text."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


@cache
def rows_of(path: Path) -> Rows:
    """The rows of a file and the means over their seeds; figures within texts are figures too."""
    rows = read_rows(path)
    columns = [*rows[0]]
    cells = [[row[name] or "" for name in columns] for row in rows]
    matrix = np.array([[number(cell) for cell in row] for row in cells])
    means = groups(columns, cells, np.isnan(matrix))
    own = [*range(len(cells)), *(group[0] for group in means)]
    figures = np.vstack([matrix, *(matrix[group].mean(0, keepdims=True) for group in means)])
    within = [(row, figure) for row, texts in enumerate(cells) for figure in in_texts(columns, texts)]
    places = np.concatenate([np.nonzero(~np.isnan(figures))[0], np.array([row for row, _ in within], int)])
    values = np.concatenate([figures[~np.isnan(figures)], [figure for _, figure in within]])
    order = values.argsort()
    return Rows(len(own), names_of(columns, cells, own), values[order], places[order])


def in_texts(columns: Sequence[str], row: Sequence[str]) -> Iterator[float]:
    """The figures in cells that are not one number."""
    for name, cell in zip(columns, row, strict=True):
        if name not in DATES and np.isnan(number(cell)):
            yield from (number(found[0].replace(",", "")) for found in FIGURE.findall(cell))


def groups(columns: Sequence[str], cells: Sequence[Sequence[str]], texts: Array) -> list[list[int]]:
    """The rows, two to ten, that differ in no text, or in no whole number either, but in what varies.

    A text that more than half of the rows have to themselves names none.
    """
    unlike = {
        name
        for name, column in zip(columns, zip(*cells, strict=True), strict=True)
        if 3 < len(cells) < 2 * len({*column})
    }
    kept = [at for at, name in enumerate(columns) if name not in VARIES and name not in unlike]
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, row in enumerate(cells):
        found["texts", *(row[at] for at in kept if texts[index, at])].append(index)
        found["all", *(row[at] for at in kept if texts[index, at] or row[at].isdigit())].append(index)
    return [group for group in found.values() if 1 < len(group) <= 10]


def names_of(
    columns: Sequence[str], cells: Sequence[Sequence[str]], own: Sequence[int]
) -> list[dict[str, Array]]:
    """Of each column with texts, and more than one value: the rows, and means, that have a value."""
    names = []
    for at, name in enumerate(columns):
        rows = defaultdict(list)
        for index, row in enumerate(own):
            rows[cells[row][at].lower()].append(index)
        if name not in DATES and len(rows) > 1 and any(np.isnan(number(value)) for value in rows if value):
            names.append({value: np.array(places) for value, places in rows.items()})
    return names


def allowed(rows: Rows, names: set[str]) -> Array:
    """The rows that have, in each column with a value that is named, one of these or none: shape (rows,)."""
    allow = np.ones(rows.size, bool)
    for values in rows.names:
        if found := names & values.keys():
            these = np.zeros(rows.size, bool)
            for value in (*found, ""):
                these[values.get(value, [])] = True
            if (allow & these).any():
                allow &= these
    return allow


def holds(rows: Rows, allow: Array, value: float, decimals: int) -> set[int]:
    """The allowed rows with a cell that rounds to the value, as it is or in percent."""
    half, found = 0.5 * 10.0**-decimals + 1e-9, set[int]()
    for scale in (1, 100):
        first, last = np.searchsorted(rows.figures, ((value - half) / scale, (value + half) / scale))
        places = rows.places[first:last]
        found.update(places[allow[places]].tolist())
    return found


def digits(text: str) -> tuple[float, int]:
    return number(text.replace(",", "")), len(text.partition(".")[2])


def wrong(cell: Cell, files: Sequence[Rows]) -> Sequence[str]:
    """The figures of a cell that are in no row."""
    words = (cell.line[0], *(text for text in cell.line if not FIGURE.search(text)))
    found = list(FIGURE.finditer(cell.text))
    left = list(zip(found, (0.0, *(digits(match[1])[0] for match in found)), strict=False))
    for names in (named((cell.table, cell.column, *words)), named(words)):
        allow = [(rows, allowed(rows, names)) for rows in files] if left else []
        left = [
            (match, before)
            for match, before in left
            if not is_there(match, allow) and not is_difference(match[1], cell.line, before, allow)
        ]
    return [match[0] for match, _ in left]


def is_there(match: re.Match[str], allow: Sequence[tuple[Rows, Array]]) -> bool:
    """Whether a figure, and its interval if it has one, are in one of the allowed rows."""
    parts = [digits(text) for text in match.groups() if text]
    return any(set.intersection(*(holds(rows, mask, *part) for part in parts)) for rows, mask in allow)


def is_difference(text: str, line: Sequence[str], before: float, allow: Sequence[tuple[Rows, Array]]) -> bool:
    """Whether a signed figure is the difference of two of its line, or of the one before it and a row."""
    if text[0] not in "+-":
        return False
    (value, decimals), unit = digits(text), 10.0 ** -digits(text)[1]
    shown = [digits(found[0])[0] for part in line for found in FIGURE.findall(part)]
    if any(abs(abs(one - other) - abs(value)) < 1.1 * unit for one, other in combinations(shown, 2)):
        return True
    rows = [before - value + off for off in (-unit, 0, unit)]
    return any(holds(file, mask, row, decimals) for file, mask in allow for row in rows)


def without_rows(page: str) -> set[str]:
    """The tables, columns and lines that a page says to be without rows."""
    item = page.partition(WITHOUT)[2].partition("\n")[0]
    return {re.sub("[`†‡]", "", name) for name in re.findall(r"\*([^*]+)\*", item)}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_tables_are_those_of_the_rows(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    files = [rows_of((path.parent / link).resolve()) for link in sorted({*LINK.findall(page)})]
    unread, missing = without_rows(page), defaultdict(list)
    for cell in cells_of(page):
        names = unread & {cell.table, cell.column, cell.line[0]}
        if not re.search("paper|thesis", cell.column + cell.line[0]):
            for figure in wrong(cell, files):
                missing[min(names, default="")].append((cell.line[0], cell.column, figure))
    assert missing.pop("", []) == []
    assert {*missing} == unread, "a name without rows that stands in no table, or has rows"


def test_a_figure_that_is_in_no_row_is_found(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "encoder,seed,p_at_1,p_at_1_low,p_at_1_high\nsif,0,67.62,63.6,71.5\nsif,1,67.82,63.8,71.6\nidf,0,.653,.61,.69\n"
    )
    rows, page = [rows_of(path)], "| | P@1 |\n| --- | --- |\n| {} | {} |\n"
    for name, right, false in (
        ("sif", "67.6 [63.6, 71.5]", "67.6 [63.8, 71.5]"),
        ("sif", "67.8 (+.2)", "67.8 (+.9)"),
        ("sif", "67.7", "65.3"),  # the mean of both seeds; what idf has
        ("idf", "65.3 [61, 69]", "65.4"),
    ):
        figures = [
            [*wrong(cell, rows)] for text in (right, false) for cell in cells_of(page.format(name, text))
        ]
        assert figures == [[], [false.partition(" (")[2].rstrip(")") or false]]


def provenance(path: Path, known: set[str]) -> dict[str, int]:
    """How many rows are of code that was edited, of a commit that is lost, and of none."""
    commits = [row["commit"] or "" for row in read_rows(path) if "commit" in row]
    clean = [re.findall("[0-9a-f]{7,}", one) for one in commits if "dirty" not in one]
    return {
        "of code with edits that were not committed": len(commits) - len(clean),
        "of commits that are not in the repository": sum(not known.issuperset(ids) for ids in clean),
        "without a commit": commits.count(""),
    }


def test_pages_say_of_which_rows_the_code_is_not_known() -> None:
    git = ["git", "-C", str(ROOT), "rev-list", "HEAD"]
    history = subprocess.run(git, capture_output=True, text=True, check=False).stdout.split()
    if not history or (ROOT / ".git" / "shallow").exists():
        pytest.skip("needs the history of the repository")
    known = {one[:length] for one in history for length in range(7, 13)}
    pages = {
        folder: "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.md"))
        for folder in {path.parent for path in PAGES}
    }
    for path in sorted(RESULTS.glob("*/*.csv*")):
        said = re.search(rf"^- \[{re.escape(path.name)}\].*\n(?:  .*\n)*", pages[path.parent], re.MULTILINE)
        lines = re.findall(r"  - Provenance, in rows: (.*)\.", said[0] if said else "")
        found = ", ".join(f"{rows} {what}" for what, rows in provenance(path, known).items() if rows)
        assert lines == ([found] if found else []), path.name
