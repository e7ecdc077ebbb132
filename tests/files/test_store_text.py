"""JSON lines and CSV of stores: which vectors are read, what is left out, and what is refused where."""

import gzip
import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_vectors, store_text
from muse.files.vectors.formats import open_table
from muse.files.vectors.table import IntegerId
from muse.vectors import Vectors


def read(folder: Path, text: str, name: str = "x", **options: Any) -> Vectors:
    (folder / name).write_text(text, encoding="utf-8")
    return read_vectors(folder / name, language="a", **options)


def lines(*objects: Any) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


def test_texts_of_a_payload(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    points = lines(
        {"id": 1, "vector": [1, 2], "payload": {"page_content": "one\nline"}},
        {"id": 2, "vector": None, "payload": {"page_content": "of no vector"}},
        {"id": 3, "vector": [3, 4], "payload": {}},
        {"id": 4, "vector": [5, 6], "payload": {"page_content": "four"}},
    )
    found = read(tmp_path, points)
    assert (found.words, found.texts) == (("1", "3", "4"), ["one line", "", "four"])
    assert found.matrix.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert "dropped 1 of 4 rows without a vector, the first is (row 1 (x:2))" in caplog.text


def test_captions_count_the_rows_without_a_vector(tmp_path: Path) -> None:
    points = lines({"vector": [1]}, {"vector": None}, {"vector": [3]})
    (tmp_path / "texts").write_text("one\ntwo\nthree\n", encoding="utf-8")
    found = read(tmp_path, points, texts=tmp_path / "texts")
    assert (found.words, found.texts) == (("0", "2"), ["one", "three"])  # ids are row numbers
    (tmp_path / "texts").write_text("one\ntwo\n", encoding="utf-8")
    with pytest.raises(Mismatch, match="expected a text for each of 3 rows, got 2"):
        read(tmp_path, points, texts=tmp_path / "texts")
    with pytest.raises(Mismatch, match="expected a line for each of 3 rows"):
        read(tmp_path, 'v\n"[1,2]"\n\\N\n"[3,4]"\n', texts=tmp_path / "texts")


def test_the_id_of_a_batch_of_texts_is_shared(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    answer = {"body": {"data": [{"embedding": [1, 2]}, {"embedding": [3, 4]}]}}
    batch = lines(
        {"custom_id": "a", "response": answer, "error": None},
        {"custom_id": "b", "response": None, "error": {"code": "batch_expired"}},
        {"custom_id": "c", "response": {"status_code": 500, "body": {"error": {}}}, "error": None},
    )
    found = read(tmp_path, batch)
    assert (found.words, found.matrix.tolist()) == (("a", "a #2"), [[1, 2], [3, 4]])
    assert "dropped 2 of 4 rows without a vector" in caplog.text
    assert "ids repeat (1 of them, such as 'a' on 2 rows): all 2 rows are read" in caplog.text


def test_a_named_vector(tmp_path: Path) -> None:
    points = lines(
        {"id": 1, "vector": {"title": [1, 2], "body": [1]}, "tags": ["x"]},
        {"id": 2, "vector": {"body": [2], "terms": {"indices": [4], "values": [0.5]}}},
    )
    with pytest.raises(BadSetting, match=r"one of its columns of vectors \(title, body\), got none"):
        read(tmp_path, points)
    assert read(tmp_path, points, column="body").matrix.tolist() == [[1], [2]]
    assert read(tmp_path, points, column="title").words == ("1",)
    with pytest.raises(BadSetting, match=r"got 'terms', a struct \(indices, values\)"):
        read(tmp_path, points, column="terms")
    with pytest.raises(BadSetting, match="got 'tags'"):
        read(tmp_path, points, column="tags")


def test_the_column_called_vector_comes_first(tmp_path: Path) -> None:
    assert read(tmp_path, lines({"vector": [1, 2], "scores": [3]})).matrix.tolist() == [[1, 2]]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_without_a_header(tmp_path: Path, separator: str) -> None:
    quote = '"' if separator == "," else ""
    text = f"a{separator}{quote}[1,2]{quote}\r\nb{separator}\\N\r\nc{separator}{quote}[3, 4e0]{quote}"
    found = read(tmp_path, text)
    assert (found.words, found.matrix.tolist()) == (("a", "c"), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    "text",
    [
        "a,1 2 3\nb,4 5 6\n", 'a,"1,2,3"\nb,"4,5,6"\n', '"1,2,3"\n"4,5,6"\n', "v\n1 2 3\n4 5 6\n",
        "v\n1,2,3\n4,5,6\n",
    ],
)  # fmt: skip
def test_lists_without_brackets(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.words == (("a", "b") if "a" in text else ("0", "1"))
    assert found.matrix.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_table_with_two_columns_of_vectors_and_lines_in_cells(tmp_path: Path) -> None:
    text = '\ufeffold,new,id,text\n"[1,2]","[3,4]",7,"two\nlines, one ""cell"""\n"[5,6]",,8,"dog" barks\n'
    with pytest.raises(BadSetting, match=r"columns of vectors \(old, new\), got none"):
        read(tmp_path, text)
    found = read(tmp_path, text, column="old")
    assert (found.words, found.texts) == (("7", "8"), ['two lines, one "cell"', "dog barks"])
    assert read(tmp_path, text, column="new").matrix.tolist() == [[3, 4]]


@pytest.mark.parametrize("last", ["007", "x", "+1", str(1 << 63)])
def test_ids_of_a_table_are_integers_if_all_of_them_are(tmp_path: Path, last: str) -> None:
    for ids, kind in ((["1", "-20", "0"], IntegerId), (["1", "-20", last], str)):
        rows = "".join(f'{one},"[1,2]"\n' for one in ids)
        (tmp_path / "x.csv").write_text(f"id,v\n{rows}", encoding="utf-8")
        with open_table(tmp_path / "x.csv") as table:
            assert [(type(one), one) for names, _ in table.blocks for one in names] == [
                (kind, one) for one in ids
            ]


def test_compressed_and_through_a_pipe(tmp_path: Path) -> None:
    text = lines({"id": "a", "vector": [1, 2], "text": "x"}).encode()
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(text))
    assert read_vectors(tmp_path / "x.jsonl.gz", language="a").texts == ["x"]
    for content, words in ((text, ("a",)), (b'id,v\n7,"[1,2]"\n', ("7",))):
        os.mkfifo(pipe := tmp_path / "pipe")
        writer = threading.Thread(target=pipe.write_bytes, args=(content,))
        writer.start()
        found = read_vectors(pipe, language="a")
        writer.join()
        pipe.unlink()
        assert (found.words, found.texts) == (words, None)  # a pipe is read once


def test_blocks_are_small_however_long_the_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_text, "_MOST_NUMBERS", 200)
    rows = np.arange(1_000).reshape(500, 2)
    (tmp_path / "x").write_text(lines(*({"vector": row} for row in rows.tolist())), encoding="utf-8")
    with open_table(tmp_path / "x") as table:
        blocks = list(table.blocks)
    assert [len(block) for _, block in blocks] == [100] * 5
    assert [one for names, _ in blocks for one in names] == list(map(str, range(500)))
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), rows)


ROW = {"id": 1, "vector": [1, 2]}
BAD = {
    "length": (lines(ROW, {"id": 2, "vector": [1]}), "x:2: expected 2 finite numbers in 'vector', got 1;"),
    "empty": (lines(ROW, {"id": 2, "vector": []}), "x:2: expected 2 finite numbers in 'vector', got 0;"),
    "text": (lines(ROW, {"id": 2, "vector": [1, "2"]}), "x:2: .* got '2' among them"),
    "null": (lines(ROW, {"id": 2, "vector": [1, None]}), "x:2: .* got None among them"),
    "nan": (lines(ROW, {"id": 2, "vector": [1, float("nan")]}), "x:2: .* got nan, inf or a number too"),
    "large": (lines(ROW, {"id": 2, "vector": [1, 1e300]}), "x:2: .* got nan, inf or a number too"),
    "huge": (lines(ROW, {"id": 2, "vector": [1, 10**400]}), "x:2: .* got nan, inf or a number too"),
    "long": (lines(ROW, {"id": 2, "vector": [1, 10**20]}), "x:1: .* got integers too large"),
    "rows": (lines(ROW, {"id": 2, "vector": [[1, 2], [3, 4]]}), r"x:2: .* got \[1, 2\] among them"),
    "number": (lines(ROW, {"id": 2, "vector": 7}), "x:2: .* got 7"),
    "id": (lines(ROW, {"id": None, "vector": [1, 2]}), "x:2: expected an id that is text or an integer"),
    "no id": (lines(ROW, {"vector": [1, 2]}), "x:2: expected an id .* got None"),
    "half": (lines(ROW, {"id": "\ud800", "vector": [1, 2]}), "x:2: expected an id"),
    "true": (lines(ROW, {"id": True, "vector": [1, 2]}), "x:2: expected an id .* got True"),
    "object": (lines(ROW, [1, 2]), "x:2: expected a JSON object on each line, got .*; export it again"),
    "cut": (lines(ROW) + '{"id": 2, "vec', r"x:2: expected a whole JSON object .* \(Unterminated string"),
    "deep": (lines(ROW) + "[" * 100_000, "x:2: expected a whole JSON object on each line"),
    "pretty": ('{\n  "id": 1,\n  "vector": [1, 2]\n}\n', "x:1: .*one on each line, as jq -c does"),
    "none": (lines({"id": 1, "vector": None}), "x:1: expected a vector in one of the first 100 rows"),
    "points": (lines({"id": 1, "result": {"points": ["a"]}}), "x:1: expected a vector in one of the first"),
    "page": (lines({"ids": ["a"], "embeddings": [[1], [2]]}), "x:1: expected one of `ids`, `embed"),
    "columns": ('id,v\n1,"[1,2]"\n' * 1 + "".join('1,"[1,2]"\n' for _ in range(200)) + "7\n",
                "x:203: expected 2 columns, as in line 1, got 1"),
    "cell": ('id,v\n' + '1,"[1,2]"\n' * 200 + '7,"[1;2]"\n', "x:202: expected a vector such as"),
    "latin": ('id,v\n' + '1,"[1,2]"\n' * 200 + 'é,"[1,2]"\n', "x:202: expected UTF-8, got the byte 0xe9"),
    "almost": ('id,v\n1,"[1,2]"\n2,"[nan,2]"\n', r"expected vectors such as \[0.1,0.2\], got '\[nan,2\]'"),
    "left out": ('id,v\n1,"[1.5, 2, … 3]"\n', "left out where they were written"),
    "commas": ("0.5,0.25,1.0\n" * 9, r"of numbers alone, write np.save\('vectors.npy', .*delimiter=','\)\)"),
    "no words": ("0.5 0.25 1.0\n" * 9, r"of numbers alone, write np.save\('vectors.npy', np.loadtxt"),
    "long cell": ('id,v\n' + '1,"[1,2]"\n' * 200 + "x" * 140_000 + ',"[1,2]"\n', "cells of at most 131072"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_reported_with_its_line(tmp_path: Path, name: str) -> None:
    text, message = BAD[name]
    (tmp_path / "x").write_bytes(text.encode("latin-1" if name == "latin" else "utf-8"))
    with pytest.raises(BadFile, match=message) as caught:
        read_vectors(tmp_path / "x", language="a")
    assert "\n" not in str(caught.value)


def test_sparse_vectors_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="got 'v', a struct"):
        read(tmp_path, 'id,v\n1,"{1:0.5,7:1}/9"\n')


def test_words_in_json_are_no_rows(tmp_path: Path) -> None:
    assert read(tmp_path, '{"word": "the", "vector": [0.1, 0.2]}\n').frequency_ordered
    with pytest.raises(BadFile, match="got JSON"):
        read(tmp_path, '{"roi": [0.1, 0.2]}\n')


def test_words_in_brackets_are_words(tmp_path: Path) -> None:
    assert read(tmp_path, "[1]\t0.1\t0.2\n[2]\t3\t4\n").words == ("[1]", "[2]")
    assert read(tmp_path, "[1,2] 0.1 0.2\n[3,4] 3 4\n").frequency_ordered
