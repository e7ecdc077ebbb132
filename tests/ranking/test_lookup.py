"""Words and expressions that are typed: their entries and rows, their neighbours, advice for unknown ones."""

import difflib
import itertools
import unicodedata
from dataclasses import replace
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest
import torch

from muse.errors import BadSetting
from muse.ranking.lookup import (
    CANDIDATES,
    entries_of_word,
    expression_entry,
    expression_row,
    lookup_entry,
    neighbours,
    spellings,
    with_entries,
)
from muse.ranking.ranker import translate_words
from muse.text.segmentation import Phrases
from muse.vectors import Vectors
from tests.evaluation.test_words import noisy_space
from tests.support.spaces import plain_space


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


NONE = Phrases([])


def french(*words: str) -> Vectors:
    return Vectors("fr", list(words), np.eye(len(words), dtype=np.float32))


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        (("aujourd'hui", "aujourd", "hui"), "aujourd'hui"),
        (("aujourd", "hui"), "aujourd hui"),
        (("aujourd'", "hui"), "aujourd' hui"),
        (("aujourd",), None),
    ],
)
def test_the_entry_of_an_expression(words: tuple[str, ...], entry: str | None) -> None:
    assert expression_entry(["aujourd'", "hui"], french(*words)) == entry


def test_an_expression_is_one_token_only_where_it_is_known() -> None:
    tokens = "Je viens parce que quelqu' un chante".split()
    known = list(with_entries(tokens, french("parce", "que", "un"), NONE))
    assert known[2] == (["parce", "que"], "parce que")
    assert known[3:] == [(["quelqu'"], None), (["un"], None), (["chante"], None)]
    italian = with_entries(tokens, Vectors("it", ["parce", "que"], np.eye(2, dtype="f")), NONE)
    assert [group for group, _ in italian] == [[token] for token in tokens]
    assert list(with_entries(["parce"], french("parce", "que"), NONE)) == [(["parce"], None)]
    assert list(with_entries([], french("parce"), NONE)) == []


def test_the_rare_word_counts_most() -> None:
    vectors = french("que", "x", "y", "parce")
    row = expression_row("parce que", vectors, torch.eye(4))
    assert row is not None
    expected = np.array([1, 0, 0, 2]) / np.sqrt(5)  # the roots of the ranks 1 and 4
    np.testing.assert_allclose(row, expected, atol=1e-6)
    assert expression_row("parce quoi", vectors, torch.eye(4)) is None
    assert expression_row("parce", vectors, torch.eye(4)) is None
