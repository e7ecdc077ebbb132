"""Plain text from files and streams; and JSON from anybody: a value or a ValueError."""

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files import plain_text
from muse.files.json_text import DEEPEST, parse_json
from muse.files.plain_text import blocks_of_lines, read_blocks, read_lines


def drops(*parts: bytes) -> Callable[[int], bytes]:
    """What reads a stream that comes a few bytes at a time."""
    left = [*parts, b""]
    return lambda _: left.pop(0)


def test_lines_come_when_they_are_whole() -> None:
    blocks = list(read_blocks(drops(b"\xef\xbb\xbfa\r\nb", b"b\n\nc\n", b"\xc3", b"\xa9\n", b"d"), "it"))
    assert blocks == [["a"], ["bb", "", "c"], ["é"], ["d"]]
    assert list(read_blocks(drops(), "it")) == []


def test_files(tmp_path: Path) -> None:
    text = "é\n\n" * 50_000 + "end\u2028x"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    (tmp_path / "a.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("a.txt", "a.gz"):
        assert list(read_lines(tmp_path / name)) == text.split("\n")


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 3, 1 << 20])
def test_lines_that_end_in_cr_alone(size: int) -> None:
    def lines(data: bytes) -> list[str]:
        read = drops(*(data[at : at + size] for at in range(0, len(data), size)))
        return [line for block in read_blocks(read, "it") for line in block]

    assert lines(b"\xef\xbb\xbfa b\r\rc") == lines(b"a b\r\rc\r") == ["a b", "", "c"]
    assert lines(b"\ra\nb\rc\r\n") == ["\ra", "b\rc"]  # parts of lines, where there is an LF
    many = b"a b\r" * 30_000
    assert lines(many) == ["a b"] * 30_000
    with pytest.raises(BadFile, match=r"it:\d+: expected lines that end in CR, as before, got an LF"):
        list(read_blocks(drops(many, b"a\n"), "it"))


def test_what_is_not_text(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"it:3: expected UTF-8, got the byte 0xff"):
        list(read_blocks(drops(b"a\n", b"b\n\xff\n"), "it"))
    with pytest.raises(BadFile, match="empty file"):
        (tmp_path / "empty").touch()
        list(read_lines(tmp_path / "empty"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_the_encodings_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    text = "roi\r\n\u00e9t\u00e9\r\n\u0a0d \U0001f600\r\n"  # a letter that has both bytes of ends of lines
    (tmp_path / "x").write_bytes(text.encode(encoding))
    for size in (5, 1 << 16):
        monkeypatch.setattr("muse.files.plain_text.BLOCK", size)
        assert list(read_lines(tmp_path / "x")) == text.split("\r\n")[:-1]
        read = io.BytesIO(text.encode(encoding)).read1
        assert [line for block in read_blocks(read, "stdin") for line in block] == text.split("\r\n")[:-1]


def test_broken_utf_16_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes("roi\nreine\n".encode("utf-16") + b"\0")
    with pytest.raises(BadFile, match="x:3: expected UTF-16, got what is none"):
        list(read_lines(tmp_path / "x"))


@pytest.mark.parametrize("size", [1, 2, 5, 1 << 16])
@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"a\nbb\n\nccc", b"a\n\n"])
def test_the_lines_of_a_stream(monkeypatch: pytest.MonkeyPatch, size: int, text: bytes) -> None:
    monkeypatch.setattr(plain_text, "BLOCK", size)
    found = [line for block in blocks_of_lines(io.BytesIO(text).read, "it") for line in block]
    assert found == (text.removesuffix(b"\n").split(b"\n") if text else [])


def test_a_line_without_an_end() -> None:
    def endless(size: int) -> bytes:
        return b"a" * size

    with pytest.raises(BadFile, match="it:1: expected a line of at most 1000000 bytes"):
        list(blocks_of_lines(endless, "it", longest=1_000_000))


def test_a_value() -> None:
    assert parse_json(b'{"a": [1, null]}') == {"a": [1, None]}
    assert parse_json("[" * DEEPEST + "]" * DEEPEST)
    assert parse_json(b'"text"') == "text"
    assert parse_json(r'"\ud83d\udc4d"') == "👍"


@pytest.mark.parametrize(
    "text",
    [
        "", "{", b"\xff\xfe\x00", "[" * 100_000, '{"a":' * 100_000, "1" * 5_000, "[" * 200 + "]" * 200,
        r'["\ud800"]', r'{"\udc00": 1}', b'"\xed\xa0\x80"',
    ],
)  # fmt: skip
def test_what_is_broken_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


def test_paths_may_have_bytes_that_are_not_utf_8() -> None:
    text = r'["fr\udcff.vec"]'
    with pytest.raises(ValueError):
        parse_json(text)
    assert parse_json(text, "surrogateescape") == [b"fr\xff.vec".decode(errors="surrogateescape")]
    with pytest.raises(ValueError):
        parse_json(r'["fr\ud800.vec"]', "surrogateescape")
