"""Translations of words against induced ones, and the advice for words that are not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.ranking.induction import induce
from muse.ranking.lookup import entries_of_word, neighbours
from muse.ranking.ranker import translate_words
from muse.search.retrieval import Retrieval
from muse.vectors import Vectors
from tests.evaluation.test_words import noisy_space
from tests.support.spaces import RETRIEVALS, plain_space, saved

FRENCH = ["maison", "raison", "saison", "Paris", "chat", "Été", "OTAN"]


def vectors(words: list[str]) -> Vectors:
    return Vectors("fr", words, np.zeros((len(words), 1), np.float32))


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
@pytest.mark.parametrize(("source", "target"), [("fr", "en"), ("en", "fr")])
def test_the_same_as_the_induced_dictionary(retrieval: Retrieval, source: str, target: str) -> None:
    space = noisy_space(6)
    words = [space.vectors(source).words[row] for row in (5, 0, 41)]
    every = translate_words(space, words, source=source, target=target, top=4, retrieval=retrieval)
    found = {one.word: one for one in every}
    whole = induce(space, source=source, target=target, top=4, retrieval=retrieval)
    assert list(found) == words
    for word in words:
        expected = [
            (pair[1], score)
            for pair, score in zip(whole.pairs, whole.scores or (), strict=True)
            if pair[0] == word
        ]
        assert [target for target, _ in found[word]] == [target for target, _ in expected]
        assert [score for _, score in found[word]] == pytest.approx(
            [score for _, score in expected], abs=1e-5
        )


def test_a_saved_space_uses_its_hubness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = saved(tmp_path / "s")

    def never(*_: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr(Retrieval, "bias", never)
    found = translate_words(space, ["fr20", "x\u0085y"], calibrate=False)
    assert [(one.word, len(one)) for one in found] == [("fr20", 10), ("x\u0085y", 10)]


def test_more_than_there_is_and_nothing_at_all() -> None:
    assert len(translate_words(noisy_space(0), ["s1"], top=99)[0]) == 60
    assert translate_words(noisy_space(0), []) == []
    with pytest.raises(BadSetting, match="--top must be at least 1, got 0"):
        translate_words(noisy_space(0), ["s1"], top=0)


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
