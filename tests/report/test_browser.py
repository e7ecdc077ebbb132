"""A report in a real browser: on every screen, in every scheme, on paper, for every reader."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.test_report import CANDIDATES, SUPERVISION, gold_list, with_history
from tests.support.browser import MARKS, Visit, serious_barriers
from tests.support.pages import run

pytest.importorskip("jinja2")
pytest.importorskip("sklearn")
pytest.importorskip("playwright.sync_api")
pytestmark = MARKS
FAILED = {"label": "failed", "confidence": 0.01, "agreement": 0.07, "mutual": 0.5, "null": 0.08}
OPENED = "for (const one of document.querySelectorAll('details')) one.open = true;"
KINDS = ("measured", "unmeasured", "failed", "supervised")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The addresses of reports: with and without a list, of a failure, of learning from a dictionary."""
    entries: dict[str, dict[str, Any]] = {
        "measured": {},
        "unmeasured": {},
        "failed": {"verdict": FAILED, "candidates": [{**one, "verdict": "failed"} for one in CANDIDATES]},
        "supervised": {"supervision": SUPERVISION},
    }
    found = {}
    for kind, entry in entries.items():
        folder = tmp_path_factory.mktemp(kind)
        command = ["muse", "report", with_history(folder, **entry), "--out", folder / "page.html", "--quiet"]
        if kind != "unmeasured":
            command += ["--dictionary", gold_list(folder)]
        with pytest.MonkeyPatch.context() as patch:
            _, failed = run(shlex.join(map(str, command)), patch)
        assert not failed
        found[kind] = Path(folder / "page.html").as_uri()
    yield found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_loads_nothing_and_bars_nobody(
    visit: Visit, pages: dict[str, str], kind: str, scheme: str
) -> None:
    page = visit(pages[kind], scheme=scheme)
    assert visit.asked == [pages[kind]]
    assert serious_barriers(page) == []
    assert not page.get_by_text("How to make this space again").is_visible()
    page.get_by_role("heading", name="Appendix").click()
    assert page.get_by_text("How to make this space again").is_visible()
    page.evaluate(OPENED)
    assert serious_barriers(page) == []


@pytest.mark.parametrize("kind", KINDS)
def test_it_fits_the_narrowest_phone(visit: Visit, pages: dict[str, str], kind: str) -> None:
    page = visit(pages[kind], width=320)
    page.evaluate(OPENED)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert serious_barriers(page) == []
    assert page.locator("svg.narrow").is_visible()
    assert not page.locator("svg.wide").is_visible()
    narrow = "[...document.querySelectorAll('th, td')].filter((cell) => cell.textContent.trim().length > 2"
    assert page.evaluate(f"{narrow} && cell.offsetHeight && cell.offsetWidth < 24).length") == 0


def test_the_first_screen_answers(visit: Visit, pages: dict[str, str]) -> None:
    page = visit(pages["measured"])
    for heading in ("It worked", "How good is it?", "On what evidence?", "What next?"):
        place = page.get_by_role("heading", name=heading).bounding_box()
        assert place is not None
        assert place["y"] < 844, heading


def test_the_schemes_differ_and_paper_is_light(visit: Visit, pages: dict[str, str]) -> None:
    colour = "getComputedStyle(document.querySelector('.card')).backgroundColor"
    light, dark = (visit(pages["measured"], scheme=scheme) for scheme in ("light", "dark"))
    assert light.evaluate(colour) == "rgb(255, 255, 255)"
    assert dark.evaluate(colour) != "rgb(255, 255, 255)"
    paper = dark.pdf()
    assert paper.startswith(b"%PDF")


def test_colours_that_the_reader_forces_reach_the_charts(visit: Visit, pages: dict[str, str]) -> None:
    page = visit(pages["measured"], forced_colors="active")
    text, body = (
        page.evaluate(f"getComputedStyle(document.querySelector('{name}')).{colour}")
        for name, colour in ((".drawing text", "fill"), ("body", "color"))
    )
    assert text == body


def test_a_table_stays_one_on_a_phone(visit: Visit, pages: dict[str, str]) -> None:
    page = visit(pages["measured"], width=320)
    table = page.get_by_role("table").filter(has_text="By frequency rank")
    row = table.get_by_role("row").filter(has_text="ranks 1 to 120")
    assert row.get_by_role("cell").count() == 2
    assert row.get_by_role("rowheader").count() == 1


def test_every_chart_is_described(visit: Visit, pages: dict[str, str]) -> None:
    page = visit(pages["measured"])
    page.evaluate(OPENED)
    images = page.get_by_role("img")
    assert images.count() == 4
    for number in range(images.count()):
        assert len(images.nth(number).get_attribute("aria-label")) > 40
