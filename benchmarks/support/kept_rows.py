"""Rows: the CSV file of a long benchmark, which makes only those that the file lacks."""

import csv
import gzip
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TextIO, cast

Row = Mapping[str, object]


def _open(path: Path, mode: str) -> TextIO:
    """A CSV file, or FILE.csv.gz: rows of many figures are kept compressed."""
    opened = gzip.open if path.suffix == ".gz" else open
    return cast(TextIO, opened(path, mode, encoding="utf-8", newline=""))


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows that were made; none if there is no file."""
    if not path.exists():
        return []
    with _open(path, "rt") as file:
        return list(csv.DictReader(file))


def check_columns(path: Path, columns: Sequence[str]) -> None:
    """Exits with a message if a file has other columns: new cells would stand below other names."""
    if path.exists():
        with _open(path, "rt") as file:
            if next(csv.reader(file), []) != [*columns]:
                sys.exit(f"{path} has other columns than {', '.join(columns)}; give --out another name")


def with_interval(
    name: str, value: float, interval: tuple[float, float], times: float = 1
) -> dict[str, float]:
    """A figure and the ends of its interval, each so many times as large, as NAME, NAME_low and NAME_high."""
    figures = (value, *interval)
    return {column: times * figure for column, figure in zip(interval_columns(name), figures, strict=True)}


def interval_columns(*names: str) -> tuple[str, ...]:
    """The columns of figures with intervals."""
    return tuple(f"{name}{end}" for name in names for end in ("", "_low", "_high"))


def append(path: Path, rows: Iterable[Row], columns: Sequence[str], decimals: int = 1) -> None:
    """Adds rows to the file, with its header if it is new; numbers have so many decimals."""
    check_columns(path, columns)
    new = not path.exists()
    with _open(path, "at") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if new:
            writer.writeheader()
        for one in rows:
            writer.writerow({name: shown(cell, decimals) for name, cell in one.items()})
            file.flush()  # a row may take long, and what stops the next must not lose it


def shown(cell: object, decimals: int) -> object:
    """A cell as the file has it: a float to so many decimals."""
    return f"{cell:.{decimals}f}" if isinstance(cell, float) else cell
