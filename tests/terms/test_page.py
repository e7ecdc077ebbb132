"""The page of a glossary in a real browser: search, decisions by mouse and keyboard, what is saved."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from muse.examples.index import Example
from muse.terms.decisions import Decisions, read_decisions
from muse.terms.glossary_file import write_glossary
from muse.terms.kept import KeptGlossary
from muse.terms.rows import GlossaryRow
from tests.support.browser import MARKS, Visit, best, look_up, serious_barriers, serving
from tests.support.spaces import plain_space

pytest.importorskip("playwright.sync_api")
pytestmark = MARKS
HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a glossary of 450 pairs as a page and as lines."""
    example = Example("Une 🐦 clé publique.", ((6, 18),), "a.txt", 3)
    rows = [
        GlossaryRow("clé publique", "public key", 1, 0.9, False, "", 7, 5, 1, 1, 1, (example,), (example,)),
        GlossaryRow(HOSTILE, "other", 1, 0.8, False, "accepted", 7, 5, 1, 1, 1),
        *(GlossaryRow(f"terme {i}", f"term {i}", 1, 0.4, True, "", 7, 5, 1, 1, 1) for i in range(448)),
    ]
    made = tmp_path_factory.mktemp("page")
    decisions = Decisions([(HOSTILE, "other")], [("old", "wrong")])
    for form in ("html", "jsonl"):
        write_glossary(made / f"terms.{form}", form, rows, ("fr", "en"), decisions)
    return made


@pytest.fixture(scope="module")
def address(folder: Path) -> str:
    """The address of the page as a file."""
    return (folder / "terms.html").as_uri()


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    """The address of an explorer that has the glossary, and a space with a unit of several words."""
    rows = np.random.default_rng(0).normal(size=(60, 12)).astype(np.float32)
    names = [f"{letter}{i}" for letter in "fe" for i in range(59)]
    space = plain_space(rows, rows, [*names[:59], "pomme_de_terre"], [*names[59:], "potato"])
    with serving(space, KeptGlossary.read(folder / "terms.jsonl", ["fr", "en"])) as home:
        yield home


def test_what_is_accepted_and_rejected_is_saved(visit: Visit, address: str, tmp_path: Path) -> None:
    page = visit(address)
    assert page.locator("#terms > li").count() == 200
    page.locator("#more").click()
    assert page.locator("#terms > li").count() == 400
    page.get_by_role("button", name="Accept: clé publique – public key").click()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    with page.expect_download() as saved:
        page.locator("#save").click()
    saved.value.save_as(tmp_path / "decisions.tsv")
    found = read_decisions(tmp_path / "decisions.tsv")
    assert [*found.accepted] == [(HOSTILE, "other"), ("clé publique", "public key")]
    assert [*found.rejected] == [("old", "wrong"), ("terme 0", "term 0")]
    assert visit.asked[:1] == [address]


def test_a_search_and_a_choice_leave_what_they_find(visit: Visit, address: str) -> None:
    page = visit(address)
    page.fill("#find", "CLE PUB")
    page.locator("#count", has_text="1 of 450 pairs").wait_for()
    page.locator("summary").click()
    assert page.locator("mark").first.inner_text() == "clé publique"
    page.fill("#find", "")
    for which, count in (("likely", 2), ("accepted", 1), ("rejected", 0), ("open", 449)):
        page.select_option("#which", which)
        page.locator("#count", has_text=f"{count} of 450 pairs").wait_for()


def test_the_explorer_keeps_what_is_decided(visit: Visit, served: str, folder: Path) -> None:
    page = visit(served, forgiven=("500", "ERR_FAILED"))
    page.get_by_role("link", name="Terms").click()
    page.get_by_role("button", name="Accept: clé publique – public key").click()
    page.get_by_role("button", name="Reject: terme 0 – term 0").click()
    page.get_by_role("button", name="Reject: terme 1 – term 1").click()
    with page.expect_response(lambda answer: answer.url.endswith("decision=")):  # the last one
        page.get_by_role("button", name="Reject: terme 1 – term 1").click()
    found = read_decisions(folder / "terms.decisions.tsv")
    assert [*found.accepted] == [(HOSTILE, "other"), ("clé publique", "public key")]
    assert [*found.rejected] == [("terme 0", "term 0")]
    page.route("**/api/decisions?*", lambda route: route.abort())
    undone = page.get_by_role("button", name="Reject: clé publique – public key")
    undone.click()
    page.locator("#trouble", has_text="muse serve does not answer").wait_for()
    assert undone.get_attribute("aria-pressed") == "false"
    page.reload()
    assert page.get_by_role("button", name="Accept: clé publique").get_attribute("aria-pressed") == "true"
    page.get_by_role("link", name="Explorer").click()
    page.locator("#terms:visible").wait_for()


def test_a_unit_is_suggested_and_looked_up_as_a_word_is(visit: Visit, served: str) -> None:
    page = visit(served)
    page.locator("#text").press_sequentially("Pomme de t")
    page.get_by_role("option", name="pomme_de_terre").wait_for()
    look_up(page, "pomme de terre")
    best(page, "potato")
    assert page.url.endswith("#fr/pomme%20de%20terre")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("home", ["file", "explorer"])
def test_no_barrier_and_nothing_beyond_a_narrow_screen(
    visit: Visit, address: str, served: str, scheme: str, home: str
) -> None:
    page = visit(address if home == "file" else served, width=320, scheme=scheme)
    if home == "explorer":
        page.get_by_role("link", name="Terms").click()
    page.locator("summary").click()
    page.get_by_role("button", name="Reject: clé publique – public key").click()
    assert serious_barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
