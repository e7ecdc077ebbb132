"""Parallel text: one file or two, packed or not, and every file that is none."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from muse.errors import BadFile, Mismatch
from muse.files.sentence_text import read_aligned_files, read_parallel

TEXT = "The cat.\tLe chat.\r\n\n  \nA tree\t Un arbre \n"


def test_two_columns(tmp_path: Path) -> None:
    (tmp_path / "text.tsv").write_bytes(TEXT.encode())
    (tmp_path / "text.tsv.gz").write_bytes(gzip.compress(TEXT.encode()))
    for name in ("text.tsv", "text.tsv.gz"):
        assert read_parallel(tmp_path / name) == (["The cat.", "A tree"], ["Le chat.", " Un arbre "])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a\tb\njust one\n",
            r"text\.tsv:2: expected two columns, pivot<TAB>sentence, got 1; put a tab between",
        ),
        ("a\tb\tc\n", r"text\.tsv:1: expected two columns, .* got 3; keep the first two with cut -f1,2"),
        ("", "found none|expected content"),
        ("\n \n", r"text\.tsv: expected lines pivot<TAB>sentence, found none"),
    ],
)
def test_files_that_are_no_parallel_text(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "text.tsv").write_text(content)
    with pytest.raises(BadFile, match=message):
        read_parallel(tmp_path / "text.tsv")


def test_a_missing_file_and_other_bytes(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"text\.tsv: expected a file"):
        read_parallel(tmp_path / "text.tsv")
    (tmp_path / "text.tsv").write_bytes(b"a\tb\n\xff\tb\n")
    with pytest.raises(BadFile, match=r"text\.tsv:2: expected UTF-8"):
        read_parallel(tmp_path / "text.tsv")


def test_two_files_keep_their_lines_together(tmp_path: Path) -> None:
    (tmp_path / "en").write_text("one\n\nthree\n")
    (tmp_path / "fr").write_text("un\ndeux\ntrois\tet plus\n")
    assert read_aligned_files(tmp_path / "en", tmp_path / "fr") == (
        ["one", "", "three"],
        ["un", "deux", "trois\tet plus"],
    )


def test_two_files_of_unequal_length(tmp_path: Path) -> None:
    (tmp_path / "en").write_text("one\ntwo\nthree\n")
    (tmp_path / "fr").write_text("un\ndeux\n")
    with pytest.raises(Mismatch, match=r"must have the same number of lines, got 2 in .*fr, 3 in .*en;"):
        read_aligned_files(tmp_path / "en", tmp_path / "fr")
