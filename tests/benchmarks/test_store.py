"""The benchmark of a store that stays: its data, its counts, and its tools where the answer is known."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytestmark = pytest.mark.slow


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The benchmark, with 40 queries and two encoders of 640 texts, one a rotation of the other."""
    found = importlib.import_module("benchmarks.rows.store")
    monkeypatch.setattr(found, "QUERIES", 40)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((640, 6)) * [3, 2.5, 2, 1.5, 1, 0.5]
    turn, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    np.save(tmp_path / "one.npy", rows.astype(np.float32))
    np.save(tmp_path / "two.npy", (rows @ turn).astype(np.float32))
    return found


def test_queries_pairs_and_the_store_are_what_they_should_be(store: Any, tmp_path: Path) -> None:
    rows = np.load(tmp_path / "one.npy")
    data = store.load(store.Cell("one", "two", "plain", 300, 50, "ridge", 0), tmp_path)
    assert (data.queries == rows[:40]).all() and (data.given.others == rows[40::2]).all()
    assert (data.given.left == rows[41::2][data.given.right]).all() and len(data.given.left) == 50
    assert len(set(data.given.right.tolist())) == 50
    assert (data.held == rows[41::2][data.places]).all() and len(data.held) == 40
    assert not set(data.places.tolist()) & set(data.given.right.tolist())
    wrong = store.load(store.Cell("one", "two", "wrong", 300, 200, "ridge", 0), tmp_path).given
    assert 1 <= (wrong.left != rows[41::2][wrong.right]).any(axis=1).sum() <= 2
    chunks = store.load(store.Cell("one", "two", "chunks", 300, 50, "ridge", 0), tmp_path).given
    assert len(chunks.left) == len(chunks.right) == 200
    np.save(tmp_path / "two-query.npy", -rows[:40])
    prefixed = store.load(store.Cell("one", "two", "prefixes", 300, 50, "ridge", 0), tmp_path)
    assert (prefixed.native == -rows[:40]).all() and (prefixed.queries == rows[:40]).all()
    with pytest.raises(SystemExit, match="640"):
        store.load(store.Cell("one", "two", "plain", 301, 50, "ridge", 0), tmp_path)


@pytest.mark.parametrize("tool", ["procrustes", "ridge", "low-rank"])
def test_a_rotation_keeps_every_neighbour(store: Any, tmp_path: Path, tool: str) -> None:
    found = store.measure(store.Cell("one", "two", "plain", 300, 200, tool, 0), tmp_path)
    assert float(found["top_1"]) > 95 and float(found["recall_at_10"]) > 97
    assert float(found["counterpart"]) > 97


def test_the_standing_is_by_the_standard_error_of_the_best(store: Any) -> None:
    means = {
        "ridge": store.Means(7.0, 0.1, 50.0, 0.8, 1.0),
        "procrustes": store.Means(9.0, 0.2, 40.0, 0.5, 1.0),
    }
    ours = store.Means(8.7, 5.0, 49.5, 0.7, 1.0)
    assert store.standing({**means, "muse": ours}, "recall_at_10") == "at or above (-0.5)"
    assert store.standing({**means, "muse": ours}, "top_1") == "below (-0.3)"
    below = ours._replace(recall_at_10=49.1)
    assert store.standing({**means, "muse": below}, "recall_at_10") == "below (-0.9)"


def test_tools_are_shown_by_the_seeds_that_muse_has(store: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cell = dict.fromkeys(("top_1_error", "recall_at_10_error", "counterpart"), "1")
    cell |= {"source": "one", "target": "two", "kind": "plain", "known": "50"}
    found = (("ridge", "0", "20"), ("ridge", "1", "40"), ("muse", "0", "21"))
    store.show(
        [{**cell, "tool": tool, "seed": seed, "top_1": at, "recall_at_10": at} for tool, seed, at in found]
    )
    *_, line = capsys.readouterr().out.splitlines()
    assert "| 1 | 20.0, 20.0, 1.0 | 21.0, 21.0, 1.0 | at or above (+1.0) | at or above (+1.0) |" in line


def test_with_every_row_in_a_pair_none_is_held_out(store: Any, tmp_path: Path) -> None:
    found = store.measure(store.Cell("one", "two", "plain", 300, 300, "ridge", 0), tmp_path)
    assert found["counterpart"] == found["counterpart_error"] == ""
    assert np.isnan(store.Means.of([found]).counterpart)
