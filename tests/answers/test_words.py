"""Translations of words against induced ones, and the advice for words that are not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from muse.answers.induction import induce
from muse.answers.lookup import translate_words
from muse.errors import BadSetting
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
    with pytest.raises(BadSetting, match="'a' is not .* it is a word of en"):
        translate_words(space, ["CHAT", "a"])
    assert list(translate_words(space, ["CHAT", "l'Été"], top=1)) == ["CHAT", "l'Été"]
    with pytest.raises(BadSetting, match="; check its spelling and its language"):
        translate_words(space, ["qqqqqq"])
    with pytest.raises(BadSetting, match="'' is not among the 7 words of fr"):
        translate_words(space, [""])
