"""Lines of bytes: whole whatever the blocks they come in, and never endless."""

from __future__ import annotations

import io

import pytest

from muse.errors import BadFile
from muse.files import plain_text
from muse.files.plain_text import blocks_of_lines


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
