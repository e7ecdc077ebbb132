"""A report in a real browser: on every screen, in every scheme, on paper, for every reader."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.test_report import CANDIDATES, SUPERVISION, gold_list, with_history
from tests.support.browser import MARKS, clean, opened, serious_barriers
from tests.support.pages import run

pytest.importorskip("jinja2")
pytest.importorskip("sklearn")
pytest.importorskip("playwright.sync_api")
pytestmark = MARKS
FAILED = {"label": "failed", "confidence": 0.01, "agreement": 0.07, "mutual": 0.5, "null": 0.08}
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
    browser: Any, pages: dict[str, str], kind: str, scheme: str
) -> None:
    watched = opened(browser, pages[kind], scheme=scheme)
    assert watched.asked == [pages[kind]]
    assert serious_barriers(watched.page) == []
    clean(watched)


@pytest.mark.parametrize("kind", KINDS)
def test_it_fits_the_narrowest_phone(browser: Any, pages: dict[str, str], kind: str) -> None:
    watched = opened(browser, pages[kind], width=320)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 320
    assert serious_barriers(watched.page) == []
    assert watched.page.locator("svg.narrow").is_visible()
    assert not watched.page.locator("svg.wide").is_visible()
    narrow = "[...document.querySelectorAll('th, td')].filter((cell) => cell.textContent.trim().length > 2"
    assert watched.page.evaluate(f"{narrow} && cell.offsetHeight && cell.offsetWidth < 24).length") == 0
    clean(watched)


def test_the_first_screen_answers(browser: Any, pages: dict[str, str]) -> None:
    watched = opened(browser, pages["measured"])
    for heading in ("It worked", "How good is it?", "On what evidence?", "What next?"):
        place = watched.page.get_by_role("heading", name=heading).bounding_box()
        assert place is not None
        assert place["y"] < 844, heading
    clean(watched)


def test_the_schemes_differ_and_paper_is_light(browser: Any, pages: dict[str, str]) -> None:
    colour = "getComputedStyle(document.querySelector('.card')).backgroundColor"
    light, dark = (opened(browser, pages["measured"], scheme=scheme) for scheme in ("light", "dark"))
    assert light.page.evaluate(colour) == "rgb(255, 255, 255)"
    assert dark.page.evaluate(colour) != "rgb(255, 255, 255)"
    paper = dark.page.pdf()
    assert paper.startswith(b"%PDF")
    clean(light)
    clean(dark)


def test_colours_that_the_reader_forces_reach_the_charts(browser: Any, pages: dict[str, str]) -> None:
    watched = opened(browser, pages["measured"], forced_colors="active")
    text, body = (
        watched.page.evaluate(f"getComputedStyle(document.querySelector('{name}')).{colour}")
        for name, colour in ((".drawing text", "fill"), ("body", "color"))
    )
    assert text == body
    clean(watched)


def test_a_table_stays_one_on_a_phone(browser: Any, pages: dict[str, str]) -> None:
    watched = opened(browser, pages["measured"], width=320)
    table = watched.page.get_by_role("table").filter(has_text="By frequency rank")
    row = table.get_by_role("row").filter(has_text="ranks 1 to 120")
    assert row.get_by_role("cell").count() == 2
    assert row.get_by_role("rowheader").count() == 1
    clean(watched)


def test_every_chart_is_described(browser: Any, pages: dict[str, str]) -> None:
    watched = opened(browser, pages["measured"])
    images = watched.page.get_by_role("img")
    assert images.count() == 4
    for number in range(images.count()):
        assert len(images.nth(number).get_attribute("aria-label")) > 40
    clean(watched)
