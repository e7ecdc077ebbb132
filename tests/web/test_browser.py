"""The explorer in a real browser, for every reader: screens, schemes, directions, links and errors."""

import json
from collections.abc import Callable
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


def test_on_a_phone_what_the_map_does_not_show_is_answered_in_its_tab(visit: Visit) -> None:
    page = visit("#fr/roi", width=390, has_touch=True)
    tab = page.locator("#map-tab")
    for text, sign in (("Le roi dort.", "#glosses"), ("roii", "#spellings"), ("roi mot", "#glosses")):
        tab.tap()
        look_up(page, text)
        page.locator(sign).wait_for()
    tab.tap()
    look_up(page, "roi")
    page.locator("#map-status", has_text="roi → king").wait_for()
    assert page.locator("#best").is_hidden()  # the map stays


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


for _package in ("fastapi", "uvicorn", "sklearn", "playwright.sync_api"):
    pytest.importorskip(_package)


REFUSED = "ERR_FAILED"


def colour_of(page: Any, language: str) -> str:
    """The colour of a language in the legend of the map."""
    place = page.locator(".legend span").filter(has_text=language)
    mark = place.locator("xpath=preceding-sibling::span[1]")
    return str(mark.evaluate("mark => getComputedStyle(mark).backgroundColor"))


def test_swapping_keeps_the_map_the_colours_and_the_text(visit: Visit) -> None:
    page = visit("#fr/same")
    drawn(page)
    page.locator(".trouble").wait_for()  # an unknown word, so that the map shows all
    pictures = sum("/api/picture" in url for url in visit.asked)
    before = page.locator("#picture").screenshot(), colour_of(page, "French"), colour_of(page, "English")
    page.locator("#swap").click()
    page.get_by_text("not in the English vocabulary").wait_for()
    page.locator("h1").click()  # the focus, which the button has, leaves nothing on the map
    after = page.locator("#picture").screenshot(), colour_of(page, "French"), colour_of(page, "English")
    assert after == before
    assert page.input_value("#text") == "same"
    assert (page.input_value("#source"), page.input_value("#target")) == ("en", "fr")
    assert sum("/api/picture" in url for url in visit.asked) == pictures  # not drawn again


def test_swapping_translates_what_was_found_back(visit: Visit) -> None:
    page = visit("#fr/roi")
    best(page, "king")
    page.locator("#swap").click()
    best(page, "roi")
    assert page.input_value("#text") == "king"
    page.fill("#text", "dort")  # typed, not answered: it stays
    page.locator("#swap").click()
    best(page, "sleeps")
    assert (page.input_value("#text"), page.input_value("#source")) == ("dort", "fr")


def test_a_link_to_a_language_that_the_space_lacks_says_so(visit: Visit) -> None:
    page = visit("#de/König")
    page.get_by_role("heading", name="This space has no German").wait_for()
    page.get_by_text("the languages here are French and English").wait_for()
    look_up(page, "roi")
    best(page, "king")
    assert page.locator(".trouble").count() == 0


def test_a_language_that_is_chosen_twice_takes_the_place_of_the_other(visit: Visit) -> None:
    page = visit()
    page.select_option("#source", "en")
    assert page.input_value("#target") == "fr"
    page.select_option("#target", "en")
    assert page.input_value("#source") == "fr"


def held(page: Any, part: str) -> Callable[[], None]:
    """Holds requests back whose address has this part, until the function returned is called."""
    routes: list[Any] = []
    page.route(lambda url: part in url, lambda route: routes.append(route))

    def release() -> None:
        for route in routes:
            route.continue_()

    return release


def test_a_late_answer_of_the_other_direction_is_never_shown(visit: Visit) -> None:
    page = visit(forgiven=(REFUSED, "ERR_ABORTED"))
    release = held(page, "translate?src=fr")
    look_up(page, "roi")
    page.wait_for_timeout(300)
    page.locator("#swap").click()
    page.get_by_text("“roi” is a French word").wait_for()  # nothing was found yet
    release()
    page.wait_for_timeout(500)
    assert page.locator("#best").count() == 0
    assert page.input_value("#source") == "en"


def test_of_several_questions_the_last_is_answered(visit: Visit) -> None:
    page = visit(forgiven=(REFUSED, "ERR_ABORTED"))
    release = held(page, "word=motaa")
    look_up(page, "motaa")
    page.wait_for_timeout(300)
    look_up(page, "roi")
    best(page, "king")
    release()
    page.wait_for_timeout(500)
    best(page, "king")
    assert page.input_value("#text") == "roi"


def test_neighbours_that_come_late_do_not_join_another_word(visit: Visit) -> None:
    page = visit(forgiven=(REFUSED, "ERR_ABORTED"))
    release = held(page, "neighbours?src=fr&tgt=en&word=motaa")
    look_up(page, "motaa")
    best(page, "wordaa")
    look_up(page, "roi")
    page.get_by_role("heading", name="Words near roi").wait_for()
    release()
    page.wait_for_timeout(500)
    assert page.locator("#own").count() == 1


def test_links_and_the_way_back(visit: Visit) -> None:
    page = visit("#fr/roi")
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


def test_the_way_back_to_the_start(visit: Visit) -> None:
    page = visit()
    look_up(page, "roi")
    best(page, "king")
    page.go_back()
    page.locator(".intro").wait_for()
    assert page.input_value("#text") == ""
    assert page.title() == "muse explorer"


@pytest.mark.parametrize(
    "link",
    ["#fr", "#fr/", "#de/roi", "#fr/fr/roi", "#fr/en/roi/x/y", "#%E0%A4%A", "#fr/%FF", "#/", "#a/b/c/d"],
)
def test_links_to_nothing_are_the_start(visit: Visit, link: str) -> None:
    page = visit(link)
    page.locator(".intro").wait_for()
    assert page.input_value("#source") == "fr"


@pytest.mark.parametrize("word", ["a/b", "100 %", "#fr/roi", "été", "<b>", "a?b&c"])
def test_any_word_has_a_link(visit: Visit, word: str) -> None:
    page = visit()
    look_up(page, word)
    page.locator(".trouble, #best").first.wait_for()
    page.reload()
    page.locator(".trouble, #best").first.wait_for()
    assert page.input_value("#text") == word


def test_a_third_language_is_in_the_link(visit: Visit) -> None:
    page = visit()
    assert page.evaluate(
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
    ) == ["#fr/x%2Fy fr en x/y", "#fr/de/x%2Fy fr de x/y", "#en/fr/x%2Fy en fr x/y", "#en/x%2Fy en de x/y"]


def test_a_server_that_is_gone_is_said_to_be_and_awaited(visit: Visit) -> None:
    page = visit("#fr/roi", forgiven=(REFUSED,))
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


def test_a_server_that_is_gone_from_the_start(visit: Visit) -> None:
    def gone(page: Any) -> None:
        page.route("**/api/**", lambda route: route.abort())
        page.route("**/healthz*", lambda route: route.abort())

    page = visit("#fr/roi", before=gone, ready=False, forgiven=(REFUSED,))
    page.get_by_text("The explorer does not answer").wait_for()
    page.unroute_all()
    page.get_by_role("button", name="Try again now").click()
    best(page, "king")


@pytest.mark.parametrize(
    ("status", "headers", "body", "parts"),
    [
        (503, {}, None, ["Too many questions", "Wait a second"]),
        (422, {}, {"error": "text: too long"}, ["could not be answered", "too long", "Change the text"]),
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
    visit: Visit, status: int, headers: dict[str, str], body: dict[str, str] | None, parts: list[str]
) -> None:
    page = visit(forgiven=(f"status of {status}",))
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


def test_a_map_that_cannot_be_drawn_leaves_the_answers(visit: Visit) -> None:
    def without(page: Any) -> None:
        error = json.dumps({"error": "a picture of a space needs scikit-learn; run pip install y"})
        page.route("**/api/picture?*", lambda route: route.fulfill(status=503, body=error))
        page.route("**/api/place?*", lambda route: route.fulfill(status=503, body=error))

    page = visit("#fr/roi", before=without, forgiven=("status of 503",))
    best(page, "king")
    page.locator("#map-status.problem", has_text="pip install y").wait_for()
