"""Ratings of pairs: correlations by their definitions, intervals, and what a regression learns."""

import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats

from muse.errors import Mismatch
from muse.evaluation.ratings import correlation_interval
from muse.evaluation.score import Signature
from muse.sentences.evaluation.sts import RatedRows, _predicted, cosines, evaluate_relatedness, evaluate_sts

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


def pairs(count: int, seed: int, dimension: int = 6) -> RatedRows:
    """Pairs whose rating, 0 to 5, depends on one coordinate alone; the cosine says little of it."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, count, dimension)).astype(np.float32)
    ratings = 5 * np.exp(-np.abs(first[:, 0] - second[:, 0]).astype(np.float64))
    return RatedRows(first, second, ratings)


def test_what_cosines_do_not_see_is_learned() -> None:
    score = evaluate_relatedness(pairs(2_000, 0), pairs(500, 1), SIGNATURE, rng=np.random.default_rng(0))
    assert score.pearson > 0.9
    assert score.pearson_ci95[0] < score.pearson < score.pearson_ci95[1]
    assert (score.pairs, score.empty) == (500, 0)


def test_shuffled_ratings_teach_nothing() -> None:
    train = pairs(2_000, 0)
    shuffled = train._replace(ratings=np.random.default_rng(3).permutation(train.ratings))
    score = evaluate_relatedness(shuffled, pairs(500, 1), SIGNATURE, rng=np.random.default_rng(0))
    assert abs(score.pearson) < 0.2


def test_a_rating_is_a_distribution_over_the_two_numbers_beside_it() -> None:
    """The regression minimises the cross entropy with the distribution of Tai et al., and its L2 penalty."""
    train = pairs(60, 2, dimension=2)
    x, ratings = train.features(), train.ratings
    unit = (x - x.mean(axis=0)) / x.std(axis=0)
    classes = np.arange(np.floor(ratings.min()), np.ceil(ratings.max()) + 1)
    wanted = np.maximum(0, 1 - np.abs(ratings[:, None] - classes))  # (p, c)

    def loss(flat: np.ndarray) -> float:
        weights = flat.reshape(unit.shape[1] + 1, len(classes))
        log_shares = scipy.special.log_softmax(unit @ weights[:-1] + weights[-1], axis=1)
        return float(-(wanted * log_shares).sum() + np.square(weights[:-1]).sum() / (2 * 0.1))

    best = scipy.optimize.minimize(loss, np.zeros((unit.shape[1] + 1) * len(classes)), tol=1e-9)
    weights = best.x.reshape(-1, len(classes))
    expected = scipy.special.softmax(unit @ weights[:-1] + weights[-1], axis=1) @ classes
    np.testing.assert_allclose(_predicted(x, ratings, x, [0.1])[0], expected, atol=0.02)


def test_sentences_without_a_known_word() -> None:
    train, test = pairs(100, 0), pairs(40, 1)
    test.first[3] = 0
    assert evaluate_relatedness(train, test, SIGNATURE, rng=np.random.default_rng(0)).empty == 1
    unknown = test._replace(first=np.zeros_like(test.first), second=np.zeros_like(test.second))
    with pytest.raises(Mismatch, match="check that --src is the language"):
        evaluate_relatedness(train, unknown, SIGNATURE, rng=np.random.default_rng(0))


@pytest.mark.parametrize("ratings", [np.arange(10.0), np.full(100, 3.0)])
def test_too_little_to_learn_from(ratings: np.ndarray) -> None:
    few = pairs(len(ratings), 0)._replace(ratings=ratings)
    with pytest.raises(Mismatch, match="at least 25 .* got 10;|got 3 for all"):
        evaluate_relatedness(few, pairs(40, 1), SIGNATURE, rng=np.random.default_rng(0))


def test_ratings_that_are_nearly_all_the_same() -> None:
    """Whichever pair is held out, there is an answer."""
    train = pairs(30, 0)._replace(ratings=np.array([1.0, *[3.0] * 29]))
    for seed in range(5):
        score = evaluate_relatedness(train, pairs(40, 1), SIGNATURE, rng=np.random.default_rng(seed))
        assert -1 <= score.pearson <= 1
