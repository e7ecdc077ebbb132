"""The explorer in a real browser: on every screen, in every scheme, for every reader."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browser import MARKS, best, changed, clean, drawn, look_up, opened, serious_barriers

for _package in ("fastapi", "uvicorn", "sklearn", "playwright.sync_api"):
    pytest.importorskip(_package)

pytestmark = MARKS
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
SENTENCE = "#fr/Le%20roi%20dort."


def lengthened(page: Any) -> None:
    """Has every translation and neighbour be a very long word."""

    def translations(fields: Any) -> None:
        for one in fields["translations"]:
            one["word"] = LONG

    def neighbours(fields: Any) -> None:
        for one in fields["neighbours"]:
            one["words"][0]["word"] = LONG

    changed(page, "/api/translate", translations)
    changed(page, "/api/neighbours", neighbours)


def sideways(page: Any) -> int:
    """By how many pixels the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.mark.parametrize("width", [320, 390, 768, 1200])
def test_no_screen_needs_scrolling_sideways(browser: Any, home: str, width: int) -> None:
    watched = opened(browser, f"{home}#fr/roi", width=width, before=lengthened)
    page = watched.page
    page.locator("#other li").first.wait_for()
    assert sideways(page) <= 0
    box = page.locator("#best").bounding_box()
    assert box["x"] + box["width"] <= width
    for text, sign in (
        ("x" * 200, ".trouble"),
        ("x" * 300, "#glosses"),
        (f"{'x' * 90} roi", "#glosses button"),
    ):
        look_up(page, text)
        page.locator(sign).wait_for()
        assert sideways(page) <= 0
    clean(watched)


def test_a_wide_screen_has_the_map_beside_the_answer(browser: Any, home: str) -> None:
    watched = opened(browser, f"{home}#fr/roi")
    page = watched.page
    best(page, "king")
    answer, chart = page.locator("#answer").bounding_box(), page.locator("#picture").bounding_box()
    assert answer["x"] + answer["width"] <= chart["x"]
    assert chart["y"] < answer["y"] < chart["y"] + chart["height"]
    assert page.locator("#tabs").is_hidden()
    clean(watched)


def test_a_phone_has_answer_and_map_in_tabs(browser: Any, home: str) -> None:
    watched = opened(browser, f"{home}#fr/roi", width=390, has_touch=True)
    page = watched.page
    best(page, "king")
    assert page.locator("#picture").is_hidden()
    page.get_by_role("tab", name="Map").tap()
    drawn(page)
    assert page.locator("#best").is_hidden()
    page.keyboard.press("ArrowLeft")  # as tabs are used
    assert page.locator("#best").is_visible()
    assert page.locator("#answer-tab").evaluate("tab => tab === document.activeElement")
    page.set_viewport_size({"width": 1200, "height": 800})  # as when a tablet is turned
    page.locator("#picture").wait_for()
    assert page.locator("#best").is_visible()
    clean(watched)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_scheme_of_the_system(browser: Any, home: str, scheme: str) -> None:
    watched = opened(browser, f"{home}#fr/roi", scheme=scheme)
    drawn(watched.page)
    background = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(246, 247, 249)") == (scheme == "light")
    # The canvas changes with it.
    before = watched.page.locator("#picture").screenshot()
    watched.page.emulate_media(color_scheme="dark" if scheme == "light" else "light")
    watched.page.wait_for_timeout(300)
    assert watched.page.locator("#picture").screenshot() != before
    clean(watched)


STATES = {
    "start": ("", None),
    "word": ("#fr/roi", "#own li"),
    "sentence": (SENTENCE, "#glosses button"),
    "unknown": ("#fr/roii", "#spellings button"),
    "elsewhere": ("#fr/king", ".trouble .main"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES)
def test_no_serious_barrier(browser: Any, home: str, state: str, scheme: str) -> None:
    address, sign = STATES[state]
    watched = opened(browser, home + address, scheme=scheme)
    drawn(watched.page)
    if sign:
        watched.page.locator(sign).first.wait_for()
    assert serious_barriers(watched.page) == []
    clean(watched)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier_in_what_opens(browser: Any, home: str, scheme: str) -> None:
    watched = opened(browser, home + SENTENCE, scheme=scheme)
    page = watched.page
    page.locator("#glosses button").first.click()
    page.locator("#alternatives").wait_for()
    assert serious_barriers(page) == []
    page.keyboard.press("Escape")
    page.fill("#text", "")
    page.locator("#text").press_sequentially("mot")
    page.locator("#suggestions [role=option]").first.wait_for()
    page.keyboard.press("ArrowDown")
    assert serious_barriers(page) == []
    look_up(page, "roi")
    best(page, "king")
    page.locator("#how").click()
    page.locator("#evidence[open]").wait_for()
    assert serious_barriers(page) == []
    clean(watched)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier_on_a_phone(browser: Any, home: str, scheme: str) -> None:
    watched = opened(browser, f"{home}#fr/roi", width=360, scheme=scheme)
    page = watched.page
    best(page, "king")
    assert serious_barriers(page) == []
    page.click("#map-tab")
    drawn(page)
    assert serious_barriers(page) == []
    clean(watched)


def test_forced_colours_keep_chips_apart_and_the_map_readable(browser: Any, home: str) -> None:
    watched = opened(browser, f"{home}#fr/roi", forced_colors="active", scheme="dark")
    page = watched.page
    best(page, "king")
    drawn(page)
    border = page.locator(".chip").first.evaluate("chip => getComputedStyle(chip).borderTopWidth")
    assert border == "1px"
    # The map takes the reader's colours: its background is that of the page, not white.
    assert page.locator("#map").evaluate("map => getComputedStyle(map).backgroundColor") == page.evaluate(
        "getComputedStyle(document.body).backgroundColor"
    )
    assert len(colours(page)) > 3
    clean(watched)


def colours(page: Any) -> set[tuple[int, ...]]:
    """The colours on the canvas."""
    found = page.evaluate(
        """() => {
          const canvas = document.getElementById("picture");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const seen = new Set();
          for (let i = 0; i < data.length; i += 4) {
            if (data[i + 3] > 200) seen.add(data.slice(i, i + 3).join());
          }
          return [...seen];
        }"""
    )
    return {tuple(map(int, one.split(","))) for one in found}


def test_everything_by_keyboard_alone(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page, keys = watched.page, watched.page.keyboard
    drawn(page)
    keys.type("roi")  # the box has the focus
    keys.press("Enter")
    best(page, "king")
    stops = []
    for _ in range(40):
        keys.press("Tab")
        stops.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    for stop in ("clear", "picture", "closer", "farther", "whole", "how", "source", "swap", "target"):
        assert stop in stops
    clean(watched)


def test_a_screen_reader_hears_the_answer(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page = watched.page
    look_up(page, "roi")
    page.locator("#status[role=status]").filter(has_text="roi → king").wait_for(state="attached")
    assert page.title() == "roi → king · muse"
    assert page.locator("#best").get_attribute("lang") == "en"
    assert page.locator("#map-status").get_attribute("role") == "status"
    clean(watched)


def test_barriers_are_found_where_there_are_some(browser: Any) -> None:
    watched = opened(browser, "data:text/html,<html lang=en><title>x</title><main><img src='data:,'><input>")
    assert {barrier["id"] for barrier in serious_barriers(watched.page)} >= {"image-alt", "label"}
