"""Refined rows against canonical correlation by a generalised eigenvalue problem, and what they bring."""

import numpy as np
import pytest
import scipy.linalg

from muse.ranking import train_ranker
from muse.ranking.canonical import CanonicalMap, refine
from muse.ranking.features import KnownPairs
from muse.ranking.model import answered_pairs, read_pretrained
from muse.ranking.train_ranker import RefinedViews, learn_answers
from muse.space.derived import AnswerTable
from tests.support.made_up_pair import made_up, unit

Floats = np.ndarray


def rows(seed: int, count: int = 400, size: int = 12) -> tuple[Floats, Floats]:
    """Unit rows of two languages that agree in some directions more than in others."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(count, size)) * np.linspace(0.2, 2, size)
    sides = (shared + rng.normal(size=shared.shape) for _ in range(2))
    x, y = (side @ np.linalg.qr(rng.normal(size=(size, size)))[0] for side in sides)
    return unit(x), unit(y)


def reference(x: Floats, y: Floats, pairs: Floats, weights: Floats) -> Floats:
    """The cosines (n, m) after canonical correlation with a ridge of 1, as eigenvectors of a pencil."""
    share = weights / weights.sum()
    left, right = x[pairs[:, 0]].astype(float), y[pairs[:, 1]].astype(float)
    means = share @ left, share @ right
    a, b = left - means[0], right - means[1]
    spread_x, spread_y, both = (
        a.T @ (share[:, None] * a),
        b.T @ (share[:, None] * b),
        a.T @ (share[:, None] * b),
    )
    ridged_x, ridged_y = (one + np.eye(len(one)) * np.trace(one) / len(one) for one in (spread_x, spread_y))
    squares, u = scipy.linalg.eigh(both @ np.linalg.solve(ridged_y, both.T), ridged_x)
    correlations = np.sqrt(squares)
    v = np.linalg.solve(ridged_y, both.T @ u) / correlations
    mapped = (x - means[0]) @ (u * np.sqrt(correlations)), (y - means[1]) @ (v * np.sqrt(correlations))
    s, t = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in mapped)
    return np.asarray(s @ t.T)


def test_refined_rows_are_canonical_directions() -> None:
    x, y = rows(0)
    rng = np.random.default_rng(1)
    pairs = np.stack([np.arange(300), np.arange(300)], axis=1)
    weights = rng.uniform(0.2, 1, 300)
    source, target, maps = refine((x, y), pairs, weights)
    np.testing.assert_allclose(source @ target.T, reference(x, y, pairs, weights), atol=2e-5)
    again = [CanonicalMap.of_arrays(one.arrays("refined"), "refined") for one in maps]
    np.testing.assert_array_equal(again[0].refined(x), source)
    np.testing.assert_array_equal(again[1].refined(y), target)


def test_rotated_spaces_are_refined_alike() -> None:
    x, y = rows(2)
    pairs, weights = np.stack([np.arange(250)] * 2, axis=1), np.ones(250)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(12, 12)))[0].astype(np.float32)
    one, two = refine((x, y), pairs, weights), refine((x @ turn, y), pairs, weights)
    np.testing.assert_allclose(one[0] @ one[1].T, two[0] @ two[1].T, atol=2e-5)


def test_rows_of_zeros_stay() -> None:
    x, y = rows(4)
    x[399] = 0
    source, _, _ = refine((x, y), np.stack([np.arange(250)] * 2, axis=1), np.ones(250))
    assert not source[399].any()
    assert source[:399].any(axis=1).all()


def test_pairs_are_words_that_answer_each_other() -> None:
    def table(columns: list[int], probability: list[float]) -> AnswerTable:
        shares = np.array(probability, np.float32)
        return AnswerTable(np.arange(len(columns) + 1), np.array(columns), shares, shares)

    found = answered_pairs(table([1, 0, 7, 1], [0.9, 0.5, 0.4, 0.8]), table([1, 0], [0.7, 0.6]))
    np.testing.assert_array_equal(found.pairs, [[0, 1], [1, 0]])
    np.testing.assert_allclose(found.weights, [0.6, 0.5], rtol=1e-6)
    given = KnownPairs(np.array([[0, 5], [8, 9]]), np.ones(2))
    pairs, weights = given.with_others(found.pairs, found.weights, np.array([False, True]))
    np.testing.assert_array_equal(pairs, [[1, 0], [0, 5]])
    np.testing.assert_allclose(weights, [0.5, 1.0], rtol=1e-6)


@pytest.mark.slow
def test_answers_by_refined_rows_are_better(monkeypatch: pytest.MonkeyPatch) -> None:
    made = made_up(1_400)
    trees, rng = read_pretrained(), np.random.default_rng(0)
    noise = (
        rng.normal(size=made.rows[0].shape) * 0.6 * np.linspace(0, 1, 20) ** 3
    )  # directions agree more or less
    both = unit(made.rows[1][made.gold] + noise), made.rows[1]

    def share() -> float:
        there, _ = learn_answers(made.words, both, rng=np.random.default_rng(0), pretrained=trees)
        return float((there.answers.first() == made.gold).mean())

    monkeypatch.setattr(train_ranker, "LEAST_ANSWERED", 300)
    given = KnownPairs.none()
    start = RefinedViews.of(made.words, both, given, rng=np.random.default_rng(0), pretrained=trees)
    assert start.answered is not None
    assert len(start.answered.pairs) >= 300
    refined = share()
    monkeypatch.setattr(train_ranker, "LEAST_ANSWERED", 10**9)
    assert refined > share() + 0.05
