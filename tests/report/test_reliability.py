"""Reliability: predicted probability against the share that is right."""

import numpy as np
import pytest

from muse.ranking.translations import Translation
from muse.report.charts import reliability_drawing
from muse.report.measured import GoldAnswer, reliability, reliability_of

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
