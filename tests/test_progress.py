"""Progress: calm lines in a log, one changing line on a terminal, nothing where it is quiet."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from muse import progress
from muse.api.encoders import load_encoder
from muse.commands.encoders import encoded
from muse.export.vector_files import export_vectors
from muse.files import read_vectors
from muse.mining import mine
from muse.progress import Progress
from muse.search.retrieval import Retrieval
from muse.space import Provenance, load_space, save_space
from tests.spaces import sides_to_save
from tests.toys import raw_pair, write_vec


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
    shown = Progress(quiet=True, callback=lambda stage, done, figures: heard.append((stage, done)))
    blocks = [[1, 2], [], [3]]
    assert list(shown.through("rows", iter(blocks), 3, len)) == blocks
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
    encode = encoded(load_encoder("mean", space), ["fr30 fr31", "fr32"], "fr", shown)
    assert encode.shape == (2, space.vectors("en").dimension)
    words = len(space.vectors("en"))
    assert heard.pop("en.vec") > 0
    assert heard == {
        "words of fr": len(source),
        "hubs of fr and en": len(space.vectors("fr")),
        "hubs of en for fr": words,
        "candidates": words,
        "sentences of fr": 2,
    }
