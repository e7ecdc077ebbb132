"""Trees as arrays give what scikit-learn gives."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting import binning

from muse.ranking.trees import LEAVES, BoostedTrees, TreesConfig, fit_classifier, fit_trees, of_classifier


def data(seed: int = 0, rows: int = 3_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, 6)).astype(np.float32)
    x[:, 3] = x[:, 3].round()  # many equal values, some of them thresholds
    return x, (x[:, 0] * x[:, 1] + x[:, 3] > 0.3)


@pytest.mark.parametrize("seed", [0, 1])
def test_same_log_odds_as_scikit_learn(seed: int) -> None:
    x, y = data(seed)
    classifier = fit_classifier(x, y, rng=np.random.default_rng(seed), config=TreesConfig(trees=40))
    new, _ = data(seed + 10, rows=5_000)
    np.testing.assert_allclose(
        of_classifier(classifier).log_odds(new), classifier.decision_function(new), atol=1e-9
    )


def test_values_equal_to_a_threshold_go_left() -> None:
    node = np.array([0, -1, -1], np.int32)
    trees = BoostedTrees(
        node, np.array([1.0, 0, 0]), np.array([1, 0, 0], np.int32), np.array([2, 0, 0], np.int32),
        np.array([0.0, -3.0, 5.0]), np.array([0], np.int32), np.array([0.5]),
    )  # fmt: skip
    assert trees.log_odds(np.array([[1.0], [1.5]], np.float32)).tolist() == [-2.5, 5.5]


def test_saved_without_pickle() -> None:
    x, y = data()
    trees = fit_trees(x, y, rng=np.random.default_rng(0), config=TreesConfig(trees=5))
    file = BytesIO()
    arrays: dict[str, Any] = trees.arrays("a.")
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as read:
        again = BoostedTrees.of_arrays(read, "a.")
    np.testing.assert_array_equal(again.log_odds(x), trees.log_odds(x))


def test_same_seed_same_trees() -> None:
    x, y = data()
    one, two = (fit_trees(x, y, rng=np.random.default_rng(3), config=TreesConfig(trees=8)) for _ in "ab")
    np.testing.assert_array_equal(one.log_odds(x), two.log_odds(x))


def test_weights_are_learned_from_without_a_sort_for_every_bin(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data(rows=1_200)
    weights = np.random.default_rng(5).uniform(0.2, 1, len(x))
    config = TreesConfig(trees=25)
    theirs = HistGradientBoostingClassifier(
        max_iter=config.trees, learning_rate=config.rate, max_leaf_nodes=LEAVES, early_stopping=False,
        min_samples_leaf=config.leaf, max_features=config.share, l2_regularization=config.ridge,
        random_state=int(np.random.default_rng(0).integers(2**31)),
    ).fit(x, y, sample_weight=weights)  # fmt: skip
    monkeypatch.setattr(binning, "_weighted_percentile", None)  # nor may it be asked
    ours = fit_classifier(x, y, weights, rng=np.random.default_rng(0), config=config)
    new, right = data(10, rows=2_000)
    found, expected = of_classifier(ours).log_odds(new), theirs.decision_function(new)
    np.testing.assert_allclose(found, ours.decision_function(new), atol=1e-9)
    assert np.corrcoef(found, expected)[0, 1] > 0.98
    accuracy, theirs_ = (float(((odds > 0) == right).mean()) for odds in (found, expected))
    assert abs(accuracy - theirs_) < 0.02 and accuracy > 0.85
    # A row goes the way it went when the trees were learned.
    nodes = [one for (tree,) in ours._predictors for one in tree.nodes if not one["is_leaf"]]
    assert all(one["num_threshold"] in x[:, one["feature_idx"]] for one in nodes if one["feature_idx"] != 3)
