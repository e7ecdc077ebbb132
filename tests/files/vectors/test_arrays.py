"""Numpy archives of words and a matrix, and their faults."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.errors import BadFile, Mismatch
from muse.files import read_vectors, write_npz
from muse.files.vectors.arrays import read_tensor

WORDS = ["the", "new york", "été", "\u2028", "a\nb", "👍"]
MATRIX = np.random.default_rng(0).normal(0, 1, (len(WORDS), 4)).astype(np.float32)


def test_what_we_write_we_read_and_numpy_too(tmp_path: Path) -> None:
    write_npz(tmp_path / "x.npz", WORDS, MATRIX)
    vectors = read_vectors(tmp_path / "x.npz", language="en")
    assert list(vectors.words) == WORDS
    assert np.array_equal(vectors.matrix, MATRIX)
    with np.load(tmp_path / "x.npz") as archive:
        assert archive["words"].tolist() == WORDS


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("name", ["matrix", "vectors"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int16])
def test_either_name_and_any_real_type(tmp_path: Path, save: Any, name: str, dtype: Any) -> None:
    matrix = (MATRIX * 10).astype(dtype)
    encoded = np.array([word.encode() for word in WORDS])
    save(tmp_path / "x.npz", words=encoded, **{name: matrix})
    vectors = read_vectors(tmp_path / "x.npz", language="en")
    assert list(vectors.words) == WORDS
    assert np.array_equal(vectors.matrix, matrix.astype(np.float32))


def test_fortran_order_and_repeated_words(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", words=np.array(["a", "b", "a"]), matrix=np.asfortranarray(MATRIX[:3]))
    vectors = read_vectors(tmp_path / "x.npz", language="en")
    assert (vectors.words, vectors.repeated) == (("a", "b"), 1)
    assert np.array_equal(vectors.matrix, MATRIX[:2])
    assert vectors.matrix.flags.c_contiguous


@pytest.mark.parametrize(
    ("arrays", "part"),
    [
        ({"a": MATRIX, "b": MATRIX}, "`ids` and `vectors` or one array, got a, b"),
        ({"words": np.array(WORDS)}, "`ids` and `vectors` or one array, got words"),
        ({"words": np.array(WORDS)[:4], "matrix": MATRIX[0]}, "got float32 of shape (4,)"),
        ({"words": np.array(WORDS), "matrix": MATRIX[:, :0]}, "got float32 of shape (6, 0)"),
        ({"words": np.array(WORDS), "matrix": MATRIX.astype(str)}, "got <U32 of shape (6, 4)"),
        ({"words": np.array(WORDS), "matrix": MATRIX * 1j}, "n rows of d real numbers, got complex"),
        ({"words": np.array(WORDS), "matrix": MATRIX[:2]}, "an array of shape (2, 4), got <U8 of shape (6,)"),
        ({"words": np.array([WORDS]), "matrix": MATRIX}, "`words` to be one text for each row"),
        (
            {"words": np.arange(6), "matrix": MATRIX},
            "`words` to be one text for each row of an array of shape (6, 4), got int64",
        ),
        (
            {"words": np.array(WORDS), "matrix": MATRIX * np.nan},
            "expected finite numbers, got nan or inf in word 1",
        ),
        ({"words": np.array(WORDS), "matrix": MATRIX.astype(float) * 1e39}, "expected finite numbers"),
        ({"words": np.array(WORDS), "matrix": MATRIX * 0}, "got only zeros"),
        ({"words": np.array([], np.str_), "matrix": MATRIX[:0]}, "got float32 of shape (0, 4)"),
        ({"words": np.array([b"\xe9"] * 6), "matrix": MATRIX}, "expected UTF-8 in word 1"),
        ({"words": np.array(WORDS, dtype=object), "matrix": MATRIX}, "save it without pickled objects"),
    ],
)
def test_arrays_that_are_no_vectors(tmp_path: Path, arrays: dict[str, Any], part: str) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, **arrays)
    with pytest.raises(BadFile) as caught:
        read_vectors(path, language="en")
    assert part in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_shape_that_lies(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (10**13, 300)}
    )
    words = io.BytesIO()
    np.save(words, np.array(WORDS))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("words.npy", words.getvalue())
        archive.writestr("matrix.npy", header.getvalue() + b"\0" * 100)
    with pytest.raises(BadFile, match="expected plain arrays"):
        read_vectors(path, language="en")


def test_words_that_numpy_would_cut(tmp_path: Path) -> None:
    with pytest.raises(Mismatch, match="word 2"):
        write_npz(tmp_path / "x.npz", ["a", "b\0"], MATRIX[:2])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_numbers_that_numpy_lacks_are_read(kind: str, tmp_path: Path) -> None:
    tensors = pytest.importorskip("safetensors.torch")
    rows = torch.tensor([[0.5, -1.0], [2.0, 0.25]])
    tensors.save_file({"x": rows.to(getattr(torch, kind))}, tmp_path / "x.safetensors")
    assert np.array_equal(read_tensor(tmp_path / "x.safetensors", "x"), rows.numpy())
