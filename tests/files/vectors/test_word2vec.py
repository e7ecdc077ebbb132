"""Word2vec binary, ours against gensim's, and its faults."""

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from muse.errors import BadFile, Mismatch
from muse.files import read_vectors, write_word2vec
from muse.vectors import Matrix

WORDS = ["the", "été", "👍", "x\u00a0y", "1984"]


def _matrix(dimension: int, words: int = len(WORDS)) -> Matrix:
    return np.random.default_rng(dimension).normal(0, 1, (words, dimension)).astype(np.float32)


@pytest.mark.parametrize("dimension", [1, 3, 300])
def test_gensim_reads_what_we_write(tmp_path: Path, dimension: int) -> None:
    write_word2vec(tmp_path / "ours.bin", WORDS, _matrix(dimension))
    theirs = KeyedVectors.load_word2vec_format(str(tmp_path / "ours.bin"), binary=True)
    assert theirs.index_to_key == WORDS
    assert np.array_equal(theirs.vectors, _matrix(dimension))


@pytest.mark.parametrize("dimension", [1, 3, 300])
def test_we_read_what_gensim_writes(tmp_path: Path, dimension: int) -> None:
    theirs = KeyedVectors(dimension)
    theirs.add_vectors(WORDS, _matrix(dimension))
    theirs.save_word2vec_format(str(tmp_path / "theirs.bin"), binary=True)
    ours = read_vectors(tmp_path / "theirs.bin", language="en")
    assert sorted(ours.words) == sorted(WORDS)  # gensim writes in its own order
    for word, row in zip(ours.words, ours.matrix, strict=True):
        assert np.array_equal(row, theirs[word])


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("dimension", [3, 25, 300])
def test_words_with_spaces_are_read_as_gensim_writes_them(
    tmp_path: Path, dimension: int, end: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    words = [
        "the", "new york", "été", "new york city", "a\u00a0b", "le roi", "la reine",
        *(f"w{i}" for i in range(99)),
    ]  # fmt: skip
    rows = _matrix(dimension, len(words))
    entries = [word.encode() + b" " + row.tobytes() + end for word, row in zip(words, rows, strict=True)]
    (tmp_path / "x.bin").write_bytes(b"%d %d\n" % rows.shape + b"".join(entries))
    read = read_vectors(tmp_path / "x.bin", language="en")
    assert list(read.words) == words
    np.testing.assert_array_equal(read.matrix, rows)
    assert not caplog.messages


@pytest.mark.parametrize("seed", range(30))
def test_random_bytes_are_not_mistaken_for_text(tmp_path: Path, seed: int) -> None:
    matrix = np.frombuffer(np.random.default_rng(seed).bytes(4 * 200 * 8), "<f4").reshape(200, 8)
    matrix = np.where(np.isfinite(matrix), matrix, np.float32(0.5)).astype(np.float32)
    words = [str(i) for i in range(200)]
    write_word2vec(tmp_path / "x.bin", words, matrix)
    assert np.array_equal(read_vectors(tmp_path / "x.bin", language="en").matrix, matrix)


def test_more_than_a_block(tmp_path: Path) -> None:
    words, matrix = [f"w{i}" for i in range(5000)], _matrix(100, 5000)
    write_word2vec(tmp_path / "x.bin", words, matrix)
    vectors = read_vectors(tmp_path / "x.bin", language="en")
    assert list(vectors.words) == words
    assert np.array_equal(vectors.matrix, matrix)


def _refused(path: Path, content: bytes, *parts: str) -> None:
    path.write_bytes(content)
    with pytest.raises(BadFile) as caught:
        read_vectors(path, language="en")
    for part in (str(path), *parts):
        assert part in str(caught.value)


def _good(tmp_path: Path) -> bytes:
    write_word2vec(tmp_path / "good.bin", WORDS, _matrix(3))
    return (tmp_path / "good.bin").read_bytes()


@pytest.mark.parametrize("missing", [2, 9, 30])
def test_cut_off(tmp_path: Path, missing: int) -> None:
    _refused(
        tmp_path / "x.bin", _good(tmp_path)[:-missing], "expected 5 words of 3 numbers", "download it again"
    )


@pytest.mark.parametrize("header", [b"5 999999999999999999\n", b"999999999999999999 3\n"])
def test_an_absurd_header(tmp_path: Path, header: bytes) -> None:
    _refused(tmp_path / "x.bin", _good(tmp_path).replace(b"5 3\n", header), "incomplete")


def test_no_space_anywhere(tmp_path: Path) -> None:
    _refused(tmp_path / "x.bin", b"2 2\n" + b"\x01" * 200_000, "expected 2 words")


@pytest.mark.parametrize("word", ["new york", "a\nb", "", "\ud800"])
def test_words_the_format_cannot_hold(tmp_path: Path, word: str) -> None:
    with pytest.raises(Mismatch, match=r"x.bin: expected words that this format can represent, got .*word 2"):
        write_word2vec(tmp_path / "x.bin", ["a", word], _matrix(3, 2))
    assert not (tmp_path / "x.bin").exists()


def test_a_line_that_is_wrong_beside_its_cut_word_is_refused(tmp_path: Path) -> None:
    line, path = b"2 3\n\xc3\xa9 0.1 0.2 0.3\ncut\xc3 %s\n", tmp_path / "x.vec"
    path.write_bytes(line % b"0.1 0.2 0.3")
    assert read_vectors(path, language="en").words == ("é",)
    for numbers in (b"0.1 0.2", b"0.1 0.2 x", b"0.1 nan 0.3"):
        _refused(path, line % numbers, "x.vec:3: expected ")


@pytest.mark.parametrize("word", [b"caf\xe9", "語".encode()[:2]])
def test_more_short_words_cut_than_whole_ones_are_another_encoding(tmp_path: Path, word: bytes) -> None:
    rows = [row.tobytes() for row in _matrix(3, 2)]
    content = b"2 3\nthe " + rows[0] + b"\n%s " % word + rows[1] + b"\n"
    _refused(tmp_path / "x.bin", content, "expected UTF-8 in word 2", "another encoding")
    (tmp_path / "x.bin").write_bytes(content.replace(word, b"x" * 95 + "語".encode()[:2]))
    assert read_vectors(tmp_path / "x.bin", language="en").words == ("the",)  # word2vec cuts such words
