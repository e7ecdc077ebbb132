"""Atomic writes: whole under the name or not at all, whatever happens in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from muse.files.atomic import atomic_folder, atomic_path
from tests.command import tree

FAULTS = [KeyboardInterrupt, SystemExit, MemoryError, OSError, ValueError]


def test_a_file_appears_whole(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "f") as partial:
        partial.write_text("new")
        assert not (tmp_path / "f").exists()
        assert partial.parent == tmp_path
    assert tree(tmp_path) == {"f": b"new"}


def test_a_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    with atomic_path(tmp_path / "f") as partial:
        partial.write_text("new")
        assert (tmp_path / "f").read_text() == "old"
    assert tree(tmp_path) == {"f": b"new"}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("before", [True, False])
def test_a_fault_leaves_the_file_as_it_was(tmp_path: Path, fault: type[BaseException], before: bool) -> None:
    if before:
        (tmp_path / "f").write_text("old")
    with pytest.raises(fault), atomic_path(tmp_path / "f") as partial:
        partial.write_text("half")
        raise fault
    assert tree(tmp_path) == ({"f": b"old"} if before else {})


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("before", [True, False])
def test_a_fault_leaves_the_folder_as_it_was(
    tmp_path: Path, fault: type[BaseException], before: bool
) -> None:
    if before:
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "x").write_text("old")
    was = tree(tmp_path)
    with pytest.raises(fault), atomic_folder(tmp_path / "d") as partial:
        (partial / "x").write_text("half")
        raise fault
    assert tree(tmp_path) == was


def test_a_folder_replaces_another_whole(tmp_path: Path) -> None:
    for content in ("old", "new"):
        with atomic_folder(tmp_path / "d") as partial:
            (partial / content).write_text(content)
    assert tree(tmp_path) == {"d": None, "d/new": b"new"}


def test_a_folder_that_cannot_take_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_text("old")
    was, rename = tree(tmp_path), Path.rename

    def fail(path: Path, target: Path) -> Path:
        if path.suffix == ".partial":
            raise OSError("busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="busy"), atomic_folder(tmp_path / "d") as partial:
        (partial / "x").write_text("new")
    assert tree(tmp_path) == was


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("renames", "left"), [(1, b"old"), (2, b"new")])
def test_a_ctrl_c_while_one_folder_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: type[BaseException], renames: int, left: bytes
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_text("old")
    rename, calls = Path.rename, list[Path]()

    def interrupted(path: Path, target: Path) -> Path:
        renamed = rename(path, target)
        calls.append(path)
        if len(calls) == renames:
            raise fault
        return renamed

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(fault), atomic_folder(tmp_path / "d") as partial:
        (partial / "x").write_text("new")
    assert tree(tmp_path) == {"d": None, "d/x": left}


def test_folders_above_are_made_and_go_again(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), atomic_folder(tmp_path / "a" / "b" / "d"):
        raise KeyboardInterrupt
    assert tree(tmp_path) == {}
    with atomic_folder(tmp_path / "a" / "b" / "d"):
        pass
    assert tree(tmp_path) == {"a": None, "a/b": None, "a/b/d": None}
    with pytest.raises(OSError, match="full"), atomic_folder(tmp_path / "a" / "c" / "d"):
        raise OSError("full")
    assert tree(tmp_path) == {"a": None, "a/b": None, "a/b/d": None}


def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with atomic_path(tmp_path / "f"), atomic_folder(tmp_path / "d"):
        pass
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "d").stat().st_mode & 0o777 != 0o700
