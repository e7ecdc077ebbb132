"""A server with a small space, and a real browser, Chromium, driven by Playwright, for the tests of pages.

Debian's chromium is enough: no browser of Playwright's own is needed. Accessibility is checked by axe-core,
which axe-playwright-python brings along.
"""

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from muse.space import Space

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 60_000  # milliseconds
MARKS = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)"),
    pytest.mark.filterwarnings("default"),  # of the server's and the browser's threads
]


@pytest.fixture(scope="module")
def home() -> Iterator[str]:
    """The address of a server with a small space."""
    from tests.web.test_api import rated_space

    with serving(rated_space()) as address:
        yield address


@contextmanager
def serving(space: Space, terms: Any = None) -> Iterator[str]:
    """The address of a server with this space fr, en, and with a glossary of it."""
    from muse.web.app import create_app, make_server
    from muse.web.explorer import Explorer
    from muse.web.server import bind, url

    explorer = Explorer(space, "fr-en", terms=terms)
    explorer.pictures.begin(("fr", "en"))
    listening = bind()
    server = make_server(create_app(explorer))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield url(listening)
    server.should_exit = True
    thread.join(30)
    listening.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without windows."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Root, as in a container, has no sandbox to put Chromium in; the pages are our own.
        made = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


class Visit:
    """Opens pages: at an address of the server `home`, which begins with #, or elsewhere.

    A page knows its space where `ready`; `before` gets it before it is loaded. In the end nothing may have
    gone wrong but a 404 or what is `forgiven`, and nothing have been asked of others than the server.
    """

    def __init__(self, browser: Any, home: Callable[[], str]) -> None:
        self.browser, self.home, self.contexts = browser, home, list[Any]()
        self.said, self.elsewhere, self.asked = list[str](), list[str](), list[str]()
        self.forgiven: tuple[str, ...] = ("404",)

    def __call__(
        self, address: str = "", *, width: int = 1200, height: int = 844, scheme: str = "light",
        motion: str = "reduce",  # else screenshots would catch the map in flight
        before: Callable[[Any], object] = lambda page: None,
        ready: bool = True, forgiven: tuple[str, ...] = (), **options: Any,
    ) -> Any:  # fmt: skip
        address = address if ":" in address.partition("#")[0] else f"{self.home()}{address}"
        self.forgiven += forgiven
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion=motion, **options
        )
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page, root = context.new_page(), address.partition("#")[0]
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))

        def requested(request: Any) -> None:
            here = request.url.startswith((root, "data:"))
            (self.asked if here else self.elsewhere).append(request.url)

        page.on("request", requested)
        before(page)
        page.goto(address)
        if ready and address.startswith("http"):
            # "Loaded" comes before the page has asked for its space: until then it has no names and buttons.
            page.locator("#map-tab[aria-selected]").wait_for(state="attached")
        return page


@pytest.fixture
def visit(browser: Any, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """What opens pages, and sees in the end that nothing went wrong."""
    found = Visit(browser, lambda: str(request.getfixturevalue("home")))
    yield found
    errors = [said for said in found.said if said.startswith("error")]
    assert [said for said in errors if not any(part in said for part in found.forgiven)] == []
    assert found.elsewhere == []
    for context in found.contexts:
        context.close()


def serious_barriers(page: Any) -> list[dict[str, Any]]:
    """What axe-core finds serious or critical on the page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    return [
        {"id": one["id"], "nodes": [node["html"] for node in one["nodes"]]}
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def look_up(page: Any, text: str) -> None:
    """Types a text and presses Enter."""
    page.fill("#text", text)
    page.press("#text", "Enter")


def best(page: Any, text: str) -> None:
    """Waits until the headline says this."""
    page.locator("#best").get_by_text(text, exact=True).wait_for()


def changed(page: Any, path: str, change: Callable[[Any], object]) -> None:
    """Has `change` alter the server's answers of a path before the page gets them."""

    def handle(route: Any) -> None:
        answer = route.fetch()
        fields = answer.json()
        if answer.ok:
            change(fields)
        route.fulfill(response=answer, body=json.dumps(fields))

    page.route(f"**{path}?*", handle)


def drawn(page: Any) -> None:
    """Waits until the map is drawn."""
    page.locator("#picture[data-labels]:not([data-labels='0'])").wait_for(state="attached")
