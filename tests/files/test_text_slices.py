"""Pieces of texts are, end to end, what the readers of whole texts find; and parts are what was written."""

import gzip
import json
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import dataset, parquet, table

from muse.cluster.parts import MANIFEST, WORK, PartFolder, begin_parts, check_parts, open_parts, read_manifest
from muse.errors import BadFile, BadSetting
from muse.files import text_slices as module
from muse.files.plain_text import read_lines
from muse.files.text_slices import TextSlice, slices

LINES = st.lists(st.text("ab é\t", max_size=4), min_size=1, max_size=30)


def read(found: list[TextSlice]) -> list[str]:
    """The sentences of all slices, whose numbers must follow each other."""
    assert [one.first for one in found] == [
        sum(one.rows for one in found[:place]) for place in range(len(found))
    ]
    return list(chain.from_iterable(one.sentences() for one in found))


@pytest.mark.slow
@given(
    lines=LINES,
    size=st.integers(1, 8),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    mark=st.booleans(),
    block=st.integers(1, 40),
)
@settings(max_examples=300, deadline=None)
def test_slices_of_a_text_are_its_lines(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    size: int,
    end: str,
    last: bool,
    mark: bool,
    block: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / "text.txt"
    text = ("\ufeff" if mark else "") + end.join(lines) + (end if last else "")
    path.write_bytes(text.encode())
    if not text.strip("\ufeff"):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        found = slices(path, size=size)
    assert read(found) == list(read_lines(path))
    assert all(0 < one.rows <= size for one in found)


def test_slices_of_parquet_and_of_a_folder(tmp_path: Path) -> None:
    rows = [f"line {number}" if number % 5 else None for number in range(23)]
    parquet.write_table(table({"text": rows, "n": range(23)}), tmp_path / "b.parquet", row_group_size=10)
    (tmp_path / "a.txt").write_text("one\ntwo\nthree")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"four\nfive\n"))
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "empty.txt").write_text("")  # as Spark leaves them
    found = slices(tmp_path, size=4)
    assert read(found) == ["one", "two", "three", *(text or "" for text in rows), "four", "five"]
    assert [one.rows for one in found] == [3, 4, 4, 2, 4, 4, 2, 3, 2]


def test_a_text_that_changes_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("one\ntwo\nthree\n")
    found = slices(path, size=2)
    path.write_text("one\n\ntwo\n")
    with pytest.raises(BadFile, match=r"text.txt: expected 2 sentences in a part of it, got 3"):
        read(found)


def test_broken_text_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"one\ntwo\nthr\xff\n")
    with pytest.raises(BadFile, match="text.txt:3: expected UTF-8, got the byte 0xff"):
        read(slices(path, size=2))


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="expected sentences"):
        slices(tmp_path)


def test_parts_are_read_as_written_and_as_one_table(tmp_path: Path) -> None:
    parts = begin_parts(tmp_path / "out", 2, {"command": "test"})
    assert parts.missing() == [0, 1]
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    parts.write(1, {"row": np.arange(3), "text": ["a", "b\n", "é"], "vector": rows}, {"empty": 2})
    parts.stage("seen", 1).write(0, {"row": np.arange(9)})
    assert parts.missing() == [0]
    parts.write(0, {"row": np.arange(0), "text": [], "vector": rows[:0]}, {"empty": 1})
    number, text, vector = parts.read(1, "row", "text", "vector")
    assert number.tolist() == [0, 1, 2] and text == ["a", "b\n", "é"]
    np.testing.assert_array_equal(vector, rows)
    assert parts.counts() == {"rows": 3, "empty": 3}
    (parts.folder / ".part-000001.parquet.x.partial").write_text("of a worker that was killed")
    parts.finish({"result": {"rows": 3}})
    assert sorted(path.name for path in parts.folder.iterdir()) == [
        MANIFEST, "part-000000.parquet", "part-000001.parquet",
    ]  # fmt: skip
    assert open_parts(parts.folder) == PartFolder(parts.folder, 2)
    assert read_manifest(parts.folder)["complete"]
    assert dataset.dataset(parts.folder).to_table().num_rows == 3  # other programs leave the manifest out


def test_only_the_same_run_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    begin_parts(out, 3, {"lang": "fr", "words": (1, 2)})
    assert begin_parts(out, 3, {"lang": "fr", "words": (1, 2)}) == PartFolder(out, 3)
    with pytest.raises(BadSetting, match="out was begun with another lang"):
        check_parts(out, {"lang": "en", "words": (1, 2)})
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "a.tex").write_text("mine")
    with pytest.raises(BadSetting, match="thesis exists and does not contain parts"):
        check_parts(tmp_path / "thesis", {})
    (out / MANIFEST).write_text(json.dumps([1]))
    with pytest.raises(BadFile, match="expected the manifest of parts"):
        check_parts(out, {})
    assert not (out / WORK).exists()


def test_a_count_of_parts_is_compared_with_those_that_are_there(tmp_path: Path) -> None:
    begin_parts(tmp_path / "out", 1, {})
    manifest = tmp_path / "out" / MANIFEST
    for count in (10**12, -1, "2", None):
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "parts": count}))
        with pytest.raises(BadFile, match="expected 0 parts, as there are"):
            open_parts(tmp_path / "out")


def test_settings_may_name_files_that_are_not_utf_8(tmp_path: Path) -> None:
    named = {"input": [["\udce9.txt", 1, 2]]}
    begin_parts(tmp_path / "out", 1, named)
    assert read_manifest(tmp_path / "out")["settings"] == named


def test_documents_in_a_folder_of_text_are_named_and_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.txt").write_text("one line\n")
    (tmp_path / "b.docx").write_bytes(b"PK\x03\x04")
    assert module.text_files([tmp_path]) == [tmp_path / "a.txt"]
    assert "b.docx: left out, it is no text" in caplog.text
    # One that is named, or all that there is, is told of as before.
    assert module.text_files([tmp_path / "b.docx"]) == [tmp_path / "b.docx"]
    (tmp_path / "a.txt").unlink()
    assert module.text_files([tmp_path]) == [tmp_path / "b.docx"]


def test_lines_that_end_in_cr_alone_are_one_slice(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a\rb\rc")
    assert read(slices(tmp_path / "x", size=2)) == ["a", "b", "c"]


def test_a_parquet_file_is_checked_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = list[Path]()
    monkeypatch.setattr("muse.files.parquet.check_ratio", lambda path, *_: checked.append(path))
    for rows in (["a", "b", "c"], ["a", "b", "c", "d"]):
        parquet.write_table(table({"text": rows}), tmp_path / "x.parquet", row_group_size=2)
        assert read(slices(tmp_path / "x.parquet", size=1)) == rows
    assert len(checked) == 2
