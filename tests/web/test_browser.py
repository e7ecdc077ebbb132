"""The explorer in a real browser: on every screen, in every scheme, for every reader."""

from typing import Any

import pytest

from tests.support.browser import MARKS, Visit, best, changed, drawn, look_up, serious_barriers

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
def test_no_screen_needs_scrolling_sideways(visit: Visit, width: int) -> None:
    page = visit("#fr/roi", width=width, before=lengthened)
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


def test_a_wide_screen_has_the_map_beside_the_answer(visit: Visit) -> None:
    page = visit("#fr/roi")
    best(page, "king")
    answer, chart = page.locator("#answer").bounding_box(), page.locator("#picture").bounding_box()
    assert answer["x"] + answer["width"] <= chart["x"]
    assert chart["y"] < answer["y"] < chart["y"] + chart["height"]
    assert page.locator("#tabs").is_hidden()


def test_a_phone_has_answer_and_map_in_tabs(visit: Visit) -> None:
    page = visit("#fr/roi", width=390, has_touch=True)
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_scheme_of_the_system(visit: Visit, scheme: str) -> None:
    page = visit("#fr/roi", scheme=scheme)
    drawn(page)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(246, 247, 249)") == (scheme == "light")
    # The canvas changes with it.
    before = page.locator("#picture").screenshot()
    page.emulate_media(color_scheme="dark" if scheme == "light" else "light")
    page.wait_for_timeout(300)
    assert page.locator("#picture").screenshot() != before


STATES = {
    "start": ("", None),
    "word": ("#fr/roi", "#own li"),
    "sentence": (SENTENCE, "#glosses button"),
    "unknown": ("#fr/roii", "#spellings button"),
    "elsewhere": ("#fr/king", ".trouble .main"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES)
def test_no_serious_barrier(visit: Visit, state: str, scheme: str) -> None:
    address, sign = STATES[state]
    page = visit(address, scheme=scheme)
    drawn(page)
    if sign:
        page.locator(sign).first.wait_for()
    assert serious_barriers(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier_in_what_opens(visit: Visit, scheme: str) -> None:
    page = visit(SENTENCE, scheme=scheme)
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier_on_a_phone(visit: Visit, scheme: str) -> None:
    page = visit("#fr/roi", width=360, scheme=scheme)
    best(page, "king")
    assert serious_barriers(page) == []
    page.click("#map-tab")
    drawn(page)
    assert serious_barriers(page) == []


def test_forced_colours_keep_chips_apart_and_the_map_readable(visit: Visit) -> None:
    page = visit("#fr/roi", forced_colors="active", scheme="dark")
    best(page, "king")
    drawn(page)
    border = page.locator(".chip").first.evaluate("chip => getComputedStyle(chip).borderTopWidth")
    assert border == "1px"
    # The map takes the reader's colours: its background is that of the page, not white.
    assert page.locator("#map").evaluate("map => getComputedStyle(map).backgroundColor") == page.evaluate(
        "getComputedStyle(document.body).backgroundColor"
    )
    assert len(colours(page)) > 3


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


def test_everything_by_keyboard_alone(visit: Visit) -> None:
    page = visit()
    keys = page.keyboard
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


def test_a_screen_reader_hears_the_answer(visit: Visit) -> None:
    page = visit()
    look_up(page, "roi")
    page.locator("#status[role=status]").filter(has_text="roi → king").wait_for(state="attached")
    assert page.title() == "roi → king · muse"
    assert page.locator("#best").get_attribute("lang") == "en"
    assert page.locator("#map-status").get_attribute("role") == "status"


def test_barriers_are_found_where_there_are_some(visit: Visit) -> None:
    page = visit("data:text/html,<html lang=en><title>x</title><main><img src='data:,'><input>")
    assert {barrier["id"] for barrier in serious_barriers(page)} >= {"image-alt", "label"}
