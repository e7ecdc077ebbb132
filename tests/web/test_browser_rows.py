"""The explorer of a space of rows in a real browser: ids beside their texts, and no sentence or rank."""

from collections.abc import Iterator

import pytest

from tests.support.browser import MARKS, Visit, best, look_up, serious_barriers, serving

for _package in ("fastapi", "uvicorn", "sklearn", "playwright.sync_api"):
    pytest.importorskip(_package)

from tests.web.test_api_rows import ANIMALS, COUNT, HOSTILE, space_of_rows  # noqa: E402

pytestmark = MARKS


@pytest.fixture(scope="module")
def rows() -> Iterator[str]:
    """The address of a server with a space of rows."""
    with serving(space_of_rows()) as address:
        yield address


def test_a_row_is_found_by_a_word_of_its_text(visit: Visit, rows: str) -> None:
    page = visit(rows)
    assert f"{COUNT} fr rows" in page.locator("#about").inner_text()
    page.locator("#text").press_sequentially("dogs")
    option = page.locator("#suggestions [role=option]")
    option.first.wait_for()
    # Perhaps of the letters so far, of which another row has a word too.
    option.filter(has_text=ANIMALS[0]).first.wait_for(state="detached")
    assert [one.inner_text().split("\n") for one in option.all()] == [["1", ANIMALS[1]]]
    option.first.click()
    best(page, "1")
    assert page.locator("#best").locator("xpath=../..").locator(".meant").inner_text() == ANIMALS[1]
    page.locator("#own .meant").first.wait_for()
    assert page.locator("#translations .meant").count() == page.locator("#translations li").count()
    assert serious_barriers(page) == []


def test_texts_are_no_markup(visit: Visit, rows: str) -> None:
    page = visit(rows)
    page.on("dialog", lambda dialog: visit.said.append("error: a dialog"))
    look_up(page, "2")
    best(page, "2")
    assert page.locator("article .meant").first.inner_text() == HOSTILE


def test_a_text_is_no_sentence_to_translate(visit: Visit, rows: str) -> None:
    page = visit(rows)
    look_up(page, "A dog runs.")
    page.locator("#problem").get_by_text("is no row of fr").wait_for()
    assert not any("/api/sentence" in one for one in visit.asked)


def test_suggestions_do_not_cover_the_answer(visit: Visit, rows: str) -> None:
    page = visit(rows)
    page.locator("#text").press_sequentially("1")
    page.locator("#suggestions [role=option]").first.wait_for()
    page.press("#text", "Enter")
    best(page, "1")
    page.locator("#own .meant").first.wait_for()
    assert page.locator("#suggestions").is_hidden()
