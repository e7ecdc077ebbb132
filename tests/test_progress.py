"""Progress: calm lines in a log, one changing line on a terminal, nothing where it is quiet."""

from __future__ import annotations

import logging
import re
import sys

import pytest

from muse import progress
from muse.progress import Progress


@pytest.mark.parametrize("quiet", [True, False])
def test_log_lines(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, quiet: bool) -> None:
    monkeypatch.setattr(progress, "LOG_EVERY_SECONDS", -1.0)
    with caplog.at_level(logging.INFO), Progress(quiet=quiet).stage("work", 4) as tick:
        tick(1, loss=0.25)
    assert bool(caplog.messages) != quiet
    if not quiet:
        assert re.fullmatch(r"work: 1/4, .+ a second, at most 0 s left  loss 0.25", caplog.messages[0])


def test_no_news_too_often(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), Progress().stage("work", 1_000) as tick:
        for done in range(1_000):
            tick(done)
    assert caplog.messages == []


@pytest.mark.parametrize("quiet", [True, False])
def test_a_terminal_is_left_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], quiet: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with pytest.raises(ValueError, match="x"), Progress(quiet=quiet).stage("work", 4) as tick:
        tick(1)
        raise ValueError("x")
    shown = capsys.readouterr().err
    assert shown == "" if quiet else shown.endswith("\r\x1b[K")


def test_what_has_no_known_end_promises_no_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(progress, "LOG_EVERY_SECONDS", -1.0)
    with caplog.at_level(logging.INFO), Progress().stage("lines", 0) as tick:
        tick(7)
    assert re.fullmatch(r"lines: 7, .+ a second", caplog.messages[0])


def test_blocks_pass_through_as_they_are_and_are_counted() -> None:
    heard: list[tuple[str, int]] = []
    shown = Progress(quiet=True, listener=lambda stage, done, figures: heard.append((stage, done)))
    blocks = [[1, 2], [], [3]]
    assert list(shown.through("rows", iter(blocks), 3, len)) == blocks
    assert heard == [("rows", 2), ("rows", 2), ("rows", 3)]
