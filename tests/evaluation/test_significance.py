"""The paired test: against the exact binomial test, brute force, and its own level."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from muse.errors import Mismatch
from muse.evaluation.words import compare, compare_words, evaluate_words
from muse.lexicon import Lexicon
from tests.evaluation.test_words import NN, SPACE


def drawn(seed: int, first: float, second: float, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shared = rng.random(count)
    return (shared < first), np.where(rng.random(count) < 0.7, shared, rng.random(count)) < second


@pytest.mark.parametrize("second", [0.5, 0.53, 0.6])
def test_p_is_that_of_the_exact_sign_test(second: float) -> None:
    hits = drawn(1, 0.5, second)
    found = compare(*hits, np.random.default_rng(0), samples=200_000)
    exact = scipy.stats.binomtest(found.only_first, found.only_first + found.only_second, 0.5).pvalue
    assert found.p_value == pytest.approx(exact, abs=0.005)


def test_the_interval_is_that_of_resampled_queries() -> None:
    first, second = drawn(2, 0.6, 0.5)
    found = compare(first, second, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    rows = rng.integers(len(first), size=(4_000, len(first)))
    differences = 100 * (first[rows].mean(1) - second[rows].mean(1))
    assert found.ci95 == pytest.approx(tuple(np.percentile(differences, [2.5, 97.5])), abs=0.5)
    assert found.difference == pytest.approx(100 * (first.mean() - second.mean()))
    assert (found.first, found.second) == pytest.approx((100 * first.mean(), 100 * second.mean()))


def test_equals_are_called_different_as_rarely_as_promised() -> None:
    rng = np.random.default_rng(0)
    found = [
        compare(rng.random(200) < 0.5, rng.random(200) < 0.5, rng, samples=500).p_value for _ in range(400)
    ]
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.08


def test_exchanging_the_two_changes_the_sign() -> None:
    first, second = drawn(3, 0.6, 0.5)
    here, there = (compare(*pair, np.random.default_rng(0)) for pair in ((first, second), (second, first)))
    assert here.difference == -there.difference
    assert here.p_value == pytest.approx(there.p_value, abs=0.02)
    assert (here.only_first, here.only_second) == (there.only_second, there.only_first)


def test_the_difference_is_that_of_the_first_to_the_second() -> None:
    rng = np.random.default_rng(0)
    good, bad = (
        evaluate_words(SPACE, Lexicon(pairs), rng=rng, retrieval=NN)
        for pairs in (
            (("un", "one"), ("deux", "two"), ("trois", "three")),
            (("un", "two"), ("deux", "one"), ("trois", "three")),
        )
    )
    found = compare_words(good, bad, rng)
    assert (found.only_first, found.only_second) == (2, 0)
    assert found.difference == pytest.approx(200 / 3)


def test_what_cannot_be_compared() -> None:
    for hits in ((np.ones(3, bool), np.ones(2, bool)), (np.ones(0, bool), np.ones(0, bool))):
        with pytest.raises(Mismatch, match="the same queries for both"):
            compare(*hits, np.random.default_rng(0))


def test_only_common_queries_count() -> None:
    pairs = [("un", "one"), ("deux", "two"), ("trois", "four")]
    rng = np.random.default_rng(0)
    all_three = evaluate_words(SPACE, Lexicon(tuple(pairs)), rng=rng)
    two = evaluate_words(SPACE, Lexicon(tuple(pairs[1:])), rng=rng)
    assert compare_words(all_three, two, rng).queries == 2
