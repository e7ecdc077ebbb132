"""The entry of a vocabulary that a typed word stands for."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np
import pytest

from muse.ranking.lookup import lookup_entry
from muse.vectors import Vectors


def vectors(words: list[str], language: str = "fr") -> Vectors:
    return Vectors(language, words, np.zeros((len(words), 1), np.float32))


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("été", "été"),
        (unicodedata.normalize("NFD", "été"), "été"),
        (unicodedata.normalize("NFD", "saint-étienne"), "Saint-Étienne"),
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
    words = ["été", "roi", "Paris", "amour", "week-end", "portemonnaie", "grand père", "l", "Saint-Étienne"]
    assert lookup_entry(typed, vectors(words)) == expected


def test_a_word_itself_comes_first_then_the_most_frequent_case() -> None:
    words = ["orange", "Orange", "l'un", "un", "POLE", "Pole"]
    assert lookup_entry("Orange", vectors(words)) == "Orange"
    assert lookup_entry("ORANGE", vectors(words)) == "orange"
    assert lookup_entry("pole", vectors(words)) == "POLE"
    assert lookup_entry("L'un", vectors(words)) == "l'un"
    decomposed = unicodedata.normalize("NFD", "é")
    assert lookup_entry(decomposed, vectors(["é", decomposed])) == decomposed


def test_elision_is_a_matter_of_the_language() -> None:
    assert lookup_entry("dell'arte", vectors(["arte"], "it")) == "arte"
    assert lookup_entry("king's", vectors(["king"], "en")) == "king"
    for language in ("de", "en"):
        assert lookup_entry("l'arte", vectors(["arte"], language)) is None


@pytest.mark.parametrize(
    ("language", "typed", "expected"),
    [
        ("ar", "\u0643\u0650\u062a\u0627\u0628", "\u0643\u062a\u0627\u0628"),
        ("fr", "L'Ami", "l\u2019ami"),  # rather than the word after the article
        ("fr", "AU\u00adBE", "aube"),
        ("tr", "ISIRMAK", "\u0131s\u0131rmak"),
        ("tr", "istanbul", "\u0130stanbul"),
        ("tr", "IRMAK", "irmak"),  # of a vocabulary in lower case as in English
        ("el", "\u03bf\u03b4\u03bf\u03c3", "\u03bf\u03b4\u03bf\u03c2"),
        ("ja", "\uff84\uff9e\uff71", "\u30c9\u30a2"),
    ],
)
def test_other_spellings(language: str, typed: str, expected: str) -> None:
    words = [
        "ami",
        "\u0643\u062a\u0627\u0628",
        "l\u2019ami",
        "aube",
        "\u0131s\u0131rmak",
        "isirmak",
        "\u0130stanbul",
    ]
    words += ["irmak", "\u03bf\u03b4\u03bf\u03c2", "\u30c9\u30a2"]
    assert lookup_entry(typed, vectors(words, language)) == expected


def test_ids_are_never_respelled() -> None:
    rows = replace(vectors(["l\u2019id"]), frequency_ordered=False)
    assert lookup_entry("l'id", vectors(["l\u2019id"])) == "l\u2019id"
    assert lookup_entry("l'id", rows) is None
