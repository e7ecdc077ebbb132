"""Sentences in files: what is there comes back, and what is not as it should be is named with its line."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from muse.errors import BadFile, Mismatch
from muse.evaluation.ratings import RatedPairs, read_rated
from muse.files.tables import table_writer
from muse.sentences.files.sentence_text import (
    read_aligned,
    read_documents,
    read_parallel,
    read_probe_text,
    read_sentences,
    write_scored_pairs,
)


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


PARALLEL = "The cat.\tLe chat.\r\n\n  \nA tree\t Un arbre \n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.tsv", PARALLEL.encode()),
        ("x.tsv.gz", gzip.compress(PARALLEL.encode())),
        ("x", PARALLEL.encode("utf-16")),
        ("x.csv", b'"The cat.",Le chat.\nA tree," Un arbre "\n'),
        ("x", b"French\tsource\ttarget\nx\tThe cat.\tLe chat.\ny\tA tree\t Un arbre \n"),
        ("x", b'{"tgt": "Le chat.", "src": "The cat."}\n{"src": "A tree", "tgt": " Un arbre "}\n'),
    ],
    ids=["tab-separated", "packed", "in UTF-16", "comma-separated", "with a header", "JSON lines"],
)
def test_parallel_text_in_every_kind_of_table(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert parallel(tmp_path / name) == (
        ["The cat.", "A tree"],
        ["Le chat.", " Un arbre "],
    )


def test_sheets_and_parquet_have_ratings_too(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    for name in ("x.xlsx", "x.parquet"):
        with table_writer(tmp_path / name, {"score": float, "sentence1": str, "sentence2": str}) as append:
            append([2.5, "A.", "B, C."])
            append([4, "D.", "E."])
        assert read_rated(tmp_path / name) == RatedPairs(("A.", "D."), ("B, C.", "E."), (2.5, 4.0))
    with table_writer(tmp_path / "x.xlsx", {"score": float, "sentence1": str, "sentence2": str}) as append:
        append([None, "A.", "B."])
    with pytest.raises(BadFile, match=r"x\.xlsx: .* got 1 row without a rating"):
        read_rated(tmp_path / "x.xlsx")


def test_rated_sentences(tmp_path: Path) -> None:
    rated = read_rated(write(tmp_path / "a.csv", '"Yes, ""so"".",B.,2.5\n\n"C\n",D.,0\n'))
    assert rated == RatedPairs(('Yes, "so".', "C\n"), ("B.", "D."), (2.5, 0.0))
    for text in ('A "b, c\tD.\t4\n', 'sentence1\tsentence2\tid\tscore\nA "b, c\tD.\t1\t4\n'):
        assert read_rated(write(tmp_path / "a.tsv", text)) == RatedPairs(('A "b, c',), ("D.",), (4.0,))
    assert read_rated(write(tmp_path / "a", "A.\tB, c.\t4\n")).second == ("B, c.",)


def test_other_tables(tmp_path: Path) -> None:
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"a\tone\nb\tx\n\na\ttwo\twith a tab\nb\t\n", mtime=0))
    assert read_documents(tmp_path / "text.gz") == {"a": ["one", "two\twith a tab"], "b": ["x"]}
    files = write(tmp_path / "en", "one\n\nthree\n"), write(tmp_path / "fr", "un\ndeux\ntrois\tet plus\n")
    assert read_aligned(*files) == [["one", "", "three"], ["un", "deux", "trois\tet plus"]]
    text = "tr\tPAST\tIl vint .\n\nva\tPRES\tIl vient .\nte\tPAST\tElle alla .\n"
    assert read_probe_text(write(tmp_path / "x.txt", text)) == (
        ("tr", "va", "te"), ("PAST", "PRES", "PAST"), ("Il vint .", "Il vient .", "Elle alla .")
    )  # fmt: skip


def parallel(path: Path) -> object:
    return read_parallel(path, ("en", "fr"))


PROBE = "tr\tA\tx\n"


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (parallel, "a\tb\njust one\n", r"/a:2: expected 2 columns, .* got 1"),
        (parallel, "a\tb\tc\n", r"/a:1: expected 2 columns, .* got 3 .* name the columns"),
        (parallel, "en,fr\nA, b.,C.\n", r"/a:2: expected 2 columns, as in line 1, got 3"),
        (parallel, "", "empty file"),
        (parallel, "\n \n", r"/a: .* found none"),
        (read_documents, "a\tone\njust a sentence\n", r"/a:2: expected 2 columns"),
        (read_documents, "a,one, two\na,three\n", r"/a:1: expected 2 columns, .* got 3"),
        (read_documents, "\tone\n", r"/a:1"),
        (read_documents, "a\tone\nb\ttwo\n", "2 with at most one"),
        (read_documents, "\n", "0 with at most one"),
        *((read_probe_text, f"{PROBE}{line}\n", r"/a:2") for line in (
            "train\tA\tx", "tr\tA", "tr\tA\tx\ty", "tr\t \tx", "A\ttr\tx",
        )),
        (read_probe_text, f"{PROBE}tr\tB\ty\n", "found none of va, te"),
        (read_probe_text, f"{PROBE}va\tA\ty\nte\tA\tz\n", "got 'A' alone"),
        (read_rated, "A.,B.,1\nA.,B.\n", r"/a:2: expected 3 columns, .* got 2"),
        (read_rated, "A, b.,C.,1\n", r"/a:1: expected 3 columns, .* got 4"),
        (read_rated, "A.,B.,1\nA.,B.,high\n", r"/a:2: .* got 'high'"),
        (read_rated, "A.,B.,nan\n", "got 'nan'"),
        (read_rated, "A.,B.,inf\n", "got 'inf'"),
        (read_rated, 'A.,B.,1\n"A.,B.,2\n', r"/a:2: expected cells"),
        (read_rated, "A.\rx,B.,1\nC.,D.,2\n", r"/a:1: "),
        (read_rated, "a\tb\n\xff", r"/a:1: expected 3 columns"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_right(
    tmp_path: Path, read: Callable[[Path], object], text: str, message: str
) -> None:
    with pytest.raises(BadFile, match=message):
        read(write(tmp_path / "a", text))


@pytest.mark.parametrize("name", ["out.tsv", "out.tsv.gz"])
def test_scored_pairs_come_back(tmp_path: Path, name: str) -> None:
    pairs = [(1.25, "Un\tchat.", "A cat.\r"), (0.5, "été", "summer")]
    assert write_scored_pairs(tmp_path / name, iter(pairs)) == 2
    assert read_sentences(tmp_path / name) == ["1.2500\tUn chat.\tA cat. ", "0.5000\tété\tsummer"]
