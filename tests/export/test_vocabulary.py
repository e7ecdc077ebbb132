"""Vocabulary files as other systems write them, and their faults."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.export.torch_file import read_vocabulary


@pytest.mark.parametrize(
    ("content", "units"),
    [
        ("le\nchat\n", ["le", "chat"]),
        ("le\nchat", ["le", "chat"]),
        ("le\r\nchat\r\n", ["le", "chat"]),
        ("\ufeffle\nchat\n\n\n", ["le", "chat"]),
        ("le 1061396\nch@@ 7\n", ["le", "ch@@"]),  # fastBPE, subword-nmt, fairseq
        ("<unk>\t0\n\u2581le\t-2.5\n", ["<unk>", "\u2581le"]),  # sentencepiece
        ("new york\t12\nle\t3\n", ["new york", "le"]),
        ("new york\nle 3\n", ["new york", "le 3"]),  # not every line has a count, so none has
        ("7\n8\n", ["7", "8"]),  # a number alone is a unit
        ("7 8\n8 7\n", ["7", "8"]),
        ("a\u2028b\nx\u0085y\n", ["a\u2028b", "x\u0085y"]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_units_in_order_without_counts(tmp_path: Path, content: str, units: list[str], packed: bool) -> None:
    path = tmp_path / "vocabulary"
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    assert read_vocabulary(path) == units


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"le\nchat\nle\n", r":3: expected each unit once, got 'le' again, as on line 1"),
        (b"le 5\nchat 4\nle 3\n", r":3: expected each unit once, got 'le' again, as on line 1"),
        (b"le\n\nchat\n", r":2: expected a unit, got a blank line"),
        (b"le\n \t\nchat\n", r":2: expected a unit, got a blank line"),
        (b"le\nch\xffat\n", r":2: expected UTF-8, got the byte 0xff"),
        (b"", "expected"),
        (b"\n\n", "expected a unit a line, got an empty file"),
    ],
)
def test_faults_name_file_and_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "vocabulary"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=message) as error:
        read_vocabulary(path)
    assert str(path) in str(error.value)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="it does not exist"):
        read_vocabulary(tmp_path / "nosuch")
