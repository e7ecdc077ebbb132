"""Checkpoints, whole and of the same run or refused; and the history of stages, in order and thinned."""

import json
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting
from muse.progress import Progress
from muse.run.checkpoint import Checkpoint, checkpoint_folder
from muse.run.processes import Processes
from muse.run.runtime import POINTS, History

ARRAYS = {"mapping": np.eye(3, dtype=np.float32), "method": np.array("gromov:none")}


def test_saved_and_resumed(tmp_path: Path) -> None:
    Checkpoint.open(tmp_path / "c", ["a", "b"], resume=False).save("start-gromov:none", ARRAYS)
    found = Checkpoint.open(tmp_path / "c", ["a", "b"], resume=True).load("start-gromov:none")
    assert found is not None
    assert np.array_equal(found["mapping"], ARRAYS["mapping"])
    assert str(found["method"]) == "gromov:none"
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == ["run.txt", "start-gromov-none.npz"]


def test_numbers_that_overflow_where_they_are_taken_up_are_those_of_another_run(tmp_path: Path) -> None:
    checkpoint = Checkpoint.open(tmp_path / "c", [], resume=False)
    for wrong in (np.array([1e300]), np.array([0x7FA00000], np.uint32).view(np.float32)):  # a signalling nan
        with pytest.raises(BadFile, match="without --resume"), checkpoint.complete():
            wrong.astype(np.float32 if wrong.itemsize == 8 else np.float64)


def test_a_new_run_that_fails_is_forgotten_and_a_resumed_one_kept(tmp_path: Path) -> None:
    for breakdown in (False, True):
        empty = Checkpoint.open(tmp_path / "c", [], resume=False)
        assert not empty.abandon(breakdown=breakdown)  # nothing was saved that could be resumed
        assert not list(tmp_path.iterdir())
    new = Checkpoint.open(tmp_path / "c", [], resume=False)
    new.of("fr").save("x", ARRAYS)
    assert new.abandon(breakdown=True)
    for breakdown in (False, True):
        assert Checkpoint.open(tmp_path / "c", [], resume=True).abandon(breakdown=breakdown)
        assert ((tmp_path / "c") / "fr" / "x.npz").exists()
    assert not new.abandon()
    assert not list(tmp_path.iterdir())
    assert not Checkpoint().abandon(breakdown=True)


def test_it_lies_hidden_beside_what_the_run_writes(tmp_path: Path) -> None:
    Checkpoint.open(checkpoint_folder(tmp_path / "b" / ".." / "out"), ["a"], resume=False).save("x", ARRAYS)
    folder = checkpoint_folder(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == [".out.checkpoint"] == [folder.name]
    assert Checkpoint.open(folder, ["a"], resume=True).load("x") is not None


def test_of_several_processes_the_first_one_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int] = []
    monkeypatch.setattr(Processes, "wait", lambda self: waited.append(self.rank))
    first, second = (
        Checkpoint.open(tmp_path / "c", [str(rank)], resume=False, processes=Processes(rank, 2))
        for rank in (0, 1)
    )
    first.save("x", ARRAYS)
    assert second.load("x") is not None
    assert waited == [0, 1]


@pytest.mark.parametrize("other", [["a"], ["a", "c"], ["ab"], ["b", "a"]])
def test_another_run_is_refused(tmp_path: Path, other: list[str]) -> None:
    Checkpoint.open(tmp_path / "c", ["a", "b"], resume=False).save("x", ARRAYS)
    with pytest.raises(BadSetting, match="--resume needs the inputs and settings of the killed run"):
        Checkpoint.open(tmp_path / "c", other, resume=True)
    assert ((tmp_path / "c") / "x.npz").exists()


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="found none in .*c"):
        Checkpoint.open(tmp_path / "c", ["a"], resume=True)
    assert not (tmp_path / "c").exists()


def test_starting_anew_forgets(tmp_path: Path) -> None:
    Checkpoint.open(tmp_path / "c", ["a"], resume=False).save("x", ARRAYS)
    assert Checkpoint.open(tmp_path / "c", ["a"], resume=False).load("x") is None


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\3\4 cut off", None])
def test_a_broken_file(tmp_path: Path, content: bytes | None) -> None:
    store = Checkpoint.open(tmp_path / "c", [], resume=False)
    store.save("x", ARRAYS)
    path = (tmp_path / "c") / "x.npz"
    path.write_bytes(path.read_bytes()[:-40] if content is None else content)
    with pytest.raises(BadFile, match=r"x\.npz: .*run without --resume"):
        store.load("x")


def test_clear_and_no_folder_at_all(tmp_path: Path) -> None:
    store = Checkpoint.open(tmp_path / "c", [], resume=False)
    store.clear()
    assert list(tmp_path.iterdir()) == []
    nowhere = Checkpoint()
    nowhere.save("x", ARRAYS)
    assert nowhere.load("x") is None
    nowhere.clear()


def test_a_note_that_is_damaged(tmp_path: Path) -> None:
    Checkpoint.open(tmp_path / "c", [], resume=False)
    (tmp_path / "c" / "run.txt").write_bytes(b"\xff")
    with pytest.raises(BadSetting, match="those in .* differ"):
        Checkpoint.open(tmp_path / "c", [], resume=True)


def test_only_what_can_be_resumed_is_said_to_be(tmp_path: Path) -> None:
    store = Checkpoint.open(tmp_path / "c", [], resume=False)
    assert store.interrupted() == "interrupted"
    assert list(tmp_path.iterdir()) == []
    store = Checkpoint.open(tmp_path / "c", [], resume=False)
    store.save("x", ARRAYS)
    assert "--resume" in store.interrupted()
    assert "--resume" in Checkpoint.open(tmp_path / "c", [], resume=True).interrupted()
    assert store.load("x") is not None


def test_steps_are_recorded_though_the_progress_is_quiet() -> None:
    history = History()
    with Progress(quiet=True).with_callback(history.record).stage("refine", 2) as tick:
        tick(1, objective=0.25)
        tick(2, objective=0.5, words=100)
    (trace,) = history.as_json()
    assert (trace["stage"], trace["steps"]) == ("refine", [1, 2])
    assert trace["figures"] == {"objective": [0.25, 0.5], "words": [None, 100]}


def test_a_stage_begun_again_is_a_trace_of_its_own() -> None:
    history = History()
    for done in (1, 2, 1):
        history.record("refine", done, {})
    history.record("gromov", 1, {})
    assert [(trace["stage"], trace["steps"]) for trace in history.as_json()] == [
        ("refine", [1, 2]),
        ("refine", [1]),
        ("gromov", [1]),
    ]


def test_a_long_stage_is_thinned_and_keeps_its_end() -> None:
    history = History()
    for done in range(1, 10 * POINTS):
        history.record("training", done, {"loss": 1 / done})
    (trace,) = history.as_json()
    assert POINTS / 2 < len(trace["steps"]) <= POINTS
    assert trace["steps"][-1] == 10 * POINTS - 1
    assert len(trace["figures"]["loss"]) == len(trace["steps"])
    assert len(json.dumps(trace)) < 20 * POINTS


def test_what_is_restored_comes_first() -> None:
    before = History()
    before.record("gromov", 1, {"objective": 0.5})
    history = History()
    history.restore(json.loads(json.dumps(before.as_json())))
    history.record("refine", 1, {})
    assert [trace["stage"] for trace in history.as_json()] == ["gromov", "refine"]
    assert history.as_json()[0] == before.as_json()[0]
