"""Files of rows: what is written comes back, and nothing is left of what breaks off."""

from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting
from muse.files import parquet
from muse.files.parquet import is_parquet, read_column
from muse.files.row_writers import RowFormat, check_row_file, store_writer

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
