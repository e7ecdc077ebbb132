"""The rows and the table of senteval.py: each seed has its own, and the table their mean."""

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
