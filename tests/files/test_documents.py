"""Documents: paragraphs by document in their order, and files without boundaries."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files.sentence_text import read_documents


def test_paragraphs_in_order_packed_too(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "text.gz", "wt") as file:
        file.write("a\tone\nb\tx\n\na\ttwo\twith a tab\nb\t\n")
    assert read_documents(tmp_path / "text.gz") == {"a": ["one", "two\twith a tab"], "b": ["x"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tone\njust a sentence\n", "text:2: expected document<TAB>paragraph.*without document boundaries"),
        ("\tone\n", "text:1"),
        ("a\tone\nb\ttwo\n", "two or more paragraphs.*2 with at most one"),
        ("", "empty file"),
        ("\n", "0 with at most one"),
    ],
)
def test_files_without_boundaries(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "text").write_text(text)
    with pytest.raises(BadFile, match=message):
        read_documents(tmp_path / "text")
