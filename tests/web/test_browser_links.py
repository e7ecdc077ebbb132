"""The explorer's direction, links and errors in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.browser import MARKS, best, clean, drawn, look_up, opened

for _package in ("fastapi", "uvicorn", "sklearn", "playwright.sync_api"):
    pytest.importorskip(_package)

pytestmark = MARKS
REFUSED = "ERR_FAILED"


def colour_of(page: Any, language: str) -> str:
    """The colour of a language in the legend of the map."""
    place = page.locator(".legend span").filter(has_text=language)
    mark = place.locator("xpath=preceding-sibling::span[1]")
    return str(mark.evaluate("mark => getComputedStyle(mark).backgroundColor"))


def test_swapping_keeps_the_map_the_colours_and_the_text(browser: Any, home: str) -> None:
    watched = opened(browser, f"{home}#fr/same")
    page = watched.page
    drawn(page)
    page.locator(".trouble").wait_for()  # an unknown word, so that the map shows all
    pictures = sum("/api/picture" in url for url in watched.asked)
    before = page.locator("#picture").screenshot(), colour_of(page, "French"), colour_of(page, "English")
    page.locator("#swap").click()
    page.get_by_text("not in the English vocabulary").wait_for()
    page.locator("h1").click()  # the focus, which the button has, leaves nothing on the map
    after = page.locator("#picture").screenshot(), colour_of(page, "French"), colour_of(page, "English")
    assert after == before
    assert page.input_value("#text") == "same"
    assert (page.input_value("#source"), page.input_value("#target")) == ("en", "fr")
    assert sum("/api/picture" in url for url in watched.asked) == pictures  # not drawn again
    clean(watched)


def test_swapping_translates_what_was_found_back(browser: Any, home: str) -> None:
    watched = opened(browser, f"{home}#fr/roi")
    page = watched.page
    best(page, "king")
    page.locator("#swap").click()
    best(page, "roi")
    assert page.input_value("#text") == "king"
    page.fill("#text", "dort")  # typed, not answered: it stays
    page.locator("#swap").click()
    best(page, "sleeps")
    assert (page.input_value("#text"), page.input_value("#source")) == ("dort", "fr")
    clean(watched)


def test_a_link_to_a_language_that_the_space_lacks_says_so(browser: Any, home: str) -> None:
    watched = opened(browser, f"{home}#de/König")
    watched.page.get_by_role("heading", name="This space has no German").wait_for()
    watched.page.get_by_text("the languages here are French and English").wait_for()
    look_up(watched.page, "roi")
    best(watched.page, "king")
    assert watched.page.locator(".trouble").count() == 0
    clean(watched)


def test_a_language_that_is_chosen_twice_takes_the_place_of_the_other(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    watched.page.select_option("#source", "en")
    assert watched.page.input_value("#target") == "fr"
    watched.page.select_option("#target", "en")
    assert watched.page.input_value("#source") == "fr"
    clean(watched)


def held(page: Any, part: str) -> Callable[[], None]:
    """Holds requests back whose address has this part, until the function returned is called."""
    routes: list[Any] = []
    page.route(lambda url: part in url, lambda route: routes.append(route))

    def release() -> None:
        for route in routes:
            route.continue_()

    return release


def test_a_late_answer_of_the_other_direction_is_never_shown(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page = watched.page
    release = held(page, "translate?src=fr")
    look_up(page, "roi")
    page.wait_for_timeout(300)
    page.locator("#swap").click()
    page.get_by_text("“roi” is a French word").wait_for()  # nothing was found yet
    release()
    page.wait_for_timeout(500)
    assert page.locator("#best").count() == 0
    assert page.input_value("#source") == "en"
    clean(watched, forgiven=(REFUSED, "ERR_ABORTED"))


def test_of_several_questions_the_last_is_answered(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page = watched.page
    release = held(page, "word=motaa")
    look_up(page, "motaa")
    page.wait_for_timeout(300)
    look_up(page, "roi")
    best(page, "king")
    release()
    page.wait_for_timeout(500)
    best(page, "king")
    assert page.input_value("#text") == "roi"
    clean(watched, forgiven=(REFUSED, "ERR_ABORTED"))


def test_neighbours_that_come_late_do_not_join_another_word(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page = watched.page
    release = held(page, "neighbours?src=fr&tgt=en&word=motaa")
    look_up(page, "motaa")
    best(page, "wordaa")
    look_up(page, "roi")
    page.get_by_role("heading", name="Words near roi").wait_for()
    release()
    page.wait_for_timeout(500)
    assert page.locator("#own").count() == 1
    clean(watched, forgiven=(REFUSED, "ERR_ABORTED"))


def test_links_and_the_way_back(browser: Any, home: str) -> None:
    watched = opened(browser, f"{home}#fr/roi")
    page = watched.page
    best(page, "king")
    look_up(page, "dort")
    best(page, "sleeps")
    assert page.url.endswith("#fr/dort")
    page.locator("#own button").first.wait_for()
    look_up(page, "Roi dort.")
    best(page, "King sleeps.")
    assert page.url.endswith("#fr/Roi%20dort.")
    page.locator("#swap").click()
    page.wait_for_url("**#en/King%20sleeps.")
    page.go_back()
    best(page, "King sleeps.")
    assert page.input_value("#source") == "fr"
    page.go_back()
    best(page, "sleeps")
    page.go_back()
    best(page, "king")
    assert page.input_value("#text") == "roi"
    page.go_forward()
    best(page, "sleeps")
    page.evaluate("location.hash = '#en/king'")  # as one edits an address
    best(page, "roi")
    page.reload()
    best(page, "roi")
    clean(watched)


def test_the_way_back_to_the_start(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    page = watched.page
    look_up(page, "roi")
    best(page, "king")
    page.go_back()
    page.locator(".intro").wait_for()
    assert page.input_value("#text") == ""
    assert page.title() == "muse explorer"
    clean(watched)


@pytest.mark.parametrize(
    "link", ["#fr", "#fr/", "#de/roi", "#fr/fr/roi", "#fr/en/roi/x", "#%E0%A4%A", "#fr/%FF", "#/", "#a/b/c/d"]
)
def test_links_to_nothing_are_the_start(browser: Any, home: str, link: str) -> None:
    watched = opened(browser, home + link)
    watched.page.locator(".intro").wait_for()
    assert watched.page.input_value("#source") == "fr"
    clean(watched)


@pytest.mark.parametrize("word", ["a/b", "100 %", "#fr/roi", "été", "<b>", "a?b&c"])
def test_any_word_has_a_link(browser: Any, home: str, word: str) -> None:
    watched = opened(browser, home)
    look_up(watched.page, word)
    watched.page.locator(".trouble, #best").first.wait_for()
    watched.page.reload()
    watched.page.locator(".trouble, #best").first.wait_for()
    assert watched.page.input_value("#text") == word
    clean(watched)


def test_a_third_language_is_in_the_link(browser: Any, home: str) -> None:
    watched = opened(browser, home)
    assert watched.page.evaluate(
        """async () => {
          const { address, question } = await import("/page/route.js");
          const defaultTarget = (code) => (code === "en" ? "de" : "en");
          const languages = { codes: ["de", "fr", "en"], defaultTarget };
          const asked = [["fr", "en"], ["fr", "de"], ["en", "fr"], ["en", "de"]];
          return asked.map(([source, target]) => {
            const link = address({ source, target, text: "x/y" }, languages);
            const found = question(link, languages);
            return [link, found.source, found.target, found.text].join(" ");
          });
        }"""
    ) == [
        "#fr/x%2Fy fr en x/y",
        "#fr/de/x%2Fy fr de x/y",
        "#en/fr/x%2Fy en fr x/y",
        "#en/x%2Fy en de x/y",
    ]
    clean(watched)


def test_a_server_that_is_gone_is_said_to_be_and_awaited(browser: Any, home: str) -> None:
    watched = opened(browser, f"{home}#fr/roi")
    page = watched.page
    best(page, "king")
    page.route("**/api/**", lambda route: route.abort())
    page.route("**/healthz*", lambda route: route.abort())
    look_up(page, "dort")
    trouble = page.get_by_role("alert")
    trouble.get_by_text("The explorer does not answer").wait_for()
    assert "muse serve FOLDER/fr-en --port" in trouble.inner_text()
    assert trouble.get_by_role("button", name="Try again now").is_visible()
    page.unroute_all()
    best(page, "sleeps")  # without a click, once it answers
    assert page.locator(".trouble").count() == 0
    clean(watched, forgiven=(REFUSED,))


def test_a_server_that_is_gone_from_the_start(browser: Any, home: str) -> None:
    def gone(page: Any) -> None:
        page.route("**/api/**", lambda route: route.abort())
        page.route("**/healthz*", lambda route: route.abort())

    watched = opened(browser, f"{home}#fr/roi", before=gone, ready=False)
    page = watched.page
    page.get_by_text("The explorer does not answer").wait_for()
    page.unroute_all()
    page.get_by_role("button", name="Try again now").click()
    best(page, "king")
    clean(watched, forgiven=(REFUSED,))


@pytest.mark.parametrize(
    ("status", "headers", "body", "parts"),
    [
        (503, {}, None, ["Too many questions", "Wait a second"]),
        (
            422,
            {},
            {"error": "text: too long"},
            ["could not be answered", "too long", "Change the text"],
        ),
        (
            503,
            {},
            {"error": "needs scikit-learn; run pip install x"},
            ["scikit-learn", "start the explorer again"],
        ),
        (500, {}, None, ["status 500", "muse serve"]),
    ],
)
def test_errors_say_what_to_do(
    browser: Any,
    home: str,
    status: int,
    headers: dict[str, str],
    body: dict[str, str] | None,
    parts: list[str],
) -> None:
    watched = opened(browser, home)
    page = watched.page
    text = "Internal Server Error" if body is None else json.dumps(body)
    page.route("**/api/translate?*", lambda route: route.fulfill(status=status, headers=headers, body=text))
    look_up(page, "roi")
    trouble = page.get_by_role("alert")
    trouble.get_by_role("button", name="Try again").wait_for()
    for part in parts:
        assert part in trouble.inner_text()
    page.unroute_all()
    trouble.get_by_role("button", name="Try again").click()
    best(page, "king")
    clean(watched, forgiven=(f"status of {status}",))


def test_a_map_that_cannot_be_drawn_leaves_the_answers(browser: Any, home: str) -> None:
    def without(page: Any) -> None:
        error = json.dumps({"error": "a picture of a space needs scikit-learn; run pip install y"})
        page.route("**/api/picture?*", lambda route: route.fulfill(status=503, body=error))
        page.route("**/api/place?*", lambda route: route.fulfill(status=503, body=error))

    watched = opened(browser, f"{home}#fr/roi", before=without)
    best(watched.page, "king")
    watched.page.locator("#map-status.problem", has_text="pip install y").wait_for()
    clean(watched, forgiven=("status of 503",))
