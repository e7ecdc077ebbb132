"""Boosted trees, of scikit-learn's decision trees, kept and applied as plain arrays.

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

LEAST_HESSIAN = 1e-9  # of a row, by which its gradient is divided
LEAVES = 16  # of a tree, at most: a uint16 has a bit for each
BLOCK = 2_048  # rows at once, so that their masks of all trees stay in the cache

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]
_ARRAYS = ("feature", "threshold", "left", "right", "value", "roots", "baseline")


@dataclass(frozen=True)
class TreesConfig:
    """How trees are grown; chosen on parts of the training lists.

    Each node takes the best of random thresholds of a share of the features (Geurts, Ernst and Wehenkel,
    2006, extremely randomised trees): as accurate here as scikit-learn's histograms, and as quick, but its
    trees are public.
    """

    trees: int = 100
    rate: float = 0.09
    leaf: int = 30
    """The fewest rows in a leaf."""
    share: float = 0.5
    """The share of features that a node may test, drawn anew."""
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
    """Trees fitted to rows (p, f) and their labels (p,), by log loss; both labels must occur.

    Each is fitted to what the others leave, by a step of Newton's method (Friedman, Hastie and
    Tibshirani, 2000, LogitBoost).
    """
    from sklearn.tree import DecisionTreeRegressor  # not above: it takes a second to import

    config = config or TreesConfig()
    weights = np.ones(len(labels)) if weights is None else weights
    share = float(weights @ labels / weights.sum())
    baseline = np.log(share / (1 - share))
    log_odds, rows = np.full(len(labels), baseline), np.ascontiguousarray(rows, np.float32)
    nodes, roots = [], [0]
    for _ in range(config.trees):
        chance = 1 / (1 + np.exp(-log_odds))
        gradient = weights * (labels - chance)
        hessian = np.maximum(weights * chance * (1 - chance), LEAST_HESSIAN)
        tree = DecisionTreeRegressor(
            splitter="random", max_features=config.share, max_leaf_nodes=LEAVES,
            min_samples_leaf=config.leaf, random_state=int(rng.integers(2**31)),
        ).fit(rows, gradient / hessian, sample_weight=hessian).tree_  # fmt: skip
        leaf, count = tree.apply(rows), tree.node_count
        sums = (np.bincount(leaf, values, count) for values in (gradient, hessian))
        value = config.rate * np.divide(next(sums), next(sums) + config.ridge)
        log_odds += value[leaf]
        is_leaf = tree.children_left < 0
        children = (
            np.where(is_leaf, 0, side) + roots[-1] for side in (tree.children_left, tree.children_right)
        )
        nodes.append((np.where(is_leaf, -1, tree.feature), tree.threshold, *children, value))
        roots.append(roots[-1] + count)
    feature, threshold, left, right, value = (np.concatenate(one) for one in zip(*nodes, strict=True))
    numbers = (one.astype(np.int32) for one in (feature, left, right, np.array(roots[:-1])))
    feature, left, right, starts = numbers
    return BoostedTrees(feature, threshold, left, right, value, starts, np.array([baseline]))
