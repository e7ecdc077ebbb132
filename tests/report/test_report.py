"""muse report: the page says what the space and its manifest say, needs nothing else, and escapes it all."""

import json
import shlex
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from muse.files.space_manifest import Manifest, Reason, is_space
from muse.normalise import normalise
from muse.report.facts import REASONS, supervision_json, why_chosen
from muse.space import Provenance, SideToSave, save_space
from muse.vectors import Vectors
from tests.support.command import Command, align_arguments, tree
from tests.support.pages import run
from tests.support.spaces import STEPS, saved
from tests.support.toys import raw_pair, write_vec

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
    {"stage": "refine", "seconds": 1.0, "steps": [1, 2, 3], "figures": {"objective": [0.25, None, 0.5]}},
    {"stage": "re-weighting", "seconds": 1.0, "steps": [1], "figures": {}},
]
VERDICT = {"label": "aligned", "confidence": 0.93, "agreement": 0.61, "mutual": 0.5, "null": 0.07}
CANDIDATES = [
    {"method": "gromov:none", "criterion": 0.31, "verdict": "failed", "confidence": 0.1, "history": []},
    {
        "method": "similarity",
        "criterion": 0.42,
        **VERDICT,
        "verdict": "aligned",
        "history": HISTORY,
        "chosen": True,
    },
]
METHODS: list[dict[str, Any]] = [
    {"name": "self-learning", "held_out_p_at_1": 71.25, "ci95": [60.54, 80.01], "words": 80},
    {
        "name": "procrustes",
        "held_out_p_at_1": 12.5,
        "ci95": [6.93, 21.48],
        "reciprocal_rank": 0.2,
        "words": 80,
    },
    {"name": "<script>rcsls</script>", "held_out_p_at_1": None, "ci95": [140, 150], "words": []},
]
SUPERVISION = {
    "pairs": 4321, "chosen": "procrustes", "held_out_p_at_1": 11.25, "ci95": [6.03, 20.02], "chance": 0.456,
    "candidates": METHODS,
}  # fmt: skip


LOADING = ("src", "href", "srcset", "data")


class Page(HTMLParser):
    """The text of a page, its tags, what it would load, and what it says of its pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.described: list[str] = []
        self.text = ""
        self.rows: list[list[str]] = []  # of tables
        self.cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.cell = True
            self.rows[-1].append("")
        self.loads += [value or "" for name, value in attrs if name.split(":")[-1] in LOADING]
        if tag == "svg" and ("role", "img") in attrs:
            self.described += [value or "" for name, value in attrs if name == "aria-label"]

    def handle_endtag(self, tag: str) -> None:
        self.cell = self.cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.lasttag != "style":
            self.text += data
        if self.cell:
            self.rows[-1][-1] += data.strip()


def named(count: int) -> list[str]:
    """Words of letters alone, HOSTILE ones first."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [*HOSTILE, *("word" + letters[i // 26] + letters[i % 26] for i in range(count))][:count]


def with_history(folder: Path, **others: Any) -> Path:
    """A space fr-en in which row i of one language is row i of the other, with a history.

    `others` are further entries of the mapped language in the manifest.
    """
    rows, fitted = normalise(np.random.default_rng(0).normal(size=(120, 12)).astype(np.float32), STEPS)
    noise = np.random.default_rng(1).normal(0, 0.25, rows.shape).astype(np.float32)
    noise[: len(HOSTILE)] = 0  # so these are among the best entries, which a page shows
    more = {
        "method": "similarity",
        "verdict": VERDICT,
        "candidates": CANDIDATES,
        "history": HISTORY,
        "reason": "first aligned",
    }
    more |= {"seconds": {"init": 2.5, "refine": 1.5}, "peak_memory_mb": {"init": 300.0, "refine": None}}
    more |= others
    sides = {
        "fr": SideToSave(Vectors("fr", named(120), rows), fitted, more=more),
        "en": SideToSave(Vectors("en", [f"{word}x" for word in named(120)], rows + noise), fitted),
    }
    made = Provenance(
        "similarity", {"init": "auto", "max_vocab": None}, seed=3, criterion=0.42, verdict=VERDICT
    )
    save_space(folder / "fr-en", sides, pivot="en", provenance=made)
    return folder / "fr-en"


def gold_list(folder: Path) -> Path:
    """Its dictionary, in which one pair is wrong and one not covered."""
    path = folder / "gold.txt"
    lines = [f"{word}\t{word}x" for word in named(120)[6:] if word != "wordac"] + [
        "wordac\twordaax",
        "nowhere\tnothing",
    ]
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


def plain(page: Page) -> str:
    return " ".join(page.text.split())


def test_the_page_has_what_the_space_tells(muse: Command, reported: tuple[Path, Any]) -> None:
    folder, told = reported
    measured = muse("evaluate", folder / "fr-en", "--dictionary", folder / "gold.txt", "--json").json
    assert told["accuracy"]["p_at_1"] == measured["p_at_1"]
    assert told["signature"] == measured["signature"]
    text = plain(page_of(folder / "page.html"))
    for fact in (
        "It worked: French and English share one space",
        f"P@1 is {measured['p_at_1']:.1f} [",
        f"P@1 is {told['accuracy_backward']['p_at_1']:.1f} [",
        "Confidence 0.93 and P@1",
        "similarity was chosen",
        "first to be judged aligned",
        "0.4200",
        "61.0 %",
        "7.0 %",
        "max vocabnot given",
        measured["signature"],
    ):
        assert fact in text, fact
    assert set(told["figures"]) == {"run-1", "run-2", "reliability", "map"}


def test_the_answer_comes_first_and_the_settings_last(reported: tuple[Path, Any]) -> None:
    text = plain(page_of(reported[0] / "page.html"))
    order = [
        "It worked",
        "How good is it?",
        "On what evidence?",
        "What next?",
        "Wrong answers beside the list",
        "By frequency rank",
        "For comparison: simple methods",
        "Can its probabilities be believed?",
        "More answers",
        "Both languages in one picture",
        "The run",
        "Appendix",
        "How to make this space again",
    ]
    places = [text.index(heading) for heading in order]
    assert places == sorted(places)


def test_a_wrong_answer_stands_beside_the_list(reported: tuple[Path, Any]) -> None:
    rows = page_of(reported[0] / "page.html").rows
    (wrong,) = (row for row in rows if row[0].startswith("wordacrank"))
    assert wrong[1].startswith("wordacx")
    assert wrong[2].startswith("wordaax")


def test_bands_end_with_the_vocabulary(reported: tuple[Path, Any]) -> None:
    text = plain(page_of(reported[0] / "page.html"))
    assert "ranks 1 to 120" in text
    assert "1,000" not in text.partition("Accuracy")[2].partition("For comparison")[0]


def test_what_a_picture_is_said_to_show_is_drawn(reported: tuple[Path, Any]) -> None:
    folder, told = reported
    described = page_of(folder / "page.html").described
    assert len(described) == len(told["figures"]) + 1  # the map is there for a phone too
    for path in told["figures"].values():
        figure = Path(path).read_text(encoding="utf-8")
        assert ElementTree.fromstring(figure).tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in figure  # which few programs besides browsers know


def test_the_page_needs_nothing_else(reported: tuple[Path, Any]) -> None:
    page = page_of(reported[0] / "page.html")
    text = (reported[0] / "page.html").read_text(encoding="utf-8")
    assert page.loads == []
    assert not {"script", "link", "iframe", "img"} & set(page.tags)
    assert "url(" not in text
    assert "@import" not in text


def test_words_of_the_space_stay_text(muse: Command, reported: tuple[Path, Any], tmp_path: Path) -> None:
    folder, _ = reported
    gold = tmp_path / "gold.txt"
    gold.write_text("".join(f"{word}\twordacx\n" for word in HOSTILE), encoding="utf-8")
    muse("report", folder / "fr-en", "--dictionary", gold, "--out", tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    assert not {"script", "img"} & set(page.tags)
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
    assert not [name for name in ended.json["figures"] if name != "map"]
    text = plain(page_of(tmp_path / "old.html"))
    for unknown in (
        "no list of translations",
        "does not record what its verdict rests on",
        "does not record which initialisations were tried",
        "has no curves of its stages",
        "commandnot recorded",
        "datenot recorded",
    ):
        assert unknown in text, unknown
    assert is_space(tmp_path / "old")


@pytest.mark.slow
def test_what_align_writes_is_what_a_report_shows(muse: Command, tmp_path: Path) -> None:
    source, target, _ = raw_pair()
    files = [write_vec(tmp_path / f"{side.language}.vec", side) for side in (source, target)]
    aligned = muse(*align_arguments(*files, tmp_path / "space", "--json", "-q"))
    assert aligned.code == 0, aligned.err
    told = muse("report", tmp_path / "space", "--json", "-q").json
    assert "run-1" in told["figures"]
    page = page_of(tmp_path / "space.html")
    assert aligned.json["signature"] in page.text
    for stage in ("load", "init", "refine"):
        assert stage in page.text
    for file in files:
        assert file.name in page.text
    assert str(tmp_path) not in page.text  # a report can be shown to others
    files_given = "--src-emb fr.vec --tgt-emb en.vec"
    assert f"muse align --src fr --tgt en {files_given} --out space" in plain(page)
    assert "history" not in json.dumps(aligned.json["candidates"])


def test_why_is_shown_as_it_was_recorded_and_never_guessed(muse: Command, tmp_path: Path) -> None:
    for reason in Reason:
        assert why_chosen(record_of(reason=reason)) == REASONS[reason]
    assert why_chosen(record_of(reason="of a later muse")) == "of a later muse"
    muse("report", with_history(tmp_path, reason=""), "-q")
    assert "similarity was chosen; the space does not record why." in page_of(tmp_path / "fr-en.html").text


def test_the_candidate_that_was_chosen_is_the_one_recorded() -> None:
    tried = [CANDIDATES[1], {**CANDIDATES[1], "chosen": False}]
    record = record_of(method="similarity", candidates=tried)
    assert [candidate.chosen for candidate in record.candidates] == [True, False]


def test_hubs_and_sample_keep_to_the_most_frequent(muse: Command, space: Path, tmp_path: Path) -> None:
    assert muse("report", space, "--max-vocab", 50, "--out", tmp_path / "page.html").code == 0
    assert "Among the 50 most frequent words of French" in plain(page_of(tmp_path / "page.html"))


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
        ((space, "--out", stranger / "page.html"), "a folder to write in"),
        ((space, "--out", tmp_path / "mine.html"), "or the figures of a report"),
        ((space, "--out", out, "--dictionary", tmp_path / "none.txt"), "none.txt"),
        ((space, "--out", out, "--dictionary", stranger), "got none of 1 pair"),
        ((space, "--out", out, "--src", "de"), "are fr, en"),
    ):
        assert message in refused(muse, tmp_path, *arguments)


def test_what_was_learned_from_a_dictionary_is_shown(muse: Command, tmp_path: Path) -> None:
    space = with_history(tmp_path, supervision=SUPERVISION, method="dictionary:procrustes")
    told = muse("report", space, "--json", "-q").json
    assert told["supervision"] == SUPERVISION
    page = page_of(tmp_path / "fr-en.html")
    text = " ".join(page.text.split())
    for fact in ("4,321 pairs", "11.2 % [6.0, 20.0] were translated correctly", "0.46 % would be chance"):
        assert fact in text, fact
    assert "No dictionary was used" not in text
    tried = [row for row in page.rows if row[0].startswith(tuple(method["name"] for method in METHODS))]
    assert tried == [
        ["self-learning80 words, seconds not recorded", "71.260.5 to 80.0", "–"],
        ["procrusteschosen, 80 words, seconds not recorded", "12.56.9 to 21.5", "0.200"],
        ["<script>rcsls</script>words not recorded, seconds not recorded", "–140.0 to 150.0", "–"],
    ]
    assert "script" not in page.tags


@pytest.mark.slow
def test_what_align_learns_from_pairs_is_what_a_report_shows(muse: Command, tmp_path: Path) -> None:
    source, target, _ = raw_pair()
    files = [write_vec(tmp_path / f"{side.language}.vec", side) for side in (source, target)]
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("".join(f"fr{row} en{row}\n" for row in range(50)), encoding="utf-8")
    learning = ["--dictionary", pairs, "--no-refine", "--json", "-q"]
    aligned = muse(*align_arguments(*files, tmp_path / "space", *learning))
    assert aligned.code == 0, aligned.err
    told = muse("report", tmp_path / "space", "--json", "-q").json
    assert told["supervision"] == aligned.json["supervision"]
    assert "--dictionary pairs.txt --out space --no-refine" in plain(page_of(tmp_path / "space.html"))
    (tried,) = (row for row in page_of(tmp_path / "space.html").rows if row[0].startswith("procrustes"))
    found = aligned.json["supervision"]["candidates"][0]
    assert tried[1].startswith(f"{found['held_out_p_at_1']:.1f}{found['ci95'][0]:.1f} to")


def test_a_space_without_a_dictionary_says_nothing_of_one(reported: tuple[Path, Any]) -> None:
    folder, told = reported
    text = page_of(folder / "page.html").text
    assert "Learning from the pairs" not in text
    assert "would be chance" not in text
    assert "No dictionary was used" in text
    assert not {"supervision", "languages"} & set(told)


def record_of(**entry: Any) -> Any:
    (record,) = Manifest.of(**{"pivot": "en", "languages": {"fr": entry}}).mapped
    return record


def test_each_language_has_its_own_supervision() -> None:
    entries = {"fr": {"supervision": SUPERVISION}, "de": {"method": "similarity"}}
    found = Manifest.of(**{"pivot": "en", "languages": entries, "supervision": SUPERVISION}).mapped
    assert [record.supervision is None for record in found] == [False, True]
    assert supervision_json(found) == {"languages": {"fr": {"supervision": SUPERVISION}}}


def test_pairs_that_allow_no_test_do_not_carry_the_verdict() -> None:
    untested = {**SUPERVISION, "candidates": [{**METHODS[1], "words": 0}]}
    assert record_of(supervision=SUPERVISION).judged_on_pairs
    assert not record_of(supervision=untested).judged_on_pairs
    assert not record_of(supervision=SUPERVISION, via=["de"]).judged_on_pairs


def test_an_interval_is_drawn_within_its_scale() -> None:
    methods = record_of(supervision=SUPERVISION).supervision.methods
    assert [method.interval for method in methods] == [(71.25, 60.54, 80.01), (12.5, 6.93, 21.48), None]
