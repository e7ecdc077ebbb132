"""Accuracy in both directions, answers beside the list, baselines; and how reliable probabilities are."""

from dataclasses import replace

import numpy as np
import pytest

from muse.evaluation.words import GroupScore
from muse.lexicon import Lexicon
from muse.normalise import Normalisation, normalise
from muse.ranking.translations import Translation
from muse.report.charts import reliability_drawing
from muse.report.facts import Accuracy
from muse.report.measured import Gold, GoldAnswer, gold_answers, measure, reliability, reliability_of
from muse.report.page import accuracy_table
from muse.space import Side, Space
from muse.vectors import Vectors
from tests.support.spaces import rotation

DIMENSION = 12
WORDS = 60
WAY = ("fr", "en")


def space(turned: bool = False) -> Space:
    """A space in which fr0 is en0 and so on, with some noise; if `turned`, its mapping is wrong."""
    rows, _ = normalise(np.random.default_rng(0).normal(size=(WORDS, DIMENSION)).astype(np.float32), ["unit"])
    noise = np.random.default_rng(1).normal(0, 0.02, rows.shape).astype(np.float32)
    own, _ = normalise(rows @ rotation(3, DIMENSION).T if turned else rows, ["unit"])
    other, _ = normalise(rows + noise, ["unit"])
    identity, steps = np.eye(DIMENSION, dtype=np.float32), Normalisation(("unit",), ())
    names = {language: [f"{language}{row}" for row in range(WORDS)] for language in WAY}
    names["fr"][0] = names["en"][0] = "radio"
    sides = {
        name: Side(Vectors(name, names[name], matrix), identity, steps)
        for name, matrix in zip(WAY, (own, other), strict=True)
    }
    return Space(sides, pivot="en")


def gold(*, turned: bool = False, **changed: str) -> Gold:
    pairs = [
        ("radio", "radio"),
        *((f"fr{row}", changed.get(f"fr{row}", f"en{row}")) for row in range(1, WORDS)),
    ]
    return Gold(space(turned=turned), WAY, Lexicon(tuple(pairs)), "gold.txt@1234")


def measured(given: Gold) -> Accuracy:
    rng = np.random.default_rng(0)
    forward = measure(given, max_vocab=WORDS, rng=rng)
    backward = measure(given.backward(), max_vocab=WORDS, rng=rng)
    answers = gold_answers(given, forward.score.ranks)
    return Accuracy(forward, backward, answers, reliability_of(answers, rng))


def test_wrong_answers_have_the_list_beside_them() -> None:
    found = measured(gold(fr7="en9"))
    (wrong,) = found.wrong
    assert (wrong.word, wrong.frequency, wrong.answer.target, wrong.gold) == ("fr7", 8, "en7", ("en9",))
    assert wrong.place > 1
    assert found.forward.score.p_at_1 == pytest.approx(100 * (WORDS - 1) / WORDS)


def test_a_list_read_backwards_asks_for_first_translations_alone() -> None:
    pairs = (("fr1", "en1"), ("fr1", "en2"), ("fr3", "en1"), ("fr4", "unknown"), ("fr4", "en4"))
    backward = Gold(space(), WAY, Lexicon(pairs), "g").backward()
    assert set(backward.lexicon.pairs) == {("en1", "fr1"), ("en1", "fr3"), ("en4", "fr4")}
    assert backward.name == "g:backward"


def test_identical_strings_are_right_where_the_list_has_the_word_itself() -> None:
    identical, _ = measured(gold()).forward.baselines
    assert identical.found.p_at_1 == pytest.approx(100 / WORDS)
    assert "identical strings" in str(identical.signature)
    assert "seed" not in str(identical.signature)


def test_procrustes_learns_from_the_list_what_a_wrong_space_does_not_know() -> None:
    found = measured(gold(turned=True)).forward
    assert found.score.p_at_1 < 50
    assert found.baselines[1].found.p_at_1 > 90


def test_procrustes_is_never_asked_what_it_was_fitted_to() -> None:
    # Translations drawn by lot: a rotation fitted to a pair would know it, one fitted to the others cannot.
    shuffled = np.random.default_rng(5).permutation(WORDS).tolist()
    pairs = tuple((f"fr{row}", f"en{other}") for row, other in enumerate(shuffled) if row and other)
    found = measured(Gold(space(), WAY, Lexicon(pairs), "g")).forward
    assert found.baselines[1].found.p_at_1 < 15


def test_the_table_has_a_mark_for_each_direction() -> None:
    found = measured(gold())
    parts = accuracy_table(found, {"fr": "one", "en": "two"})
    assert [part.title for part in parts][1:3] == ["By frequency rank", "By kind of word"]
    (whole,) = parts[0].rows
    assert whole.remark == f"{WORDS} and {WORDS} words"
    assert [mark[0] for mark in whole.marks] == [found.forward.score.p_at_1, found.backward.score.p_at_1]
    assert [mark[2] for mark in whole.marks] == ["one", "two"]
    assert [row.name for row in parts[1].rows] == [f"ranks 1 to {WORDS}"]
    assert {"numbers", "all others"} < {row.name for row in parts[2].rows}


def test_groups_that_say_nothing_are_left_out_and_missing_ones_have_no_figure() -> None:
    found = measured(gold())
    whole = GroupScore("plain", 50, (40, 60), WORDS)
    score = replace(found.forward.score, bands=(), parts=(whole,))
    parts = accuracy_table(
        replace(found, forward=replace(found.forward, score=score)), {"fr": "one", "en": "two"}
    )
    (band,) = parts[1].rows
    assert band.marks[0] == (None, None, "one")
    assert band.marks[1][0] == found.backward.score.p_at_1
    assert band.remark == f"0 and {WORDS} words"
    (kind,) = (row for row in parts[2].rows if row.name == "all others")
    assert kind.marks[0][0] is None  # "plain" was all words of that direction


RNG = np.random.default_rng(0)


def test_honest_probabilities_have_hardly_an_error() -> None:
    rng = np.random.default_rng(1)
    probabilities = rng.random(20_000)
    found = reliability(probabilities, rng.random(20_000) < probabilities, rng)
    assert found.error < 2
    assert found.lean == ""
    assert len(found.bins) == 10


@pytest.mark.parametrize(("power", "lean"), [(0.5, "modest"), (2.0, "sure")])
def test_too_high_and_too_low_ones_are_told(power: float, lean: str) -> None:
    rng = np.random.default_rng(1)
    probabilities = rng.random(2_000)
    found = reliability(probabilities, rng.random(2_000) < probabilities**power, rng)
    assert found.lean == lean
    assert found.error > 5


def test_every_answer_is_in_one_bin_and_one_grade() -> None:
    probabilities = np.array([0.0, 0.1, 0.39, 0.4, 0.79, 0.85, 1.0])
    found = reliability(probabilities, np.array([True] * 7), RNG)
    assert sum(one.found.queries for one in found.bins) == 7
    assert {grade.name: grade.queries for grade in found.grades} == {"trusted": 2, "likely": 2, "weak": 3}
    assert [one.found.name for one in found.bins] == ["0 %", "10 %", "30 %", "40 %", "70 %", "80 %", "90 %"]


def test_without_probabilities_nothing_is_known() -> None:
    answer = GoldAnswer("roi", 1, Translation("king", 0.3, mutual=True), ("king",), 1)
    assert reliability_of([answer], RNG) is None


def test_the_drawing_has_a_disc_where_predicted_and_found_meet() -> None:
    found = reliability(np.array([0.05, 0.95]), np.array([False, True]), RNG)
    drawing = reliability_drawing(found)
    (low, high) = drawing.dots
    assert low.at[0] < high.at[0]
    assert low.at[1] > high.at[1]  # of pixels, from the top
    assert "5 % predicted, 0 % right" in drawing.alt
