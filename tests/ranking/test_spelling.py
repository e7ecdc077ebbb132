"""Suggestions for typed words that a vocabulary has in no form."""

from __future__ import annotations

import difflib
import itertools
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest

from muse.ranking.lookup import CANDIDATES, spellings
from muse.vectors import Vectors

FRENCH = ["maison", "raison", "saison", "Paris", "chat", "Été", "OTAN"]


def vectors(words: list[str], language: str = "fr") -> Vectors:
    return Vectors(language, words, np.zeros((len(words), 1), np.float32))


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


@pytest.mark.parametrize(("vocabulary", "typed"), list(itertools.product(("NFC", "NFD"), repeat=2)))
def test_spellings_are_the_same_in_every_unicode_form(
    vocabulary: Literal["NFC", "NFD"], typed: Literal["NFC", "NFD"]
) -> None:
    words = ["élève", "Été", "évêché", "eleve"]
    expected = {"élèev": "élève", "ÉTÉ": "Été", "évêhcé": "évêché"}
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
