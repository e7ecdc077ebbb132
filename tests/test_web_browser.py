"""The explorer and a report in a real browser: Chromium, driven by Playwright; skipped where there is none.

Debian's chromium is enough: no browser of Playwright's own is needed. The accessibility of both is checked by
axe-core, which axe-playwright-python brings along.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.command import Command

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("sklearn")
playwright = pytest.importorskip("playwright.sync_api")

from muse.web import Address, Explorer, bind, url  # noqa: E402
from muse.web.app import create_app  # noqa: E402
from tests.test_web_api import SCRIPT, small_space  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 60_000  # milliseconds
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)"),
    pytest.mark.filterwarnings("default"),  # of the server's and the browser's threads
]


@dataclass
class Watched:
    """A page, what its console said, and what it asked of others than the server."""

    page: Any
    said: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def home() -> Iterator[str]:
    """The address of a server with a small space."""
    import uvicorn

    app = create_app(Explorer(small_space(), "fr-en"), burst=1e6)
    listening = bind(Address(port=0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield url(listening)
    server.should_exit = True
    thread.join(30)
    listening.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        # Root, as in a container, has no sandbox to put Chromium in; the pages are our own.
        made = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


SLOW_START = """
const real = window.fetch;
window.fetch = async (...asked) => {
  if (String(asked[0]).includes("/api/spaces")) await new Promise((resolve) => setTimeout(resolve, 1500));
  return real(...asked);
};
"""


def opened(browser: Any, address: str, width: int = 1100, scheme: str = "light", script: str = "") -> Watched:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    context.add_init_script(script)
    watched = Watched(context.new_page())
    watched.page.on("console", lambda message: watched.said.append(f"{message.type}: {message.text}"))
    watched.page.on("pageerror", lambda error: watched.said.append(f"error: {error}"))
    watched.page.on(
        "request",
        lambda request: (
            None if request.url.startswith((address, "data:")) else watched.elsewhere.append(request.url)
        ),
    )
    watched.page.goto(address)
    return watched


def serious_barriers(page: Any) -> list[dict[str, Any]]:
    """What axe-core finds serious or critical on the page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    return [one for one in found if one["impact"] in ("serious", "critical")]


def look_up(page: Any, word: str) -> None:
    page.fill("#word", word)
    page.press("#word", "Enter")


def first(page: Any) -> str:
    return str(page.locator("#translations li button").first.text_content())


def clean(watched: Watched) -> None:
    errors = [said for said in watched.said if said.startswith("error") and "404" not in said]
    assert errors == []
    assert watched.elsewhere == []
    watched.page.context.close()


def test_a_word_its_neighbours_and_the_way_back(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page = watched.page
    look_up(page, "roi")
    page.wait_for_selector("#translations li")
    assert first(page) == "king"
    assert page.locator("#own li").count() == page.locator("#other li").count() == 10
    page.locator("#translations li button").first.click()  # a word of the other language turns the page round
    page.locator("#source").and_(page.locator("select")).wait_for()
    page.get_by_text("king: roi").wait_for()
    assert page.locator("#source").input_value() == "en"
    page.click("#swap")
    page.get_by_text("roi: king").wait_for()
    clean(watched)


def test_a_quick_hand_is_answered_once_the_languages_are_known(browser: Any, home: str) -> None:
    watched = opened(browser, home, script=SLOW_START)
    look_up(watched.page, "roi")
    watched.page.get_by_text("roi: king").wait_for()
    clean(watched)


def test_an_unknown_word_offers_others(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    look_up(watched.page, "Roi")
    watched.page.locator("#word-status button", has_text="roi").click()
    watched.page.get_by_text("roi: king").wait_for()
    clean(watched)


def test_a_hostile_word_is_shown_as_text(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page = watched.page
    page.on("dialog", lambda dialog: watched.said.append("error: a dialog"))
    look_up(page, SCRIPT)
    page.wait_for_selector("#translations li")
    assert first(page) == SCRIPT
    assert page.locator("main script").count() == 0
    clean(watched)


def test_a_sentence_by_keyboard_alone(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page, keys = watched.page, watched.page.keyboard
    page.focus("#sentence")
    keys.type("Roi dort.")
    keys.press("Enter")
    page.wait_for_selector("#tokens button")
    assert page.locator("#tokens").inner_text().strip() == "King sleeps."
    page.locator("#tokens button").nth(1).focus()
    keys.press("Enter")
    options = page.locator("[role=option]")
    options.first.wait_for()
    wanted = str(options.nth(1).text_content()).rpartition(" ")[0]
    keys.press("ArrowRight")
    keys.press("Enter")
    assert page.locator("#tokens").inner_text().strip() == f"King {wanted}."
    assert page.locator("#alternatives").is_hidden()
    focused = page.evaluate("document.activeElement.textContent")
    assert focused == wanted
    clean(watched)


def test_an_alternative_by_click(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page = watched.page
    page.fill("#sentence", "roi dort")
    page.locator("#sentence-form button").click()
    page.locator("#tokens button").first.click()
    option = page.locator("[role=option]").nth(2)
    wanted = str(option.text_content()).rpartition(" ")[0]
    option.click()
    assert page.locator("#tokens button").first.text_content() == wanted
    clean(watched)


def test_the_picture_is_drawn_and_moves(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page = watched.page
    page.wait_for_selector("#picture-status:empty", state="attached")
    before = page.locator("#picture").screenshot()
    look_up(page, "roi")
    page.get_by_text("roi: king").wait_for()
    page.wait_for_timeout(1_000)
    marked = page.locator("#picture").screenshot()
    assert marked != before
    page.focus("#picture")
    for key in ("+", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.locator("#picture").screenshot() != marked
    clean(watched)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_scrolling_sideways(browser: Any, home: str, scheme: str) -> None:
    watched = opened(browser, home, width=360, scheme=scheme)
    look_up(watched.page, "roi")
    watched.page.wait_for_selector("#translations li")
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 360
    background = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    clean(watched)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_loads_nothing_and_bars_nobody(
    browser: Any, muse: Command, tmp_path: Path, scheme: str
) -> None:
    pytest.importorskip("matplotlib")
    from tests.test_report import gold_list, with_history

    ended = muse("report", with_history(tmp_path), "--dictionary", gold_list(tmp_path), "--json")
    watched = opened(browser, Path(ended.json["out"]).as_uri(), scheme=scheme)
    assert watched.page.locator("img").count() == len(ended.json["figures"]) == 6
    assert watched.page.evaluate("[...document.images].every((image) => image.naturalWidth > 0)")
    assert serious_barriers(watched.page) == []
    clean(watched)


def test_a_report_fits_a_phone(browser: Any, muse: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from tests.test_report import with_history

    page = Path(muse("report", with_history(tmp_path), "--json").json["out"])
    watched = opened(browser, page.as_uri(), width=360)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 360
    clean(watched)


def test_barriers_are_found_where_there_are_some(browser: Any) -> None:
    watched = opened(browser, "data:text/html,<html lang=en><title>x</title><main><img src='data:,'><input>")
    assert {barrier["id"] for barrier in serious_barriers(watched.page)} >= {"image-alt", "label"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier(browser: Any, home: str, scheme: str) -> None:
    watched = opened(browser, home, scheme=scheme)
    page = watched.page
    look_up(page, "roi")
    page.wait_for_selector("#translations li")
    page.fill("#sentence", "roi dort")
    page.press("#sentence", "Enter")
    page.locator("#tokens button").first.click()
    page.locator("[role=option]").first.wait_for()
    assert serious_barriers(page) == []
    clean(watched)
