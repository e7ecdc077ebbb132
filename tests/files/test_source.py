"""Sources: what a file is, read once from the start, or refused with what to do; archives of arrays."""

import bz2
import errno
import gzip
import io
import lzma
import os
import tarfile
import threading
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from muse.embedding.corpus import write_corpus
from muse.errors import BadFile
from muse.evaluation.score import gold_name
from muse.files import read_lexicon, read_vectors
from muse.files.archive import open_archive, strictly
from muse.files.detect import DICTIONARY, KINDS, VECTORS, kind_of, open_beginning, readable_kind
from muse.files.parquet import read_column
from muse.files.plain_text import read_lines
from muse.files.source import RATIO_VARIABLE, Source, is_packed, open_source, temporary_file
from muse.files.space_folder import checksum
from muse.files.vectors.formats import READERS
from muse.files.vectors.word2vec import write_word2vec
from muse.files.writing import write_vectors_text
from muse.sentences.encoders.encoder import stream_sentences
from muse.sentences.files.sentence_text import read_sentences
from muse.text.arpa import read_arpa
from tests.support.command import Command
from tests.support.spaces import saved
from tests.support.streams import piped

LINES = [f"line {number}" for number in range(20_000)]
TEXT = "\n".join(LINES).encode() + b"\n"


OTHERWISE = {
    "zst": b"\x28\xb5\x2f\xfd\x04\x58", "7z": b"7z\xbc\xaf\x27\x1c\0\4", "rar": b"Rar!\x1a\x07\1\0",
    "lz4": b"\x04\x22\x4d\x18\x64\x40", "Z": b"\x1f\x9d\x90",
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_is_packed_otherwise_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(OTHERWISE[name] + TEXT)
    with pytest.raises(BadFile, match=f"expected plain text, .*, got {name}"), open_source(path):
        pass


def _in_zip(content: bytes, *others: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("folder/text.txt", *others):
            archive.writestr(name, content)
    return stream.getvalue()


def _in_tar(content: bytes, *others: str, mode: str = "w") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name in ("folder/text.txt", *others):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


MAC = ("__MACOSX/folder/._text.txt", "folder/._text.txt", "folder/.DS_Store")
PACKS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "two of gz": lambda text: gzip.compress(text[:9]) + gzip.compress(text[9:]),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lzma": partial(lzma.compress, format=lzma.FORMAT_ALONE),
    "zip": _in_zip,
    "zip of a Mac": lambda text: _in_zip(text, *MAC),
    "gz in zip": lambda text: _in_zip(gzip.compress(text)),
    "tar": _in_tar,
    "tar of a Mac": lambda text: _in_tar(text, *MAC),
    "tar.gz": partial(_in_tar, mode="w:gz"),
    "tar.bz2": partial(_in_tar, mode="w:bz2"),
    "tar.xz": partial(_in_tar, mode="w:xz"),
    "gz in tar": lambda text: _in_tar(gzip.compress(text)),
    "gz in tar.xz": lambda text: _in_tar(gzip.compress(text), mode="w:xz"),
}


@pytest.mark.parametrize("kind", PACKS)
def test_what_is_packed_is_read_whatever_its_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(PACKS[kind](TEXT))
    assert list(read_lines(path)) == LINES
    assert is_packed(path)
    path.write_bytes(PACKS[kind](b"2 2\nthe 0.5 1\nend 1 2\n"))
    assert read_vectors(path, language="en").words == ("the", "end")


@pytest.mark.parametrize("kind", PACKS)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.8])
def test_what_is_cut_off_is_refused_in_one_line(tmp_path: Path, kind: str, share: float) -> None:
    content = PACKS[kind](np.random.default_rng(0).bytes(30_000).hex().encode())
    (tmp_path / "text").write_bytes(content[: int(share * len(content))])
    with pytest.raises(BadFile, match=r"text: expected ") as caught:
        list(read_lines(tmp_path / "text"))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(("kind", "pack"), [("zip", _in_zip), ("tar", _in_tar)])
def test_an_archive_of_several_files_is_refused(
    tmp_path: Path, kind: str, pack: Callable[..., bytes]
) -> None:
    (tmp_path / "text").write_bytes(pack(TEXT, "other.txt"))
    with pytest.raises(
        BadFile, match=rf"expected one file in the \.{kind}, got 2 \(folder/text.txt, other.txt\)"
    ):
        list(read_lines(tmp_path / "text"))


PIPED = {
    "text": TEXT,
    "gz": gzip.compress(TEXT),
    "bz2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
    "x": b"x",
}


@pytest.mark.parametrize("name", PIPED)
def test_a_pipe_is_read_whole(name: str) -> None:
    with piped(PIPED[name]) as path:
        assert list(read_lines(path)) == (["x"] if name == "x" else LINES)


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


@pytest.mark.parametrize(
    "content", [_in_zip(TEXT), _in_tar(TEXT), b"PAR1" + TEXT], ids=["zip", "tar", "parquet"]
)
def test_what_is_read_from_its_end_is_refused(content: bytes) -> None:
    with piped(content) as path, pytest.raises(BadFile, match=r"got a pipe or a device"):
        list(read_lines(path))


def test_what_is_read_twice_is_refused() -> None:
    for reader in (is_packed, gold_name, checksum, lambda path: list(read_column(path, None))):
        with piped(TEXT) as path, pytest.raises(BadFile, match=r"expected a regular file, .*got a pipe"):
            reader(path)


def test_a_source_looks_ahead_without_losing_anything() -> None:
    source = Source(Path("it"), io.BytesIO(TEXT[4:]), size=0, ahead=TEXT[:4])
    assert source.peek(10) == TEXT[:10]
    assert source.read(3) + source.read(100) == TEXT[:10]
    assert source.peek(5) == TEXT[10:15]
    assert b"".join(iter(lambda: source.read(7_000), b"")) == TEXT[10:]


PACKED = {
    "a number": b"1 " * (1 << 23), "lines": b"\n" * (1 << 23), "a line": b"a" * (1 << 23),
    "pairs": b"a b\n" * (1 << 21), "words": b"the " + b"1 " * (1 << 22),
}  # fmt: skip


@pytest.mark.parametrize(
    "read", [partial(read_vectors, language="en"), read_lexicon, read_sentences, read_arpa]
)
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.slow) if kind in ("lines", "pairs") else kind for kind in PACKED],
)
def test_a_small_file_that_becomes_large_is_refused(
    tmp_path: Path, read: Callable[[Path], object], kind: str
) -> None:
    (tmp_path / "f.gz").write_bytes(gzip.compress(PACKED[kind], 9))
    with pytest.raises(BadFile, match=r"grows at most 100 times|a line of at most|expected (the|a word|two)"):
        read(tmp_path / "f.gz")


def test_a_large_file_that_grows_is_refused_from_its_start(tmp_path: Path) -> None:
    """However much of it follows, no more is unpacked than what was read of it allows."""
    (tmp_path / "f.bz2").write_bytes(bz2.compress(b"w 0.1 0.2\n" * (1 << 20)) * 2 + os.urandom(1 << 20))
    with open_source(tmp_path / "f.bz2") as source, pytest.raises(BadFile, match="grows at most"):
        while source.read(1 << 16):
            pass
    assert source.taken < 6 << 20


def test_so_is_one_from_a_pipe() -> None:
    with piped(gzip.compress(PACKED["a line"], 9)) as path, pytest.raises(BadFile, match="grows at most"):
        list(read_lines(path))


def test_an_archive_of_arrays_that_becomes_large_is_refused(tmp_path: Path) -> None:
    words = np.array(["a" * 100_000, *"bcdefghijklmnop"])
    np.savez_compressed(tmp_path / "f.npz", words=words, matrix=np.ones((16, 3), np.float32))
    with pytest.raises(BadFile, match=r"grows at most 100 times, got 6400\d+ bytes out of"):
        read_vectors(tmp_path / "f.npz", language="en")


def test_an_archive_whose_member_has_no_name(tmp_path: Path) -> None:
    for name in ("a.zip", "a.npz"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("x", "a 1 2\nb 3 4\n")
            archive.filelist[0].filename = ""  # in the list at the end, which is what is read
        with pytest.raises(BadFile, match=rf"{name}: "):
            read_vectors(tmp_path / name, language="fr")


def test_the_ratio_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.gz").write_bytes(gzip.compress(PACKED["a line"], 9))
    monkeypatch.setenv(RATIO_VARIABLE, "2000")
    assert list(map(len, read_lines(tmp_path / "f.gz"))) == [1 << 23]
    monkeypatch.setenv(RATIO_VARIABLE, "many")
    with pytest.raises(BadFile, match=RATIO_VARIABLE):
        list(read_lines(tmp_path / "f.gz"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("error", [errno.EIO, errno.ESTALE])
def test_a_disk_that_fails_amid_a_file_is_no_broken_file(error: int) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() >= 100:
                raise OSError(error, os.strerror(error))
            return super().read(size)

    source = Source(Path("far.txt"), Failing(b"x" * 200), size=200)
    assert source.read(100) == b"x" * 100
    with pytest.raises(BadFile, match=rf"far\.txt: expected a readable file, got {os.strerror(error)}"):
        source.read(100)


def test_a_full_temporary_folder_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(BadFile, match=r"x\.gz: expected room to unpack it in .* set TMPDIR"),
        temporary_file(Path("/dev/full"), tmp_path / "x.gz") as target,
    ):
        target.write(b"x" * 100_000)


OF_DICTIONARIES = {
    "gls": b"#stripmethod=keep\n#sametypesequence=h\n\nroi\nking\n\n",
    "gettext": b'# French\nmsgid ""\nmsgstr ""\n\nmsgid "king"\nmsgstr "roi"\n',
    "cedict": "# CC-CEDICT\n國王 国王 [guo2 wang2] /king/\n女王 女王 [nu:3 wang2] /queen/\n".encode(),
    "moses": b"roi ||| king ||| 0.5 0.5 ||| 0-0\n",
}
OF_ALL = {
    "sql": b"-- MySQL dump\n\nCREATE TABLE d (fr text, en text);\n",
    "pdf": b"%PDF-1.7\n",
    "xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9),
    "sqlite": b"SQLite format 3\0" + bytes(9),
    "lfs": b"version https://git-lfs.github.com/spec/v1\n",
    "pickle": b"\x80\x04\x95\x0b\0",
}


@pytest.mark.parametrize(("name", "content"), [*OF_DICTIONARIES.items(), *OF_ALL.items()])
def test_what_is_not_read_is_named_with_what_to_do(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "it's").write_bytes(content)
    kind = kind_of(tmp_path / "it's", DICTIONARY)
    assert kind.name == name
    assert (kind_of(tmp_path / "it's", VECTORS).name == name) == (name in OF_ALL)
    with open_beginning(tmp_path / "it's") as file, pytest.raises(BadFile) as caught:
        readable_kind(file, DICTIONARY)
    assert str(caught.value).startswith(f"{tmp_path / 'it'}'s: expected a dictionary ")
    assert f"got {kind.noun}; " in str(caught.value)
    assert "{file}" not in str(caught.value)


@pytest.mark.parametrize("name", ["x.bgl", "x.mdx", "x.slob", "x.dsl", "x.dsl.dz"])
def test_a_name_counts_where_the_content_is_no_text(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x12\x34\0\1")
    assert kind_of(tmp_path / name, DICTIONARY).noun.startswith("the format of ")
    (tmp_path / name).write_text("roi\tking\n")
    assert kind_of(tmp_path / name, DICTIONARY).name == "text"


def test_a_word_that_looks_like_markup_is_one(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("<html> 0.1 -2e-3\nroi 0.1 0.2\n")
    assert kind_of(tmp_path / "x").name == "text"


def test_every_kind_is_read_or_says_what_to_do() -> None:
    read = {kind.name for kind in KINDS if VECTORS in kind.readers}
    assert read | {"text"} == READERS.keys()
    assert all(kind.readers or kind.advice for kind in KINDS)


def archive(path: Path, header: bytes) -> Path:
    """An .npz with one array of this header, and nothing after it."""
    stream = io.BytesIO()
    stream.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with zipfile.ZipFile(path, "w") as members:
        members.writestr("a.npy", stream.getvalue())
    return path


def test_arrays_are_read_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.arange(3), b=np.array("text"))
    with open_archive(tmp_path / "x.npz") as arrays:
        assert list(arrays) == ["a", "b"]
        assert arrays["a"].tolist() == [0, 1, 2]
        with pytest.raises(KeyError):
            arrays["c"]


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }\n",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1024), }\n",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (3L, ), }\n",
        b"{'descr': '<f4\\<', 'fortran_order': False, 'shape': (3,), }\n",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n",
        b"{" * 300,
    ],
)
def test_headers_that_lie(tmp_path: Path, header: bytes) -> None:
    # Warnings are errors in tests: none of these may be one.
    with pytest.raises(ValueError), open_archive(archive(tmp_path / "x.npz", header)) as arrays:  # noqa: PT011
        dict(arrays)


def test_other_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    for content in (b"", b"PK\3\4", (tmp_path / "x.npy").read_bytes()):
        (tmp_path / "x.npz").write_bytes(content)
        with pytest.raises(ValueError), open_archive(tmp_path / "x.npz") as arrays:  # noqa: PT011
            dict(arrays)


def test_what_numpy_warns_of_is_an_error() -> None:
    with pytest.raises(ArithmeticError), strictly():
        np.float64(1e308) * np.float64(10)
    with pytest.raises(ValueError, match="odd"), strictly():
        import warnings

        warnings.warn("odd", DeprecationWarning, stacklevel=1)
