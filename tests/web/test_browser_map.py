"""The explorer's map in a real browser: near by and from afar, by mouse, wheel, fingers and keys."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import MARKS, Visit, best, changed, drawn, look_up, serious_barriers

for _package in ("fastapi", "uvicorn", "sklearn", "playwright.sync_api"):
    pytest.importorskip(_package)

from tests.web.test_api import SCRIPT  # noqa: E402

pytestmark = MARKS
CANVAS = "#picture"


def scale(page: Any) -> float:
    """The zoom factor, once the map has stopped moving."""
    found, before = "", None
    while found != before:
        before = found
        page.wait_for_timeout(150)  # on a busy machine a key may be answered late
        found = page.locator(CANVAS).get_attribute("data-scale")
    return float(found)


def labels(page: Any) -> int:
    page.wait_for_timeout(100)
    return int(page.locator(CANVAS).get_attribute("data-labels"))


def painted(page: Any) -> str:
    """What is on the canvas, without what is laid over it."""
    page.wait_for_timeout(100)
    return str(page.evaluate("document.getElementById('picture').toDataURL()"))


def place_of(page: Any, word: str) -> tuple[float, float]:
    """Where a word is on the whole map, in pixels of the canvas."""
    x, y = page.evaluate(
        """async (word) => {
          const { View } = await import("/page/view.js");
          const canvas = document.getElementById("picture");
          const { points } = await (await fetch("/api/picture?src=fr&tgt=en")).json();
          const view = new View();
          view.resize(canvas.clientWidth, canvas.clientHeight);
          view.show(points);
          return view.toScreen(points.find((point) => point.word === word));
        }""",
        word,
    )
    return float(x), float(y)


def on_map(visit: Visit, **options: Any) -> Any:
    page = visit(**options)
    if page.locator("#map-tab").is_visible():
        page.locator("#map-tab").click()
    page.locator(CANVAS).wait_for()
    drawn(page)
    return page


def test_regions_from_afar_words_from_near_by(visit: Visit) -> None:
    page = on_map(visit)
    far = labels(page)
    assert 1 <= far < 10
    for _ in range(3):
        page.locator("#closer").click()
    assert scale(page) == pytest.approx(1.6**3, abs=0.01)
    assert labels(page) > far
    page.locator("#farther").click()
    assert scale(page) == pytest.approx(1.6**2, abs=0.01)
    page.locator("#whole").click()
    assert scale(page) == 1
    assert labels(page) == far


def test_from_afar_the_map_is_shaded_by_density(visit: Visit) -> None:
    page = on_map(visit)
    # Where most words are, the terrain is highest; far from all of them there is none.
    heights = page.evaluate(
        """async () => {
          const { terrain } = await import("/page/terrain.js");
          const cloud = (x, y, count) => Array.from({ length: count }, (_, i) => (
            { x: x + 0.05 * Math.cos(i), y: y + 0.05 * Math.sin(i) }));
          const points = [...cloud(-0.8, -0.8, 60), ...cloud(0.8, 0.8, 20)];
          const { image, left, top, extent } = terrain(points, [-1, 1], [-1, 1], [10, 20, 30]);
          const pen = image.getContext("2d");
          const pixel = (value, low) => (value - low) / extent * image.width;
          const at = (x, y) => pen.getImageData(pixel(x, left), pixel(y, top), 1, 1).data[3];
          return [at(-0.8, -0.8), at(0.8, 0.8), at(0.8, -0.8)];
        }"""
    )
    assert heights[0] > heights[1] > heights[2] == 0


def test_labels_never_collide(visit: Visit) -> None:
    page = on_map(visit)
    placed = page.evaluate(
        """async () => {
          const { Taken, overlap, place } = await import("/page/labels.js");
          let seed = 7;
          const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
          const taken = new Taken(800, 600);
          taken.add([0, 0, 200, 100]);
          const labels = Array.from({ length: 800 }, (_, i) => ({
            x: 900 * random() - 50, y: 700 * random() - 50,
            width: 20 + 120 * random(), height: 16, gap: i % 5 ? 5 : null,
          }));
          const boxes = place(labels, taken).filter(Boolean);
          const later = (i) => boxes.slice(i + 1);
          const clashes = boxes.filter((one, i) => later(i).some((other) => overlap(one, other)));
          const within = ([left, top, right, bottom]) =>
            left >= 0 && top >= 0 && right <= 800 && bottom <= 600;
          const covered = boxes.filter((one) => !within(one) || overlap(one, [0, 0, 200, 100]));
          return { boxes: boxes.length, clashes: clashes.length, covered: covered.length };
        }"""
    )
    assert placed["boxes"] > 100
    assert (placed["clashes"], placed["covered"]) == (0, 0)


def test_the_map_cannot_be_lost(visit: Visit) -> None:
    page = on_map(visit)
    lost = page.evaluate(
        """async () => {
          const { View } = await import("/page/view.js");
          const view = new View();
          view.resize(700, 400);
          view.show([{ x: -1, y: 0.2 }, { x: 1, y: -1 }, { x: 0.3, y: 0.9 }]);
          let lost = 0;
          for (const zoom of [1, 1.5, 4, 100]) {
            view.whole();
            view.zoom(zoom);
            const far = [[9e4, 0], [-9e4, 0], [0, 9e4], [0, -9e4], [9e4, 9e4], [-9e4, -300], [300, -9e4]];
            for (const [right, down] of far) {
              view.move(right, down);
              const seen = view.points.map((point) => view.toScreen(point));
              if (!seen.some(([x, y]) => x >= 0 && y >= 0 && x <= 700 && y <= 400)) lost += 1;
            }
          }
          return lost;
        }"""
    )
    assert lost == 0
    # The same by hand: after dragging it far away, some words are still there.
    for _ in range(5):
        page.locator("#closer").click()
    box = page.locator(CANVAS).bounding_box()
    for _ in range(6):
        page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] / 2, steps=4)
        page.mouse.up()
    assert labels(page) > 0


def test_the_whole_map_stays_in_place(visit: Visit) -> None:
    page = on_map(visit)
    before = painted(page)
    page.locator(CANVAS).focus()
    for key in ("ArrowLeft", "ArrowDown", "-", "-"):
        page.keyboard.press(key)
    page.locator("#text").focus()
    assert scale(page) == 1
    assert painted(page) == before


def test_a_card_names_the_word_below_the_mouse(visit: Visit) -> None:
    page = on_map(visit)
    x, y = place_of(page, "roi")
    page.locator(CANVAS).hover(position={"x": x, "y": y})
    card = page.locator("#hover")
    card.wait_for()
    assert "roi" in card.inner_text()
    assert "king" in card.inner_text()
    box, chart = card.bounding_box(), page.locator(CANVAS).bounding_box()
    assert box["x"] >= chart["x"]
    assert box["x"] + box["width"] <= chart["x"] + chart["width"]
    page.locator("h1").hover()
    card.wait_for(state="hidden")


def test_a_click_isolates_a_word_and_its_neighbours(visit: Visit) -> None:
    page = on_map(visit)
    whole = painted(page)
    x, y = place_of(page, "roi")
    page.locator(CANVAS).click(position={"x": x, "y": y})
    page.locator("#best").wait_for()
    assert page.input_value("#text") in ("roi", "king")  # which lie on the same spot
    status = page.locator("#map-status")
    status.get_by_text("with the 16 words near it").wait_for()
    assert labels(page) == 18  # the word, its translation and the words near it
    assert painted(page) != whole
    page.get_by_role("button", name="Show all words").click()
    assert status.inner_text() == ""
    assert page.locator("#release").is_hidden()
    page.locator("#whole").click()
    page.locator("h1").hover()
    scale(page)
    assert painted(page) == whole


def test_a_word_that_is_looked_up_is_isolated_and_escape_shows_all(visit: Visit) -> None:
    page = on_map(visit)
    look_up(page, "roi")
    page.get_by_text("roi → king, with the 16 words near it").wait_for()
    page.locator(CANVAS).focus()
    page.keyboard.press("Escape")
    assert page.locator("#map-status").inner_text() == ""
    look_up(page, "roi")
    page.get_by_text("roi → king, with the 16 words near it").wait_for()
    page.locator(CANVAS).click(position={"x": 300, "y": 120})  # nothing is there
    page.locator("#release").wait_for(state="hidden")
    best(page, "king")  # the answer stays


def test_a_word_that_is_not_on_the_map_is_shown_amid_its_neighbours(visit: Visit) -> None:
    page = on_map(visit)
    look_up(page, SCRIPT)  # not readable
    page.locator("#map-status", has_text="it would be about here").wait_for()


def test_the_wheel_scrolls_the_page_and_zooms_with_ctrl_or_focus(visit: Visit) -> None:
    page = on_map(visit, height=500)
    page.locator(CANVAS).hover()
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") > 0
    assert scale(page) == 1
    assert page.locator("#gesture").inner_text() == "Hold Ctrl to zoom, or click the map first"
    page.locator("#gesture").wait_for(state="hidden")
    page.evaluate("scrollTo(0, 0)")
    page.locator(CANVAS).hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    zoomed = scale(page)
    assert zoomed > 1.5
    assert page.evaluate("scrollY") == 0
    page.locator(CANVAS).focus()
    page.mouse.wheel(0, -300)
    assert scale(page) > zoomed
    assert page.evaluate("scrollY") == 0


def fingers(page: Any, *moments: list[tuple[float, float]]) -> None:
    """Puts fingers on the screen, moves them from moment to moment, and lifts them."""
    session = page.context.new_cdp_session(page)
    for place, moment in enumerate(moments):
        kind = "touchMove" if place else "touchStart"
        points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(moment)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(30)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_two_fingers_move_and_zoom_and_one_scrolls(visit: Visit) -> None:
    page = on_map(visit, width=390, height=700, has_touch=True)
    box = page.locator(CANVAS).bounding_box()
    x, y = box["x"] + box["width"] / 2, min(box["y"] + 200, 600)
    fingers(page, *[[(x - 20 - 8 * i, y), (x + 20 + 8 * i, y)] for i in range(10)])
    zoomed = scale(page)
    assert zoomed > 3
    before = painted(page)
    fingers(page, *[[(x - 50, y - 8 * i), (x + 50, y - 8 * i)] for i in range(10)])
    page.wait_for_timeout(200)
    assert painted(page) != before
    assert page.evaluate("scrollY") == 0
    fingers(page, *[[(x, y - 10 * i)] for i in range(15)])
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") > 50  # the page scrolls below one finger
    assert scale(page) == zoomed
    assert page.locator("#gesture").inner_text() == "Use two fingers to move the map"


def test_a_tap_isolates_a_word(visit: Visit) -> None:
    page = on_map(visit, width=390, height=844, has_touch=True)
    x, y = place_of(page, "roi")
    box = page.locator(CANVAS).bounding_box()
    page.touchscreen.tap(box["x"] + x, box["y"] + y)
    page.locator("#map-status", has_text="words near it").wait_for()
    page.locator("#answer-tab").tap()
    page.locator("#best").wait_for()


def test_the_map_by_keyboard(visit: Visit) -> None:
    page = on_map(visit)
    page.locator(CANVAS).focus()
    keys = page.keyboard
    keys.press("+")
    keys.press("+")
    assert scale(page) == pytest.approx(1.4**2, abs=0.01)
    before = painted(page)
    keys.press("ArrowLeft")
    page.wait_for_timeout(100)
    assert painted(page) != before
    keys.press("-")
    assert scale(page) == pytest.approx(1.4, abs=0.01)
    keys.press("Enter")  # the word in the middle
    page.locator("#map-status", has_text="words near it").wait_for()
    keys.press("Escape")
    keys.press("0")
    assert scale(page) == 1
    assert page.locator("#map-status").inner_text() == ""


# Keeps what is written on the canvas, where, and how wide, since it was last cleared.
WRITTEN = """
  window.written = [];
  const pen = CanvasRenderingContext2D.prototype;
  const { fillText, clearRect } = pen;
  pen.fillText = function (text, x, y) {
    written.push([text, x, y, this.measureText(text).width]);
    fillText.call(this, text, x, y);
  };
  pen.clearRect = function (...box) { written.length = 0; clearRect.apply(this, box); };
"""
# Where the words near one are, in pixels of the canvas, once it is shown with them.
SEEN = """async (address) => {
  const { View } = await import("/page/view.js");
  const { points } = await (await fetch("/api/picture?src=fr&tgt=en")).json();
  const place = await (await fetch(address)).json();
  const canvas = document.getElementById("picture");
  const view = new View();
  view.resize(canvas.clientWidth, canvas.clientHeight);
  view.show(points);
  Object.assign(view, view.around([place, place.answer, ...place.near], 9));
  return place.near.map((one) => [one.word, ...view.toScreen(one), one.exact]);
}"""


@pytest.mark.parametrize("width", [390, 1200])
def test_the_map_names_the_words_that_are_listed_at_their_points(visit: Visit, width: int) -> None:
    page = visit(before=lambda page: page.add_init_script(WRITTEN), width=width)
    for word in ("roi", "motbc", SCRIPT):  # the last one is not readable, and so not on the map
        look_up(page, word)
        page.locator("#near-title", has_text=word).wait_for()
        near = [one for side in ("own", "other") for one in page.locator(f"#{side} .word").all_inner_texts()]
        answer = page.locator("#best").inner_text()
        if width < 480:
            page.click("#map-tab")
        page.locator("#map-status", has_text=word).wait_for()
        page.wait_for_timeout(300)
        written = page.evaluate("written")
        assert sorted(text for text, *_ in written) == sorted([word, answer, *near])
        boxes = {text: box for text, *box in written}
        places = page.evaluate(SEEN, next(one for one in reversed(visit.asked) if "/api/place" in one))
        for text, x, y, _ in places:
            left, base, wide = boxes[text]
            assert max(left - x, x - left - wide, base - 16 - y, y - base) < 100, text
        hollow = {text for text, *_, exact in places if not exact} | {word} & {SCRIPT}
        assert bool(hollow) == any(sign in status(page) for sign in ("hollow", "about here"))
        if width < 480:
            page.click("#answer-tab")


def status(page: Any) -> str:
    return str(page.locator("#map-status").inner_text())


def test_the_answer_is_on_the_map_and_named(visit: Visit) -> None:
    page = on_map(visit)
    look_up(page, "roi")
    best(page, "king")
    page.get_by_text("roi → king, with the 16 words near it").wait_for()
    place = page.evaluate("fetch('/api/place?word=roi&src=fr&tgt=en').then((answer) => answer.json())")
    assert (place["answer"]["word"], place["answer"]["language"]) == ("king", "en")
    x, y = place_of(page, "king")
    width, height = page.locator(CANVAS).evaluate("canvas => [canvas.clientWidth, canvas.clientHeight]")
    assert 0 < x < width
    assert 0 < y < height


def test_words_are_found_on_the_map(visit: Visit) -> None:
    page = on_map(visit)
    page.fill("#find-text", "KIN")
    assert labels(page) == 1
    page.press("#find-text", "Enter")
    best(page, "roi")  # English became the source
    page.fill("#find-text", "zzz")
    page.get_by_text("No word on the map begins with “zzz”").wait_for()
    page.fill("#find-text", "")
    page.locator("#map-status:empty").wait_for(state="attached")


@pytest.mark.parametrize("by", ["button", "shift", "topic", "find"])
def test_words_are_selected_and_saved_as_a_table(visit: Visit, by: str) -> None:
    page = on_map(visit, accept_downloads=True)
    box, (x, y) = page.locator(CANVAS).bounding_box(), place_of(page, "roi")
    if by == "topic":
        page.click("#topics summary")
        page.click("#topics-list button >> nth=0")
    elif by == "find":
        page.fill("#find-text", "roi")
    else:
        if by == "button":
            page.click("#lasso")
        else:
            page.keyboard.down("Shift")
        page.mouse.move(box["x"] + x - 4, box["y"] + y - 4)
        page.mouse.down()
        for right, down in ((4, -4), (4, 4), (-4, 4)):
            page.mouse.move(box["x"] + x + right, box["y"] + y + down)
        page.mouse.up()
        page.keyboard.up("Shift")
    page.locator("#save").wait_for()
    assert serious_barriers(page) == []
    with page.expect_download() as download:
        page.click("#save")
    header, *lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert (download.value.suggested_filename, header) == ("fr-en.tsv", "source\ttarget\tprobability")
    pairs = dict(line.split("\t")[:2] for line in lines)
    assert pairs["roi"] == "king" or by == "topic"
    assert all(source.replace("mot", "word") == pairs[source] for source in pairs if "mot" in source)
    assert scale(page) == 1 or by == "topic"  # a line moves nothing
    page.locator(CANVAS).focus()
    page.keyboard.press("Escape")
    page.locator("#save").wait_for(state="hidden")


def test_the_languages_come_together_unless_motion_is_unwanted_or_a_key_is_pressed(visit: Visit) -> None:
    page = visit(motion="no-preference")
    page.locator("#find:not([hidden])").wait_for()
    apart = painted(page)
    page.wait_for_timeout(500)
    page.keyboard.press("Shift")
    page.locator("#picture:not([data-labels='0'])").wait_for(state="attached")
    assert painted(page) != apart
    assert labels(page) > 0
    page = on_map(visit)
    assert labels(page) > 0  # at once


def test_weak_pairs_are_not_joined(visit: Visit) -> None:
    joined, apart, unknown = (map_with(visit, probability) for probability in (0.9, 0.39, None))
    assert joined == unknown != apart


def map_with(visit: Visit, probability: float | None) -> str:
    """The map near by, if each of its pairs has this probability."""

    def doubt(found: Any) -> None:
        for point in found["points"]:
            point["probability"] = probability

    def before(page: Any) -> None:
        changed(page, "/api/picture", doubt)

    page = visit(before=before)
    drawn(page)
    for _ in range(3):
        page.locator("#closer").click()
    return painted(page)
