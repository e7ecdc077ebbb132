"""Translations of words against induced ones, and the advice for words that are not there."""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.induce import induce
from muse.search.retrieval import Retrieval
from muse.translate import spellings, translate_words
from muse.translate.words import CANDIDATES
from muse.vectors import Vectors
from tests.spaces import plain_space, saved
from tests.test_evaluation_words import RETRIEVALS, noisy_space

FRENCH = ["maison", "raison", "saison", "Paris", "chat", "Été", "OTAN"]


def vectors(words: list[str]) -> Vectors:
    return Vectors("fr", words, np.zeros((len(words), 1), np.float32))


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
@pytest.mark.parametrize(("source", "target"), [("fr", "en"), ("en", "fr")])
def test_the_same_as_the_induced_dictionary(retrieval: Retrieval, source: str, target: str) -> None:
    space = noisy_space(6)
    words = [space.vectors(source).words[row] for row in (5, 0, 41)]
    found = translate_words(space, words, source=source, target=target, top=4, retrieval=retrieval)
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
    found = translate_words(space, ["fr20", "fr20", "x\u0085y"])
    assert list(found) == ["fr20", "x\u0085y"]
    assert [len(best) for best in found.values()] == [10, 10]


def test_more_than_there_is_and_nothing_at_all() -> None:
    assert len(translate_words(noisy_space(0), ["s1"], top=99)["s1"]) == 60
    assert translate_words(noisy_space(0), []) == {}
    with pytest.raises(BadSetting, match="--top must be at least 1, got 0"):
        translate_words(noisy_space(0), ["s1"], top=0)


def test_an_unknown_word_gets_advice() -> None:
    space = plain_space(np.eye(7, dtype=np.float32), np.eye(7, dtype=np.float32), FRENCH, list("abcdefg"))
    with pytest.raises(BadSetting, match=r"'maisom' is not among the 7 words of fr; did you mean maison\?"):
        translate_words(space, ["chat", "maisom"])
    with pytest.raises(BadSetting, match=r"fr \(nor are 2 others\); did you mean chat\?"):
        translate_words(space, ["CHAT", "x", "y"])
    with pytest.raises(BadSetting, match="; check its spelling and its language"):
        translate_words(space, ["qqqqqq"])
    with pytest.raises(BadSetting, match="'' is not among the 7 words of fr"):
        translate_words(space, [""])


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
