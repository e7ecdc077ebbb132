"""Glossaries that are kept: written and read again, decided on beside them, shown by explorer and report."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from muse.errors import BadFile, Mismatch
from muse.examples.index import Example
from muse.terms.decisions import Decisions, read_decisions, write_decisions
from muse.terms.glossary_file import write_glossary
from muse.terms.kept import KeptGlossary
from muse.terms.rows import GlossaryRow
from tests.support.asgi import HOME, Client
from tests.support.command import Command
from tests.web.test_api import SCRIPT, small_space

EXAMPLE = Example("Une 🐦 clé.", ((6, 9),), "a.txt", 3)
ROWS = (
    GlossaryRow(
        "clé", "key", 1, 0.9, False, "accepted", 7, 5, 1.5, 0.25, 2.0, (EXAMPLE, EXAMPLE), (EXAMPLE,)
    ),
    GlossaryRow(SCRIPT, "b", 1, 0.2, True, "", 7, 5, math.inf, math.nan, math.nan),
    GlossaryRow(SCRIPT, "c", 2, 0.1, True, "", 7, 5, math.inf, math.nan, math.nan),
)
KEY, FIRST = ("clé", "key"), (SCRIPT, "b")


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """The glossary as JSON lines."""
    write_glossary(tmp_path / "terms.jsonl", "jsonl", ROWS, ("fr", "en"), Decisions())
    return tmp_path / "terms.jsonl"


def test_rows_are_read_as_they_were_written(lines: Path) -> None:
    found = KeptGlossary.read(lines, ["de", "en", "fr"])
    assert found.languages == ("fr", "en")
    assert [*map(repr, found.rows)] == [*map(repr, ROWS)]  # NaN is not itself
    assert [row.translation for row in found.terms] == ["key", "b"]
    assert found.decisions().rows == [(*KEY, "accepted")]


def test_decisions_are_kept_beside_and_taken_back(lines: Path) -> None:
    found, place = KeptGlossary.read(lines, ["fr", "en"]), lines.parent / "terms.decisions.tsv"
    assert found.decide(FIRST, "rejected")
    assert read_decisions(place).rows == [(*KEY, "accepted"), (*FIRST, "rejected")]
    write_decisions(place, Decisions([KEY], [("of another", "run")]))  # while the server runs
    assert found.decide(KEY, "rejected")
    assert found.decide(FIRST, "accepted")
    assert not found.decide(("clé", "new"), "accepted")
    assert read_decisions(place).rows == [
        (*FIRST, "accepted"), ("of another", "run", "rejected"), (*KEY, "rejected")
    ]  # fmt: skip
    assert [row.translation for row in found.terms] == ["b"]
    assert found.decide(KEY, "")
    assert KeptGlossary.read(lines, ["fr", "en"]).decisions().rows[1:] == [("of another", "run", "rejected")]


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (lambda row: row.pop("languages"), BadFile, "terms.jsonl:2: expected a row of a glossary"),
        (lambda row: row.pop("term"), BadFile, "expected a row of a glossary"),
        (lambda row: row.update(rank="first"), BadFile, "expected a row of a glossary"),
        (lambda row: row.update(examples=[{"text": "a"}]), BadFile, "expected a row of a glossary"),
        (lambda row: row.update(languages=["en", "fr"]), BadFile, "expected rows in two languages, got 2"),
        (lambda row: row.clear(), BadFile, "expected a row of a glossary"),
    ],
)
def test_other_lines_are_refused(lines: Path, change: Any, error: type[Exception], told: str) -> None:
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    change(rows[1])
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(error, match=told):
        KeptGlossary.read(lines, ["fr", "en"])


def test_a_glossary_of_other_languages_and_bad_decisions_are_refused(lines: Path) -> None:
    with pytest.raises(Mismatch, match="got fr and en"):
        KeptGlossary.read(lines, ["fr", "de"])
    (lines.parent / "terms.decisions.tsv").write_text("term\ttranslation\tdecision\na\tb\tyes\n")
    with pytest.raises(BadFile, match="expected the decision accepted or rejected"):
        KeptGlossary.read(lines, ["fr", "en"])


def test_the_explorer_shows_it_and_keeps_decisions_of_its_page_alone(lines: Path) -> None:
    pytest.importorskip("fastapi")
    from muse.web.app import create_app
    from muse.web.explorer import Explorer

    explorer = Explorer(small_space(), "fr-en", terms=KeptGlossary.read(lines, ["fr", "en"]))
    client, place = Client(create_app(explorer)), lines.parent / "terms.decisions.tsv"

    def decide(decision: str = "rejected", translation: str = "key", **headers: str) -> int:
        asked = {"term": "clé", "translation": translation, "decision": decision}
        answer = client.request("POST", "/api/decisions", params=asked, headers=headers)
        assert answer.status_code != 200 or answer.json() == asked
        return answer.status_code

    other = {"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}
    assert [decide(**one) for one in other] == [403] * 3
    assert (decide("yes"), decide(translation="other"), place.exists()) == (422, 404, False)
    assert decide() == 200
    own = {"origin": HOME}, {"origin": "null", "sec-fetch-site": "same-origin"}
    assert [decide(**one) for one in own] == [200] * 2
    assert read_decisions(place).rows == [(*KEY, "rejected")]
    page = client.get("/terms")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert SCRIPT not in page.text and '["clé", "key", "rejected"]' in page.text
    for part in ('href="/page/terms/page.css"', 'src="/page/terms/page.js"'):
        assert part in page.text and client.get(part.split('"')[1]).status_code == 200
    assert client.get("/api/spaces").json()["terms"]
    refused = client.get("/api/decisions")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    bare = Client(create_app(Explorer(small_space(), "fr-en")))
    assert (bare.get("/terms").status_code, bare.get("/api/spaces").json()["terms"]) == (404, False)


def test_the_report_shows_the_surest_and_has_a_page_of_all(
    muse: Command, lines: Path, tmp_path: Path, world: Path
) -> None:
    pytest.importorskip("sklearn")
    write_glossary(lines, "jsonl", ROWS, ("aa", "bb"), Decisions())
    out = tmp_path / "a b.html"
    ended = muse("report", world / "space", "--terms", lines, "--out", out, "--json")
    assert (ended.code, ended.json["terms"]) == (0, str(tmp_path / "a b.terms.html"))
    page = out.read_text()
    assert 'href="a%20b.terms.html"' in page and "<bdi>clé</bdi>" in page and SCRIPT not in page
    assert '["clé", "key", "accepted"]' in (tmp_path / "a b.terms.html").read_text()
    refused = muse("report", world / "space", "--terms", tmp_path / "missing", "--out", out)
    assert refused.code == 1 and "missing" in refused.errors[0]
