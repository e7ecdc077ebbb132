"""The progress line: figures that people can read, and never more columns than there are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse.progress import Stage, duration, filled, progress_line, width

WORK = Stage("refine", 40, "rounds", part="[3/4]")


def at(stage: Stage, done: int, seconds: float, columns: int | None = None, **figures: float) -> str:
    return progress_line(stage, done, seconds, figures, columns)


def test_everything_where_there_is_room() -> None:
    shown = at(WORK, 10, 5.0, objective=0.123456, words=20_000.0)
    assert shown == "[3/4] refine: 25 %, 2 rounds/s, 15 s left, objective 0.1235, words 20,000"


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (80, "[3/4] refine: 25 %, 2 rounds/s, 15 s left, objective 0.5"),
        (50, "[3/4] refine: 25 %, 2 rounds/s, 15 s left"),
        (40, "[3/4] refine: 25 %, 15 s left"),
        (20, "[3/4] refine: 25 %"),
        (12, "[3/4] refine"),
        (9, "[3/4] ..."),
        (2, ".."),
        (0, ""),
    ],
)
def test_the_least_important_goes_first(columns: int, shown: str) -> None:
    assert at(WORK, 10, 5.0, columns, objective=0.5) == shown


@pytest.mark.slow
@given(
    name=st.text(),
    total=st.integers(0, 10**10),
    share=st.floats(0, 1),
    seconds=st.floats(0, 1e6),
    columns=st.integers(0, 200),
    value=st.floats(allow_nan=False, allow_infinity=False),
)
def test_no_line_is_wider_than_the_terminal_or_breaks(
    name: str, total: int, share: float, seconds: float, columns: int, value: float
) -> None:
    for unit in ("words", "bytes"):
        shown = at(Stage(name, total, unit), round(share * total), seconds, columns, loss=value)
        assert width(shown) <= columns
        assert shown.isprintable()
        assert not re.search(r"\b0 s left", shown)


@pytest.mark.parametrize(
    ("done", "seconds", "rate"),
    [
        (88_123, 10.0, "8,800 words/s"),
        (312, 1.0, "310 words/s"),
        (31, 10.0, "3.1 words/s"),
        (10, 10.0, "1 words/s"),
        (3, 10.0, "18 words/min"),
        (1, 100.0, "36 words/h"),
        (12_345_678, 1.0, "12,000,000 words/s"),
    ],
)
def test_rates_are_round_and_above_one_where_they_can(done: int, seconds: float, rate: str) -> None:
    assert rate in at(Stage("work", 10**9, "words"), done, seconds).split(", ")


def test_bytes() -> None:
    shown = at(Stage("cc.fr.300.vec.gz", 1_300_000_000, "bytes"), 650_000_000, 50.0)
    assert shown == "cc.fr.300.vec.gz: 50 %, 13 MB/s, 50 s left"
    assert at(Stage("x", 0, "bytes"), 312_400, 1.0) == "x: 310 kB, 310 kB/s"


def test_the_time_left_counts_what_this_run_has_done() -> None:
    resumed = Stage("training", 100, "epochs", first=90)
    assert at(resumed, 92, 4.0) == "training: 92 %, 30 epochs/min, 16 s left"
    assert at(resumed, 90, 4.0) == "training: 90 %"
    assert at(resumed, 80, 4.0) == "training: 80 %"  # begun from the start after all


def test_what_may_end_early_promises_no_more() -> None:
    assert "at most 15 s left" in at(Stage("refine", 40, "rounds", may_end_early=True), 10, 5.0)


def test_no_time_is_promised_that_is_not_known_or_over_when_read() -> None:
    assert at(Stage("lines", 0, "lines"), 7_000, 1.0) == "lines: 7,000 lines, 7,000 lines/s"
    assert at(Stage("work", 100), 0, 0.0) == "work: 0 %"
    assert "left" not in at(Stage("work", 100), 99, 10.0)
    assert "left" not in at(Stage("work", 100), 100, 10.0)
    assert "left" not in at(Stage("work", 100), 130, 10.0)  # an estimate of the total that was too low
    assert at(Stage("work", 100), 130, 10.0).startswith("work: 100 %")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1, "1 s"), (59.5, "60 s"), (60, "60 s"), (61, "2 min"), (3_541, "1 h"), (3_601, "1 h 1 min"),
     (36_001, "11 h")],
)  # fmt: skip
def test_durations_are_rounded_up(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_wide_and_combining_letters() -> None:
    assert width("日本") == 4
    assert width("e\u0301te\u0301") == 3
    assert at(Stage("reading 日本語日本語"), 0, 0.0, 13) == "reading 日..."
    assert at(Stage("a\x1b[2J\nb"), 0, 0.0) == "a?[2J?b"


@given(words=st.lists(st.text("abcdefghij-/.", max_size=30)), columns=st.integers(1, 90))
def test_rows_are_broken_between_words_where_they_can(words: list[str], columns: int) -> None:
    text = " ".join(words)
    shown = filled(text, columns)
    assert shown.split() == text.split()  # what is copied is the same command
    place = 0
    for word in shown.split():
        place = shown.index(word, place)
        if len(word) <= columns:
            assert place % columns + len(word) <= columns
        place += len(word)
