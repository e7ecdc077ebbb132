"""Sources: files and pipes are read once, from the start, or refused with what to do."""

from __future__ import annotations

import gzip
import io
import os
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from muse.embedding.corpus import write_corpus
from muse.encoders.streaming import stream_sentences
from muse.errors import BadFile
from muse.evaluation.score import gold_name
from muse.files import read_lexicon, read_vectors
from muse.files.fasttext_model import is_fasttext_file
from muse.files.parquet import read_column
from muse.files.plain_text import read_lines
from muse.files.source import Source, is_packed
from muse.files.space_folder import checksum
from muse.files.word2vec import write_word2vec
from muse.files.writing import write_vectors_text
from tests.command import Command
from tests.spaces import saved
from tests.streams import piped

LINES = [f"line {number}" for number in range(20_000)]
TEXT = "\n".join(LINES).encode() + b"\n"


@pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT), b"x"], ids=["text", "gz", "short"])
def test_a_pipe_is_read_whole(content: bytes) -> None:
    with piped(content) as path:
        assert list(read_lines(path)) == (["x"] if content == b"x" else LINES)


def test_a_named_pipe_is_opened_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    writer = threading.Thread(target=(tmp_path / "fifo").write_bytes, args=(TEXT,))
    writer.start()  # it ends at the first opening: a second one would wait for ever
    assert list(stream_sentences(tmp_path / "fifo")) == LINES
    writer.join()


@pytest.mark.parametrize("write", [write_vectors_text, write_word2vec])
def test_vectors_come_from_a_pipe(tmp_path: Path, write: object) -> None:
    words, rows = (
        ["the", "été"] + [f"w{i}" for i in range(998)],
        np.random.default_rng(0).normal(size=(1000, 9)),
    )
    write(tmp_path / "f", words, rows.astype(np.float32))  # type: ignore[operator]
    with piped((tmp_path / "f").read_bytes()) as path:
        read = read_vectors(path, language="en")
    assert read.words == tuple(words)
    np.testing.assert_array_equal(read.matrix, rows.astype(np.float32))


def test_a_lexicon_comes_from_a_pipe() -> None:
    with piped(b"chat cat\nroi king\n") as path:
        assert read_lexicon(path).pairs == (("chat", "cat"), ("roi", "king"))


def test_all_sentences_of_a_pipe_are_encoded(muse: Command, tmp_path: Path) -> None:
    saved(tmp_path / "space")
    with piped(b"fr20 fr21\n" * 20_000) as path:
        ended = muse(
            "encode", tmp_path / "space", "--lang", "fr", "--input", path, "--out", tmp_path / "v.npy"
        )
    assert ended.code == 0
    assert len(np.load(tmp_path / "v.npy")) == 20_000


def test_a_corpus_comes_from_a_pipe(tmp_path: Path) -> None:
    with piped(b"un chat noir\n" * 20_000) as path:
        assert write_corpus([path], tmp_path / "corpus", language="fr").lines == 20_000


def packed_in_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.txt", TEXT)
    return stream.getvalue()


@pytest.mark.parametrize("content", [packed_in_zip(), b"PAR1" + TEXT], ids=["zip", "parquet"])
def test_what_is_read_from_its_end_is_refused(content: bytes) -> None:
    with piped(content) as path, pytest.raises(BadFile, match=r"got a pipe or a device; save it"):
        list(read_lines(path))


def test_what_is_read_twice_is_refused() -> None:
    for reader in (
        is_packed,
        is_fasttext_file,
        gold_name,
        checksum,
        lambda path: list(read_column(path, None)),
    ):
        with piped(TEXT) as path, pytest.raises(BadFile, match=r"expected a regular file, .*got a pipe"):
            reader(path)


def test_a_source_looks_ahead_without_losing_anything() -> None:
    source = Source(Path("it"), io.BytesIO(TEXT[4:]), size=0, ahead=TEXT[:4])
    assert source.peek(10) == TEXT[:10]
    assert source.read(3) + source.read(100) == TEXT[:10]
    assert source.peek(5) == TEXT[10:15]
    assert b"".join(iter(lambda: source.read(7_000), b"")) == TEXT[10:]
