"""Folders made for what is written, gone again if it was not."""

from __future__ import annotations

from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files.atomic import make_parents, parents_made, remove_empty
from muse.files.writing import check_place, replaced
from tests.support.command import tree


def test_parents_are_made_and_removed_as_far_as_they_are_empty(tmp_path: Path) -> None:
    made = make_parents(tmp_path / "a" / "b" / "c.txt")
    assert made == [tmp_path / "a" / "b", tmp_path / "a"]
    assert made[0].is_dir() and make_parents(tmp_path / "a" / "b" / "c.txt") == []
    (tmp_path / "a" / "mine.txt").touch()
    remove_empty(made)
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "mine.txt"]


def test_parents_stay_only_where_all_went_well(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), parents_made(tmp_path / "a" / "b" / "c.txt"):
        assert (tmp_path / "a" / "b").is_dir()
        raise ZeroDivisionError
    assert not tree(tmp_path)
    with parents_made(tmp_path / "a" / "b" / "c.txt"):
        pass
    assert tree(tmp_path) == {"a": None, "a/b": None}


def test_the_folders_of_a_file_are_made_with_it(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b" / "c.txt"
    check_place(place)
    with pytest.raises(ZeroDivisionError), replaced(place):
        raise ZeroDivisionError
    assert not tree(tmp_path)
    with replaced(place) as stream:
        stream.write(b"written")
    assert tree(tmp_path) == {"a": None, "a/b": None, "a/b/c.txt": b"written"}
    with pytest.raises(BadFile, match="expected a folder to write in, got the file"):
        check_place(place / "d" / "e.txt")
    with pytest.raises(BadFile, match="expected a writable path, got"), replaced(place / "d" / "e.txt"):
        pass
