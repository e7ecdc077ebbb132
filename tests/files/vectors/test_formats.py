"""Which format a file is in is told by its content; broken files of any format are BadFile."""

from __future__ import annotations

import gzip
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, MuseError
from muse.files import read_lexicon, read_vectors, write_npz, write_vectors_text, write_word2vec

WORDS = ["the", "été", "new\u00a0york", "66", "👍", *(f"w{i}" for i in range(20))]
MATRIX = np.random.default_rng(1).normal(0, 0.5, (len(WORDS), 4)).astype(np.float32)


def _text(path: Path) -> None:
    write_vectors_text(path, WORDS, MATRIX)


def _glove(path: Path) -> None:
    _text(path)
    path.write_bytes(path.read_bytes().partition(b"\n")[2])


def _word2vec(path: Path) -> None:
    write_word2vec(path, WORDS, MATRIX)


def _npz(path: Path) -> None:
    write_npz(path, WORDS, MATRIX)


def _gzipped(make: Callable[[Path], None]) -> Callable[[Path], None]:
    def packed(path: Path) -> None:
        make(path)
        path.write_bytes(gzip.compress(path.read_bytes()))

    return packed


def _zipped(make: Callable[[Path], None]) -> Callable[[Path], None]:
    def packed(path: Path) -> None:
        make(path)
        content = path.read_bytes()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/inside.vec", content)

    return packed


MAKERS = {
    "text": _text,
    "glove": _glove,
    "word2vec": _word2vec,
    "npz": _npz,
    "text.gz": _gzipped(_text),
    "glove.gz": _gzipped(_glove),
    "word2vec.gz": _gzipped(_word2vec),
    "text.zip": _zipped(_text),
    "glove.zip": _zipped(_glove),
    "word2vec.zip": _zipped(_word2vec),
}


@pytest.mark.parametrize("suffix", [".vec", ".bin", ".txt", ".gz", ""])
@pytest.mark.parametrize("maker", MAKERS)
def test_the_content_decides_whatever_the_name(tmp_path: Path, maker: str, suffix: str) -> None:
    made = tmp_path / "made"
    MAKERS[maker](made)
    path = made.rename(tmp_path / f"vectors{suffix}")
    vectors = read_vectors(str(path), language="en")
    assert list(vectors.words) == WORDS
    assert np.array_equal(vectors.matrix, MATRIX)
    assert vectors.matrix.dtype == np.float32
    few = read_vectors(path, language="en", max_vocab=3)
    assert list(few.words) == WORDS[:3]
    assert np.array_equal(few.matrix, MATRIX[:3])


def test_a_first_word_that_looks_like_a_zip(tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text("PK 0.1 0.2\nthe 0.3 0.4\n")
    assert read_vectors(tmp_path / "glove.txt", language="en").words == ("PK", "the")


def _message(path: Path) -> str:
    with pytest.raises(BadFile) as caught:
        read_vectors(path, language="en")
    assert str(caught.value).startswith(f"{path}:")
    return str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    assert "expected a file, but it does not exist; check the path" in _message(tmp_path / "no.vec")


def test_a_folder(tmp_path: Path) -> None:
    assert "expected a file, got a folder" in _message(tmp_path)


def test_a_file_as_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "expected a readable file, got Not a directory" in _message(tmp_path / "file" / "x.vec")


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.vec"
    path.write_text("a 1\n")

    def denied(*_: object, **__: object) -> None:  # the tests may run as root, whom no mode keeps out
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert "got permission denied; change its permissions" in _message(path)


@pytest.mark.parametrize("name", ["empty.vec", "empty.bin", "empty.npz", "empty.gz"])
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert "expected content, got an empty file" in _message(tmp_path / name)


def test_an_archive_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.vec.gz"
    path.write_bytes(gzip.compress(b""))
    assert "got an empty archive" in _message(path)


def test_a_gzip_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "x.vec.gz"
    MAKERS["text.gz"](path)
    path.write_bytes(path.read_bytes()[:-100])
    assert "expected a complete file, got a broken one" in _message(path)


def test_a_gzip_with_a_wrong_checksum(tmp_path: Path) -> None:
    path = tmp_path / "x.vec.gz"
    MAKERS["text.gz"](path)
    content = bytearray(path.read_bytes())
    content[-6] ^= 1
    path.write_bytes(content)
    assert "CRC check failed" in _message(path)


def test_a_zip_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    MAKERS["text.zip"](path)
    path.write_bytes(path.read_bytes()[:-30])
    assert "expected a complete .zip, got a broken one" in _message(path)


def test_a_zip_of_several_files(tmp_path: Path) -> None:
    path = tmp_path / "glove.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.50d.txt", "a 1\n")
        archive.writestr("a.100d.txt", "a 1\n")
    assert "expected one file in the .zip, got 2 (a.50d.txt, a.100d.txt)" in _message(path)


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", bytes(range(256)) * 4, b"\0" * 1000])
def test_a_bin_that_is_neither_word2vec_nor_fasttext(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    assert "word2vec or fastText .bin" in _message(path)


def _damaged(content: bytes, rng: random.Random) -> bytes:
    """The content with a few bytes changed, dropped, added or cut off."""
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        # Half of the damage goes to the beginning, where headers are.
        place = rng.randrange(max(1, rng.choice([len(damaged), min(len(damaged), 120)])))
        kind = rng.random()
        if kind < 0.5:
            damaged[place : place + 1] = bytes([rng.choice([rng.randrange(256), *b"\n \t\r09.-e\0\xff"])])
        elif kind < 0.65:
            del damaged[place : place + rng.choice([1, 2, 8, 50])]
        elif kind < 0.8:
            damaged[place:place] = bytes(rng.choices(b"\n \t\r019.-e\0\xff", k=rng.choice([1, 3, 8])))
        elif kind < 0.9:
            del damaged[place:]
        elif damaged:
            damaged[min(place, len(damaged) - 1)] ^= 1 << rng.randrange(8)
    return bytes(damaged)


@pytest.mark.parametrize("maker", MAKERS)
def test_damage_of_any_kind_is_told_as_a_muse_error(tmp_path: Path, maker: str) -> None:
    path = tmp_path / "vectors"
    MAKERS[maker](path)
    content = path.read_bytes()
    rng = random.Random(maker)
    refused = 0
    for _ in range(250):
        path.write_bytes(_damaged(content, rng))
        try:
            vectors = read_vectors(path, language="en", lowercase=rng.random() < 0.3)
        except MuseError as error:
            refused += 1
            assert str(path) in str(error)
        else:
            assert np.isfinite(vectors.matrix).all()
            assert len(set(vectors.words)) == len(vectors.words)
    assert refused > 40


def test_damage_to_a_dictionary_is_told_as_a_muse_error(tmp_path: Path) -> None:
    path = tmp_path / "en-fr.txt"
    rng = random.Random(0)
    for _ in range(500):
        path.write_bytes(_damaged("cat chat\nnew york\tnew york\nété summer\n".encode() * 4, rng))
        try:
            read_lexicon(path)
        except MuseError as error:
            assert str(path) in str(error)
