"""Translations of words against induced ones, and the advice for words that are not there."""

from __future__ import annotations

import difflib
import itertools
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.ranking.lookup import CANDIDATES, entries_of_word, neighbours, spellings
from muse.ranking.ranker import translate_words
from muse.vectors import Vectors
from tests.evaluation.test_words import noisy_space
from tests.support.spaces import plain_space

FRENCH = ["maison", "raison", "saison", "Paris", "chat", "Été", "OTAN"]


def test_an_unknown_word_gets_advice() -> None:
    space = plain_space(np.eye(7, dtype=np.float32), np.eye(7, dtype=np.float32), FRENCH, list("abcdefg"))
    found = translate_words(space, ["chat", "maisom", "a", "CHAT", "l'Été", "qqqqqq", ""], top=1)
    assert [one.form for one in found] == ["chat", None, None, "chat", "Été", None, None]
    reasons = [one.reason for one in found if one.form is None]
    assert reasons[0] == "not among the 7 words of fr; did you mean maison?"
    assert "it is a word of en" in reasons[1]
    assert reasons[2].endswith("; check its spelling and its language")


def test_neighbours_leave_the_word_itself_out_in_whatever_form_it_is_typed() -> None:
    rows = np.array([[1, 0], [0.8, 0.6], [0, 1], [-1, 0]], np.float32)
    space = plain_space(
        rows, rows, ["été", "printemps", "lune", "nuit"], ["summer", "spring", "moon", "night"]
    )
    for typed in ("été", "Été", "l'e\u0301te\u0301"):
        found = neighbours(space, "fr", typed, among=["fr", "en"], top=2)
        assert [word for word, _ in found["fr"]] == ["printemps", "lune"]
        assert [cosine for _, cosine in found["fr"]] == pytest.approx([0.8, 0], abs=1e-6)
        assert [word for word, _ in found["en"]] == ["summer", "spring"]
    assert len(neighbours(space, "fr", "lune", among=["fr"], top=99)["fr"]) == 3
    with pytest.raises(BadSetting, match="'moon' is not among the 4 words of fr; it is a word of en"):
        neighbours(space, "fr", "moon", among=["fr"])


def test_the_languages_that_have_a_word_as_typed_come_before_those_that_have_a_form_of_it() -> None:
    eye = np.eye(3, dtype=np.float32)
    space = plain_space(eye, eye, ["roi", "table", "Paris"], ["ROI", "table", "sir"])
    assert entries_of_word(space, "roi") == {"fr": "roi"}
    assert entries_of_word(space, "ROI") == {"en": "ROI"}
    assert entries_of_word(space, "Roi") == {"fr": "roi", "en": "ROI"}
    assert entries_of_word(space, "table") == {"fr": "table", "en": "table"}
    assert entries_of_word(space, "PARIS") == {"fr": "Paris"}
    assert entries_of_word(space, "king") == {}


@pytest.mark.parametrize("top", [2.5, "3", True])
def test_a_number_of_translations_is_whole(top: object) -> None:
    with pytest.raises(BadSetting, match=f"--top must be a whole number of at least 1, got {top!r}"):
        translate_words(noisy_space(0), ["s1"], top=top)  # type: ignore[arg-type]


@pytest.mark.parametrize("word", [None, 3, ["roi"], np.nan])
def test_a_word_is_a_string(word: object) -> None:
    space = noisy_space(0)
    for ask in (
        lambda: neighbours(space, "fr", word, among=["fr"]),  # type: ignore[arg-type]
        lambda: entries_of_word(space, word),  # type: ignore[arg-type]
    ):
        with pytest.raises(BadSetting, match="a word must be str, got "):
            ask()


def vectors(words: list[str], language: str = "fr") -> Vectors:
    return Vectors(language, words, np.zeros((len(words), 1), np.float32))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("maisom", ["maison"]),
        ("Pariss", ["Paris"]),
        ("maisno", ["maison"]),
        ("zzz", []),
    ],
)
def test_spellings(word: str, expected: list[str]) -> None:
    found = spellings(word, vectors(FRENCH))
    assert found[0] == expected[0] if expected else not found
    assert set(expected) <= set(found)


@pytest.mark.parametrize(("vocabulary", "typed"), list(itertools.product(("NFC", "NFD"), repeat=2)))
def test_spellings_are_the_same_in_every_unicode_form(
    vocabulary: Literal["NFC", "NFD"], typed: Literal["NFC", "NFD"]
) -> None:
    words = ["élève", "Été", "évêché", "eleve"]
    expected = {"élèev": "élève", "évêhcé": "évêché"}
    of = vectors([normalize(vocabulary, word) for word in words])
    for word, right in expected.items():
        found = spellings(normalize(typed, word), of)
        assert found[0] == normalize(vocabulary, right)
        assert [normalize("NFC", one) for one in found] == spellings(word, vectors(words))


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
