"""Answers against the induced dictionary, which knows the same scores, probabilities and mutual pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.ranking.induction import InductionConfig, entries
from muse.ranking.probability import Calibration, find_calibration
from muse.ranking.ranker import translate_words
from muse.ranking.translations import TRUSTED, WEAK, Translation, Translations
from muse.search.retrieval import Retrieval
from muse.translate.text import Translator
from tests.evaluation.test_words import noisy_space
from tests.support.spaces import RETRIEVALS, plain_space, raw_rows, saved, space_with_zeros


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
def test_mutual_pairs_are_those_of_the_induced_dictionary(retrieval: Retrieval) -> None:
    space = noisy_space(6)
    found = translate_words(
        space, space.vectors("fr").words, source="fr", target="en", top=1, retrieval=retrieval
    )
    limits = InductionConfig(top=1, mutual=True)
    expected = {e.source: e.target for e in entries(space, "fr", "en", limits=limits, retrieval=retrieval)}
    assert {one.word: one[0].target for one in found if one[0].mutual} == expected
    assert 0 < len(expected) < len(found)


def test_probabilities_are_those_of_the_induced_dictionary(tmp_path: Path) -> None:
    space = saved(tmp_path / "s", plain=True)
    words = space.vectors("fr").words
    assert translate_words(space, words[:1], calibrate=False)[0][0].probability is None
    find_calibration(space, "fr", "en")
    found = {one.word: one for one in translate_words(space, words, top=2)}
    rng = np.random.default_rng(0)
    for entry in entries(space, "fr", "en", limits=InductionConfig(top=2), rng=rng):
        answer = found[entry.source][entry.rank - 1]
        assert answer.target == entry.target
        assert answer.score == pytest.approx(entry.score, abs=1e-5)
        assert answer.probability == pytest.approx(entry.probability, abs=1e-4)


def test_no_probability_of_other_scores_than_those_calibrated(tmp_path: Path) -> None:
    space = saved(tmp_path / "s", plain=True)
    find_calibration(space, "fr", "en")
    for retrieval in (Retrieval("nn"), Retrieval("csls", 5)):
        (one,) = translate_words(space, ["fr1"], retrieval=retrieval)
        assert (one[0].probability, one.grade) == (None, None)


def test_unknown_words_take_nothing_from_the_others() -> None:
    eye = np.eye(3, dtype=np.float32)
    space = plain_space(eye, eye, ["roi", "reine", "chat"], ["king", "queen", "cat"])
    words = ["Roi", "king", "riene", "zzz", "chat", "Roi"]
    found = translate_words(space, words, top=1, retrieval=Retrieval("nn"))
    assert [one.word for one in found] == words
    assert [one.form for one in found] == ["roi", None, None, None, "chat", "roi"]
    assert found[0] == [("king", 1.0)] and found[0][0].mutual
    assert (found[1], found[1].languages) == ([], ("en",))
    assert found[2].suggestions == ("reine",)
    assert (found[3], found[3].languages) == ([], ())
    assert translate_words(space, []) == []
    with pytest.raises(BadSetting, match="--top must be at least 1, got 0"):
        translate_words(space, ["roi"], top=0)


def test_a_weak_answer_names_the_languages_where_the_word_is_more_frequent() -> None:
    eye = np.eye(4, dtype=np.float32)
    space = plain_space(eye, eye, ["roi", "pain", "chat", "king"], ["king", "bread", "cat", "pain"])
    weak, sure = Calibration(10, 10, 3), Calibration(0.01, 0.01, -3)
    for calibration, expected in ((weak, {"king": ("en",)}), (sure, {})):
        space.keep(("fr", "en"), calibration)
        found = translate_words(space, space.vectors("fr").words)
        assert {one.grade for one in found} == {"weak" if expected else "trusted"}
        # pain is more frequent in French, and roi is French alone.
        assert {one.word: one.languages for one in found if one.languages} == expected


@pytest.mark.parametrize(
    ("probability", "grade"),
    [(None, None), (1.0, "trusted"), (TRUSTED, "trusted"), (0.6, "likely"), (WEAK, "likely"), (0.1, "weak")],
)
def test_grades(probability: float | None, grade: str | None) -> None:
    one = Translation("x", 0.1, probability)
    assert one.grade == grade
    assert Translations("y", "y", [one]).grade == grade
    assert Translations("y", None).grade is None


def test_a_word_without_a_vector_has_no_answer() -> None:
    space = space_with_zeros()
    find_calibration(space, "fr", "en")
    zero, known = translate_words(space, ["fr3", "fr4"])
    assert (zero.form, zero, zero.reason) == ("fr3", [], "its vector is of zeros")
    assert known[0].target == "en4"
    rows = raw_rows(0, 40)
    holed = rows.copy()
    holed[3] = 0
    sides = ([f"{kind}{chr(97 + row // 26)}{chr(97 + row % 26)}" for row in range(40)] for kind in "fe")
    assert Translator(plain_space(holed, rows, *sides)).translate(["fad fae"]) == ["fad eae"]


def test_an_own_spelling_without_a_vector_is_no_translation() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32)
    target = rows.copy()
    target[4] = 0
    space = plain_space(rows, target, *([f"w{row}" for row in range(30)] for _ in range(2)))
    (found,) = translate_words(space, ["w4"], top=30)
    assert "w4" not in {one.target for one in found}
