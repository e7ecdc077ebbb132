"""Sentences in files: what is there comes back, and what is not as it should be is named with its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from muse.errors import BadFile, Mismatch
from muse.files.sentence_text import (
    read_aligned,
    read_rated_sentences,
    read_sentences,
    write_scored_pairs,
)
from tests.support.command import tree


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_sentences_keep_empty_lines(tmp_path: Path) -> None:
    assert read_sentences(write(tmp_path / "a.txt", "Un.\n\nTrois.\r\n")) == ["Un.", "", "Trois."]
    with pytest.raises(BadFile, match=r"a\.txt: expected sentences, one a line, got 2 empty lines"):
        read_sentences(write(tmp_path / "a.txt", "\n \n"))
    with pytest.raises(BadFile, match=r"a\.txt: expected content, got an empty file"):
        read_sentences(write(tmp_path / "a.txt", ""))


def test_aligned_files_have_the_same_lines(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a", "Un.\nDeux.\n"), write(tmp_path / "b", "One.\nTwo.")
    assert read_aligned(one, other) == [["Un.", "Deux."], ["One.", "Two."]]
    write(other, "One.\nTwo.\nThree.\n")
    with pytest.raises(Mismatch, match=r"got 2 in .*a, 3 in .*b;"):
        read_aligned(one, other)


def test_rated_sentences(tmp_path: Path) -> None:
    rated = read_rated_sentences(write(tmp_path / "a.csv", '"Yes, ""so"".",B.,2.5\n\n"C\n",D.,0\n'))
    assert rated.first == ('Yes, "so".', "C\n")
    assert (rated.second, rated.ratings) == (("B.", "D."), (2.5, 0.0))
    plain = read_rated_sentences(write(tmp_path / "a.tsv", 'A "b, c\tD.\t4\n'))
    assert (plain.first, plain.ratings) == (('A "b, c',), (4.0,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got an empty file"),
        ("A.,B.,1\nA.,B.\n", r"a\.csv:2: expected three columns, .* got 2"),
        ("A, b.,C.,1\n", r"a\.csv:1: expected three columns, .* got 4 .*quote a sentence"),
        ("A.,B.,1\nA.,B.,high\n", r"a\.csv:2: expected a number as the third column, got 'high'"),
        ("A.,B.,nan\n", "got 'nan'"),
        ("A.,B.,inf\n", "got 'inf'"),
        ("sentence1,sentence2,score\n", "remove it if it is a header"),
        ('A.,B.,1\n"A.,B.,2\n', r"a\.csv:2: expected comma-separated values, got"),
    ],
)
def test_bad_ratings(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read_rated_sentences(write(tmp_path / "a.csv", text))


@pytest.mark.parametrize("name", ["out.tsv", "out.tsv.gz"])
def test_scored_pairs_come_back(tmp_path: Path, name: str) -> None:
    pairs = [(1.25, "Un\tchat.", "A cat.\r"), (0.5, "été", "summer")]
    assert write_scored_pairs(tmp_path / name, iter(pairs)) == 2
    assert read_sentences(tmp_path / name) == ["1.2500\tUn chat.\tA cat. ", "0.5000\tété\tsummer"]


def test_a_write_that_breaks_down_leaves_nothing(tmp_path: Path) -> None:
    write(tmp_path / "out.tsv", "before")
    before = tree(tmp_path)
    with pytest.raises(RuntimeError, match="midway"):
        write_scored_pairs(tmp_path / "out.tsv", broken())
    assert tree(tmp_path) == before


def broken() -> Iterator[tuple[float, str, str]]:
    yield 1.0, "Un.", "One."
    raise RuntimeError("midway")
