"""The rows of a benchmark: numbers are rounded, and a file with other columns is left as it was."""

import importlib
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def kept_rows() -> Any:
    """The module."""
    return importlib.import_module("benchmarks.support.kept_rows")


def test_rows_are_added_below_one_header(kept_rows: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    for seed in (0, 1):
        kept_rows.append(path, [{"seed": seed, "figure": 1.25}], ("seed", "figure"))
    assert path.read_text() == "seed,figure\n0,1.2\n1,1.2\n"
    assert kept_rows.read_rows(path) == [{"seed": "0", "figure": "1.2"}, {"seed": "1", "figure": "1.2"}]


@pytest.mark.parametrize("columns", [("seed",), ("figure", "seed"), ("seed", "figure", "date")])
def test_a_file_with_other_columns_is_left_as_it_was(
    kept_rows: Any, tmp_path: Path, columns: tuple[str, ...]
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("seed,figure\n0,1.0\n")
    with pytest.raises(SystemExit, match="rows.csv has other columns than .*; give --out another name"):
        kept_rows.append(path, [dict.fromkeys(columns, 1.0)], columns)
    assert path.read_text() == "seed,figure\n0,1.0\n"
