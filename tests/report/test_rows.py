"""The report of a space of rows: ids beside their texts, and nothing that only words have."""

from pathlib import Path

import pytest

from tests.commands.test_word_answers import COUNT, space_of_rows
from tests.report.test_report import page_of, plain
from tests.support.command import Command

pytest.importorskip("sklearn")

OF_WORDS = ("frequent", "frequency", "rank ", "identical", "kind of word", "Both languages in one picture")


def test_a_sample_has_ids_and_texts(muse: Command, tmp_path: Path) -> None:
    space = space_of_rows(tmp_path / "space")
    assert muse("report", space, "--out", tmp_path / "page.html").code == 0
    text = plain(page_of(tmp_path / "page.html"))
    assert "fr text 3 of <b>" in text
    assert "en text 36 of <b>" in text
    assert f"Of the first {COUNT} rows" in text
    assert "muse map" in text
    assert not [one for one in OF_WORDS if one in text]


def test_with_pairs_of_ids(muse: Command, tmp_path: Path) -> None:
    space = space_of_rows(tmp_path / "space")
    pairs = [(row, COUNT - 1 - row) for row in range(20)] + [(30, 0)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{one}\t{two}\n" for one, two in pairs), encoding="utf-8")
    ended = muse("report", space, "--dictionary", tmp_path / "pairs.tsv", "--out", tmp_path / "page.html")
    assert ended.code == 0, ended.err
    text = plain(page_of(tmp_path / "page.html"))
    assert "of 21 rows get a first answer that is in the list" in text
    assert "fr text 30 of <b>" in text
    assert "all rows" in text
    assert not [one for one in OF_WORDS if one in text]


def test_without_texts_there_are_ids_alone(muse: Command, tmp_path: Path) -> None:
    space = space_of_rows(tmp_path / "space", texts=False)
    assert muse("report", space, "--out", tmp_path / "page.html").code == 0
    assert "text 3" not in plain(page_of(tmp_path / "page.html"))
