"""The page of linked sentences: what stands in it, whatever the sentences and their words are."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from muse.languages import writes_right_to_left
from muse.links.links import Links
from muse.links.page import page_parts
from muse.links.pair import LinkedPair
from muse.links.sentence import places_of
from muse.text.tokens import Tokeniser
from muse.text.written import written_tokens
from tests.support.command import Command, refused_leaving
from tests.support.spaces import saved

HOSTILE = '</script><script>alert(1)</script> "<b>&amp;'


class Sides(HTMLParser):
    """The texts of a page as a browser reads them, with the attributes of each, and those of each pair."""

    def __init__(self) -> None:
        super().__init__()
        self.texts, self.attributes, self.pairs = list[str](), list[dict[str, str]](), list[dict[str, str]]()
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a text, where one begins."""
        given = {name: value or "" for name, value in attrs}
        self._inside = tag == "p" and given.get("class", "").startswith("side ")
        if self._inside:
            self.attributes.append(given)
            self.texts.append("")
        elif tag == "li":
            self.pairs.append(given)

    def handle_endtag(self, tag: str) -> None:
        """End a text."""
        self._inside = self._inside and tag != "p"

    def handle_data(self, data: str) -> None:
        """Add to the text."""
        if self._inside:
            self.texts[-1] += data


def read(*pairs: LinkedPair, languages: tuple[str, str] = ("fr", "en")) -> tuple[str, Sides]:
    """A page, and what a browser reads of it."""
    page, found = "".join(page_parts(pairs, languages)), Sides()
    found.feed(page)
    return page, found


def words_of(text: str, attributes: dict[str, str]) -> list[str]:
    """The words that the script makes of a text, whose places are counted in UTF-16."""
    units = text.encode("utf-16-le")
    numbers = list(map(int, attributes.get("data-words", "").split()))
    found = {begin: begin + length for begin, length in zip(numbers[::2], numbers[1::2], strict=True)}
    for match in re.finditer(r"\S+", text):
        begin, end = (len(text[:place].encode("utf-16-le")) // 2 for place in match.span())
        if not any(one <= begin < max(other, one + 1) for one, other in found.items()):
            found[begin] = end
    return [
        units[2 * begin : 2 * end].decode("utf-16-le") for begin, end in sorted(found.items()) if begin < end
    ]


LETTERS = st.characters(exclude_categories=("C", "Z"))  # no spaces, and nothing invisible


@given(st.lists(st.lists(st.text(LETTERS, min_size=1, max_size=6), min_size=1, max_size=3), max_size=6))
def test_the_words_in_the_page_are_those_given(parts: list[list[str]]) -> None:
    text, words = " ".join(map("".join, parts)), [word for part in parts for word in part]
    places = places_of(words, text)
    _, found = read(LinkedPair((text, text), (places, places[1::2]), Links.of_shares({}), ("fr", "en")))
    assert found.texts == [text, text]
    assert words_of(text, found.attributes[0]) == words
    assert words_of(text, found.attributes[1]) == words[1::2]


def test_links_are_in_percent_and_sentences_are_text() -> None:
    links = Links.of_shares({(0, 0): 0.924, (1, 0): 0.3})
    page, found = read(LinkedPair.of((HOSTILE, "x y"), (HOSTILE.split(), ["x", "y"]), links, ("fr", "en")))
    assert found.texts == [HOSTILE, "x y"]
    assert found.pairs[0]["data-links"] == "0-0:92 1-0:30"
    assert page.count("<script") == 1
    assert "http:" not in page and "https:" not in page and "url(" not in page


def test_only_the_style_and_the_script_of_the_page_are_allowed() -> None:
    page, _ = read()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'; ")
    for kind in ("style", "script"):
        (text,) = re.findall(rf"<{kind}[^>]*>(.*?)</{kind}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_each_text_says_its_language_and_direction() -> None:
    languages = "fas", "x-own"
    _, found = read(
        LinkedPair.of(("a", "b"), (["a"], ["b"]), Links.of_shares({}), languages), languages=languages
    )
    assert [(one.get("lang"), one["dir"]) for one in found.attributes] == [("fa", "rtl"), (None, "auto")]
    assert not any(map(writes_right_to_left, ("en", "zh", "Yoruba", "so")))


def test_every_token_of_a_line_has_its_place_in_it() -> None:
    lines = {
        "en": "I'm sure it won't — he can't've “said” so; isn't it R&D's?",
        "fr": "Viens-tu à l’heure, aujourd’hui, chez l'« ami » ? <b>Non</b> !",
        "de": "Wie geht's? »Gut«, sagt er.",
    }
    for language, line in lines.items():
        places = places_of([token.written for token in written_tokens(Tokeniser(language), line)], line)
        distinct = list(dict.fromkeys(places))
        assert distinct == sorted(distinct)
        assert all(begin < end for begin, end in distinct)
        assert all(end <= begin for (_, end), (begin, _) in zip(distinct, distinct[1:], strict=False))
        left = "".join(
            line[end:begin] for (_, end), (begin, _) in zip([(0, 0), *distinct], distinct, strict=False)
        )
        assert not left.strip(" -"), (language, left)  # of the hyphen before a pronoun


def test_tokens_of_one_place_are_one_word_with_the_links_of_both() -> None:
    links = Links.of_shares({(0, 0): 0.5, (1, 0): 0.75, (1, 1): 0.25, (2, 2): 1})
    words = ["will", "not", "say"], ["ne", "pas", "dire"]
    found = LinkedPair.of(("won't say", "ne pas dire"), words, links, ("en", "fr"))
    assert found.pairs == [("won't", "ne", 0.75), ("won't", "pas", 0.25), ("say", "dire", 1.0)]


def test_the_command_writes_the_page_or_says_at_once_that_it_cannot(tmp_path: Path, muse: Command) -> None:
    saved(tmp_path / "space", "fr")
    for language, line in (("fr", "fr3 fr1"), ("en", "en1 & en3")):
        (tmp_path / f"a.{language}").write_text(f"{line}\n\n")
    texts = ["--source", tmp_path / "a.fr", "--target", tmp_path / "a.en"]
    command = ["link", tmp_path / "space", *texts, "--out"]
    ended = muse(*command, tmp_path / "a.html")
    assert ended.code == 0, ended.err
    found = Sides()
    found.feed((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert found.texts == ["fr3 fr1", "en1 & en3", "", ""]
    assert len(found.pairs) == 2
    refused_leaving(tmp_path, muse, [*command, tmp_path / "a.csv", "--format", "html"], "a.csv", ".html")


def test_a_notebook_shows_text_and_a_rule_for_each_direction_of_a_link() -> None:
    shown = LinkedPair.of(
        (HOSTILE, "x"), (HOSTILE.split(), ["x"]), Links.of_shares({(1, 0): 0.5}), ("fr", "en")
    )
    html = shown._repr_html_()
    assert "<script" not in html and "<b>" not in html
    assert ":has(.s1:hover) .t0 {" in html and ":has(.t0:hover) .s1 {" in html
    assert 'title="x, 50 %"' in html
