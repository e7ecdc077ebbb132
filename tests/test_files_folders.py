"""Folders made for what is written, gone again if it was not."""

from __future__ import annotations

from pathlib import Path

from muse.files.folders import make_parents, remove_empty


def test_parents_are_made_and_removed_as_far_as_they_are_empty(tmp_path: Path) -> None:
    made = make_parents(tmp_path / "a" / "b" / "c.txt")
    assert made == [tmp_path / "a" / "b", tmp_path / "a"]
    assert made[0].is_dir() and make_parents(tmp_path / "a" / "b" / "c.txt") == []
    (tmp_path / "a" / "mine.txt").touch()
    remove_empty(made)
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "mine.txt"]
