"""Relatedness: what depends on |u - v| and u * v is learned, by the objective of its paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.special

from muse.errors import Mismatch
from muse.evaluation.score import Signature
from muse.sentences.evaluation.sts import RatedRows, _predicted, evaluate_relatedness

SIGNATURE = Signature("regression", "en-en")


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
    with pytest.raises(Mismatch, match="at least 25 training pairs with different ratings"):
        evaluate_relatedness(few, pairs(40, 1), SIGNATURE, rng=np.random.default_rng(0))


def test_ratings_that_are_nearly_all_the_same() -> None:
    """Whichever pair is held out, there is an answer."""
    train = pairs(30, 0)._replace(ratings=np.array([1.0, *[3.0] * 29]))
    for seed in range(5):
        score = evaluate_relatedness(train, pairs(40, 1), SIGNATURE, rng=np.random.default_rng(seed))
        assert -1 <= score.pearson <= 1
