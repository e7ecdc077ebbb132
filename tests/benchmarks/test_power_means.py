"""The rows of benchmarks/sentences/power_means.py: which powers on which spaces, and none of them twice."""

import csv
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.support.kept_rows import read_rows
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.words import TrainedEncoder
from tests.support.parallel import DIMENSION, WORDS, toy_space

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BASE = "power-mean[-inf,1,inf"
SENTENCES = 12


@pytest.fixture
def power_means(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, whose macro-F1 is whether the columns of the task's sentences have a mean of zero."""
    module = importlib.import_module("benchmarks.sentences.power_means")

    def figures(encoder: SentenceEncoder, task: Any, asked: object) -> list[float]:
        rows = encoder.encode(task.texts["fr"], "fr").matrix
        normed = np.allclose(rows.mean(axis=0), 0, atol=1e-4)
        return [float(normed), 0.0, 0.0, 0.0, 0.0, 0.0]

    monkeypatch.setattr(module, "figures", figures)
    monkeypatch.setattr(module, "commit", lambda: "0123abc")
    return module


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """Two spaces, a trained encoder on the first, and a task."""
    folder = tmp_path / "data" / "transfer" / "AM"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    words = rng.integers(WORDS, size=(SENTENCES, 4)).tolist()
    for language in ("en", "fr"):
        lines = (" ".join(f"{language}{word}" for word in line) for line in words)
        (folder / f"{language}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "labels.txt").write_text("a\nb\n" * (SENTENCES // 2), encoding="utf-8")
    space = toy_space(tmp_path / "one")
    toy_space(tmp_path / "two")
    table = rng.normal(size=(WORDS, DIMENSION)).astype(np.float32)
    TrainedEncoder("cvm-add[x]", space, ("fr", "en"), {"fr": table}).save(tmp_path / "cvm-add")
    return [
        "power_means.py", "--spaces", f"fr=one:{tmp_path / 'one'},two:{tmp_path / 'two'}",
        "--encoders", f"fr={tmp_path / 'cvm-add'}", "--tasks", "AM", "--means", "2", "--counts", "1,2",
        "--shared", str(tmp_path), "--out", str(tmp_path / "rows.csv"),
    ]  # fmt: skip


def made(power_means: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> list[dict[str, str]]:
    monkeypatch.setattr(sys, "argv", arguments)
    power_means.main()
    with open(arguments[arguments.index("--out") + 1], encoding="utf-8", newline="") as file:  # noqa: PTH123
        return list(csv.DictReader(file))


def test_further_powers_of_the_first_space_or_of_all(
    power_means: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    plain = made(power_means, monkeypatch, arguments)
    assert len(plain) == 1 + 2 + 3 * 4  # sif, the trained one, three combinations of spaces
    first = made(power_means, monkeypatch, [*arguments, "--powers"])
    added = [(one["spaces"], one["encoder"], int(one["d"])) for one in first[len(plain) :]]
    more = {"-1": 4, "0": 4, "0.5": 4, "2": 4, "2s": 4, "3": 4, "0.5,2,3": 6, "0.5,2s,3": 6}
    assert added == [("one", f"{BASE},{powers}]+znorm", k * DIMENSION) for powers, k in more.items()]
    everywhere = made(power_means, monkeypatch, [*arguments, "--powers", "all", "--means", "3"])
    keys = [tuple(one[name] for name in power_means.KEY) for one in everywhere]
    assert len(set(keys)) == len(keys) == 15 + 3 * 8 + 3  # z-normed, 3 is among those powers already
    assert {one["spaces"] for one in everywhere if ",2s]" in one["encoder"]} == {"one", "two", "one&two"}
    for one in everywhere:
        assert (one["macro_f1"] == "1.00") == one["encoder"].endswith("+znorm")
        assert (one["seed"], one["commit"], len(one["date"])) == ("0", "0123abc", 10)


def test_trained_encoders_are_z_normed_too(
    power_means: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    found = made(power_means, monkeypatch, [*arguments, "--corrected"])
    assert [one["encoder"] for one in found if "cvm" in one["encoder"]] == ["cvm-add[x]+znorm"]
    again = made(power_means, monkeypatch, [*arguments, "--seed", "1"])
    assert [one["encoder"] for one in again[len(found) :]][:3] == ["sif", "cvm-add[x]", "cvm-add[x]+znorm"]


def test_the_kept_rows_have_these_columns(power_means: Any) -> None:
    path = ROOT / "benchmarks" / "results" / "sentences" / "power_means.csv.gz"
    kept = read_rows(path)
    assert tuple(kept[0]) == power_means.COLUMNS
    assert all(one["seed"].isdecimal() for one in kept)
