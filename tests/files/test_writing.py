"""Writing vectors and rows: exactly, readably for others, and whole or not at all."""

import csv
import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import parquet, read_vectors, write_npz, write_vectors_text, write_word2vec
from muse.files.parquet import is_parquet, read_column
from muse.files.payloads import Payload
from muse.files.row_writers import RowFormat, check_row_file, store_writer
from muse.files.writing import check_place

WORDS = ["the", "été", "👍", "x\u00a0y", "1984"]
MATRIX = np.random.default_rng(0).normal(0, 1, (5, 7)).astype(np.float32)
EXTREMES = np.array(
    [[np.finfo(np.float32).max, np.finfo(np.float32).tiny, 1e-45, -0.0, 1 / 3, 16777217, 123456.789]],
    np.float32,
)


def test_without_decimals_every_bit_comes_back(tmp_path: Path) -> None:
    bits = np.random.default_rng(1).integers(0, 2**32, (3000, 7), dtype=np.uint32).view(np.float32)
    matrix = np.concatenate([np.where(np.isfinite(bits), bits, np.float32(0)), EXTREMES])
    write_vectors_text(tmp_path / "x.vec", [f"w{i}" for i in range(len(matrix))], matrix)
    again = read_vectors(tmp_path / "x.vec", language="en").matrix
    assert np.array_equal(again.view(np.uint32), matrix.view(np.uint32))


@pytest.mark.parametrize("decimals", [0, 3, 6])
def test_decimals(tmp_path: Path, decimals: int) -> None:
    write_vectors_text(tmp_path / "x.vec", WORDS, MATRIX, decimals=decimals)
    lines = (tmp_path / "x.vec").read_text(encoding="utf-8").split("\n")
    assert lines[0] == "5 7"
    assert lines[1].split(" ")[1:] == [f"{x:.{decimals}f}" for x in MATRIX[0]]
    again = read_vectors(tmp_path / "x.vec", language="en").matrix
    np.testing.assert_allclose(again, MATRIX, atol=0.5001 * 10.0**-decimals)


@pytest.mark.parametrize("name", ["x.vec", "x.vec.gz"])
def test_gensim_reads_what_we_write(tmp_path: Path, name: str) -> None:
    write_vectors_text(tmp_path / name, WORDS[:3] + WORDS[4:], MATRIX[:4])
    theirs = KeyedVectors.load_word2vec_format(str(tmp_path / name))
    assert theirs.index_to_key == WORDS[:3] + WORDS[4:]
    assert np.array_equal(theirs.vectors, MATRIX[:4])


def test_we_read_what_gensim_writes(tmp_path: Path) -> None:
    theirs = KeyedVectors(7)
    theirs.add_vectors(WORDS, MATRIX)
    theirs.save_word2vec_format(str(tmp_path / "x.vec"))
    ours = read_vectors(tmp_path / "x.vec", language="en")
    for word, row in zip(ours.words, ours.matrix, strict=True):
        assert np.array_equal(row, theirs[word])


@pytest.mark.parametrize("suffix", [".xz", ".bz2", ".zst", ".zip"])
def test_only_gz_is_packed(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(BadFile, match=f"expected a name without {suffix}"):
        check_place(tmp_path / f"x.vec{suffix}")


def test_equal_vectors_give_equal_packed_files(tmp_path: Path) -> None:
    for name in ("a.vec.gz", "b.vec.gz"):
        write_vectors_text(tmp_path / name, WORDS, MATRIX)
    assert (tmp_path / "a.vec.gz").read_bytes() == (tmp_path / "b.vec.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.vec.gz").read_bytes()).startswith(b"5 7\n")


@pytest.mark.parametrize("word", ["", " a", "a ", "\ta", "a\nb", "\n", "\ud800", "version 2.0", "x 1e-3 y"])
def test_words_that_would_not_come_back(tmp_path: Path, word: str) -> None:
    with pytest.raises(
        Mismatch, match=r"x.vec: expected words that this format can represent, got .*\(word 2\)"
    ):
        write_vectors_text(tmp_path / "x.vec", ["a", word], MATRIX[:2])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [write_vectors_text, write_word2vec, write_npz])
def test_words_and_rows_must_fit_and_be_finite(tmp_path: Path, write: Callable[..., None]) -> None:
    for matrix in (MATRIX[:4], MATRIX[0]):
        with pytest.raises(Mismatch, match="every word needs one row, got 5 words"):
            write(tmp_path / "x", WORDS, matrix)
    with pytest.raises(Mismatch, match="expected finite numbers"):
        write(tmp_path / "x", WORDS, np.where(MATRIX > 0, MATRIX, np.float32(np.nan)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [write_vectors_text, write_word2vec, write_npz])
def test_folders_that_are_not_there_are_made(tmp_path: Path, write: Callable[..., None]) -> None:
    write(tmp_path / "no" / "such" / "x", WORDS, MATRIX)
    assert (tmp_path / "no" / "such" / "x").is_file()
    with pytest.raises(Mismatch):
        write(tmp_path / "other" / "x", WORDS, MATRIX[:-1])
    assert not (tmp_path / "other").exists()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadFile, match="file"):
        write(tmp_path / "file" / "x", WORDS, MATRIX)


ROWS = np.random.default_rng(0).normal(size=(1234, 6)).astype(np.float32)
SENTENCES = [f"sentence {i} \u2028 été" for i in range(len(ROWS))]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 1234])
def test_npy_comes_back(tmp_path: Path, count: int) -> None:
    with store_writer(tmp_path / "x.npy", 6) as write:
        for begin in range(0, count, 100):
            end = min(begin + 100, count)
            write(SENTENCES[begin:end], ROWS[begin:end])
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy", mmap_mode="r"), ROWS[:count])
    assert np.load(tmp_path / "x.npy").dtype == np.float32


def test_parquet_comes_back(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    with store_writer(tmp_path / "x.parquet", 6, RowFormat(label="sentence")) as write:
        write(SENTENCES[:1000], ROWS[:1000])
        write(SENTENCES[1000:], ROWS[1000:])
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.column("sentence").to_pylist() == SENTENCES
    np.testing.assert_array_equal(np.array(table.column("vector").to_pylist(), np.float32), ROWS)
    assert [text for block in read_column(tmp_path / "x.parquet", None) for text in block] == SENTENCES


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("=1+1", True),
        ("+a", True),
        ("@x", True),
        ("-a", True),
        ("\tx", True),
        ("-5", False),
        ("+1,5", False),
        ("a=", False),
    ],
)
def test_csv_for_databases_keeps_formulas_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, cell: str, told: bool
) -> None:
    for place, form in enumerate(
        (RowFormat(), RowFormat(payload=Payload(["text"], rows=[{"text": cell}] * 2)))
    ):
        path = tmp_path / f"{place}.csv"
        caplog.clear()
        with store_writer(path, 6, form) as write:
            write(["a", "b"] if place else ["a", cell], ROWS[:2])
        with path.open(newline="") as file:
            assert cell in [*csv.reader(file)][-1]
        assert caplog.text.count("would run them as formulas") == told


@pytest.mark.parametrize("name", ["x.txt", "x", "x.npy.gz"])
def test_other_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadSetting, match=r"ends in \.npy, \.parquet, got"):
        check_row_file(tmp_path / name)


def test_columns(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "two.data"
    pq.write_table(pa.table({"en": ["a", None], "fr": ["b", "c"], "n": [1, 2]}), path)
    assert is_parquet(path)
    assert list(read_column(path, "en")) == [["a", ""]]
    for column, part in ((None, "none"), ("de", "'de'"), ("n", "'n'")):
        with pytest.raises(BadSetting, match=rf"one of its text columns \(en, fr\), got {part}"):
            list(read_column(path, column))


def test_no_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    for name, data in (("a.parquet", b"text\n"), ("b.parquet", b"PAR1 and then nothing"), ("c.parquet", b"")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadFile, match=f"{name}: expected a valid Parquet file"):
            list(read_column(tmp_path / name, "x"))
    with pytest.raises(BadFile, match="expected a valid Parquet file"):
        list(read_column(tmp_path / "nosuch.parquet", "x"))
    assert parquet.MAGIC == b"PAR1"
