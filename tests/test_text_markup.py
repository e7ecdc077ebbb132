"""Markup stays whole, and ordinary text has none."""

from __future__ import annotations

import numpy as np
import pytest

from muse.text.markup import is_markup, split_at_markup
from muse.text.tokens import Tokeniser
from muse.translate import Translator
from muse.translate.pieces import TextReader
from muse.vectors import Vectors
from tests.spaces import plain_space

MARKUP = [
    "/etc/passwd", "/usr/lib/python3.11/", "~/x", "./a/b.txt", "../c", "src/main.py", "C:\\tmp\\x", "C:\\",
    "\\\\host\\share", "%s", "%5.2f", "%s%d", "%1$s", "%(name)d", "{}", "{name}", "{0:>3}", "{{y}}", "${x}",
    "$HOME", "$name", "<b>", "</b>", "<br/>", "<xs:a>", "snake_case", "MAX_SIZE_2", 'href="x/y">',
]  # fmt: skip
ORDINARY = [
    "and/or", "km/h", "5%", "100%sure", "he/she", "/she", "12/05/2020", "1/2", "$5", "$US500", "US$", "<3",
    "a<b", "x=1", "{", "%", "/", "/kæt/", "Flugbegleiter_in", "Lehrer_innen",
    "jede_r", "auteur_rice", "$million", "a.m./p.m.", "and/or.it", "CamelCase", "etc.", "_so_",
    "C:", "rock'n'roll", "http://a.org/b/c_d?x=%s", "a_b@c.org", "www.a.org/b/c", "</3",
]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "fr", "xx"])
@pytest.mark.parametrize("token", MARKUP)
def test_markup_is_one_token_wherever_it_stands(language: str, token: str) -> None:
    assert is_markup(token)
    tokens = Tokeniser(language).tokens
    assert tokens(f"cat {token} dog") == ["cat", token, "dog"]
    assert tokens(f"{token}, ({token}).")[:4] == [token, ",", "(", token]
    assert tokens(f"{token}: cat")[:2] == [token, ":"]


@pytest.mark.parametrize("part", ORDINARY)
def test_ordinary_text_has_none(part: str) -> None:
    assert split_at_markup(part) == [(part, False)]


@pytest.mark.parametrize(
    "line",
    [
        "The <b>cat</b> is in /etc/passwd: %s, {name} (see C:\\tmp\\x).",
        '<a href="x/y">Link</a> <br/> and <br> a <i>b</i>.',
        "viens /a/mots-les/x %d",
        "cp <source> <target> now",
    ],
)
def test_a_line_with_markup_comes_back(line: str) -> None:
    for language in ("en", "xx"):
        tokeniser = Tokeniser(language)
        assert tokeniser.text(tokeniser.tokens(line)) == line
    assert "/a/mots-les/x" in Tokeniser("fr").tokens("viens /a/mots-les/x")


def test_a_full_stop_after_markup_is_as_before() -> None:
    assert Tokeniser("en").tokens("Read /a/b. He did. See ./x etc. and") == (
        "Read /a/b . He did . See ./x etc. and".split()
    )


def test_markup_is_copied_and_its_words_are_translated_elsewhere_alone() -> None:
    eye = np.eye(4, dtype=np.float32)
    space = plain_space(eye, eye, ["chat", "etc", "nom", "s"], ["cat", "and", "name", "is"])
    translator = Translator(space, source="fr", target="en")
    found = translator.translate(["<b>Chat</b> /etc/chat {nom} %s chat_nom nom", "%s"])
    assert found == ["<b>Cat</b> /etc/chat {nom} %s chat_nom name", "%s"]
    assert (translator.counts.words, translator.counts.unknown) == (2, 0)


def test_a_tag_before_a_sentence_leaves_its_first_word_first() -> None:
    pieces = TextReader(Vectors("fr", ["chat"], np.ones((1, 1), np.float32))).pieces(["<b>", "Zoé", "</b>"])
    assert [(piece.first, piece.name, piece.entry) for piece in pieces] == [
        (False, False, None), (True, False, None), (False, False, None),
    ]  # fmt: skip
