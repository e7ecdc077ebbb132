"""What rows have beside ids and vectors: columns and texts, carried between formats, kept by a space."""

import csv
import json
import logging
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_vectors
from muse.files.row_writers import RowFormat, store_writer
from muse.files.space_folder import Texts, read_content, read_words, write_lines
from muse.files.vectors.formats import open_table
from muse.files.vectors.table import ReadOptions, one_line
from muse.space.new_words import StoreFiles
from muse.vectors import Vectors
from tests.support.spaces import raw_rows
from tests.support.toys import write_vec

VECTORS = [[0.5, 1.0], [1.5, -2.0], [0.25, 4.0]]
TEXTS = ["a dog", 'two\nlines, "quoted" é', "\ud800 alone"]


def copied(path: Path, out: Path, column: str | None = None, *, bare: bool = False) -> None:
    with open_table(path, ReadOptions(column=column)) as table:
        files = StoreFiles(path, out, column, bare=bare)
        form = RowFormat(numbered=table.numbered, payload=files.payload_of(table.payload))
        with store_writer(out, table.dimension, form) as write:
            for ids, rows in table.blocks:
                write(ids, rows)


def lines(path: Path, objects: list[Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return path


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


POINTS = [
    {"id": row, "vector": vector, "payload": {"text": text, "page": row, "tags": ["x", row]}, "shard": None}
    for row, (vector, text) in enumerate(zip(VECTORS, TEXTS, strict=True))
]


def test_lines_keep_their_objects(tmp_path: Path) -> None:
    copied(lines(tmp_path / "a.jsonl", [*POINTS, {"id": "last", "vector": [1, 2]}]), tmp_path / "b.jsonl")
    assert read_lines(tmp_path / "b.jsonl") == [*POINTS, {"id": "last", "vector": [1, 2]}]
    copied(tmp_path / "a.jsonl", tmp_path / "c.jsonl", bare=True)
    bare = [{"id": one["id"], "vector": one["vector"]} for one in POINTS]
    assert read_lines(tmp_path / "c.jsonl")[:3] == bare


def test_a_page_of_chroma(tmp_path: Path) -> None:
    page = {
        "ids": ["a", "b", "c"], "embeddings": [VECTORS[0], None, VECTORS[2]], "documents": TEXTS,
        "metadatas": [{"n": 1}, {"n": 2}, None],
    }  # fmt: skip
    copied(lines(tmp_path / "a.jsonl", [page]), tmp_path / "b.jsonl")
    assert read_lines(tmp_path / "b.jsonl") == [
        {"id": "a", "vector": VECTORS[0], "document": TEXTS[0], "metadata": {"n": 1}},
        {"id": "c", "vector": VECTORS[2], "document": TEXTS[2]},
    ]


def test_values_of_a_payload_become_columns(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    copied(lines(tmp_path / "a.jsonl", POINTS), tmp_path / "b.csv")
    found = read_csv(tmp_path / "b.csv")
    assert list(found[0]) == ["id", "vector", "shard", "text", "page", "tags"]
    assert [one["text"] for one in found] == [*TEXTS[:2], "? alone"]
    assert [(one["page"], one["tags"], one["shard"]) for one in found][2] == ("2", '["x", 2]', "")
    copied(tmp_path / "a.jsonl", tmp_path / "b.parquet")
    table = parquet.read_table(tmp_path / "b.parquet")
    assert table["page"].to_pylist() == [0, 1, 2]
    assert table["text"].to_pylist() == [*TEXTS[:2], "? alone"]
    copied(tmp_path / "b.csv", tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_columns_keep_their_types_and_become_a_payload(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    caplog.set_level(logging.INFO)
    days = [date(2026, 1, 2), None, date(2026, 3, 4)]
    given = pa.table({"day": days, "id": [7, 8, 9], "v": VECTORS, "w": VECTORS, "raw": [b"\0", None, b"\1"]})
    parquet.write_table(given, tmp_path / "a.parquet")
    copied(tmp_path / "a.parquet", tmp_path / "b.parquet", "v")
    found = parquet.read_table(tmp_path / "b.parquet")
    assert found.column_names == ["id", "vector", "day", "raw"]
    assert found.select(["day", "raw"]).equals(given.select(["day", "raw"]))
    assert "a.parquet: not copied to b.parquet: w" in caplog.text and "ignored" not in caplog.text
    with pytest.raises(Mismatch, match="JSON and CSV have no bytes"):
        copied(tmp_path / "a.parquet", tmp_path / "b.jsonl", "v")
    assert not (tmp_path / "b.jsonl").exists()
    parquet.write_table(given.drop_columns(["raw"]), tmp_path / "a.parquet")
    copied(tmp_path / "a.parquet", tmp_path / "b.jsonl", "v")
    assert [one.get("payload") for one in read_lines(tmp_path / "b.jsonl")][0] == {"day": "2026-01-02"}


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """JSON lines of which the last row has another column, and another kind of value in the one of all."""
    monkeypatch.setattr("muse.files.store_text._MOST_ROWS", 2)
    monkeypatch.setattr("muse.files.store_text._SAMPLE", 2)
    points: list[Any] = [{"id": row, "vector": [1, row], "payload": {"a": row}} for row in range(3)]
    points += [{"id": 3, "vector": None, "payload": {"of no row": 1}}]
    return lines(
        tmp_path / "a.jsonl", [*points, {"id": 4, "vector": [1, 3], "payload": {"a": 1.5, "b": "x"}}]
    )


def test_a_column_of_a_late_row_is_one_of_the_table(tmp_path: Path, late: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    copied(late, tmp_path / "b.csv")
    assert [(one["a"], one["b"]) for one in read_csv(tmp_path / "b.csv")][1:] == [
        ("1", ""), ("2", ""), ("1.5", "x"),
    ]  # fmt: skip
    copied(late, tmp_path / "b.parquet")
    table = parquet.read_table(tmp_path / "b.parquet").drop_columns(["id", "vector"])
    assert table.to_pydict() == {"a": [0.0, 1.0, 2.0, 1.5], "b": [None, None, None, "x"]}
    with late.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": 5, "vector": [1, 3], "payload": {"a": 1 << 64}}) + "\n")
    copied(late, tmp_path / "b.parquet")
    assert parquet.read_table(tmp_path / "b.parquet")["a"].to_pylist()[-2:] == ["1.5", str(1 << 64)]


@pytest.mark.parametrize("name", ["b.csv", "b.parquet"])
def test_a_pipe_has_the_columns_of_its_first_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: Path, name: str
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("muse.files.store_text.is_stream", lambda _: True)
    with pytest.raises(Mismatch, match=r"got 'b' later"):
        copied(late, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_names_that_differ_from_row_to_row_are_no_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: Path
) -> None:
    monkeypatch.setattr("muse.files.payloads.MOST_COLUMNS", 1)
    with pytest.raises(Mismatch, match=r"at most 1 columns together, .*a, b.*write a \.jsonl file"):
        copied(late, tmp_path / "b.csv")
    assert not (tmp_path / "b.csv").exists()


def test_what_a_file_cannot_have_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    copied(lines(tmp_path / "a.jsonl", POINTS), tmp_path / "b.npy")
    assert "a.jsonl: not copied to b.npy: shard, text, page, tags" in caplog.text


OWN = ["A dog runs.", "", "Un chien\ncourt\tvite. ", "<b>été</b>", "x\u2028y\x85z", "\ud800"]
FOLDED = ["A dog runs.", "", "Un chien court vite.", "<b>été</b>", "x y z", "?"]


def test_what_is_written_is_read_folded(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    write_lines(path, map(one_line, OWN))
    assert read_words(path, len(OWN), read_content(path)) == FOLDED
    mapped, kept = (Texts(path, len(OWN), content) for content in (None, read_content(path)))
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
