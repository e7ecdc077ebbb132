"""Checkpoints: kept and found again, refused where they are another run's, and whole or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting
from muse.run.checkpoint import Checkpoint

ARRAYS = {"mapping": np.eye(3, dtype=np.float32), "method": np.array("gromov:none")}


def test_saved_and_resumed(tmp_path: Path) -> None:
    Checkpoint.open(tmp_path / "c", ["a", "b"], resume=False).save("start-gromov:none", ARRAYS)
    found = Checkpoint.open(tmp_path / "c", ["a", "b"], resume=True).load("start-gromov:none")
    assert found is not None
    assert np.array_equal(found["mapping"], ARRAYS["mapping"])
    assert str(found["method"]) == "gromov:none"
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == ["run.txt", "start-gromov-none.npz"]


def test_the_folders_made_for_it_go_with_it(tmp_path: Path) -> None:
    for other in (False, True):
        checkpoint = Checkpoint.open(tmp_path / "a" / "b" / "c", [], resume=False)
        checkpoint.save("x", ARRAYS)
        if other:
            (tmp_path / "a" / "mine").touch()
        checkpoint.clear()
        assert [path.name for path in tmp_path.rglob("*")] == (["a", "mine"] if other else [])
    (tmp_path / "own").mkdir()
    Checkpoint.open(tmp_path / "own" / "c", [], resume=False).clear()
    assert (tmp_path / "own").is_dir()  # empty, and not ours


def test_a_stage_never_saved(tmp_path: Path) -> None:
    assert Checkpoint.open(tmp_path / "c", [], resume=False).load("x") is None


@pytest.mark.parametrize("other", [["a"], ["a", "c"], ["ab"], ["b", "a"]])
def test_another_run_is_refused(tmp_path: Path, other: list[str]) -> None:
    Checkpoint.open(tmp_path / "c", ["a", "b"], resume=False).save("x", ARRAYS)
    with pytest.raises(BadSetting, match="--resume needs the inputs and settings of the killed run"):
        Checkpoint.open(tmp_path / "c", other, resume=True)
    assert (tmp_path / "c" / "x.npz").exists()


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="found none in .*c; omit --resume"):
        Checkpoint.open(tmp_path / "c", ["a"], resume=True)
    assert not (tmp_path / "c").exists()


def test_starting_anew_forgets(tmp_path: Path) -> None:
    Checkpoint.open(tmp_path / "c", ["a"], resume=False).save("x", ARRAYS)
    assert Checkpoint.open(tmp_path / "c", ["a"], resume=False).load("x") is None


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\3\4 cut off"])
def test_a_broken_file(tmp_path: Path, content: bytes) -> None:
    store = Checkpoint.open(tmp_path / "c", [], resume=False)
    (tmp_path / "c" / "x.npz").write_bytes(content)
    with pytest.raises(BadFile, match=r"x\.npz: .*run without --resume"):
        store.load("x")


def test_a_file_cut_off(tmp_path: Path) -> None:
    store = Checkpoint.open(tmp_path / "c", [], resume=False)
    store.save("x", ARRAYS)
    path = tmp_path / "c" / "x.npz"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadFile):
        store.load("x")


def test_clear_and_no_folder_at_all(tmp_path: Path) -> None:
    store = Checkpoint.open(tmp_path / "c", [], resume=False)
    store.clear()
    assert list(tmp_path.iterdir()) == []
    nowhere = Checkpoint()
    nowhere.save("x", ARRAYS)
    assert nowhere.load("x") is None
    nowhere.clear()
