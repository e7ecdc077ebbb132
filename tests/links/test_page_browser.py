"""The page of linked sentences in a real browser: for every reader, on every screen, and with thousands."""

import time
from pathlib import Path
from typing import Any

import pytest

from muse.links.links import Links
from muse.links.page import page_parts
from muse.links.pair import LinkedPair
from tests.support.browser import MARKS, Visit, serious_barriers

pytest.importorskip("playwright.sync_api")
pytestmark = MARKS
MANY, LENGTH = 5_000, 25
SECONDS = 2.0  # in which many sentences open
LINES = [
    ("The cat's asleep.", "Le chat dort.", "The cat 's asleep .", "Le chat dort .",
     {(0, 0): 0.9, (1, 1): 0.924, (2, 2): 0.2, (3, 2): 0.7, (4, 3): 1.0}),
    ("A bird 🐦 sings", "Un oiseau 🐦 chante", "A bird 🐦 sings", "Un oiseau 🐦 chante",
     {(0, 0): 0.8, (1, 1): 0.8, (3, 3): 0.35}),
]  # fmt: skip


def made(folder: Path, name: str, pairs: list[LinkedPair], languages: tuple[str, str]) -> str:
    """The address of a page."""
    path = folder / f"{name}.html"
    path.write_text("".join(page_parts(pairs, languages)), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of a few sentences."""
    languages = "en", "fr"
    pairs = [
        LinkedPair.of((one, two), (first.split(), second.split()), Links.of_shares(shares), languages)
        for one, two, first, second, shares in LINES * 15
    ]
    return made(tmp_path_factory.mktemp("page"), "few", pairs, languages)


def word(page: Any, pair: int, side: str, place: int) -> Any:
    """A word of a page."""
    return page.locator(f"[id='{pair}'] .{side} > span").nth(place)


def plain(element: Any) -> str:
    """The text of an element, without the signs that keep directions apart."""
    return str(element.inner_text()).replace("\u2068", "").replace("\u2069", "")


def lit(page: Any) -> list[tuple[str, str | None]]:
    """The words that are lit, in order, with what is said of them."""
    found = page.locator("main .lit").evaluate_all(
        "all => all.map(one => [one.textContent, one.dataset.share])"
    )
    return [(text, share) for text, share in found]


def test_the_counterpart_lights_up_under_the_pointer(visit: Visit, address: str) -> None:
    page = visit(address)
    word(page, 1, "one", 1).hover()
    assert lit(page) == [("cat", None), ("chat", "92 %")]
    assert plain(page.locator("#shown")) == "cat – chat, 92 %"
    word(page, 1, "two", 2).hover()
    assert lit(page) == [("'s", "20 %"), ("asleep", "70 %"), ("dort", None)]
    assert page.locator("main .faint").all_inner_texts() == ["'s"]
    strength = "one => Number(getComputedStyle(one).getPropertyValue('--share').replace('%', ''))"
    assert word(page, 1, "one", 2).evaluate(strength) < word(page, 1, "one", 3).evaluate(strength)
    page.locator("h1").hover()
    assert lit(page) == []
    assert visit.asked == [address]  # nothing else is loaded


def test_everything_by_keyboard_and_told(visit: Visit, address: str) -> None:
    page = visit(address)
    keys, told = page.keyboard, page.locator("#told[role=status]")
    page.locator("#glossed").focus()
    keys.press("Tab")
    assert lit(page) == [("The", None), ("Le", "90 %")]
    steps = {
        "ArrowRight": "cat – chat, 92 %", "Enter": "chat – cat, 92 %", "End": ". – ., >99 %",
        "ArrowRight ": "Un – A, 80 %", "ArrowDown": "Le – The, 90 %", "ArrowUp": "Un – A, 80 %",
        "End ": "chante – sings, 35 %", "ArrowLeft": "🐦 – no counterpart", "Home": "Un – A, 80 %",
        "ArrowLeft ": ". – ., >99 %",
    }  # fmt: skip
    for key, said in steps.items():
        keys.press(key.strip())
        assert plain(told) == said, key
    keys.press("Escape")
    assert lit(page) == []
    keys.press("Shift+Tab")  # all words are one stop
    assert page.evaluate("document.activeElement.id") == "glossed"


def test_on_a_phone_a_tap_lights_up_and_nothing_leaves_the_screen(visit: Visit, address: str) -> None:
    page = visit(address, width=320, has_touch=True)
    word(page, 1, "two", 1).tap()
    assert lit(page) == [("cat", "92 %"), ("chat", None)]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    one, two = (word(page, 1, side, 0).bounding_box() for side in ("one", "two"))
    assert one["y"] + one["height"] <= two["y"]
    assert serious_barriers(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_barrier(visit: Visit, address: str, scheme: str) -> None:
    page = visit(address, scheme=scheme)
    word(page, 1, "two", 2).hover()
    assert serious_barriers(page) == []
    page.locator("summary").click()
    page.locator("#glossed").click()
    page.locator("#below").click()
    assert serious_barriers(page) == []
    assert word(page, 1, "one", 1).get_attribute("data-gloss") == "chat"


def test_a_search_leaves_what_it_finds_whatever_the_accents(visit: Visit, address: str) -> None:
    page = visit(address)
    page.fill("#find", "OÏSEAU")
    page.locator("#count", has_text="15 of 30 pairs").wait_for()
    assert page.locator("li:visible").count() == 15
    assert page.locator(".hit").first.inner_text() == "oiseau"
    page.locator("#glossed").focus()
    page.keyboard.press("Tab")
    assert lit(page)[0] == ("A", None)  # the first word that is shown
    page.fill("#find", "")
    page.locator("#count", has_text="30 pairs").filter(has_not_text="of").wait_for()


def test_a_language_from_right_to_left_is_read_that_way(visit: Visit, tmp_path: Path) -> None:
    languages = "he", "en"
    pair = LinkedPair.of(
        ("החתול ישן", "the cat sleeps"), (["החתול", "ישן"], ["the", "cat", "sleeps"]),
        Links.of_shares({(0, 1): 0.9, (1, 2): 0.8}), languages,
    )  # fmt: skip
    page = visit(made(tmp_path, "hebrew", [pair], languages))
    first, second = word(page, 1, "one", 0), word(page, 1, "one", 1)
    assert first.bounding_box()["x"] > second.bounding_box()["x"]
    first.click()
    page.keyboard.press("ArrowLeft")
    assert lit(page) == [("ישן", None), ("sleeps", "80 %")]


def test_thousands_of_sentences_open_at_once(visit: Visit, tmp_path: Path) -> None:
    languages = "en", "fr"
    text = " ".join(f"word{place}" for place in range(LENGTH))
    links = Links.of_shares({(place, place): 0.75 for place in range(LENGTH)})
    pair = LinkedPair.of((text, text), (text.split(), text.split()), links, languages)
    where = made(tmp_path, "many", [pair] * MANY, languages)
    for _ in range(3):  # other programs may take the processor meanwhile
        begun = time.perf_counter()
        page = visit(where)
        word(page, 1, "one", 0).hover()
        if (seconds := time.perf_counter() - begun) <= SECONDS:
            break
    assert seconds <= SECONDS
    assert lit(page) == [("word0", None), ("word0", "75 %")]
    page.evaluate(f"document.getElementById('{MANY}').scrollIntoView()")
    word(page, MANY, "two", 3).hover()
    assert lit(page) == [("word3", "75 %"), ("word3", None)]
