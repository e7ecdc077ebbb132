"""Textual similarity: correlations by their definitions, intervals, empty sentences and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from muse.errors import Mismatch
from muse.evaluation.ratings import correlation_interval
from muse.evaluation.score import Signature
from muse.sentences.evaluation.sts import cosines, evaluate_sts

SIGNATURE = Signature("cosine", "fr-fr")


def angles(degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of rows whose cosines are those of the angles."""
    radians = np.deg2rad(degrees)
    first = np.tile(np.array([[2, 0]], np.float32), (len(degrees), 1))
    return first, np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32) * 7


def test_a_rating_that_is_the_cosine_correlates_perfectly() -> None:
    degrees = np.random.default_rng(0).uniform(0, 180, 50)
    first, second = angles(degrees)
    score = evaluate_sts(
        first, second, 5 * np.cos(np.deg2rad(degrees)), SIGNATURE, rng=np.random.default_rng(0)
    )
    assert score.pearson == pytest.approx(1, abs=1e-6)
    assert score.spearman == pytest.approx(1)
    falling = evaluate_sts(first, second, degrees, SIGNATURE, rng=np.random.default_rng(0))
    assert falling.spearman == pytest.approx(-1)
    assert -1 < falling.pearson < -0.9


def test_the_interval_holds_the_figure_and_narrows() -> None:
    rng = np.random.default_rng(1)
    widths = []
    for count in (40, 2_000):
        degrees = rng.uniform(0, 180, count)
        ratings = np.cos(np.deg2rad(degrees)) + rng.normal(0, 0.5, count)
        score = evaluate_sts(*angles(degrees), ratings, SIGNATURE, rng=np.random.default_rng(0))
        assert score.spearman_ci95[0] < score.spearman < score.spearman_ci95[1]
        widths.append(score.spearman_ci95[1] - score.spearman_ci95[0])
    assert widths[1] < widths[0] / 3


def test_the_interval_is_that_of_scipy_sample_by_sample() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.normal(size=30), rng.integers(4, size=30).astype(float)
    drawn = rng.integers(30, size=(50, 30))
    for ranks, correlation in ((False, scipy.stats.pearsonr), (True, scipy.stats.spearmanr)):
        found = [correlation(one[rows], other[rows]).statistic for rows in drawn]
        wanted = np.percentile(found, [2.5, 97.5])
        np.testing.assert_allclose(correlation_interval(one, other, drawn, ranks=ranks), wanted)


def test_a_sentence_without_a_known_word_has_a_cosine_of_0() -> None:
    first, second = angles(np.array([0.0, 60, 90, 120]))
    first[1] = 0
    np.testing.assert_allclose(cosines(first, second), [1, 0, 0, -0.5], atol=1e-6)
    score = evaluate_sts(first, second, np.array([3.0, 2, 1, 0]), SIGNATURE, rng=np.random.default_rng(0))
    assert (score.pairs, score.empty) == (4, 1)


@pytest.mark.parametrize(
    ("first", "ratings", "message"),
    [
        (np.eye(2), [1, 2], "at least 3 rated pairs"),
        (np.eye(4), [2, 2, 2, 2], "ratings that differ, got 2 for all"),
        (np.zeros((4, 4)), [1, 2, 3, 4], "similarities that differ"),
        (
            np.array([[0.1, 0.7], [0.3, 0.9], [0.2, 0.6], [0.7, 0.1]]),
            [1, 2, 3, 4],
            "similarities that differ",
        ),
    ],
)
def test_bad_input(first: np.ndarray, ratings: list[float], message: str) -> None:
    rows = first.astype(np.float32)
    with pytest.raises(Mismatch, match=message):
        evaluate_sts(rows, rows, np.array(ratings, float), SIGNATURE, rng=np.random.default_rng(0))
