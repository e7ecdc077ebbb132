"""Where vectors are looked for, and in which format; broken files of any format are BadFile."""

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile
from muse.files import read_vectors, write_npz, write_vectors_text, write_word2vec
from muse.files.vectors import locate
from muse.files.vectors.locate import locate_vectors, search_path
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


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are searched, in order, all of them empty."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    named = [tmp_path / "one", tmp_path / "two"]
    monkeypatch.setenv("MUSE_EMBEDDINGS", ":".join(map(str, named)))
    monkeypatch.setattr(locate, "SAMPLE", tmp_path / "sample")
    found = [Path("embeddings"), Path("embeddings/raw"), *named, tmp_path / "sample"]
    for folder in found:
        folder.mkdir()
    return found


def test_first_come_first_served(folders: list[Path]) -> None:
    for folder in reversed(folders):
        (folder / "fr.vec").touch()
        assert locate_vectors("fr") == folder / "fr.vec"


@pytest.mark.parametrize(
    "name", ["fr.vec", "fr.vec.gz", "fr.txt", "fr.bin", "fr.npz", "wiki.fr.vec", "cc.fr.300.vec.gz"]
)
def test_every_usual_name(folders: list[Path], name: str) -> None:
    (folders[0] / name).touch()
    assert locate_vectors("fr") == folders[0] / name


def test_a_folder_or_another_language_is_no_file(folders: list[Path]) -> None:
    (folders[0] / "fr.vec").mkdir()
    (folders[0] / "fra.vec").touch()
    with pytest.raises(BadFile, match=r"no vectors for 'fr': expected a file such as fr\.vec") as caught:
        locate_vectors("fr")
    for folder in folders:
        assert str(folder) in str(caught.value)
    assert "--src-emb" in str(caught.value)
    assert "MUSE_EMBEDDINGS" in str(caught.value)
    assert "download published vectors: muse fetch vectors fr" in str(caught.value)


def test_the_sample_of_the_checkout_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MUSE_EMBEDDINGS", raising=False)
    assert locate_vectors("fr").name == "fr.vec.gz"


def test_without_a_checkout_nothing_is_said_of_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MUSE_EMBEDDINGS", raising=False)
    monkeypatch.setattr(locate, "SAMPLE", tmp_path / "site-packages" / "embeddings" / "sample")
    with pytest.raises(BadFile, match="no vectors for 'fr'") as caught:
        locate_vectors("fr")
    assert "site-packages" not in str(caught.value)
    assert search_path() == [Path("embeddings"), Path("embeddings/raw")]
