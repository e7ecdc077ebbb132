"""Pictures of the explorer for the documentation: light, dark, on a phone, and in a dozen situations.

    python -m benchmarks.robustness.explorer_pictures --space embeddings/aligned/fr-en
        --out docs/pages/pictures [--only NAME]...

It needs the extras `dev` and `web`, and Debian's chromium. Words for each situation are chosen by asking the
space, so that a new sample needs no other words here.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, Route, sync_playwright

SHARPNESS = 1.5  # pixels of a picture for one of the page
LARGEST = 150_000  # bytes of a picture
COLOURS = 256  # of a picture: differences that nobody sees, and a third of the bytes
PATIENCE = 300  # seconds until map and probabilities are there
WIDE, PHONE = (1280, 800), (390, 800)
MARGIN = 12  # pixels of the page around a part of it
SMALL = 520  # pixels of the width of a picture in a row of them
SURE = ("maison", "eau", "roi", "femme", "chat", "soleil")
WEAK = ("onze", "renard", "fromage", "lundi", "bonjour", "bleu", "chaussure", "cuillère", "janvier")
ENGLISH = ("king", "queen", "house", "green", "white", "night", "book", "water")
ISOLATED = ("roi", "mer", "rouge", "frère")
MOMENTS = (0.0, 0.55, 1.0)  # of the languages' coming together, from apart to united
# The time of the page stands still, at a moment of the 1.9 s in which the languages move, after 1.1 s.
STILL = """performance.now = () => 0;
requestAnimationFrame = (step) => setTimeout(() => step(1100 + MOMENT * 1900), 50);"""
SENTENCE = "Le roi et la reine habitent un grand château à Paris."
# The system's font differs from machine to machine; this one, of Debian, looks like what most have.
FONT = '"Liberation Sans"'


@dataclass(frozen=True)
class Shot:
    """A picture: its name, what is asked, the screen, what is done there, and the part that is shown."""

    name: str
    question: str = ""
    screen: tuple[int, int] = WIDE
    scheme: str = "light"
    act: Callable[[Page], object] = lambda page: None
    part: tuple[str, ...] = ()
    moment: float | None = None  # of the languages' coming together, which is left out without one
    sharpness: float = SHARPNESS


def shots(home: str) -> Iterator[Shot]:
    """All pictures, with words for which the space has what each is to show."""
    sure = f"#fr/{chosen(home, SURE, 'trusted')}"
    answer = ("#ask", "#answer-panel")
    sentence = f"#fr/{urllib.parse.quote(SENTENCE)}"
    isolated = f"#fr/{chosen(home, ISOLATED, None)}"
    yield Shot("explorer-first", sharpness=1)
    yield Shot("explorer-first-dark", scheme="dark", sharpness=1)
    yield Shot("explorer-first-phone", screen=PHONE)
    yield Shot("explorer", sure)
    yield Shot("explorer-dark", isolated, scheme="dark")
    yield Shot("explorer-phone", sure, PHONE)
    yield Shot("explorer-phone-map", isolated, PHONE, "dark", to_the_map)
    yield Shot("explorer-suggestions", act=typing, part=("#ask", "#suggestions"))
    yield Shot("explorer-sure", sure, part=answer)
    yield Shot("explorer-weak", f"#fr/{chosen(home, WEAK, 'weak')}", part=answer)
    yield Shot("explorer-unknown", "#fr/maisno", part=answer)
    yield Shot("explorer-other-language", f"#fr/{chosen(home, ENGLISH, 'weak')}", part=answer)
    yield Shot("explorer-sentence", sentence, part=answer)
    yield Shot("explorer-alternatives", sentence, act=open_alternatives, part=(*answer, "#alternatives"))
    yield Shot("explorer-isolated", isolated, part=("#map",))
    yield Shot("explorer-density", part=("#map",), sharpness=1.2)
    yield Shot("explorer-how", sure, (1280, 1240), act=lambda page: page.click("#how"), part=("#evidence",))
    yield Shot("explorer-offline", act=cut_off, part=answer)


def to_the_map(page: Page) -> None:
    """Turns to the map, in its tab on a phone."""
    page.click("#map-tab")


def typing(page: Page) -> None:
    """Types the first letters of a word."""
    page.locator("#text").press_sequentially("mé")
    page.locator("#suggestions [role=option]").first.wait_for()
    page.keyboard.press("ArrowDown")


def open_alternatives(page: Page) -> None:
    """Opens the alternatives of a word in the middle of the sentence."""
    page.locator("#glosses button").nth(4).click()


def cut_off(page: Page) -> None:
    """Asks a question that no server answers."""

    def abort(route: Route) -> None:
        route.abort()

    page.route("**/api/**", abort)
    page.route("**/healthz*", abort)
    page.fill("#text", "soleil")
    page.press("#text", "Enter")
    page.locator(".trouble").wait_for()


def with_font(route: Route) -> None:
    """Answers with the style sheet, its font replaced."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace("system-ui", FONT))


def at_home(route: Route) -> None:
    """Answers with the space, its folder as seen from here."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace(f"{Path.cwd()}/", ""))


def asked(home: str, path: str, **parameters: object) -> dict[str, Any]:
    """The answer to a question, also where it is that there is none."""
    try:
        with urllib.request.urlopen(f"{home}{path}?{urllib.parse.urlencode(parameters)}") as answer:
            found: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as error:
        found = json.load(error)
    return found


def chosen(home: str, words: tuple[str, ...], grade: str | None) -> str:
    """The first of these words whose best translation has this grade and, without one, that is on the map."""
    for word in words:
        if grade is None:
            found = asked(home, "api/place", word=word).get("exact")
        else:
            found = asked(home, "api/translate", word=word).get("grade") == grade
        if found:
            return word
    raise SystemExit(f"none of {', '.join(words)} is {grade or 'on the map'} in this space; add another here")


@contextmanager
def serving(space: Path) -> Iterator[str]:
    """The address of `muse serve`, once it knows probabilities and has drawn the map."""
    command = [sys.executable, "-m", "muse", "serve", str(space), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            home = json.loads(next(iter(server.stdout or ())))["url"]
            began = time.monotonic()
            while not _is_ready(home):
                if time.monotonic() - began > PATIENCE:
                    raise SystemExit("the map or the probabilities took too long")
                time.sleep(1)
            yield home
        finally:
            server.terminate()


def _is_ready(home: str) -> bool:
    word = asked(home, "api/spaces")["spaces"][0]["languages"][0]["examples"][0]
    rated = asked(home, "api/translate", word=word).get("grade") is not None
    return bool(asked(home, "api/picture")["ready"]) and rated


def take(browser: Browser, home: str, shot: Shot) -> bytes:
    """The picture as a PNG with few colours."""
    picture, boxes = photographed(browser, home, shot)
    return smaller(around(picture, boxes, MARGIN, shot.sharpness))


def clouds(browser: Browser, home: str) -> bytes:
    """The map at some MOMENTS of the languages' coming together, beside one another."""
    taken = [photographed(browser, home, Shot("", part=("#picture",), moment=moment)) for moment in MOMENTS]
    parts = [around(picture, boxes, 0, SHARPNESS) for picture, boxes in taken]
    size = (SMALL, round(SMALL * parts[0].height / parts[0].width))
    row = Image.new("RGB", (len(parts) * (SMALL + MARGIN) - MARGIN, size[1]), "white")
    for number, part in enumerate(parts):
        row.paste(part.resize(size), (number * (SMALL + MARGIN), 0))
    return smaller(row)


def photographed(browser: Browser, home: str, shot: Shot) -> tuple[Image.Image, list[Any]]:
    """The screen, and the boxes of the parts that are to be shown."""
    width, height = shot.screen
    context = browser.new_context(
        device_scale_factor=shot.sharpness,
        viewport={"width": width, "height": height},
        color_scheme="dark" if shot.scheme == "dark" else "light",
        has_touch=shot.screen == PHONE,
        reduced_motion="reduce" if shot.moment is None else "no-preference",
    )
    page = context.new_page()
    if shot.moment is not None:
        page.add_init_script(STILL.replace("MOMENT", str(shot.moment)))
    page.route("**/layout.css", with_font)
    page.route("**/api/spaces", at_home)
    page.goto(home + shot.question)
    if shot.question:
        page.locator("#own li, .trouble, #glosses").first.wait_for()
    if shot.moment is not None:
        page.locator("#find:not([hidden])").wait_for()
    elif shot.screen != PHONE:
        page.locator("#picture[data-labels]:not([data-labels='0'])").wait_for()
    shot.act(page)
    page.wait_for_timeout(1_500)
    boxes = [page.locator(part).bounding_box() for part in shot.part]
    shown = page.screenshot(full_page=shot.part != ("#evidence",) and bool(shot.part), caret="initial")
    context.close()
    return Image.open(BytesIO(shown)).convert("RGB"), [box for box in boxes if box]


def smaller(picture: Image.Image) -> bytes:
    """A picture as a PNG with as many colours as LARGEST allows, up to COLOURS."""
    content, colours = b"", COLOURS
    while not content or (len(content) > LARGEST and colours > 32):
        out = BytesIO()
        few = picture.quantize(colours, kmeans=2, dither=Image.Dither.NONE)
        few.save(out, "PNG", optimize=True)
        content, colours = out.getvalue(), colours // 2
    return content


def around(picture: Image.Image, boxes: list[Any], margin: int, sharpness: float) -> Image.Image:
    """The part of a picture around these boxes, or all of it without any."""
    if not boxes:
        return picture
    left, top = (min(box[side] for box in boxes) - margin for side in ("x", "y"))
    right = max(box["x"] + box["width"] for box in boxes) + margin
    bottom = max(box["y"] + box["height"] for box in boxes) + margin
    whole = (max(0, left), max(0, top), right, bottom)
    left, top, right, bottom = (round(sharpness * side) for side in whole)
    return picture.crop((left, top, min(right, picture.width), min(bottom, picture.height)))


def pictures(browser: Browser, home: str) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The names of all pictures, with what takes each."""
    for shot in shots(home):
        yield shot.name, partial(take, browser, home, shot)
    yield "explorer-clouds", partial(clouds, browser, home)


def main() -> None:
    """Takes all pictures, and prints their sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", action="append", help="a picture to take; all without this")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    total = 0
    with serving(options.space) as home, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, taken in pictures(browser, home):
            if options.only and name not in options.only:
                continue
            content = taken()
            (options.out / f"{name}.png").write_bytes(content)
            total += len(content)
            print(f"{name}.png {len(content) / 1e3:.0f} kB", flush=True)
        browser.close()
    print(f"together {total / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
