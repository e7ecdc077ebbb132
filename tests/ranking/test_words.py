"""Translations of words against induced ones, and the advice for words that are not there."""

from __future__ import annotations

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.ranking.lookup import entries_of_word, neighbours
from muse.ranking.ranker import translate_words
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
