"""The progress line in a real terminal: never two rows, as wide as the terminal, cleared in the end.

The terminal is that of terminal.py, with which the recordings of the documentation are made.
"""

from __future__ import annotations

import gzip
import importlib
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.server import File, Handler, serving
from tests.support.spaces import saved

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PROGRESS = re.compile(r"^(\[\d/\d\] )?[\w. -]+(: \d+ %|\(connecting\)|$)")
BODY = gzip.compress(b"2 3\nla 0.1 0.2 0.3\nle 0.3 0.2 0.1\n" + b" " * 10)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return importlib.import_module("benchmarks.support.terminal")


def muse(*words: object) -> list[str]:
    return [sys.executable, "-m", "muse", *map(str, words)]


def drawn(recording: Any) -> list[str]:
    """The progress lines, each as it was drawn."""
    parts = re.split(r"\r\x1b\[K", recording.written)[1:]
    return [part for part in parts if part and "\n" not in part]


def clean(recording: Any, columns: int, *stages: str) -> None:
    """Progress of these stages was shown in one row of the terminal, and nothing of it is left."""
    shown = drawn(recording)
    for stage in stages:
        assert any(stage in line for line in shown), (stage, shown)
    assert all(0 < len(line) < columns for line in shown)
    assert recording.screen.erased_in_wrapped == 0
    assert not [line for line in recording.screen.text.splitlines() if line in shown]
    assert recording.screen.line == ""  # the cursor is at the start of a fresh row


@pytest.mark.parametrize("columns", [80, 40])
def test_align(terminal: Any, files: Path, columns: int) -> None:
    given = ["--src", "fr", "--tgt", "en", "--src-emb", "fr.vec", "--tgt-emb", "en.vec"]
    ended = terminal.record(
        muse("align", *given, "--init", "similarity", "--out", "out"), columns, folder=files
    )
    assert ended.code == 0, ended.screen.text
    clean(ended, columns, "[1/5] reading fr", "[2/5] similarity", "[3/5] refine", "[4/5] saving")
    assert "verdict         aligned" in ended.screen.text
    assert "  muse report out" in ended.screen.text.splitlines()


def test_fetch_follows_the_width_of_the_terminal(terminal: Any, tmp_path: Path) -> None:
    def slow(handler: Handler) -> None:
        File(BODY * 40_000, stall=1.5)(handler)

    def narrower(line: str) -> int | None:
        return 30 if "cc.fr.300.vec.gz: " in line else None

    with serving(slow) as server:
        command = muse("fetch", "vectors", "fr", "--mirror", server.url)
        ended = terminal.record(command, 80, folder=tmp_path, resized=narrower)
    assert ended.code == 0, ended.screen.text
    clean(ended, 80, "cc.fr.300.vec.gz (connecting)", "cc.fr.300.vec.gz: ")
    place = next(number for number, line in enumerate(drawn(ended)) if "gz: " in line)
    assert all(len(line) < 30 for line in drawn(ended)[place + 2 :])
    assert (tmp_path / "embeddings" / "raw" / "cc.fr.300.vec.gz").exists()


def test_train_and_an_error_in_the_middle(terminal: Any, tmp_path: Path) -> None:
    saved(tmp_path / "space")
    pairs = [(row, row + step) for row in range(15, 35) for step in (1, 2, 3)]
    lines = [f"en{one} en{two}\tfr{one} fr{two}\n" for one, two in pairs]
    (tmp_path / "text.tsv").write_text("".join(lines))
    given = ["train", "space", "--lang", "fr", "--parallel", "text.tsv", "--out", "encoder", "--batch", 2]
    ended = terminal.record(muse(*given, "--epochs", 2), 40, folder=tmp_path)
    assert ended.code == 0, ended.screen.text
    clean(ended, 40, "reading text", "training")
    shutil.rmtree(tmp_path / "encoder")
    ended = terminal.record(muse(*given, "--rate", "1e29"), 40, folder=tmp_path)
    assert ended.code == 1
    clean(ended, 40, "training")
    assert "error: " in ended.screen.text


def test_what_does_not_fit_is_noticed(terminal: Any) -> None:
    screen = terminal.Screen(10)
    screen.write("a log line of more than ten\r\n12345678\r\x1b[K")
    assert screen.erased_in_wrapped == 0
    screen.write("1234567890ab\r\x1b[K")
    assert screen.erased_in_wrapped == 1
    assert screen.text.splitlines() == ["a log line", " of more t", "han ten", "1234567890"]
