"""Folders made for what is written, gone again if it was not."""

from __future__ import annotations

from pathlib import Path

import pytest

from muse.files.folders import make_parents, parents_for, remove_empty


def test_parents_are_made_and_removed_as_far_as_they_are_empty(tmp_path: Path) -> None:
    made = make_parents(tmp_path / "a" / "b" / "c.txt")
    assert made == [tmp_path / "a" / "b", tmp_path / "a"]
    assert made[0].is_dir() and make_parents(tmp_path / "a" / "b" / "c.txt") == []
    (tmp_path / "a" / "mine.txt").touch()
    remove_empty(made)
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "mine.txt"]


def test_what_was_made_for_a_block_that_fails_goes(tmp_path: Path) -> None:
    with pytest.raises(ValueError), parents_for(tmp_path / "a" / "b" / "c.txt"):
        assert (tmp_path / "a" / "b").is_dir()
        raise ValueError
    assert list(tmp_path.iterdir()) == []
    with parents_for(tmp_path / "a" / "b.txt"):
        pass
    assert (tmp_path / "a").is_dir()
