"""Texts of rows: from a column or a file to the rows they belong to, and back from a folder."""

from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_vectors
from muse.files.space_folder import Texts, read_content, read_words, write_lines
from muse.files.vectors.table import one_line
from muse.vectors import Vectors
from tests.support.spaces import raw_rows
from tests.support.toys import write_vec

TEXTS = ["A dog runs.", "", "Un chien\ncourt\tvite. ", "<b>été</b>", "x\u2028y\x85z", "\ud800"]
FOLDED = ["A dog runs.", "", "Un chien court vite.", "<b>été</b>", "x y z", "?"]


def test_what_is_written_is_read_folded(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    write_lines(path, map(one_line, TEXTS))
    assert read_words(path, len(TEXTS), read_content(path)) == FOLDED
    mapped, kept = (Texts(path, len(TEXTS), content) for content in (None, read_content(path)))
    (tmp_path / "new").write_bytes(b"\xff\n")
    (tmp_path / "new").replace(path)  # which is not mixed with the one before
    assert list(mapped) == list(kept) == FOLDED
    assert (mapped[-1], mapped[1:4], Texts(path, 1)[0]) == (FOLDED[-1], FOLDED[1:4], "\ufffd")
    for content in (b"a\nb\nc\n", b"a\n", b"a\nb", b""):
        path.write_bytes(content)
        for read in (lambda: read_words(path, 2, read_content(path)), lambda: Texts(path, 2)[0]):
            with pytest.raises(BadFile, match="expected 2 lines"):
                read()


def test_texts_of_a_file_of_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", raw_rows(0, 3))
    (tmp_path / "texts.txt").write_text("one\n\nthe  third\n", encoding="utf-8")
    found = read_vectors(tmp_path / "rows.npy", language="a", texts=tmp_path / "texts.txt")
    assert found.texts == ["one", "", "the third"]
    assert [found.text_of(row) for row in ("2", "0", "7")] == ["the third", "one", None]
    first = read_vectors(tmp_path / "rows.npy", language="a", texts=tmp_path / "texts.txt", max_vocab=2)
    assert first.texts == ["one", ""]
    (tmp_path / "texts.txt").write_text("one\ntwo\n", encoding="utf-8")
    with pytest.raises(Mismatch, match=r"expected a line for each of 3 rows of .*rows\.npy, got 2"):
        read_vectors(tmp_path / "rows.npy", language="a", texts=tmp_path / "texts.txt")


def test_words_have_no_texts(tmp_path: Path) -> None:
    write_vec(tmp_path / "a.vec", Vectors("a", ["x"], np.ones((1, 2), np.float32)))
    (tmp_path / "texts.txt").write_text("x\n", encoding="utf-8")
    with pytest.raises(BadSetting, match="texts are for items without a vocabulary"):
        read_vectors(tmp_path / "a.vec", language="a", texts=tmp_path / "texts.txt")


@pytest.mark.parametrize("column", ["text", "sentence"])
def test_texts_follow_their_rows_where_ids_are_repeated(tmp_path: Path, column: str) -> None:
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    columns = {
        "id": [7, 8, 7, 9],
        column: ["seven", None, "again", "nine"],
        "vector": raw_rows(0, 4).tolist(),
    }
    parquet.write_table(arrow.table(columns), tmp_path / "rows.parquet")
    found = read_vectors(tmp_path / "rows.parquet", language="a")
    assert found.words == ("7", "8", "7 #2", "9")
    assert found.texts == ["seven", "", "again", "nine"]
    first = read_vectors(tmp_path / "rows.parquet", language="a", max_vocab=1)
    assert (first.words, first.texts) == (("7",), ["seven"])


def test_a_table_of_words_has_no_texts(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    columns = {"word": ["a"], "text": ["b"], "vector": [[1.0]]}
    parquet.write_table(arrow.table(columns), tmp_path / "words.parquet")
    found = read_vectors(tmp_path / "words.parquet", language="a")
    assert (found.frequency_ordered, found.texts) == (True, None)


def test_texts_are_carried_along() -> None:
    rows = raw_rows(0, 3)
    vectors = Vectors("a", ["p", "q", "r"], rows, frequency_ordered=False, texts=["one", "two", "three"])
    assert vectors.most_frequent(2).texts == ["one", "two"]
    assert vectors.chosen(np.array([2, 0])).texts == ["three", "one"]
    with pytest.raises(Mismatch, match="got 1 for 3"):
        Vectors("a", ["p", "q", "r"], rows, frequency_ordered=False, texts=["one"])
