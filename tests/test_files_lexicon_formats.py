"""Dictionaries in every format, read back by others' readers."""

from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path

import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_lexicon
from muse.files.lexicon_formats import FORMS, write_dictionary
from muse.lexicon import Lexicon

PAIRS = (
    ("chat", "cat"),
    ("chat", "tom\u2028cat"),
    ('dit"il', "new york"),
    ("été", "👍"),
    ("chat", "x\u0085"),
)
LEXICON = Lexicon(PAIRS, (1.25, 0.5, -0.125, 1 / 3, 1e-9))


def test_muse(tmp_path: Path) -> None:
    write_dictionary(tmp_path / "d.txt", LEXICON)
    assert read_lexicon(tmp_path / "d.txt") == Lexicon(PAIRS)


def test_tsv(tmp_path: Path) -> None:
    write_dictionary(tmp_path / "d.tsv", LEXICON, form="tsv")
    text = (tmp_path / "d.tsv").read_bytes().decode()
    rows = list(csv.DictReader(text.split("\n"), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [(row["source"], row["target"]) for row in rows] == list(PAIRS)
    assert [float(row["score"]) for row in rows] == pytest.approx(LEXICON.scores, rel=1e-5)
    assert [row["rank"] for row in rows] == ["1", "2", "1", "1", "3"]


def test_jsonl(tmp_path: Path) -> None:
    odd = Lexicon((*PAIRS, ("a\tb", "c\nd")), (*(LEXICON.scores or ()), 0.0))
    write_dictionary(tmp_path / "d.jsonl.gz", odd, form="jsonl")
    text = gzip.decompress((tmp_path / "d.jsonl.gz").read_bytes()).decode()
    rows = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
    assert [(row["source"], row["target"]) for row in rows] == list(odd.pairs)
    assert [row["score"] for row in rows] == list(odd.scores or ())
    assert [row["rank"] for row in rows] == [1, 2, 1, 1, 3, 1]


def test_without_scores(tmp_path: Path) -> None:
    write_dictionary(tmp_path / "d.tsv", Lexicon(PAIRS[:1]), form="tsv")
    assert (tmp_path / "d.tsv").read_text(encoding="utf-8").split("\n")[1] == "chat\tcat\t\t1\t"
    write_dictionary(tmp_path / "d.jsonl", Lexicon(PAIRS[:1]), form="jsonl")
    assert json.loads((tmp_path / "d.jsonl").read_text(encoding="utf-8"))["score"] is None


def test_a_word_that_a_table_cannot_hold_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "d"
    path.write_text("before")
    for form, word in (
        ("tsv", "a\tb"),
        ("tsv", "a\nb"),
        ("muse", "a\nb"),
        ("jsonl", "\ud800"),
        ("tsv", "\ud800"),
    ):
        with pytest.raises(Mismatch, match="rename or drop it"):
            write_dictionary(path, Lexicon((*PAIRS, ("x", word))), form=form)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("form", FORMS)
def test_nothing_to_write_and_nowhere_to(tmp_path: Path, form: str) -> None:
    with pytest.raises(Mismatch, match="at least one pair of words, got none"):
        write_dictionary(tmp_path / "d", Lexicon(()), form=form)
    with pytest.raises(BadFile, match="expected a place that can be written, got No such file"):
        write_dictionary(tmp_path / "none" / "d", LEXICON, form=form)


def test_an_unknown_format() -> None:
    with pytest.raises(BadSetting, match="one of muse, tsv, jsonl; got 'csv'"):
        write_dictionary("d", LEXICON, form="csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes by name here")
def test_neither_a_folder_nor_a_pipe_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, found in (("folder", "a folder"), ("pipe", "a device or a pipe")):
        with pytest.raises(BadFile, match=f"{name}: expected the name of a file, got {found}"):
            write_dictionary(tmp_path / name, LEXICON)
    assert (tmp_path / "pipe").is_fifo()


def test_a_first_word_that_begins_with_a_byte_order_mark(tmp_path: Path) -> None:
    odd = Lexicon((("\ufeffa", "b"), ("\ufeffc", "d")))
    write_dictionary(tmp_path / "d", odd)
    assert read_lexicon(tmp_path / "d") == odd
