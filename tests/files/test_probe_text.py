"""Probe text: SentEval's columns, and every line that has others is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files.sentence_text import ProbeText, read_probe_text


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_columns(tmp_path: Path) -> None:
    path = written(
        tmp_path / "tense.txt", "tr\tPAST\tIl vint .", "", "va\tPRES\tIl vient .", "te\tPAST\tElle alla ."
    )
    assert read_probe_text(path) == ProbeText(
        ("tr", "va", "te"), ("PAST", "PRES", "PAST"), ("Il vint .", "Il vient .", "Elle alla .")
    )


@pytest.mark.parametrize("line", ["train\tA\tx", "tr\tA", "tr\tA\tx\ty", "tr\t \tx", "A\ttr\tx"])
def test_other_columns(tmp_path: Path, line: str) -> None:
    path = written(tmp_path / "bad.txt", "tr\tA\tx", line)
    with pytest.raises(BadFile, match=r"bad.txt:2: expected part, class and sentence.*tr, va, te as part"):
        read_probe_text(path)


def test_a_part_or_a_class_is_missing(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="found none of va, te"):
        read_probe_text(written(tmp_path / "one", "tr\tA\tx", "tr\tB\ty"))
    with pytest.raises(BadFile, match="expected two classes or more, got 'A' alone"):
        read_probe_text(written(tmp_path / "two", "tr\tA\tx", "va\tA\ty", "te\tA\tz"))
