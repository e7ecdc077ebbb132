"""Progress: calm lines in a log, one changing line on a terminal, nothing where it is quiet; its words."""

import logging
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse import progress
from muse.export.vector_files import export_vectors
from muse.files import read_vectors
from muse.progress import Progress, Stage, duration, filled, messages_shown, progress_line, width
from muse.search.retrieval import Retrieval
from muse.sentences.commands.encoders import OpenedEncoder
from muse.sentences.loading import load_encoder
from muse.sentences.mining import mine
from muse.space import Provenance, load_space, save_space
from tests.support.spaces import sides_to_save
from tests.support.toys import raw_pair, write_vec

CLEAR = "\r\x1b[K"
Drawn = Callable[[], list[str]]


@pytest.mark.parametrize("quiet", [True, False])
def test_log_lines(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, quiet: bool) -> None:
    monkeypatch.setattr(progress, "LOG_EVERY_SECONDS", -1.0)
    with caplog.at_level(logging.INFO), Progress(quiet=quiet).stage("work", 4) as tick:
        tick(1, loss=0.25)
    assert bool(caplog.messages) != quiet
    if not quiet:
        assert re.fullmatch(r"work: 25 %, .+ steps/s, loss 0.25", caplog.messages[0])


def test_no_news_too_often(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), Progress().stage("work", 1_000) as tick:
        for done in range(1_000):
            tick(done)
    assert caplog.messages == []


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Drawn:
    """What is drawn on a terminal, line by line, each as wide as it may be."""
    monkeypatch.setattr(progress, "on_terminal", lambda: True)
    monkeypatch.setattr(progress, "SHOW_EVERY_SECONDS", 0.0)
    return lambda: capsys.readouterr().err.split(CLEAR)[1:]


@pytest.mark.parametrize("quiet", [True, False])
def test_a_terminal_is_left_clean(terminal: Drawn, quiet: bool) -> None:
    with pytest.raises(ValueError, match="x"), Progress(quiet=quiet).stage("work", 4) as tick:
        tick(1)
        raise ValueError("x")
    shown = terminal()
    assert bool(shown) != quiet
    assert shown[-1:] == ([] if quiet else [""])


def test_the_innermost_stage_is_shown_and_then_the_outer_one_again(terminal: Drawn) -> None:
    shown = Progress().part(2, 4)
    with shown.stage("outer", 2) as tick:
        tick(1)
        with shown.skip_parts().stage("inner", 0):
            pass
    names = [line.partition(":")[0] for line in terminal()]
    assert names == ["[2/4] outer", "[2/4] outer", "[3/4] inner", "[2/4] outer", ""]


def test_a_generator_that_ends_late_leaves_the_line_of_the_others(terminal: Drawn) -> None:
    shown = Progress()
    blocks = shown.through("early", iter([[1], [2]]), 2, len, "rows")
    next(blocks)
    with shown.stage("late", 0):
        blocks.close()
        terminal()
    assert terminal() == [""]


def test_parts_end_at_the_last_one() -> None:
    assert Progress(quiet=True).skip_parts()._part == (0, 0)
    assert Progress(quiet=True).part(1, 4).skip_parts(2)._part == (3, 4)
    assert Progress(quiet=True).part(3, 4).skip_parts(2)._part == (4, 4)


def test_a_line_fits_the_width_that_the_terminal_has_now(
    terminal: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Progress().stage("a stage with a long name", 1_000, "sentences") as tick:
        for columns in (80, 40, 25, 10):
            monkeypatch.setattr(progress, "columns", lambda columns=columns: columns)
            terminal()
            tick(500, objective=0.5, loss=0.25)
            (line,) = terminal()
            assert 0 < len(line) < columns


def test_a_terminal_without_line_editing_gets_log_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    with Progress().stage("work", 4) as tick:
        tick(1)
    assert capsys.readouterr().err == ""


def test_what_has_no_known_end_promises_no_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(progress, "LOG_EVERY_SECONDS", -1.0)
    with caplog.at_level(logging.INFO), Progress().stage("text", 0, "lines") as tick:
        tick(7)
    assert re.fullmatch(r"text: 7 lines, .+ lines/s", caplog.messages[0])


def test_blocks_pass_through_as_they_are_and_are_counted() -> None:
    heard: list[tuple[str, int]] = []
    shown = Progress(quiet=True, callback=lambda stage, done, figures: heard.append((stage, done)))
    blocks = [[1, 2], [], [3]]
    assert list(shown.through("rows", iter(blocks), 3, len, "rows")) == blocks
    assert heard == [("rows", 2), ("rows", 2), ("rows", 3)]


def test_a_callback_is_added_to_those_there_are() -> None:
    called: list[tuple[str, str, int, dict[str, float]]] = []
    own, added = (
        lambda stage, done, figures, name=name: called.append((name, stage, done, dict(figures)))
        for name in ("own", "added")
    )
    first = Progress(quiet=True, callback=own)
    with first.with_callback(added).stage("work", 2) as tick:
        tick(1, loss=0.5)
    assert called == [("own", "work", 1, {"loss": 0.5}), ("added", "work", 1, {"loss": 0.5})]
    with first.stage("work", 2) as tick:  # the first one is as it was
        tick(2)
    assert called[2:] == [("own", "work", 2, {})]


def test_a_progress_of_the_callers_own_stays_one() -> None:
    class Own(Progress):
        """A caller's way to show progress."""

    assert type(Own(quiet=True).with_callback(lambda stage, done, figures: None)) is Own


def test_what_takes_long_on_large_input_says_how_far_it_is(tmp_path: Path) -> None:
    heard: dict[str, int] = {}
    shown = Progress(quiet=True, callback=lambda stage, done, figures: heard.__setitem__(stage, done))
    source, _, _ = raw_pair()
    write_vec(tmp_path / "fr.vec", source)
    read_vectors(tmp_path / "fr.vec", language="fr", progress=shown)
    provenance = Provenance("gromov")
    save_space(tmp_path / "space", sides_to_save(), pivot="en", provenance=provenance)
    space = load_space(tmp_path / "space", progress=shown)
    space.bias("fr", "en", Retrieval())
    space.bias("fr", "en", Retrieval("isf"))
    export_vectors(space, tmp_path / "out", form="text", language="en", progress=shown)
    rows = np.asarray(space.vectors("en").matrix)
    mine(rows, rows, progress=shown)
    opened = OpenedEncoder(space, load_encoder("mean", space), ())
    encode = opened.rows(["fr30 fr31", "fr32"], "fr", shown)
    assert encode.shape == (2, space.vectors("en").dimension)
    words = len(space.vectors("en"))
    assert heard.pop("en.vec") > 0
    assert heard == {
        "reading fr": len(source),
        "hubs of fr and en": len(space.vectors("fr")),
        "hubs of en for fr": words,
        "candidates": words,
        "encoding fr": 2,
    }


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel of a notebook, as IPython has it."""

    class Shell:
        kernel = object()

    class Module:
        get_ipython = Shell

    monkeypatch.setitem(sys.modules, "IPython", Module)
    monkeypatch.setattr(progress, "IN_NOTEBOOK_EVERY_SECONDS", 0.0)


def test_a_notebook_has_one_line_that_changes(notebook: None, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress().stage("work", 4) as tick:
        tick(1, loss=0.25)
    Progress(quiet=True).skip_parts()
    sys.stderr.write(progress.message("done\x1b[8m") + "\n")
    shown = capsys.readouterr().err
    lines = re.sub(r"\r +\r", "\r", shown).split("\r")  # a notebook obeys \r, and no escape
    assert lines[0] == "" and lines[1] == "work: 0 %" and lines[3:] == ["", "done\\u001b[8m\n"]
    assert re.fullmatch(r"work: 25 %, .+, loss 0.25", lines[2])
    assert "\x1b" not in shown
    widest = max(map(len, lines))
    assert all(len(cleared) >= widest for cleared in re.findall(r"\r( +)\r", shown))


def test_ipython_on_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        get_ipython = object

    assert not progress.in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", Module)
    assert not progress.in_notebook()


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the handler of a program has, whose level is WARNING; pytest's own handlers are put aside."""
    found: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    monkeypatch.setattr(logging.getLogger(), "handlers", [Kept()])
    monkeypatch.setattr(logging.getLogger(), "level", logging.WARNING)
    logging.getLogger("muse").manager._clear_cache()  # type: ignore[attr-defined]
    return found


def say() -> None:
    for level in (logging.DEBUG, logging.INFO, logging.WARNING):
        for name in ("muse.learn.bilingual", "other"):
            logging.getLogger(name).log(level, "%s %d", name, level)


def test_messages_are_shown_once_for_a_while(logs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with messages_shown():
        say()
    assert capsys.readouterr().err == "muse.learn.bilingual 20\n"
    assert logs == ["muse.learn.bilingual 30", "other 30"]  # as before
    say()
    assert capsys.readouterr().err == "" and len(logs) == 4
    with messages_shown(logging.DEBUG):
        say()
    assert capsys.readouterr().err == "muse.learn.bilingual 10\nmuse.learn.bilingual 20\n"


def test_messages_that_a_program_shows_already_are_left_to_it(
    logs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger().setLevel(logging.INFO)
    with messages_shown():
        say()
    assert capsys.readouterr().err == ""
    assert logs == ["muse.learn.bilingual 20", "other 20", "muse.learn.bilingual 30", "other 30"]


def test_without_any_handler_all_messages_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with messages_shown():
        logging.getLogger("muse.x").warning("careful")
        logging.getLogger("muse.x").info("news")
    assert capsys.readouterr().err == "careful\nnews\n"


def test_a_logger_with_a_level_of_its_own_keeps_it(
    logs: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chatty = logging.getLogger("muse.learn")
    monkeypatch.setattr(chatty, "level", logging.INFO)
    chatty.manager._clear_cache()  # type: ignore[attr-defined]
    with messages_shown():
        say()
    assert logs == ["muse.learn.bilingual 20", "muse.learn.bilingual 30", "other 30"]
    assert capsys.readouterr().err == ""


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
        (12_345_678, 1.0, "12,000,000 words/s"),
    ],
)
def test_rates_are_round_and_above_one_where_they_can(done: int, seconds: float, rate: str) -> None:
    assert rate in at(Stage("work", 10**9, "words"), done, seconds).split(", ")


def test_a_rate_below_one_a_minute_is_a_time_left() -> None:
    assert at(Stage("work", 5, "words"), 1, 100.0) == "work: 20 %, 7 min left"


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
