"""The page of a glossary in a real browser: search, decisions by mouse and keyboard, what is saved."""

from pathlib import Path

import pytest

from muse.examples.index import Example
from muse.terms.decisions import read_decisions
from muse.terms.glossary_file import write_glossary
from muse.terms.rows import GlossaryRow
from tests.support.browser import MARKS, Visit, serious_barriers

pytest.importorskip("playwright.sync_api")
pytestmark = MARKS
HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with 450 pairs."""
    example = Example("Une 🐦 clé publique.", ((6, 18),), "a.txt", 3)
    rows = [
        GlossaryRow("clé publique", "public key", 1, 0.9, False, "", 7, 5, 1, 1, 1, (example,), (example,)),
        GlossaryRow(HOSTILE, "other", 1, 0.8, False, "accepted", 7, 5, 1, 1, 1),
        *(GlossaryRow(f"terme {i}", f"term {i}", 1, 0.4, True, "", 7, 5, 1, 1, 1) for i in range(448)),
    ]
    path = tmp_path_factory.mktemp("page") / "terms.html"
    write_glossary(path, "html", rows, ("fr", "en"), [("old", "wrong")])
    return path.as_uri()


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
    assert [*found.accepted] == [("clé publique", "public key"), (HOSTILE, "other")]
    assert [*found.rejected] == [("terme 0", "term 0"), ("old", "wrong")]
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_barrier_and_nothing_beyond_a_narrow_screen(visit: Visit, address: str, scheme: str) -> None:
    page = visit(address, width=320, scheme=scheme)
    page.locator("summary").click()
    page.get_by_role("button", name="Reject: clé publique – public key").click()
    assert serious_barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
