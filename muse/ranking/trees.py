"""Boosted trees: gradient-boosted trees learned by scikit-learn, kept and applied as plain arrays.

The sum of the trees' leaves is the log odds that a row is of class 1. Rows are not walked down each tree,
which numpy does slowly, but leaves are ruled out (QuickScorer; Lucchese et al., 2015): a node whose test
fails rules out the leaves on its left, and the leaf reached is the first that no node rules out. Which
leaves the nodes of one feature rule out depends on the rank of its value among their thresholds alone, so
each feature costs one look-up for all trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 255  # of the values of a feature, as in scikit-learn
LEAVES = 16  # of a tree, at most: a uint16 has a bit for each
BLOCK = 2_048  # rows at once, so that their masks of all trees stay in the cache

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]
_ARRAYS = ("feature", "threshold", "left", "right", "value", "roots", "baseline")


@dataclass(frozen=True, eq=False)
class TreesConfig:
    """How trees are grown; chosen on parts of the training lists."""

    trees: int = 150
    rate: float = 0.06
    leaf: int = 30
    """The fewest rows in a leaf."""
    share: float = 0.3
    """The share of features that a node may test, drawn anew: it gains as much as averaging models."""
    ridge: float = 1.0


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Trees over f features: all their nodes (t,), one tree after the other, and their roots (r,).

    A row goes to `left` where its `feature` is at most the `threshold`; leaves have feature -1 and a
    `value`. `baseline` (1,) is added to the sum.
    """

    feature: Numbers
    threshold: Floats
    left: Numbers
    right: Numbers
    value: Floats
    roots: Numbers
    baseline: Floats

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> BoostedTrees:
        """The trees from named arrays."""
        return cls(*(arrays[prefix + name] for name in _ARRAYS))

    def arrays(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        """The trees as named arrays, for an .npz."""
        return {prefix + name: getattr(self, name) for name in _ARRAYS}

    def log_odds(self, rows: NDArray[np.float32]) -> Floats:
        """The log odds (p,) of rows (p, f) without nan."""
        found = np.full(len(rows), self.baseline[0])
        for begin in range(0, len(rows), BLOCK):
            block = rows[begin : begin + BLOCK]
            found[begin : begin + BLOCK] += self._values[_first(self._left(block)) + self._starts].sum(axis=1)
        return found

    def _left(self, rows: NDArray[np.float32]) -> NDArray[np.uint16]:
        # The leaves (b, r) of each tree that no node rules out, as bits.
        left = np.full((len(rows), len(self.roots)), np.uint16(2**LEAVES - 1))
        for feature, (thresholds, masks) in self._masks.items():
            rank = np.searchsorted(thresholds, rows[:, feature].astype(np.float64))  # (b,)
            left &= masks[rank]
        return left

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.arange(len(self.roots)) * LEAVES

    @cached_property
    def _leaves(self) -> list[list[tuple[int, int, int]]]:
        # Of each tree, its nodes with the numbers of their first leaf and of the first on their right.
        return [list(_numbered(int(root), self.left, self.right, self.feature)) for root in self.roots]

    @cached_property
    def _values(self) -> Floats:
        values = np.zeros(len(self.roots) * LEAVES)
        for tree, nodes in enumerate(self._leaves):
            for node, first, _ in nodes:
                if self.feature[node] < 0:
                    values[tree * LEAVES + first] = self.value[node]
        return values

    @cached_property
    def _masks(self) -> dict[int, tuple[Floats, NDArray[np.uint16]]]:
        """The thresholds (q,) of each feature, and the leaves (q + 1, r) left after 0 to q failed tests."""
        tests: dict[int, list[tuple[float, int, int]]] = {}
        for tree, nodes in enumerate(self._leaves):
            for node, first, middle in nodes:
                if self.feature[node] >= 0:
                    ruled_out = (1 << middle) - (1 << first)
                    found = float(self.threshold[node]), tree, (2**LEAVES - 1) & ~ruled_out
                    tests.setdefault(int(self.feature[node]), []).append(found)
        return {feature: self._table(sorted(found)) for feature, found in sorted(tests.items())}

    def _table(self, tests: list[tuple[float, int, int]]) -> tuple[Floats, NDArray[np.uint16]]:
        masks = np.full((len(tests) + 1, len(self.roots)), np.uint16(2**LEAVES - 1))
        for place, (_, tree, mask) in enumerate(tests, start=1):
            masks[place] = masks[place - 1]
            masks[place, tree] &= np.uint16(mask)
        return np.array([threshold for threshold, _, _ in tests]), masks


def _numbered(root: int, left: Numbers, right: Numbers, feature: Numbers) -> list[tuple[int, int, int]]:
    # (node, its first leaf, the first leaf on its right) of all nodes, leaves numbered from the left.
    found, following = [], 0

    def number(node: int) -> None:
        nonlocal following
        first = following
        if feature[node] < 0:
            following += 1
            found.append((node, first, first))
            return
        number(int(left[node]))
        middle = following
        number(int(right[node]))
        found.append((node, first, middle))

    number(root)
    return found


def _first(left: NDArray[np.uint16]) -> NDArray[np.int64]:
    # The number of the lowest bit that is set.
    return _LOWEST[left]


_LOWEST = np.zeros(2**LEAVES, np.int64)
for _bit in reversed(range(LEAVES)):
    _LOWEST[1 << _bit :: 2 << _bit] = _bit


def fit_trees(
    rows: NDArray[np.float32],
    labels: NDArray[np.bool_],
    weights: Floats | None = None,
    *,
    rng: np.random.Generator,
    config: TreesConfig | None = None,
) -> BoostedTrees:
    """Trees fitted to rows (p, f) and their labels (p,), by log loss; both labels must occur."""
    return of_classifier(fit_classifier(rows, labels, weights, rng=rng, config=config))


def fit_classifier(
    rows: NDArray[np.float32],
    labels: NDArray[np.bool_],
    weights: Floats | None = None,
    *,
    rng: np.random.Generator,
    config: TreesConfig | None = None,
) -> Any:
    """The trees as a classifier of scikit-learn, fitted to rows (p, f) and labels (p,)."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # not above: it takes a second to import

    config = config or TreesConfig()
    if weights is not None and (weights == weights[0]).all():
        weights = None
    classifier = HistGradientBoostingClassifier(
        max_iter=config.trees, learning_rate=config.rate, max_leaf_nodes=LEAVES, early_stopping=False,
        min_samples_leaf=config.leaf, max_features=config.share, l2_regularization=config.ridge,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    if weights is None:
        return classifier.fit(rows, labels)
    tops = [_tops(column, weights) for column in rows.T]
    classifier.fit(_binned(rows, tops), labels, sample_weight=weights)
    for (tree,) in classifier._predictors:
        _set_thresholds_(tree.nodes, tops)
    return classifier


def _tops(values: NDArray[np.float32], weights: Floats) -> NDArray[np.float32] | None:
    """The highest values of at most BINS bins of about equal weight; None if there are no more values.

    scikit-learn sorts the values anew for every bin where rows have weights; of so few values it takes each.
    """
    if len(np.unique(values)) <= BINS:
        return None
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    ends = np.searchsorted(total, np.linspace(0, total[-1], BINS + 1)[1:-1])
    return np.unique(np.append(values[order[ends]], values[order[-1]]))


def _binned(rows: NDArray[np.float32], tops: list[NDArray[np.float32] | None]) -> NDArray[np.float32]:
    """The rows (p, f), with the highest value of its bin for each value."""
    found = rows.copy()
    for column, of in enumerate(tops):
        if of is not None:
            found[:, column] = of[np.searchsorted(of, rows[:, column])]
    return found


def _set_thresholds_(nodes: NDArray[Any], tops: list[NDArray[np.float32] | None]) -> None:
    # scikit-learn's lie amid the next bin: what is above the highest value of a bin belongs to the next.
    for column, of in enumerate(tops):
        if of is not None:
            own = (nodes["is_leaf"] == 0) & (nodes["feature_idx"] == column)
            nodes["num_threshold"][own] = of[np.searchsorted(of, nodes["num_threshold"][own]) - 1]


def of_classifier(classifier: Any) -> BoostedTrees:
    """The trees of scikit-learn's classifier of two classes.

    scikit-learn has no public access to them; a test checks that both give the same log odds.
    """
    nodes = [tree.nodes for (tree,) in classifier._predictors]
    roots = np.cumsum([0, *map(len, nodes)])[:-1]
    every = np.concatenate(nodes)
    starts = np.repeat(roots, [*map(len, nodes)])
    is_leaf = every["is_leaf"].astype(bool)
    return BoostedTrees(
        np.where(is_leaf, -1, every["feature_idx"]).astype(np.int32),
        every["num_threshold"].astype(np.float64),
        (every["left"] + starts).astype(np.int32),
        (every["right"] + starts).astype(np.int32),
        every["value"].astype(np.float64),
        roots.astype(np.int32),
        np.asarray(classifier._baseline_prediction, np.float64).reshape(1),
    )
