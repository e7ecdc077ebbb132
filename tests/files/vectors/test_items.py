"""Unlabelled vectors from every format that holds them, and their faults."""

import logging
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pyarrow as arrow
import pytest
import torch
from pyarrow import parquet
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_torch_file

from muse.errors import BadSetting
from muse.files import read_vectors
from muse.files.vectors.table import ReadOptions, gather, items_table
from tests.support.spaces import raw_rows
from tests.support.vector_files import refusal

ROWS = raw_rows(0, 30, 4)
NUMBERS = tuple(map(str, range(len(ROWS))))
IDS = tuple(f"id {row}" for row in range(len(ROWS)))

Write = Callable[[Path], object]


def _column(rows: Any, kind: Any = None) -> Any:
    return arrow.array(list(rows), kind or arrow.list_(arrow.float32()))


def _parquet(**columns: Any) -> Write:
    return lambda path: parquet.write_table(arrow.table(columns), path, row_group_size=7)


def _index(kind: Any, rows: Any = ROWS) -> Write:
    def write(path: Path) -> None:
        index = kind(rows.shape[1])
        index.add(rows)
        faiss.write_index(index, str(path))

    return write


def _npy(rows: Any, **options: Any) -> Write:
    return lambda path: np.save(path.open("wb"), rows, **options)


def _npz(**arrays: Any) -> Write:
    return lambda path: np.savez(path.open("wb"), **arrays)


def _tensors(**tensors: Any) -> Write:
    return lambda path: save_file(tensors, path)


DOUBLE = arrow.list_(arrow.float64())
FIXED = arrow.list_(arrow.float32(), 4)
GOOD: dict[str, tuple[Write, Sequence[str]]] = {
    "x.npy": (_npy(ROWS), NUMBERS),
    "double.npy": (_npy(ROWS.astype(np.float64)), NUMBERS),
    "one.npz": (_npz(arr_0=ROWS), NUMBERS),
    "vectors.npz": (_npz(vectors=ROWS, other=ROWS[:2]), NUMBERS),
    "ids.npz": (_npz(embeddings=ROWS, ids=np.array(IDS)), IDS),
    "bytes.npz": (_npz(rows=ROWS, ids=np.array([name.encode() for name in IDS])), IDS),
    "integers.npz": (_npz(rows=ROWS, ids=np.arange(30)), NUMBERS),
    "x.safetensors": (_tensors(embeddings=ROWS), NUMBERS),
    "product.faiss": (_index(faiss.IndexFlatIP), NUMBERS),
    "euclid.index": (_index(faiss.IndexFlatL2), NUMBERS),
    "metric.faiss": (_index(lambda d: faiss.IndexFlat(d, faiss.METRIC_L1)), NUMBERS),
    "lists.parquet": (_parquet(embedding=_column(ROWS)), NUMBERS),
    "fixed.parquet": (_parquet(id=list(IDS), vector=_column(ROWS, FIXED), text=list(NUMBERS)), IDS),
    "double.parquet": (_parquet(id=range(30), v=_column(ROWS, DOUBLE)), NUMBERS),
}


@pytest.mark.parametrize("name", GOOD)
def test_rows_and_their_ids_are_read(tmp_path: Path, name: str) -> None:
    write, ids = GOOD[name]
    write(tmp_path / name)
    read = read_vectors(tmp_path / name, language="a")
    assert (list(read.words), read.frequency_ordered, read.noun) == (list(ids), False, "rows")
    assert np.array_equal(read.matrix, ROWS)
    few = read_vectors(tmp_path / name, language="a", max_vocab=9)
    assert (len(few), few.frequency_ordered) == (9, False)
    assert np.array_equal(few.matrix, ROWS[:9])


def test_half_precision_and_integers(tmp_path: Path) -> None:
    for rows in (ROWS.astype(np.float16), (ROWS * 10).astype(np.int8)):
        _npy(rows)(tmp_path / "x.npy")
        assert np.array_equal(read_vectors(tmp_path / "x.npy", language="a").matrix, rows.astype(np.float32))


def test_a_column_of_words_makes_them_words(tmp_path: Path) -> None:
    _parquet(word=list(IDS), vector=_column(ROWS))(tmp_path / "x.parquet")
    assert read_vectors(tmp_path / "x.parquet", language="a").frequency_ordered


def _read_of(columns: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> str:
    """What is logged when a file with these columns is read."""
    caplog.clear()
    caplog.set_level(logging.INFO, "muse")
    _parquet(**columns)(tmp_path / "x.parquet")
    read_vectors(tmp_path / "x.parquet", language="a")
    return caplog.text


def test_columns_that_are_ignored_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own, vectors = list(IDS), _column(ROWS)
    text = _read_of({"name": own, "title": own, "embedding": vectors}, tmp_path, caplog)
    assert text.count("\n") == 2
    assert "columns read: embedding; ignored: name, title\n" in text
    assert "the numbers of rows are their ids: nothing there is called id" in text
    text = _read_of({"word": own, "text": own, "vector": vectors, "count": own}, tmp_path, caplog)
    assert text.endswith("columns read: word, vector; ignored: text, count\n")
    assert _read_of({"id": own, "text": own, "vector": vectors}, tmp_path, caplog) == ""


def test_half_precision_of_torch(tmp_path: Path) -> None:
    rows = torch.from_numpy(ROWS).bfloat16()
    save_torch_file({"embeddings": rows}, tmp_path / "x.safetensors")
    found = read_vectors(tmp_path / "x.safetensors", language="a").matrix
    np.testing.assert_array_equal(found, rows.float().numpy())


def test_many_rows_are_numbered_through_all_blocks(tmp_path: Path) -> None:
    rows = np.ones((20_001, 1), np.float32)
    for name, write in (("x.npy", _npy(rows)), ("x.parquet", _parquet(v=_column(rows)))):
        write(tmp_path / name)
        read = read_vectors(tmp_path / name, language="a")
        assert (len(read), read.words[0], read.words[-1]) == (20_001, "0", "20000")


def test_rows_with_one_id_are_all_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = items_table(tmp_path, ROWS[:6], ["a", "b", "a", "a #2", "a", "c"])
    read = gather(table, ReadOptions("x", max_vocab=5))
    assert (read.words, read.repeated) == (("a", "b", "a #2", "a #2 #2", "a #3"), 0)
    assert np.array_equal(read.matrix, ROWS[:5])
    assert "ids repeat (2 of them, such as 'a' on 3 rows): all 5 rows are read" in caplog.text


def test_what_is_for_words_is_refused(tmp_path: Path) -> None:
    _npy(ROWS)(tmp_path / "x.npy")
    with pytest.raises(BadSetting, match="--lower is for words, got items"):
        read_vectors(tmp_path / "x.npy", language="a", lowercase=True)
    with pytest.raises(BadSetting, match="leave the list out"):
        read_vectors(tmp_path / "x.npy", language="a", words=["a"])


NAN = np.where(np.arange(30)[:, None] == 17, np.nan, ROWS)
OBJECTS = np.array([[1.0, "a"], [None, {}]], object)
BAD: dict[str, tuple[Write, str]] = {
    "flat.npy": (_npy(ROWS[0]), "expected n rows of d real numbers, got float32 of shape (4,)"),
    "cube.npy": (_npy(ROWS[None]), "got float32 of shape (1, 30, 4)"),
    "none.npy": (_npy(ROWS[:0]), "got float32 of shape (0, 4)"),
    "thin.npy": (_npy(ROWS[:, :0]), "got float32 of shape (30, 0)"),
    "nan.npy": (_npy(NAN), "expected finite numbers, got nan or inf in row 17; remove that row"),
    "large.npy": (_npy(np.full((3, 2), 1e300)), "got nan or inf in row 0"),
    "zero.npy": (_npy(np.zeros((3, 2))), "expected vectors, got only zeros"),
    "complex.npy": (_npy(ROWS * 1j), "got complex64"),
    "text.npy": (_npy(ROWS.astype(str)), "got <U32"),
    "fortran.npy": (_npy(np.asfortranarray(ROWS)), "save np.ascontiguousarray(array)"),
    "objects.npy": (_npy(OBJECTS), "got Array can't be memory-mapped: Python objects"),
    "flat.npz": (_npz(vectors=ROWS[0]), "got float32 of shape (4,)"),
    "number.npz": (_npz(vectors=np.float32(1), ids=np.array(IDS)), "expected `ids` to be one text"),
    "alone.npz": (_npz(vectors=np.float32(1)), "got float32 of shape ()"),
    "objects.npz": (_npz(vectors=OBJECTS), "save it without pickled objects"),
    "short.npz": (
        _npz(vectors=ROWS, ids=np.array(IDS[:9])),
        "expected `ids` to be one text or integer for each row of an array of shape (30, 4), got <U4 of "
        "shape (9,)",
    ),
    "real.npz": (_npz(vectors=ROWS, ids=ROWS[:, 0]), "got float32 of shape (30,)"),
    "points.npz": (
        _npz(vectors=ROWS[:2], ids=np.array([0xD800, 65], np.uint32).view("U1")),
        "got '\\ud800'; correct it",
    ),
    "latin.npz": (_npz(vectors=ROWS[:2], ids=np.array([b"a", b"\xe9"])), "got b'\\xe9'"),
    "two.safetensors": (_tensors(a=ROWS, b=ROWS), "expected one tensor, got 2 (a, b); save one alone"),
    "flat.safetensors": (_tensors(a=ROWS[0]), "got float32 of shape (4,)"),
    "number.safetensors": (_tensors(a=np.array(1.0)), "got float64 of shape ()"),
    "nan.safetensors": (_tensors(a=NAN), "in row 17"),
    "ivf.faiss": (
        _index(lambda d: faiss.IndexHNSWFlat(d, 4)),
        "expected a flat faiss index (IndexFlatIP, IndexFlatL2), got one of the kind IHNf; save its vectors",
    ),
    "map.faiss": (
        lambda path: faiss.write_index(faiss.IndexIDMap(faiss.IndexFlatIP(3)), str(path)),
        "do not hold 0 rows of 3 numbers",
    ),
    "graph.faiss": (
        lambda path: faiss.write_index(faiss.IndexIDMap(faiss.IndexHNSWFlat(3, 4)), str(path)),
        "got an IDMap of one of the kind IHNf; save its vectors with np.savez(path, ids=faiss.vector_to",
    ),
    "none.faiss": (_index(faiss.IndexFlatIP, ROWS[:0]), "do not hold 0 rows of 4 numbers"),
    "nan.faiss": (_index(faiss.IndexFlatIP, NAN.astype(np.float32)), "in row 17"),
    "texts.parquet": (_parquet(text=list(IDS)), "expected Parquet with a column of vectors"),
    "none.parquet": (_parquet(a=_column([])), "expected Parquet with a column of vectors"),
    "unlike.parquet": (
        _parquet(a=_column([[1, 2], [3], [4, 5, 6]])),
        "row 1: expected 2 finite numbers in 'a', got 1; correct or remove that row",
    ),
    "null.parquet": (_parquet(a=_column([None, [1, 2], [3, None]])), "row 2: expected 2 finite numbers"),
    "hole.parquet": (_parquet(a=_column([[1, 2], [None, 3]])), "'a', got None among them"),
    "nan.parquet": (
        _parquet(a=_column(NAN)),
        "row 17: expected 4 finite numbers in 'a', got nan, inf or a number too large",
    ),
    "large.parquet": (_parquet(a=_column(np.full((3, 4), 1e300), DOUBLE)), "row 0: expected 4 finite"),
    "late.parquet": (_parquet(a=_column([*np.ones((20_001, 1)), [np.inf]])), "row 20001: expected"),
    "words.parquet": (_parquet(a=_column([["x", "y"]], arrow.list_(arrow.string()))), "expected"),
    "id.parquet": (
        _parquet(id=["a", None], v=_column(ROWS[:2])),
        "row 1: expected an id that is text or an integer, got None",
    ),
    "word.parquet": (_parquet(word=["a", ""], v=_column(ROWS[:2])), "in word 2, got an empty word"),
    "real.parquet": (
        _parquet(id=[0.5, 1.5], v=_column(ROWS[:2])),
        "row 0: expected an id that is text or an integer, got 0.5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, name: str) -> None:
    write, part = BAD[name]
    write(tmp_path / name)
    assert part in refusal(tmp_path / name)


@pytest.mark.parametrize("share", [0.999, 0.5, 0.2])
@pytest.mark.parametrize("name", GOOD)
def test_a_truncated_file_is_refused(tmp_path: Path, name: str, share: float) -> None:
    GOOD[name][0](tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(share * len(content))])
    refusal(tmp_path / name)


@pytest.mark.parametrize("name", ["x.npy", "x.safetensors", "x.faiss", "x.parquet"])
def test_a_file_that_is_missing_or_empty(tmp_path: Path, name: str) -> None:
    refusal(tmp_path / name)
    (tmp_path / name).touch()
    refusal(tmp_path / name)


@pytest.mark.parametrize(("n", "d"), [(1 << 62, 4), (30, 1 << 23), (-30, 4), (29, 4)])
def test_the_header_of_an_index_is_not_believed(tmp_path: Path, n: int, d: int) -> None:
    _index(faiss.IndexFlatIP)(tmp_path / "x.faiss")
    content = bytearray((tmp_path / "x.faiss").read_bytes())
    content[4:16] = struct.pack("<iq", d, n)
    (tmp_path / "x.faiss").write_bytes(content)
    refusal(tmp_path / "x.faiss")


def test_text_that_begins_as_an_index_does(tmp_path: Path) -> None:
    (tmp_path / "x.vec").write_text("IxFI 0.1 0.2\nIHNf 0.3 0.4\n")
    assert read_vectors(tmp_path / "x.vec", language="a").words == ("IxFI", "IHNf")
