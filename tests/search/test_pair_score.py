"""Scores of pairs against their formulas, written out one pair at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from muse.errors import BadSetting
from muse.search.retrieval import PAIR_METHODS, PairScore


def unit_rows(seed: int, count: int) -> torch.Tensor:
    rows = np.random.default_rng(seed).normal(0.4, 1, (count, 6)).astype(np.float32)
    return normalize(torch.from_numpy(rows))


def by_hand(method: str, x: np.ndarray, y: np.ndarray, row: int, column: int, k: int) -> float:
    cosines = x @ y.T
    cosine = cosines[row, column]
    own = sorted(cosines[row], reverse=True)[:k]
    other = sorted(cosines[:, column], reverse=True)[:k]
    if method == "margin":  # cos / (sum / 2k + sum / 2k)
        return float(cosine / (sum(own) / (2 * k) + sum(other) / (2 * k)))
    if method == "csls":
        return float(2 * cosine - sum(own) / k - sum(other) / k)
    if method == "isf":
        return float(cosine - math.log(sum(math.exp(30 * value) for value in cosines[:, column])) / 30)
    return float(cosine)


@pytest.mark.parametrize("method", PAIR_METHODS)
def test_scores_are_those_of_the_formula(method: str) -> None:
    x, y = unit_rows(0, 9), unit_rows(1, 12)
    how = PairScore(method, k=3)
    own, other = how.sides(x, y)
    scores = how.score(x @ y.T, own[:, None], other)
    for row, column in ((0, 0), (3, 11), (8, 5)):
        wanted = by_hand(method, x.double().numpy(), y.double().numpy(), row, column, 3)
        assert float(scores[row, column]) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("method", ["csls", "nn", "margin"])
def test_a_score_is_the_same_from_both_sides(method: str) -> None:
    x, y = unit_rows(2, 7), unit_rows(3, 5)
    how = PairScore(method)
    (own, other), (back_own, back_other) = how.sides(x, y), how.sides(y, x)
    there = how.score(x @ y.T, own[:, None], other)
    back = how.score(y @ x.T, back_own[:, None], back_other)
    torch.testing.assert_close(there, back.T)


def test_a_ratio_keeps_its_sign_where_nothing_is_near() -> None:
    x, y = torch.eye(2), -torch.eye(2)
    how = PairScore("margin", k=2)
    own, other = how.sides(x, y)
    assert bool((how.score(x @ y.T, own[:, None], other).diagonal() < 0).all())


@pytest.mark.parametrize(("method", "k"), [("magic", 4), ("margin", 0)])
def test_bad_settings(method: str, k: int) -> None:
    with pytest.raises(BadSetting, match=r"must (be one of|have one row)"):
        PairScore(method, k=k)
