"""The rows and the table of senteval.py; and rows of benchmarks, rounded, with their columns kept."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.support.kept_rows import read_rows

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FIGURES = {"measure": "accuracy", "ci95_low": 0.0, "ci95_high": 100.0, "chance": 50.0, "tested": 9}


@pytest.fixture
def senteval(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, whose figure is ten times the seed, and one more for the second encoder."""
    module = importlib.import_module("benchmarks.sentences.senteval")

    def measured(task: str, encoder: str, seed: int, asked: object) -> dict[str, object]:
        return {**FIGURES, "value": 10.0 * seed + (encoder == f"folder.{seed}")}

    monkeypatch.setattr(module, "measured", measured)
    return module


def run(senteval: Any, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["senteval.py", *map(str, arguments)])
    senteval.main()


def test_each_seed_has_rows_of_its_own(
    senteval: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.csv"
    encoders = ["--encoder", "mean=mean", "--encoder", "net=folder.{seed}"]
    same = ["--out", out, "--tasks", "sickr,wc", *encoders]
    run(senteval, monkeypatch, *same, "--seed", 0)
    assert "| mean | 0.0 | 0.0 |" in capsys.readouterr().out  # of one seed, its figure
    run(senteval, monkeypatch, *same, "--seeds", "0-2")
    found = [(one["encoder"], one["task"], one["seed"]) for one in read_rows(out)]
    assert len(found) == len(set(found)) == 2 * 2 * 3
    assert found[:4] == [(name, task, "0") for task in ("sickr", "wc") for name in ("mean", "net")]
    lines = capsys.readouterr().out.splitlines()
    assert "| mean | 10.0 (0.0-20.0) | 10.0 (0.0-20.0) |" in lines
    assert "| net | 11.0 (1.0-21.0) | 11.0 (1.0-21.0) |" in lines  # {seed} was the seed
    run(senteval, monkeypatch, "--out", out, "--table")
    assert capsys.readouterr().out.splitlines() == lines
    assert len(read_rows(out)) == 12


def test_the_kept_rows_have_these_columns(senteval: Any) -> None:
    kept = read_rows(ROOT / "benchmarks" / "results" / "sentences" / "senteval.csv.gz")
    assert tuple(kept[0]) == senteval.COLUMNS
    assert all(one["seed"].isdecimal() for one in kept)


@pytest.fixture
def kept_rows() -> Any:
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
