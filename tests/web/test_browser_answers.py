"""The explorer's answers in a real browser: words, sentences, reasons; ids beside their texts."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import MARKS, Visit, best, changed, look_up, serious_barriers, serving

for _package in ("fastapi", "uvicorn", "sklearn", "playwright.sync_api"):
    pytest.importorskip(_package)

from tests.web.test_api import SCRIPT  # noqa: E402

pytestmark = MARKS
ALTERNATIVES = "#alternatives [role=option]"


def test_the_box_has_the_focus_and_suggests_words_by_rank(visit: Visit) -> None:
    page = visit()
    keys = page.keyboard
    assert page.evaluate("document.activeElement.id") == "text"
    keys.type("MÔTa")
    options = page.locator("#suggestions [role=option]")
    options.first.wait_for()
    found = [option.get_attribute("data-word") for option in options.all()]
    assert found == [f"mota{letter}" for letter in "abcdefgh"]
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    active = page.locator("#text").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("data-word") == "motab"
    keys.press("Enter")
    best(page, "wordab")
    assert page.input_value("#text") == "motab"
    assert page.locator("#suggestions").is_hidden()


def test_enter_asks_for_what_is_typed_and_not_for_a_suggestion_to_an_earlier_word(visit: Visit) -> None:
    page = visit()
    page.locator("#text").press_sequentially("mot")
    page.locator("#suggestions [role=option]").first.wait_for()
    page.keyboard.press("ArrowDown")
    # The suggestions to "roi" never come: Enter is faster than they are.
    page.route("**/api/suggest*", lambda route: None)
    look_up(page, "roi")
    best(page, "king")
    page.unroute_all(behavior="ignoreErrors")


def test_a_suggestion_by_click_and_none_after_escape(visit: Visit) -> None:
    page = visit()
    page.locator("#text").press_sequentially("mota")
    page.locator("#suggestions [data-word=motac]").click()
    best(page, "wordac")
    page.fill("#text", "motb")
    page.locator("#suggestions [role=option]").first.wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#suggestions").is_hidden()
    page.fill("#text", "mot")
    page.locator("#suggestions [role=option]").first.wait_for()
    page.locator("h1").click()  # a click elsewhere
    assert page.locator("#suggestions").is_hidden()


def test_a_word_has_a_headline_with_its_probability(visit: Visit) -> None:
    page = visit()
    look_up(page, "ROI")
    best(page, "king")
    assert page.locator("article .chip.trusted").inner_text().split()[-2:] == [">99", "%"]
    assert page.get_by_text("king ⇄ roi").is_visible()
    assert page.get_by_text("looked up for “ROI”").is_visible()
    assert page.locator("#translations li").count() == 5


def test_neighbours_of_both_languages_without_the_translations(visit: Visit) -> None:
    page = visit("#fr/roi")
    page.locator("#other li").first.wait_for()
    own, other = (page.locator(f"#{side} li button").all_text_contents() for side in ("own", "other"))
    shown = {"king", *page.locator("#translations button").all_text_contents()}
    assert len(own) == len(other) == 8
    assert "roi" not in own
    assert shown.isdisjoint(other)
    page.locator("#other li button").first.click()  # a word of the other language turns the page round
    page.locator("#best").filter(has_not_text="king").wait_for()
    assert page.input_value("#source") == "en"
    assert page.input_value("#text") == other[0]


def test_a_quick_hand_is_answered_once_the_languages_are_known(visit: Visit) -> None:
    slow = """
    const real = window.fetch;
    window.fetch = async (...asked) => {
      if (String(asked[0]).includes("/api/spaces")) await new Promise((resolve) => setTimeout(resolve, 1500));
      return real(...asked);
    };
    """
    page = visit(before=lambda page: page.add_init_script(slow), ready=False)
    look_up(page, "roi")
    best(page, "king")


def test_a_word_with_the_sign_that_follows_it_is_a_word(visit: Visit) -> None:
    page = visit()
    for text in ("roi,", "« roi »", "Roi!"):
        look_up(page, text)
        best(page, "king")
    page.get_by_text("looked up for “Roi!”").wait_for()


def test_a_misspelt_word_offers_others(visit: Visit) -> None:
    page = visit()
    look_up(page, "roii")
    page.get_by_text("“roii” is not in the French vocabulary").wait_for()
    page.locator("#spellings button", has_text="roi").click()
    best(page, "king")
    assert page.locator(".trouble").count() == 0


def test_a_word_of_the_other_language_offers_to_turn_round(visit: Visit) -> None:
    page = visit()
    look_up(page, "king")
    page.get_by_text("“king” is an English word").wait_for()
    page.get_by_role("button", name="Translate it into French").click()
    best(page, "roi")
    assert page.input_value("#source") == "en"


def weakened(fields: Any) -> None:
    """Makes every translation one that is not to be trusted."""
    fields["grade"] = "weak"
    for place, one in enumerate(fields["translations"]):
        one.update(grade="weak", probability=0.31 / (place + 1), mutual=False)


def test_weak_answers_are_dimmed_and_said_to_be(visit: Visit) -> None:
    page = visit("#fr/roi", before=lambda page: changed(page, "/api/translate", weakened))
    best(page, "king")
    assert page.locator(".notice").inner_text() == "No translation I would trust"
    assert page.locator(".notice").bounding_box()["y"] < page.locator("#best").bounding_box()["y"]
    assert page.locator("article .chip").inner_text().split()[-2:] == ["31", "%"]
    colours = [
        page.locator(one).first.evaluate("word => getComputedStyle(word).color") for one in ("#best", "h1")
    ]
    assert colours[0] != colours[1]


def test_a_weak_answer_offers_the_language_where_the_word_is_more_frequent(visit: Visit) -> None:
    asked = []

    def weak_at_first(fields: Any) -> None:
        asked.append(fields["source"])
        if fields["source"] == "fr":
            weakened(fields)
            fields["languages"] = ["en"]

    page = visit("#fr/roi", before=lambda page: changed(page, "/api/translate", weak_at_first))
    page.get_by_text("No translation I would trust; it is more frequent in English.").wait_for()
    page.get_by_role("button", name="Translate it into French").click()
    page.get_by_text("“roi” is a French word").wait_for()  # the small space has it in French alone
    assert page.input_value("#source") == "en"


def test_an_answer_is_rated_once_the_probabilities_are_known(visit: Visit) -> None:
    asked = []

    def unrated_first(fields: Any) -> None:
        asked.append(fields)
        if len(asked) == 1:
            fields["grade"] = None
            for one in fields["translations"]:
                one.update(grade=None, probability=None)

    page = visit("#fr/roi", before=lambda page: changed(page, "/api/translate", unrated_first))
    page.locator("article .chip", has_text="not rated yet").wait_for()
    page.locator("article .chip.trusted").wait_for()
    assert len(asked) == 2


def test_a_hostile_word_is_shown_as_text(visit: Visit) -> None:
    page = visit()
    page.on("dialog", lambda dialog: visit.said.append("error: a dialog"))
    look_up(page, SCRIPT)
    best(page, SCRIPT)
    assert page.locator("main script").count() == 0


def test_a_sentence_has_each_source_word_above_its_translation(visit: Visit) -> None:
    page = visit()
    look_up(page, "Roi dort, Zzyx.")
    best(page, "King sleeps, Zzyx.")
    glosses = page.locator("#glosses .gloss")
    assert glosses.count() == 3
    for gloss, (source, target) in zip(
        glosses.all(), [("Roi", "King"), ("dort", "sleeps"), ("Zzyx", "Zzyx")], strict=True
    ):
        above, below = gloss.locator(".from"), gloss.locator(".to")
        assert above.inner_text().startswith(source)
        assert below.inner_text() == target
        one, other = above.bounding_box(), below.bounding_box()
        assert one["y"] + one["height"] <= other["y"] + 4
        assert abs(one["x"] + one["width"] / 2 - other["x"] - other["width"] / 2) < 25
    assert "kept" in glosses.nth(2).get_attribute("class")


def test_a_sentence_by_keyboard_alone(visit: Visit) -> None:
    page = visit()
    keys = page.keyboard
    keys.type("Roi dort.")
    keys.press("Enter")
    best(page, "King sleeps.")
    page.locator("#glosses button").nth(1).focus()
    keys.press("Enter")
    options = page.locator(ALTERNATIVES)
    options.first.wait_for()
    wanted = options.nth(1).get_attribute("data-word")
    keys.press("ArrowDown")
    keys.press("Enter")
    best(page, f"King {wanted}.")
    assert page.locator("#alternatives").count() == 0
    assert page.evaluate("document.activeElement.textContent") == wanted


def test_alternatives_close_by_choice_by_escape_and_by_a_click_elsewhere(visit: Visit) -> None:
    page = visit()
    look_up(page, "roi dort")
    word = page.locator("#glosses button").first
    for close in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.locator("h1").click(),
        word.click,
        lambda: page.locator(ALTERNATIVES).nth(2).click(),
    ):
        word.click()
        page.locator("#alternatives").wait_for()
        assert word.get_attribute("aria-expanded") == "true"
        wanted = page.locator(ALTERNATIVES).nth(2).get_attribute("data-word")
        close()
        page.locator("#alternatives").wait_for(state="detached")
        assert word.get_attribute("aria-expanded") == "false"
    assert word.inner_text() == wanted


def test_a_word_of_a_sentence_is_looked_up_alone(visit: Visit) -> None:
    page = visit()
    look_up(page, "roi dort")
    page.locator("#glosses button").first.click()
    page.get_by_role("button", name="Look up “roi” alone").click()
    best(page, "king")
    assert page.input_value("#text") == "roi"


def test_alternatives_stay_on_a_narrow_screen(visit: Visit) -> None:
    page = visit(width=320)
    look_up(page, "roi dort motaa motab motac")
    page.locator("#glosses button").first.wait_for()
    for word in page.locator("#glosses button").all():
        word.click()
        box = page.locator("#alternatives").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
        page.keyboard.press("Escape")


def test_two_sentences_whose_words_light_up(visit: Visit) -> None:
    page = visit()
    page.locator("#link-mode").click()
    look_up(page, "Le roi dort.")  # Enter leads to the translation, which is missing
    assert page.evaluate("document.activeElement.id") == "translation"
    page.keyboard.type("King, he sleeps.")
    page.keyboard.press("Enter")
    page.locator("#linked .side > span", has_text="roi").hover()
    assert page.locator("#linked .lit").all_inner_texts() == ["roi", "King"]
    page.locator("#linked .side > span", has_text="sleeps").click()
    page.locator("#linked [role=status]", has_text="\u2068sleeps\u2069 – \u2068dort\u2069").wait_for(
        state="attached"
    )
    assert serious_barriers(page) == []
    page.locator("#swap").click()
    page.wait_for_url("**#en/fr/King%2C%20he%20sleeps./Le%20roi%20dort.")
    page.go_back()
    page.locator("#linked .side.one", has_text="Le roi dort.").wait_for()
    page.reload()
    page.locator("#linked").wait_for()
    page.locator("#translate-mode").click()
    look_up(page, "roi")
    best(page, "king")


def test_a_line_break_by_shift_and_enter(visit: Visit) -> None:
    page = visit()
    low = page.locator("#text").bounding_box()["height"]
    page.keyboard.type("roi")
    for _ in range(4):
        page.keyboard.press("Shift+Enter")
    page.keyboard.type("dort")
    assert page.input_value("#text") == "roi\n\n\n\ndort"
    assert page.locator("#text").bounding_box()["height"] > low  # the box grows with the text
    assert page.locator("#best").count() == 0
    page.get_by_role("button", name="Clear").click()
    assert page.input_value("#text") == ""
    assert page.evaluate("document.activeElement.id") == "text"


@pytest.mark.parametrize(("text", "answer"), [("roi", "king"), ("Roi dort.", "King sleeps.")])
def test_an_answer_is_copied(visit: Visit, text: str, answer: str) -> None:
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    look_up(page, text)
    best(page, answer)
    page.get_by_role("button", name="Copy the translation").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == answer
    page.get_by_role("button", name="Copy the translation").wait_for()


def test_how_do_you_know_opens_the_reasons(visit: Visit) -> None:
    verdict = {"label": "aligned", "confidence": 0.93, "agreement": 0.7, "null": 0.1, "mutual": 0.5}

    def judged(fields: Any) -> None:
        (space,) = fields["spaces"]
        space["verdict"] = "aligned"
        space["languages"][0].update(
            verdict=verdict, files=[{"name": "fr.vec.gz", "sha256": "ab12cd34ef56ab12"}]
        )

    page = visit(
        "#fr/roi",
        before=lambda page: changed(page, "/api/spaces", judged),
        permissions=["clipboard-read", "clipboard-write"],
    )
    best(page, "king")
    assert page.locator("#verdict .chip.trusted").inner_text().strip() == "aligned"
    page.locator("article").get_by_role("button", name="How do you know?").click()
    reasons = page.get_by_role("dialog", name="How do you know?")
    reasons.wait_for()
    text = reasons.inner_text()
    for part in (
        "roi → king",
        "93 %",
        "70 %",
        "10 %",
        "csls:10",
        "gromov",
        "fr.vec.gz",
        "muse report FOLDER/fr-en",
    ):
        assert part in text
    signature = page.locator("#signature-fr").inner_text()
    assert signature.startswith("csls:10 | fr-en | unit | gromov | seed:7 | vocab:60/60")
    reasons.get_by_role("button", name="Copy the signature").click()
    reasons.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == signature
    page.keyboard.press("Escape")
    reasons.wait_for(state="hidden")
    page.locator("#how").click()
    reasons.get_by_role("button", name="Close").click()
    reasons.wait_for(state="hidden")


@pytest.mark.parametrize("told", [True, False])
def test_how_do_you_know_says_why_this_answer_and_not_the_next(visit: Visit, told: bool) -> None:
    first = {"word": "king", "nearer": 0, "nearer_back": 3, "alike": 0.25, "rank": 652}
    second = {"word": "grand", "nearer": 20, "nearer_back": 1, "alike": 1, "rank": 1233}
    shares = {"vectors": 4.3281, "frequency": 0.01, "spelling": -0.7} if told else {}
    found = {"rank": 403, "first": first, "second": second, "contributions": shares}

    def before(page: Any) -> None:
        changed(page, "/api/translate", lambda fields: fields.update(answers="all"))
        page.route("**/api/reasons?*", lambda route: route.fulfill(json=found))

    page = visit("#fr/roi", before=before)
    best(page, "king")
    page.locator("#how").click()
    page.locator("#reasons dl").wait_for()
    text = page.locator("#reasons").inner_text()
    for part in (
        "Why king, and not grand", "king is the nearest to roi; roi is no. 4 of those nearest to king.",
        "grand is not among the 20 nearest to roi", "25 % of its letters", "grand is spelled the same.",
        "roi is no. 403 of its language, king no. 652 and grand no. 1,233",
    ):  # fmt: skip
        assert part in text
    for part in ("for king, odds × 76", "for grand, odds × 2.0", "for neither"):
        assert (part in text) == told
    assert serious_barriers(page) == []


for _package in ("fastapi", "uvicorn", "sklearn", "playwright.sync_api"):
    pytest.importorskip(_package)

from tests.web.test_api_rows import ANIMALS, COUNT, HOSTILE, space_of_rows  # noqa: E402


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


@pytest.mark.parametrize("width", [390, 1200])
def test_rows_have_a_page_of_their_own(visit: Visit, rows: str, width: int) -> None:
    page = visit(rows, width=width)
    page.locator(".some-rows .meant", has_text=ANIMALS[0]).wait_for()
    assert page.locator("#go").inner_text() == "Find"
    assert not any(page.locator(f"#{part}").is_visible() for part in ("map-panel", "tabs", "modes"))
    assert serious_barriers(page) == []
    page.locator(".some-rows button").first.click()
    best(page, "0")
    assert not any("/api/picture" in one or "/api/place" in one for one in visit.asked)


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
