"""The benchmark of unlabelled vectors: its data, its measures and its tables."""

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def load() -> Any:
    return importlib.import_module


@pytest.fixture
def small(load: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The cells, over 100 rows for evaluation and 200 a side of two encoders that are rotations of one."""
    cells = load("benchmarks.rows.any_space_cells")
    monkeypatch.setattr(cells, "EVALUATED", 100)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((500, 6)) * [3, 2.5, 2, 1.5, 1, 0.5] + 1
    turn, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    np.save(tmp_path / "one.npy", rows.astype(np.float32))
    np.save(tmp_path / "two.npy", (rows @ turn).astype(np.float32))
    return cells


def test_spaces_hold_different_sentences_and_known_rows_the_same(small: Any, tmp_path: Path) -> None:
    data = small.load(small.Cell("one", "two", 200, "muse", 0), tmp_path, tmp_path)
    rows = np.load(tmp_path / "one.npy")
    assert (data.a == rows[100::2]).all()
    assert (data.a_known == rows[:100]).all()
    assert np.allclose(np.linalg.norm(data.b, axis=1), np.linalg.norm(rows[101::2], axis=1), atol=1e-4)
    assert np.allclose(np.linalg.norm(data.b_pairs, axis=1), np.linalg.norm(data.a, axis=1), atol=1e-4)


def test_too_few_sentences_are_refused(small: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="need 502 sentences, got 500"):
        small.load(small.Cell("one", "two", 201, "muse", 0), tmp_path, tmp_path)


@pytest.mark.parametrize("kind", ["random", "shuffled"])
def test_rows_that_match_nothing_keep_moments_but_no_neighbours(
    small: Any, tmp_path: Path, kind: str
) -> None:
    rows = np.random.default_rng(1).standard_normal((4_000, 1)) * [[1.0, 2.0]] + [[0.0, 5.0]]
    rows = rows.astype(np.float32)  # all on one line
    found = small.unmatched(kind, rows, tmp_path, tmp_path, np.random.default_rng(2))
    assert np.allclose(found.mean(axis=0), rows.mean(axis=0), atol=0.2)
    assert np.allclose(found.std(axis=0), rows.std(axis=0), atol=0.2)
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.1 if kind == "shuffled" else np.corrcoef(found.T)[0, 1] > 0.99


def test_ranks_agree_with_sorting(load: Any) -> None:
    tools = load("benchmarks.rows.any_space_tools")
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, 40, 5)).astype(np.float32)
    unit_a, unit_b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (a, b))
    order = np.argsort(-(unit_a @ unit_b.T), axis=1)
    expected = [list(line).index(i) + 1 for i, line in enumerate(order)]
    assert tools.ranks(a, b).tolist() == expected
    assert tools.figures(a, b)["top_1"] == pytest.approx(100 * np.mean(np.array(expected) == 1))


def test_procrustes_finds_a_rotation(
    small: Any, load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = load("benchmarks.rows.any_space_tools")
    monkeypatch.setattr(tools, "PAIRS", 50)
    cell = small.Cell("one", "two", 200, "procrustes", 0)
    options = tools.Options((), (), tmp_path)
    data = small.load(cell, tmp_path, tmp_path)
    assert tools.by_procrustes(cell, data, options)["top_1"] > 90
    narrow = data._replace(b=data.b[:, :5], b_known=data.b_known[:, :5], b_pairs=data.b_pairs[:, :5])
    assert tools.by_procrustes(cell, narrow, options)["top_1"] > 10


def test_another_program_gets_files_and_answers_with_mapped_rows(
    small: Any, load: Any, tmp_path: Path
) -> None:
    tools = load("benchmarks.rows.any_space_tools")
    program = tmp_path / "peer.py"
    program.write_text(
        "import json, sys, numpy as np\n"
        "a, b, known_a, known_b, seed, out = sys.argv[1:]\n"
        "np.savez(out, a=np.load(known_a), b=np.load(known_a))\n"
        "print(json.dumps({'seconds': int(seed)}))\n"
    )
    cell = small.Cell("one", "two", 200, "peer", 7)
    data = small.load(cell, tmp_path, tmp_path)
    found = tools.by_peer(cell, data, tools.Options((sys.executable, str(program)), (), tmp_path))
    assert (found["seconds"], found["top_1"], found["mean_rank"]) == (7, 100, 1)
    program.write_text("raise SystemExit('no memory')")
    with pytest.raises(RuntimeError, match="exit 1: no memory"):
        tools.by_peer(cell, data, tools.Options((sys.executable, str(program)), (), tmp_path))


def _row(tool: str, top_1: float, target: str = "two", verdict: str = "", seed: int = 0) -> dict[str, str]:
    figures = {"mean_rank": "2", "cosine": "0.5", "seconds": "9", "verdict": verdict, "seed": str(seed)}
    return {"source": "one", "target": target, "rows": "100", "tool": tool, "top_1": str(top_1), **figures}


def test_a_run_succeeds_at_half_of_what_pairs_give(load: Any, capsys: pytest.CaptureFixture[str]) -> None:
    table = load("benchmarks.rows.any_space_table")
    rows = [
        _row("procrustes", 80),
        _row("muse", 41, verdict="aligned"),
        _row("muse", 1, verdict="failed", seed=1),
    ]
    rows += [
        _row("peer", 39),
        _row("peer", 60, seed=1),
        {**_row("muse", 0, "two:random", "failed"), "top_1": ""},
    ]
    table.show(rows)
    shown = capsys.readouterr().out
    assert "| one | two | muse | 21.0 | 2.0 | 0.500 | 9 | 1 of 2 | 1 |" in shown
    assert "Of 2 runs that both made, muse succeeded in 1, mini-vec2vec in 1." in shown
    assert "| succeeded | 1 | 0 | 0 |" in shown
    assert "| did not succeed | 0 | 0 | 1 |" in shown
    assert "| no match: random | 0 | 0 | 1 |" in shown


def test_sentences_come_once_and_in_an_order_of_their_own(load: Any) -> None:
    text = load("benchmarks.rows.any_space_text")
    found = text._drawn(["A  cat.", "a cat.", "", "Two dogs.", "Three birds."])
    assert sorted(found) == ["A cat.", "Three birds.", "Two dogs."]
    assert found == text._drawn(["A  cat.", "Two dogs.", "Three birds."])


def test_rows_are_continued_in_order(load: Any) -> None:
    pytest.importorskip("click")
    rows = load("benchmarks.rows.any_space_rows")
    found = rows.encoded(
        lambda some: np.array([[len(one)] for one in some], np.float32), ["aaa", "b", "cc"] * 50
    )
    assert found[:, 0].tolist() == [3, 1, 2] * 50
