"""The built documentation: no warning, nothing from the network, search from the disk, fields explained."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from muse.search.retrieval import Retrieval
from tests.conftest import ROOT

pytestmark = pytest.mark.slow
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 60_000  # milliseconds
SEARCHED = {  # what readers search for, and the page that is among the first two found
    "explorer": "how-to/look.html", "license": "faq.html", "plot": "how-to/python.html",
    "analogy": "how-to/python.html", "terminology": "how-to/find-terms.html",
    "bert": "how-to/use-encoder.html", "phrases": "how-to/translate-text.html",
    "example sentences": "how-to/examples.html", "small corpus": "how-to/low-resource.html",
    "domain": "how-to/from-text.html", "how sure": "how-to/look-words-up.html",
    "gpu": "how-to/large-files.html", "xlm": "how-to/sentence-systems.html",
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("material", "mkdocs", "mkdocstrings_handlers.python", "latex2mathml"):
        pytest.importorskip(package)
    out = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "docs/mkdocs.yml", "-d", str(out)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "WARNING" not in ended.stderr, ended.stderr
    return out


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(list((ROOT / "docs" / "pages").rglob("*.md")))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:link|script|img|iframe|source)\b[^>]*?(?:href|src)=\"([^\"]+)\"", text)
        assert not [address for address in loaded if re.match(r"(?:https?:)?//", address)], page
        assert "fonts.g" not in text


def test_links_work_from_the_disk(site: Path) -> None:
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # of a web server, which alone shows it
            continue
        for link in re.findall(r"<[^<>]+ (?:href|src)=\"([^\"#]+)", page.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", link):
                assert not link.startswith("/"), f"{page}: {link}"
                assert (page.parent / link).is_file(), f"{page}: {link}"


def test_the_search_index_is_a_script(site: Path) -> None:
    # From the disk a page may load scripts, and may not read files.
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert index.startswith("var __index = {")
    assert "how-to/fetch.html" in index
    shown = (site / "how-to" / "fetch.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script src=\"([^\"]+)\"", shown)
    assert scripts[0] == "../assets/iframe-worker.js"  # before the one that starts the worker


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")
@pytest.mark.filterwarnings("default")  # of the browser's threads
def test_search_finds_the_pages_from_the_disk(site: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    said: list[str] = []
    with playwright.sync_playwright() as driver:
        # Root, as in a container, has no sandbox to put Chromium in; the pages are our own.
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page: Any = browser.new_page()
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda asked: said.append(asked.url) if asked.url.startswith("http") else None)
        for words, wanted in SEARCHED.items():
            # What is typed before the index is loaded is lost; the page asks this itself once it is.
            page.goto(f"{(site / 'index.html').as_uri()}?{urlencode({'q': words})}")
            found = page.locator(".md-search-result__item")
            found.first.wait_for(timeout=PATIENCE)
            first = [one.locator("a").first.get_attribute("href") for one in found.all()[:2]]
            assert any(wanted in str(link) for link in first), (words, first)
        found.locator("a").first.click()
        page.wait_for_url("file:**/how-to/sentence-systems.html**", timeout=PATIENCE)
        browser.close()
    assert said == []


@pytest.mark.parametrize("of", [Retrieval])
def test_every_field_is_explained(site: Path, of: type) -> None:
    api = (site / "api.html").read_text(encoding="utf-8")
    for name in (field.name for field in fields(of)):
        _, _, below = api.partition(f'id="{of.__module__}.{of.__qualname__}.{name}"')
        entry = below.partition('class="doc doc-object ')[0]
        explained = entry.partition("doc-contents")[2]
        assert re.search(r"<p>[^<]+", explained), f"{of.__name__}.{name}"


def test_equations_are_drawn_and_examples_are_code(site: Path) -> None:
    algorithms = (site / "algorithms.html").read_text(encoding="utf-8")
    assert algorithms.count("<math") > 50
    assert "arithmatex" not in algorithms
    assert "<merror" not in algorithms
    api = (site / "api.html").read_text(encoding="utf-8")
    for name in ("muse.api.run.align", "muse.api.space.InteractiveSpace.translate", "muse.errors.MuseError"):
        assert f'id="{name}"' in api
    assert "&gt;&gt;&gt;" in api
    assert "<blockquote>" not in api
