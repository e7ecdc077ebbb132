"""Boosted trees: what they learn, and that their arrays give what XGBoost's trees give."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import xgboost

from muse.ranking.trees import BoostedTrees, TreesConfig, fit_trees


def data(seed: int = 0, rows: int = 3_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, 6)).astype(np.float32)
    x[:, 3] = x[:, 3].round()  # many equal values, some of them thresholds
    return x, (x[:, 0] * x[:, 1] + x[:, 3] > 0.3)


@pytest.mark.parametrize("weighted", [False, True])
def test_same_log_odds_as_the_model_of_xgboost(monkeypatch: pytest.MonkeyPatch, weighted: bool) -> None:
    made, train = [], xgboost.train

    def kept(*of: Any) -> xgboost.Booster:
        made.append(train(*of))
        return made[-1]

    monkeypatch.setattr(xgboost, "train", kept)
    (x, y), (new, _) = data(), data(10, rows=5_000)
    weights = np.random.default_rng(5).uniform(0.2, 1, len(x)) if weighted else None
    trees = fit_trees(x, y, weights, rng=np.random.default_rng(1), config=TreesConfig(trees=40))
    (booster,) = made
    thresholds = trees.threshold[trees.feature == 0]
    new[: len(thresholds), 0] = thresholds  # values at them, and those just above, where rows go right
    new[-len(thresholds) :, 0] = np.nextafter(thresholds.astype(np.float32), np.float32(np.inf))
    expected = booster.predict(xgboost.DMatrix(new), output_margin=True)
    np.testing.assert_allclose(trees.log_odds(new), expected, atol=1e-5)


def test_values_equal_to_a_threshold_go_left() -> None:
    node = np.array([0, -1, -1], np.int32)
    trees = BoostedTrees(
        node, np.array([1.0, 0, 0]), np.array([1, 0, 0], np.int32), np.array([2, 0, 0], np.int32),
        np.array([0.0, -3.0, 5.0]), np.array([0], np.int32), np.array([0.5]),
    )  # fmt: skip
    assert trees.log_odds(np.array([[1.0], [1.5]], np.float32)).tolist() == [-2.5, 5.5]


@pytest.mark.parametrize("weighted", [False, True])
def test_accurate_on_rows_that_were_not_learned_from(weighted: bool) -> None:
    (x, y), (new, right) = data(), data(10, rows=2_000)
    weights = np.random.default_rng(5).uniform(0.2, 1, len(x)) if weighted else None
    found = fit_trees(x, y, weights, rng=np.random.default_rng(0)).log_odds(new)
    assert float(((found > 0) == right).mean()) > 0.92


def test_trees_learned_at_once_are_those_learned_alone() -> None:
    x, y = data()

    def fitted(seed: int) -> np.ndarray:
        return fit_trees(x, y, rng=np.random.default_rng(seed), config=TreesConfig(trees=20)).log_odds(x)

    alone = [fitted(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal([*pool.map(fitted, range(4))], alone)
