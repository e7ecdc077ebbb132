"""Tokens: what is kept whole, what is parted, and that a line comes back."""

from __future__ import annotations

import pytest

from muse.tokens import Tokeniser

SAMPLES = {
    "en": [
        ("Mr. Smith isn't here, is he?", ["Mr.", "Smith", "is", "not", "here", ",", "is", "he", "?"]),
        ("I'm at 12:45, 3.5 km.", ["I", "am", "at", "12:45", ",", "3.5", "km", "."]),
        ("It's Tom's, won't he?", ["It", "is", "Tom", "'s", ",", "will", "not", "he", "?"]),
        ("See http://a.org/b?c=1 or a.b@c.org!", ["See", "http://a.org/b?c=1", "or", "a.b@c.org", "!"]),
    ],
    "fr": [
        ("Qu\u2019est-ce que c'est ?", ["Qu'", "est", "ce", "que", "c'", "est", "?"]),
        ("Peut-être viendra-t-il\u202f!", ["Peut-être", "viendra", "il", "!"]),
        ("Une\u00a0: «\u00a0l'eau\u00a0»", ["Une", ":", "«", "l'", "eau", "»"]),
    ],
    "xx": [("Don't l'eau 1/2.", ["Don't", "l'eau", "1/2", "."])],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "line", "expected"), [(k, *v) for k, all_ in SAMPLES.items() for v in all_]
)
def test_tokens(language: str, line: str, expected: list[str]) -> None:
    assert Tokeniser(language).tokens(line) == expected


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", '"Well," he said (at 3:30), "it is 5% of $1,000 - or 2/3."'),
        ("fr", "L'homme, qu'il a vu à 12:45, dit : « J'ai 3,5 kg ! »"),
        ("de", "Wie geht's? Das sind 3,5 Mio. Euro, oder?"),
        ("ru", "Привет, мир! Это — тест 5%."),
        ("fra_Latn", "L'eau d'aujourd'hui, c'est tout."),
        ("java-api", "Don't use it, please."),
    ],
)
def test_a_line_comes_back(language: str, line: str) -> None:
    tokeniser = Tokeniser(language)
    assert tokeniser.text(tokeniser.tokens(line)) == line


@pytest.mark.parametrize("line", ["", "   ", "\t\u2028 \u00a0"])
def test_nothing(line: str) -> None:
    tokeniser = Tokeniser("fr")
    assert tokeniser.tokens(line) == []
    assert tokeniser.text([]) == ""


def test_a_word_is_the_same_token_wherever_it_stands() -> None:
    # Lines are tokenised by their parts, which Moses must treat as it treats the whole.
    tokeniser = Tokeniser("en")
    for line in ('He said: "no", (then) left; didn\'t he?', "A.B. has 5,000 x-rays...", "etc., and so on"):
        whole = tokeniser._moses(line.replace("didn't", "did not"))
        assert tokeniser.tokens(line) == whole
