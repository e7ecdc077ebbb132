"""Page: sentences beside their translations as one HTML file, in which the words that are linked light up.

It loads nothing: style and script are in it, and its content security policy allows no others. The sentences
are plain text; their words become elements only near the screen, so that thousands of sentences open at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate

from muse.files.pages import PageFiles, language_attributes
from muse.links.labels import Place
from muse.links.links import Links
from muse.links.pair import LinkedPair
from muse.links.sentence import PART

_SIDES = ("one", "two")
_FILES = PageFiles(
    "links/templates/page.html",
    ("palette.css", "links/templates/reader.css", "links/templates/page.css"),
    ("links/templates/reader.js", "links/templates/page.js"),
)


def page_parts(pairs: Iterable[LinkedPair], languages: tuple[str, str], title: str = "") -> Iterator[str]:
    """The parts of the page in order, the pairs one by one."""
    before, after = _FILES.around(languages, title)
    yield before
    attributes = tuple(map(language_attributes, languages))
    for number, pair in enumerate(pairs, 1):
        sides = "".join(
            f'<p class="side {side}"{which}{_words(text, places)}>{escape(_one_line(text), quote=False)}</p>'
            for side, which, text, places in zip(_SIDES, attributes, pair.texts, pair.places, strict=True)
        )
        yield (f'<li class="pair" id="{number}" data-links="{_shares(pair.links)}">{sides}</li>\n')
    yield after


def _one_line(text: str) -> str:
    return text.replace("\r", " ")  # which HTML takes for the end of a line, or for a part of it


def _words(text: str, places: Sequence[Place]) -> str:
    """The attribute with the words that are not simply what stands between spaces, if there are any.

    Each has its begin and its length in the units of JavaScript; without a length it is no word.
    """
    parts = [match.span() for match in PART.finditer(text)]
    begins, whole = {begin for begin, _ in places}, set(parts)
    others = [place for place in places if place not in whole]
    others += [(begin, begin) for begin, _ in parts if begin not in begins]
    if not others:
        return ""
    wide = list(accumulate((letter > "\uffff" for letter in text), initial=0))  # letters of two units before
    numbers = (
        f"{begin + wide[begin]} {end + wide[end] - begin - wide[begin]}" for begin, end in sorted(others)
    )
    return f' data-words="{" ".join(numbers)}"'


def _shares(links: Links) -> str:
    return " ".join(f"{i}-{j}:{100 * share:.0f}" for i, j, share in links)
