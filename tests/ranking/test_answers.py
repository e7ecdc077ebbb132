"""Answers against the induced dictionary, which knows the same, and with a word's own spelling preferred."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.evaluation.ranks import ranks
from muse.ranking.induction import InductionConfig, entries
from muse.ranking.probability import Calibration, find_calibration
from muse.ranking.ranker import PRIOR, Ranker, own_spelling, translate_words
from muse.ranking.translations import TRUSTED, WEAK, Translation, Translations
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.translate.text import Translator
from muse.vectors import Vectors
from tests.support.spaces import RETRIEVALS, plain_space, raw_rows, saved, space_with_zeros


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


def test_of_no_words_there_is_no_answer() -> None:
    zeros = plain_space(np.zeros((9, 4), np.float32), raw_rows(0, 9, 4), [*"abcdefghi"], [*"jklmnopqr"])
    ranker = Ranker(zeros, ("fr", "en"))
    assert ranker.firsts(np.arange(9)).tolist() == [-1] * 9
    assert ranker.reversed().firsts(np.zeros(0, np.int64)).tolist() == []


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


DIRECTION = ("fr", "en")


def spaced(seed: int = 0, count: int = 40) -> Space:
    """Random rows, and words of which every other is spelled alike in both languages."""
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(count, 6)).astype(np.float32) for _ in range(2)]
    words = [[f"w{i}" if i % 2 else f"{name}{i}" for i in range(count)] for name in DIRECTION]
    return plain_space(rows[0], rows[1], words[0], words[1])


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
@pytest.mark.parametrize("top", [3, 40])
def test_as_if_the_prior_were_added_to_a_full_ranking(retrieval: Retrieval, top: int) -> None:
    space, rows = spaced(), np.arange(40)
    everything = Ranker(space.by_csls(), DIRECTION, retrieval, top=40).best(rows)
    ranker = Ranker(space, DIRECTION, retrieval, top)
    found = ranker.best(rows)
    prior = PRIOR if retrieval.method == "csls" else 0
    for row in rows:
        scores = everything.scores[row] + prior * ((everything.columns[row] == row) & (row % 2 == 1))
        order = np.argsort(-scores, kind="stable")[:top]
        np.testing.assert_array_equal(found.columns[row], everything.columns[row][order])
        np.testing.assert_allclose(found.scores[row], scores[order], atol=1e-5)
    if top == 40:  # evaluation ranks them so, and they are preferred in the other direction too
        pairs = np.stack([np.repeat(rows, 2), found.columns[:, [0, 7]].ravel()], axis=1)
        assert ranks(ranker, pairs).tolist() == [1, 8] * 40
        back = ranker.reversed().best(rows).columns[:, 0]
        np.testing.assert_array_equal(ranker.back(), back)


def test_spellings_that_count() -> None:
    source = Vectors("fr", [*"abcdefgh", "Paris", "tu"], np.zeros((10, 1), np.float32))
    target = Vectors("en", [*(f"x{i}" for i in range(300)), "paris"], np.zeros((301, 1), np.float32))
    assert own_spelling("Paris", source, target) == -1  # ranks 9 and 301: 18 and 310 are too far apart
    assert own_spelling("Paris", source, Vectors("en", ["x", "paris"], np.zeros((2, 1), "f"))) == 1
    assert own_spelling("tu", source, target) == -1
    assert own_spelling("zu", source, Vectors("en", ["zu"], np.zeros((1, 1), "f"))) == -1  # a new word


def test_a_space_made_to_answer_by_csls_prefers_no_spelling() -> None:
    space = spaced()
    made = replace(space, manifest=replace(space.manifest, settings={"answers": "csls"}))
    assert (Ranker(space, DIRECTION).own_spellings(np.arange(40)) >= 0).any()
    assert (Ranker(made, DIRECTION).own_spellings(np.arange(40)) < 0).all()
