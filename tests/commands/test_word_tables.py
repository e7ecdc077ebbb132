"""Lists of words to tables, through the command line."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from muse.files.tables import plain_cell
from muse.ranking.ranker import translate_words
from muse.space import load_space
from tests.support.command import Command, refused, refused_leaving

LIST = "fr20\n\nFR3  \n=1\nfr2O\nen5\nfr20\n"
WORDS = ["fr20", "FR3", "=1", "fr2O", "en5", "fr20"]


@pytest.fixture
def space(space: Path, here: Path) -> Path:
    """A space, and a list in which three words are unknown."""
    (here / "list.txt").write_text("\ufeff" + LIST, encoding="utf-8")
    return space


def table(text: str, delimiter: str = "\t") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), delimiter=delimiter))


def expected(folder: Path, top: int) -> list[tuple[Any, ...]]:
    """Word, target, rank, probability and whether mutual, as Python has them."""
    space = load_space(folder)
    rows: list[tuple[Any, ...]] = []
    for one in translate_words(space, WORDS, top=top):
        rows += [(one.word, each.target, each.rank, each.probability, each.mutual) for each in one]
        if not one:
            rows.append((one.word, None, None, None, None))
    return rows


def test_a_row_for_each_answer_and_each_unknown_word(muse: Command, space: Path) -> None:
    out = space.parent / "words.csv"
    ended = muse("translate", space, "--words", space.parent / "list.txt", "--top", 2, "--out", out)
    assert (ended.code, ended.out) == (0, f"9 rows of 6 words in {out}\n")
    assert ended.err == "3 of 6 words unknown: the column reason says why\n"
    assert out.read_bytes().startswith(b"\xef\xbb\xbfsource,target,rank,probability,mutual,grade,score,form,")
    found = table(out.read_text(encoding="utf-8"), ",")
    wanted = expected(space, 2)
    assert len(found) == len(wanted) == 9
    for row, (word, target, rank, probability, mutual) in zip(found, wanted, strict=True):
        assert row["source"] == ("'=1" if word == "=1" else word)
        assert (row["target"], row["rank"]) == (target or "", str(rank or ""))
        assert row["mutual"] == ("" if mutual is None else str(mutual).lower())
        if target is not None:
            assert float(row["probability"]) == pytest.approx(probability, rel=1e-4)
            assert (row["form"], row["reason"]) == (word.lower(), "")
    reasons = {row["source"]: row["reason"] for row in found if row["reason"]}
    assert reasons["'=1"] == "not among the 39 words of fr; check its spelling and its language"
    assert reasons["fr2O"].startswith("not among the 39 words of fr; did you mean fr2")
    assert reasons["en5"] == "not among the 39 words of fr; it is a word of en; check --src and --tgt"


@pytest.mark.slow
def test_every_format_has_the_same_rows(muse: Command, space: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    parquet = pytest.importorskip("pyarrow.parquet")
    asked = ["translate", space, "--words", space.parent / "list.txt", "--top", 3]
    printed = table(muse(*asked).out)
    names = [space.parent / f"words.{ending}" for ending in ("tsv", "xlsx", "parquet", "tsv.gz")]
    for name in names:
        fields = muse(*asked, "--out", name, "--json").json
        assert fields == {"out": str(name), "rows": 12, "words": 6, "unknown": 3}
    assert table(names[0].read_text(encoding="utf-8")) == printed
    rows = parquet.read_table(names[2]).to_pylist()
    assert [(row["source"], row["target"] or "") for row in rows] == [
        (row["source"], row["target"]) for row in printed
    ]
    head, *cells = openpyxl.load_workbook(names[1]).active.iter_rows(values_only=True)
    assert list(head) == list(rows[0])
    for row, of_sheet in zip(rows, cells, strict=True):
        for name, cell in zip(head, of_sheet, strict=True):
            assert cell == (pytest.approx(row[name], rel=1e-4) if isinstance(cell, float) else row[name])


def test_a_list_on_stdin_and_the_format_of_stdout(muse: Command, space: Path) -> None:
    asked = ["translate", space, "--words", "-", "--top", 1]
    plain = table(muse(*asked, stdin=LIST).out)
    quoted = table(muse(*asked, "--format", "csv", stdin=LIST).out, ",")
    assert [row["source"] for row in plain] == WORDS
    assert [{**row, "source": plain_cell(row["source"])} for row in quoted] == plain
    found = muse(*asked, "--json", stdin=LIST).json
    assert list(found["answers"]) == ["fr20", "FR3"] and list(found["unknown"]) == ["=1", "fr2O", "en5"]
    words = table(muse("translate", space, "fr20", "--format", "tsv", "--top", 1).out)
    assert [row["source"] for row in words] == ["fr20"]


@pytest.mark.slow
def test_the_table_is_a_dictionary(muse: Command, space: Path) -> None:
    out = space.parent / "words.tsv"
    assert muse("translate", space, "fr1", "fr2", "--top", 1, "--out", out).code == 0
    assert muse("evaluate", space, "--dictionary", out, "--json").json["p_at_1"] == 100


@pytest.mark.parametrize(
    ("arguments", "part", "code"),
    [
        (["fr1", "--words", "list.txt"], "--words lists the words, got 'fr1' beside it", 2),
        (["--words", "list.txt", "--format", "xlsx"], "--format xlsx is no text and needs --out FILE", 2),
        (["--words", "list.txt", "--format", "csv", "--json"], "--json and --format print one thing each", 2),
        (["--words", "list.txt", "--out", "x.csv", "--format", "tsv"], "contradicts the name of --out", 2),
        (["--out", "x.csv"], "--out is for a table of words", 2),
        (["--words", "list.txt", "--lm", "x.arpa"], "--lm needs text on stdin, got words", 2),
        (["--words", "list.txt", "--out", "x.ods"], "x.ods: a table is written to a .tsv, .csv", 1),
        (["--words", "list.txt", "--out", "x"], "got no ending; choose such a name", 1),
        (["--words", "list.txt", "--out", "x.xlsx.gz"], "x.xlsx.gz: a table is written to", 1),
        (["--words", "list.txt", "--out", "list.txt/x.csv"], "list.txt: expected a folder to write in", 1),
        (["--words", "none.txt"], "none.txt", 1),
        (["--words", "blank.txt"], "blank.txt: expected at least one word, got only blank lines", 1),
        (["--words", "two.txt"], r"two.txt:2: expected one word on each line, got 'a\tb'", 1),
        (["--words", "bell.txt", "--out", "x.xlsx"], "bell.txt:1: expected a word that xlsx can", 1),
    ],
    ids=str,
)
def test_what_is_refused_before_any_work(
    muse: Command,
    space: Path,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    part: str,
    code: int,
) -> None:
    pytest.importorskip("openpyxl")
    for name, text in (("blank.txt", "\n \n"), ("two.txt", "x\na\tb\n"), ("bell.txt", "a\x07\n")):
        Path(name).write_text(text, encoding="utf-8")
    monkeypatch.setattr("muse.commands.translate.open_space", None)
    refused_leaving(here, muse, ["translate", "space", *arguments], part, code=code)


def test_more_rows_than_a_sheet_has(muse: Command, space: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openpyxl")
    monkeypatch.setattr("muse.files.tables.MOST_ROWS", 8)
    asked: list[object] = ["translate", space, "--words", space.parent / "list.txt", "--out"]
    message = "words.xlsx: a sheet of Excel has at most 8 rows with its header"
    refused(muse(*asked, space.parent / "words.xlsx", "--top", 3), message)
    assert not (space.parent / "words.xlsx").exists()
    assert muse(*asked, space.parent / "words.xlsx", "--top", 1).code == 0


def test_the_top_of_text_says_what_to_use_instead(muse: Command, space: Path) -> None:
    refused(muse("translate", space, "--top", 3, stdin="fr3\n"), "of each word of a list: --words -)", code=2)


def test_a_list_with_nul_is_refused(muse: Command, space: Path, tmp_path: Path) -> None:
    (tmp_path / "nul.txt").write_bytes(b"fr3\0\nfr5\n")
    refused(muse("translate", space, "--words", tmp_path / "nul.txt"), "expected text in UTF-8")
