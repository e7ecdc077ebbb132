"""The forms of typed words, and suggestions for those that have none."""

from __future__ import annotations

import difflib
import unicodedata

import numpy as np
import pytest

from muse.translate import find_form, spellings
from muse.translate.spelling import CANDIDATES, not_found
from muse.vectors import Vectors
from tests.spaces import plain_space

FRENCH = ["maison", "raison", "saison", "Paris", "chat", "Été", "OTAN"]


def vectors(words: list[str], language: str = "fr") -> Vectors:
    return Vectors(language, words, np.zeros((len(words), 1), np.float32))


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("été", "été"),
        (unicodedata.normalize("NFD", "été"), "été"),
        ("Roi", "roi"),
        ("ROI", "roi"),
        ("paris", "Paris"),
        ("PARIS", "Paris"),
        ("l'amour", "amour"),
        ("L\u2019Amour", "amour"),
        ("jusqu'Paris", "Paris"),
        ("aujourd'hui", None),
        ("week end", "week-end"),
        ("Week-End", "week-end"),
        ("porte-monnaie", "portemonnaie"),
        ("grand-père", "grand père"),
        ("l'", "l"),
        (" roi ", "roi"),
        ("rois", None),
        ("", None),
        ("'", None),
    ],
)
def test_forms_of_what_is_typed(typed: str, expected: str | None) -> None:
    words = ["été", "roi", "Paris", "amour", "week-end", "portemonnaie", "grand père", "l"]
    assert find_form(typed, vectors(words)) == expected


def test_a_word_itself_comes_first_then_the_most_frequent_case() -> None:
    words = ["orange", "Orange", "l'un", "un", "POLE", "Pole"]
    assert find_form("Orange", vectors(words)) == "Orange"
    assert find_form("ORANGE", vectors(words)) == "orange"
    assert find_form("pole", vectors(words)) == "POLE"
    assert find_form("L'un", vectors(words)) == "l'un"
    decomposed = unicodedata.normalize("NFD", "é")
    assert find_form(decomposed, vectors(["é", decomposed])) == decomposed


def test_elision_is_a_matter_of_the_language() -> None:
    assert find_form("dell'arte", vectors(["arte"], "it")) == "arte"
    assert find_form("king's", vectors(["king"], "en")) == "king"
    for language in ("de", "en"):
        assert find_form("l'arte", vectors(["arte"], language)) is None


def test_advice_names_the_other_language_then_spellings() -> None:
    eye = np.eye(7, dtype=np.float32)
    space = plain_space(eye, eye, FRENCH, ["king", *"abcdef"])
    assert not_found(space, "fr", "King").endswith("it is a word of en; check --src and --tgt")
    assert not_found(space, "fr", "maisom").endswith("did you mean maison?")
    assert not_found(space, "fr", "qqqqqq").endswith("; check its spelling and its language")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Maison", ["maison", "saison", "raison"]),
        ("PARIS", ["Paris"]),
        ("paris", ["Paris"]),
        ("otan", ["OTAN"]),
        ("été", ["Été"]),
        ("maisno", ["maison"]),
        ("zzz", []),
    ],
)
def test_spellings(word: str, expected: list[str]) -> None:
    found = spellings(word, vectors(FRENCH))
    assert found[0] == expected[0] if expected else not found
    assert set(expected) <= set(found)


def test_few_words_of_a_large_vocabulary_are_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    close_matches = difflib.get_close_matches

    def counting(word: str, among: list[str], n: int, cutoff: float) -> list[str]:
        compared.append(len(among))
        return close_matches(word, among, n, cutoff)

    monkeypatch.setattr(difflib, "get_close_matches", counting)
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlu"))
    endings = list(dict.fromkeys("".join(letters[rng.integers(12, size=7)]) for _ in range(30_000)))
    large = vectors([*(f"e{ending}" for ending in endings), *(f"t{ending}" for ending in endings[:900])])
    for word in (f"e{endings[5_000]}", f"t{endings[500]}"):
        assert word in spellings(word[:-1] + "ü", large)
    assert compared == [CANDIDATES, 900]  # the most frequent alone, and none that begins and ends otherwise
