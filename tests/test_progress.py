"""Progress: calm lines in a log, one changing line on a terminal, nothing where it is quiet."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from muse import progress
from muse.export.vector_files import export_vectors
from muse.files import read_vectors
from muse.progress import Progress, messages_shown
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
