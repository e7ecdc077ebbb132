"""muse report: the page says what the space and its manifest say, needs nothing else, and escapes it all."""

from __future__ import annotations

import json
import shlex
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.files.space_manifest import is_space
from muse.installation import install_extra
from muse.normalise import normalise
from muse.report.record import records
from muse.space import Provenance, SideToSave, save_space
from muse.vectors import Vectors
from tests.command import Command, align_arguments, tree
from tests.pages import run
from tests.spaces import PROVENANCE, STEPS, saved
from tests.toys import raw_pair, write_vec

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

HOSTILE = [
    "<script>alert(1)</script>",
    "$x^$",
    "{{ 7 * 7 }}",
    "火車",
    "\u202etxt",
    "'\"><img src=x onerror=1>",
]
HISTORY = [
    {"stage": "refine", "seconds": 1.0, "steps": [1, 2, 3], "figures": {"objective": [0.25, None, 0.5]}}
]
VERDICT = {"label": "aligned", "confidence": 0.93, "agreement": 0.61, "mutual": 0.5, "null": 0.07}
CANDIDATES = [
    {"method": "gromov:none", "criterion": 0.31, "verdict": "failed", "confidence": 0.1, "history": []},
    {"method": "similarity", "criterion": 0.42, **VERDICT, "verdict": "aligned", "history": HISTORY},
]


class Page(HTMLParser):
    """The text of a page, its tags, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]

    def handle_data(self, data: str) -> None:
        self.text += data


def named(count: int) -> list[str]:
    """Words of letters alone, HOSTILE ones first."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [*HOSTILE, *("word" + letters[i // 26] + letters[i % 26] for i in range(count))][:count]


def with_history(folder: Path) -> Path:
    """A space fr-en in which row i of one language is row i of the other, with a history."""
    rows, fitted = normalise(np.random.default_rng(0).normal(size=(120, 12)).astype(np.float32), STEPS)
    noise = np.random.default_rng(1).normal(0, 0.25, rows.shape).astype(np.float32)
    noise[: len(HOSTILE)] = 0  # so these are among the best entries, which a page shows
    more = {"method": "similarity", "verdict": VERDICT, "candidates": CANDIDATES, "history": HISTORY}
    more |= {"seconds": {"init": 2.5, "refine": 1.5}, "peak_memory_mb": {"init": 300.0, "refine": None}}
    sides = {
        "fr": SideToSave(Vectors("fr", named(120), rows), fitted, more=more),
        "en": SideToSave(Vectors("en", [f"{word}x" for word in named(120)], rows + noise), fitted),
    }
    made = Provenance("similarity", {"init": "auto"}, seed=3, criterion=0.42, verdict=VERDICT)
    save_space(folder / "fr-en", sides, pivot="en", provenance=made)
    return folder / "fr-en"


def gold_list(folder: Path) -> Path:
    """Its dictionary, with a pair that is wrong and one that is not covered."""
    path = folder / "gold.txt"
    lines = [f"{word}\t{word}x" for word in named(120)[6:]] + ["wordac\twordaax", "nowhere\tnothing"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def space(tmp_path: Path) -> Path:
    return with_history(tmp_path)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return gold_list(tmp_path)


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A folder with a space, its dictionary and page.html, the report on both; and what the command told."""
    folder = tmp_path_factory.mktemp("reported")
    command = ["muse", "report", with_history(folder), "--dictionary", gold_list(folder), "--json"]
    with pytest.MonkeyPatch.context() as patch:
        told, failed = run(shlex.join(map(str, [*command, "--out", folder / "page.html"])), patch)
    assert not failed
    return folder, json.loads(told)


def page_of(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def test_the_page_has_what_the_space_tells(muse: Command, reported: tuple[Path, Any]) -> None:
    folder, told = reported
    measured = muse("evaluate", folder / "fr-en", "--dictionary", folder / "gold.txt", "--json").json
    assert told["accuracy"]["p_at_1"] == measured["p_at_1"]
    assert told["signature"] == measured["signature"]
    page = page_of(folder / "page.html")
    assert measured["signature"] in page.text
    for fact in (
        "similarity was chosen",
        "0.4200",
        "first to be judged aligned",
        "aligned",
        "61.0 %",
        "7.0 %",
    ):
        assert fact in " ".join(page.text.split()), fact
    assert set(told["figures"]) == {"learning", "verdict", "accuracy", "picture", "hubs", "stages"}
    for path in told["figures"].values():
        assert Path(path).read_bytes().startswith(b"\x89PNG\r\n")


def test_the_page_needs_nothing_else(reported: tuple[Path, Any]) -> None:
    page = page_of(reported[0] / "page.html")
    assert page.loads
    assert all(load.startswith("data:image/png;base64,") for load in page.loads)
    assert not {"script", "link", "iframe"} & set(page.tags)


def test_words_of_the_space_stay_text(reported: tuple[Path, Any]) -> None:
    page = page_of(reported[0] / "page.html")
    assert page.tags.count("img") == len(page.loads)  # none but the figures
    for word in HOSTILE:
        assert word in page.text


def test_the_same_seed_gives_the_same_page(muse: Command, reported: tuple[Path, Any]) -> None:
    folder, _ = reported
    again = folder / "again.html"
    muse("report", folder / "fr-en", "--dictionary", folder / "gold.txt", "--out", again)
    assert again.read_bytes() == (folder / "page.html").read_bytes()


def test_a_space_without_history_and_with_odd_words(muse: Command, tmp_path: Path) -> None:
    saved(tmp_path / "old")
    ended = muse("report", tmp_path / "old", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["out"] == str(tmp_path / "old.html")
    assert not {"learning", "verdict", "stages", "accuracy"} & set(ended.json["figures"])
    assert "Not measured" in page_of(tmp_path / "old.html").text
    assert is_space(tmp_path / "old")


@pytest.mark.parametrize(
    "history", [7, [7], [{"steps": "x", "figures": []}], [{"figures": {"loss": ["a"]}}], None]
)
def test_a_manifest_of_another_make_is_read_as_far_as_it_goes(history: Any) -> None:
    entry = {"verdict": 3, "candidates": [5, {"method": "m", "history": history}], "seconds": []}
    (record,) = records({"pivot": "en", "languages": {"fr": entry}}, "fr", "en")
    assert [candidate.name for candidate in record.candidates] == ["m"]
    assert not record.verdict
    assert record.stages == []
    assert all(not trace.curves for candidate in record.candidates for trace in candidate.traces)


def test_what_align_writes_is_what_a_report_shows(muse: Command, tmp_path: Path) -> None:
    source, target, _ = raw_pair()
    files = [write_vec(tmp_path / f"{side.language}.vec", side) for side in (source, target)]
    aligned = muse(*align_arguments(*files, tmp_path / "space", "--json", "-q"))
    assert aligned.code == 0, aligned.err
    told = muse("report", tmp_path / "space", "--json", "-q").json
    assert {"learning", "verdict", "stages"} <= set(told["figures"])
    page = page_of(tmp_path / "space.html")
    assert aligned.json["signature"] in page.text
    for stage in ("load", "init", "refine"):
        assert stage in page.text
    for file in files:
        assert file.name in page.text
    assert str(tmp_path) not in page.text  # a report can be shown to others
    assert "history" not in json.dumps(aligned.json["candidates"])


def test_the_highest_criterion_is_why_where_none_is_aligned() -> None:
    tried = [{**fields, "verdict": "doubtful"} for fields in CANDIDATES]
    entry = {"method": "similarity", "candidates": tried}
    (record,) = records({"pivot": "en", "languages": {"fr": entry}}, "fr", "en")
    assert [candidate.chosen for candidate in record.candidates] == [False, True]
    assert "highest criterion" in record.reason


def test_hubs_and_sample_keep_to_the_most_frequent(muse: Command, space: Path, tmp_path: Path) -> None:
    assert muse("report", space, "--max-vocab", 50, "--out", tmp_path / "page.html").code == 0
    assert "Among the 50 and 50 most frequent words" in page_of(tmp_path / "page.html").text


def refused(muse: Command, tmp_path: Path, *arguments: object) -> str:
    """The one line of an error that leaves everything as it was."""
    before = tree(tmp_path)
    ended = muse("report", *arguments)
    assert ended.code == 1
    assert len(ended.err.splitlines()) == 1
    assert tree(tmp_path) == before
    return ended.errors[0]


def test_bad_input(muse: Command, space: Path, gold: Path, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger.txt"
    stranger.write_text("lorem ipsum\n", encoding="utf-8")
    (tmp_path / "mine.figures").mkdir()
    (tmp_path / "mine.figures" / "thesis.doc").write_text("x", encoding="utf-8")
    out = tmp_path / "page.html"
    for arguments, message in (
        ((tmp_path / "none", "--out", out), "expected an aligned space, found no such folder"),
        ((space, "--out", tmp_path / "page.pdf"), "ends in .html"),
        ((space, "--out", tmp_path / "no" / "page.html"), "existing folder"),
        ((space, "--out", tmp_path / "mine.html"), "or the figures of a report"),
        ((space, "--out", out, "--dictionary", tmp_path / "none.txt"), "none.txt"),
        ((space, "--out", out, "--dictionary", stranger), "got none of 1 pairs"),
        ((space, "--out", out, "--src", "de"), "are fr, en"),
    ):
        assert message in refused(muse, tmp_path, *arguments)


@pytest.mark.parametrize("package", ["matplotlib", "sklearn", "jinja2"])
def test_a_missing_extra_is_said_first(
    muse: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    message = refused(muse, tmp_path, tmp_path / "none")
    assert install_extra("report") in message


def test_the_provenance_of_old_spaces_still_reports() -> None:
    manifest = {"pivot": "en", "languages": {"fr": {}}, "verdict": PROVENANCE.verdict, "method": "gromov"}
    (record,) = records(json.loads(json.dumps(manifest)), "fr", "en")
    assert record.verdict == {"label": "aligned"}
    assert record.reason == ""
