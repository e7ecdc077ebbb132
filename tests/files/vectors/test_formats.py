"""Which format a file is in is told by its content; broken files of any format are BadFile."""

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from muse.files import read_vectors, write_npz, write_vectors_text, write_word2vec
from tests.support.vector_files import Write, packed, refusal

WORDS = ["the", "été", "new\u00a0york", "66", "👍", *(f"w{i}" for i in range(20))]
MATRIX = np.random.default_rng(1).normal(0, 0.5, (len(WORDS), 4)).astype(np.float32)


def _text(path: Path) -> None:
    write_vectors_text(path, WORDS, MATRIX)


def _glove(path: Path) -> None:
    _text(path)
    path.write_bytes(path.read_bytes().partition(b"\n")[2])


PLAIN: dict[str, Write] = {
    "text": _text, "glove": _glove, "word2vec": lambda path: write_word2vec(path, WORDS, MATRIX),
    "npz": lambda path: write_npz(path, WORDS, MATRIX),
}  # fmt: skip
MAKERS = PLAIN | {
    f"{kind}.{form}": packed(PLAIN[kind], form)
    for kind in ("text", "glove", "word2vec")
    for form in ("gz", "zip")
}


@pytest.mark.parametrize("suffix", [".vec", ".bin", ".gz"])
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


def _changed(maker: str, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        MAKERS[maker](path)
        path.write_bytes(change(path.read_bytes()))

    return write


def _two_files(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.50d.txt", "a 1\n")
        archive.writestr("a.100d.txt", "a 1\n")


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "expected a file, but it does not exist; check the path"),
    "folder": (Path.mkdir, "expected a file, got a folder"),
    "empty": (Path.touch, "expected content, got an empty file"),
    "empty.npz": (Path.touch, "expected content, got an empty file"),
    "x.vec.gz": (lambda path: path.write_bytes(gzip.compress(b"")), "got an empty archive"),
    "cut.gz": (_changed("text.gz", lambda content: content[:-100]), "expected a complete file, got a broken"),
    "sum.gz": (
        _changed("text.gz", lambda content: content[:-6] + bytes([content[-6] ^ 1]) + content[-5:]),
        "CRC check failed",
    ),
    "cut.zip": (
        _changed("text.zip", lambda content: content[:-30]),
        "expected a complete .zip, got a broken",
    ),
    "two.zip": (_two_files, "expected one file in the .zip, got 2 (a.50d.txt, a.100d.txt)"),
    "png": (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\rIHDR"), "word2vec or fastText .bin"),
    "bytes": (lambda path: path.write_bytes(bytes(range(256)) * 4), "word2vec or fastText .bin"),
    "zeros": (lambda path: path.write_bytes(b"\0" * 1000), "word2vec or fastText .bin"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str) -> None:
    write, part = FAULTS[name]
    write(tmp_path / name)
    assert part in refusal(tmp_path / name)


def test_a_file_as_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "expected a readable file, got Not a directory" in refusal(tmp_path / "file" / "x.vec")


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.vec"
    path.write_text("a 1\n")

    def denied(*_: object, **__: object) -> None:  # the tests may run as root, whom no mode keeps out
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert "got permission denied; change its permissions" in refusal(path)
