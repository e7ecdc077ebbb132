"""Suggestions: those of a comparison of all words."""

import itertools
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse.orthography import typed
from muse.web import explorer
from muse.web.explorer import Suggestions


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Élève", "eleve"), ("e\u0301le\u0300ve", "eleve"), ("CŒUR", "coeur"), ("Straße", "strasse"),
        ("l\u2019eau", "l'eau"), ("İstanbul", "istanbul"), ("Łódź", "lodz"), ("ＡＢ", "ab"), ("火", "火"),
        ("", ""),
    ],
)  # fmt: skip
def test_capitals_and_accents_make_no_difference(text: str, bare: str) -> None:
    assert typed(text) == bare


@given(st.lists(st.text("aàbBé", min_size=1, max_size=4), unique=True), st.text("aàbBé", max_size=3))
def test_the_most_frequent_words_with_the_prefix(words: list[str], prefix: str) -> None:
    for top in (1, 3, 50):
        expected = [
            (word, rank)
            for rank, word in enumerate(words, 1)
            if prefix and typed(word).startswith(typed(prefix))
        ]
        if not prefix.isascii():  # words with the accents that were typed come first
            expected.sort(key=lambda found: not found[0].lower().startswith(prefix.lower()))
        assert Suggestions(words).best(prefix, top) == expected[:top]


@pytest.mark.parametrize(("vocabulary", "typed"), list(itertools.product(("NFC", "NFD"), repeat=2)))
def test_words_with_the_accents_come_first_in_every_unicode_form(
    vocabulary: Literal["NFC", "NFD"], typed: Literal["NFC", "NFD"]
) -> None:
    words = [normalize(vocabulary, word) for word in ("etc", "Été", "Etna", "étang")]
    found = Suggestions(words).best(normalize(typed, "ét"), 3)
    assert found == [(words[1], 2), (words[3], 4), (words[0], 1)]


def test_signs_beyond_all_letters_are_found_too() -> None:
    words = ["a\U0010ffff", "a\U0010ffffb", "b", "", " ", "\x00"]
    assert [word for word, _ in Suggestions(words).best("a", 9)] == words[:2]
    assert Suggestions(words).best(" ", 9) == []
    assert Suggestions([]).best("a", 9) == []


def test_very_rare_words_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "WORDS", 2)
    assert Suggestions(["ab", "ac", "ad"]).best("a", 9) == [("ab", 1), ("ac", 2)]


def test_texts_are_found_by_the_beginnings_of_their_words() -> None:
    letters = st.text("ab É,-", max_size=12)

    @given(st.lists(letters, max_size=8), letters, st.integers(1, 4))
    def check(texts: list[str], asked: str, top: int) -> None:
        def spaced(text: str) -> str:
            return " " + " ".join("".join(c if c.isalnum() else " " for c in typed(text)).split())

        expected = [
            row
            for row, text in enumerate(texts)
            if asked and spaced(asked) != " " and spaced(asked) in spaced(text)
        ]
        ids = [str(row) for row in range(len(texts))]
        assert Suggestions(ids, texts).best(asked, top) == [(str(row), row + 1) for row in expected[:top]]

    check()


def test_only_the_beginning_of_a_long_text_is_searched() -> None:
    assert Suggestions(["a", "b"], ["x " * 200 + "dog", "dog"]).best("dog", 9) == [("b", 2)]
