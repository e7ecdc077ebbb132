"""Boosted trees: gradient-boosted trees learned by XGBoost, kept and applied as plain arrays.

The sum of the trees' leaves is the log odds that a row is of class 1. Rows are not walked down each tree,
which numpy does slowly, but leaves are ruled out (QuickScorer; Lucchese et al., 2015): a node whose test
fails rules out the leaves on its left, and the leaf reached is the first that no node rules out. Which
leaves the nodes of one feature rule out depends on the rank of its value among their thresholds alone, so
each feature costs one look-up for all trees.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.vectors import Doubles, Flags, Matrix, Numbers

BINS = 255  # of the values of a feature
LEAVES = 16  # of a tree, at most: a uint16 has a bit for each
BLOCK = 1_024  # rows at once, so that their masks of all trees stay in the cache
COUNTED = 128  # thresholds at most that a value is compared with one by one: of more, it is searched for
AT_ONCE = 16 * BLOCK  # rows whose columns are compared at a time

Nodes = NDArray[np.int32]
_ARRAYS = ("feature", "threshold", "left", "right", "value", "roots", "baseline")


@dataclass(frozen=True)
class TreesConfig:
    """How trees are grown; chosen on parts of the training lists."""

    trees: int = 200
    rate: float = 0.06
    hessian: float = 1.0
    """The least sum of a leaf's second derivatives: weight * p * (1 - p) of each of its rows."""
    share: float = 0.3
    """The share of features that a node may test, drawn anew: it gains as much as averaging models."""
    rows: float = 0.7
    """The share of rows that a tree is learned from, drawn anew."""
    ridge: float = 10.0


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Trees over f features: all their nodes (t,), one tree after the other, and their roots (r,).

    A row goes to `left` where its `feature` is at most the `threshold`; leaves have feature -1 and a
    `value`. `baseline` (1,) is added to the sum.
    """

    feature: Nodes
    threshold: Doubles
    left: Nodes
    right: Nodes
    value: Doubles
    roots: Nodes
    baseline: Doubles

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> BoostedTrees:
        """The trees from named arrays."""
        return cls(*(arrays[prefix + name] for name in _ARRAYS))

    def arrays(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        """The trees as named arrays, for an .npz."""
        return {prefix + name: getattr(self, name) for name in _ARRAYS}

    def check(self, features: int) -> None:
        """Raise ValueError unless these are trees over at most so many features, as they are learned.

        Each follows the one before, with LEAVES at most; children stand behind their parent, and have one.
        """
        nodes, roots, inner = len(self.feature), self.roots, self.feature >= 0
        sides = self.feature, self.threshold, self.left, self.right, self.value
        whole = [one.dtype.kind for one in (*sides, roots, self.baseline)] == [*"ifiifif"]
        if not whole or {one.shape for one in sides} != {(nodes,)} or self.baseline.shape != (1,):
            raise ValueError("expected trees of as many features, thresholds, children and values")
        ends = np.append(roots[1:], nodes)
        if roots.ndim != 1 or not len(roots) or roots[0] != 0 or not (roots < ends).all():
            raise ValueError("expected trees one after the other")
        of_tree = np.repeat(np.arange(len(roots)), ends - roots)
        children = np.concatenate([self.left[inner], self.right[inner]])
        parents = np.tile(np.flatnonzero(inner), 2)
        within = (children > parents).all() and (children < ends[of_tree[parents]]).all()
        if not within or len(np.unique(children)) != len(children) or (self.feature >= features).any():
            raise ValueError("expected children behind their one parent, and features that there are")
        leaves = np.bincount(of_tree[~inner], minlength=len(roots))
        if (self.feature < -1).any() or (leaves > LEAVES).any():
            raise ValueError(f"expected trees of at most {LEAVES} leaves")

    def log_odds(self, rows: Matrix) -> Doubles:
        """The log odds (p,) of rows (p, f) without nan."""
        found = np.full(len(rows), self.baseline[0])
        for begin in range(0, len(rows), AT_ONCE):
            found[begin : begin + AT_ONCE] += self._sums(rows[begin : begin + AT_ONCE].T.copy())
        return found

    def _sums(self, columns: Matrix) -> Doubles:
        """The sums (p,) of the leaves that rows reach, by their columns (f, p)."""
        values, masks = self._leaves_and_masks
        failed = [_places(columns[feature], own) for feature, (own, _) in masks.items()]
        sums, starts = np.empty(columns.shape[1]), np.arange(len(self.roots)) * LEAVES
        left, kept = np.empty((2, BLOCK, len(starts)), np.uint16)  # leaves not ruled out, as bits
        reached, of_leaves = np.empty(left.shape, np.int64), np.empty(left.shape)
        for begin in range(0, len(sums), BLOCK):
            block = slice(begin, min(begin + BLOCK, len(sums)))
            count = block.stop - begin
            left[:] = 2**LEAVES - 1
            for (_, table), numbers in zip(masks.values(), failed, strict=True):
                table.take(numbers[block], axis=0, out=kept[:count], mode="clip")
                left &= kept
            _LOWEST.take(left, out=reached, mode="clip")
            reached += starts
            values.take(reached, out=of_leaves, mode="clip")
            sums[block] = of_leaves[:count].sum(axis=1)
        return sums

    @cached_property
    def _leaves_and_masks(self) -> tuple[Doubles, dict[int, tuple[Matrix, NDArray[np.uint16]]]]:
        """The values of all leaves, and for each feature the tests of all trees.

        These are its thresholds (q,), and the leaves (q + 1, r) left by a value above 0 to q of them.
        """
        values, tests = np.zeros(len(self.roots) * LEAVES), dict[int, list[tuple[float, int, int]]]()
        for tree, root in enumerate(self.roots.tolist()):
            for node, first, middle in self._numbered(root, 0)[0]:
                if self.feature[node] < 0:
                    values[tree * LEAVES + first] = self.value[node]
                else:
                    kept = (2**LEAVES - 1) & ~((1 << middle) - (1 << first))
                    own = tests.setdefault(int(self.feature[node]), [])
                    own.append((float(self.threshold[node]), tree, kept))
        masks = {}
        for feature, found in sorted(tests.items()):
            # A number of single precision is above a threshold if it is above the next of these below.
            thresholds, places = np.unique(_rounded_down([one[0] for one in found]), return_inverse=True)
            left = np.full((len(thresholds) + 1, len(self.roots)), np.uint16(2**LEAVES - 1))
            for place, (_, tree, kept) in zip(places.tolist(), found, strict=True):
                left[place + 1 :, tree] &= np.uint16(kept)
            masks[feature] = thresholds, left
        return values, masks

    def _numbered(self, node: int, first: int) -> tuple[list[tuple[int, int, int]], int]:
        """All nodes under one, each with the numbers of its first leaf and of the first on its right.

        Leaves are numbered from the left, beginning with `first`; the number after the last comes second.
        """
        if self.feature[node] < 0:
            return [(node, first, first)], first + 1
        left, middle = self._numbered(int(self.left[node]), first)
        right, end = self._numbered(int(self.right[node]), middle)
        return [*left, *right, (node, first, middle)], end


_LOWEST = np.zeros(2**LEAVES, np.int64)  # the number of the lowest bit that is set
for _bit in reversed(range(LEAVES)):
    _LOWEST[1 << _bit :: 2 << _bit] = _bit


def _rounded_down(numbers: Sequence[float]) -> Matrix:
    """The largest numbers of single precision that are not above these."""
    exact = np.array(numbers)
    near = exact.astype(np.float32)
    return np.where(near > exact, np.nextafter(near, np.float32(-np.inf)), near)


def _places(values: Matrix, thresholds: Matrix) -> Numbers:
    """How many of ascending thresholds (q,) are below each value (p,)."""
    if len(thresholds) > COUNTED:
        return np.searchsorted(thresholds, values)
    below = np.zeros(len(values), np.uint8)
    for threshold in thresholds:
        below += values > threshold
    return below.astype(np.int64)


def fit_trees(
    rows: Matrix,
    labels: Flags,
    weights: Doubles | None = None,
    *,
    rng: np.random.Generator,
    config: TreesConfig | None = None,
) -> BoostedTrees:
    """Trees fitted to rows (p, f) and their labels (p,), by log loss; both labels must occur.

    On one thread (`nthread`), whose sums are in one order: more threads gain little on so few rows.
    """
    import xgboost  # not above: it takes a second to import

    config = config or TreesConfig()
    share = float(np.average(labels, weights=weights))
    learned_by = {
        "objective": "binary:logistic", "base_score": share, "tree_method": "hist", "max_bin": BINS,
        "grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0, "eta": config.rate,
        "min_child_weight": config.hessian, "colsample_bynode": config.share, "subsample": config.rows,
        "reg_lambda": config.ridge, "seed": int(rng.integers(2**31)), "nthread": 1, "verbosity": 0,
    }  # fmt: skip
    data = xgboost.QuantileDMatrix(rows, labels.astype(np.float32), weight=weights, max_bin=BINS, nthread=1)
    booster = xgboost.train(learned_by, data, config.trees)
    return _of_model(json.loads(booster.save_raw("json")), np.log(share / (1 - share)))


def _of_model(model: Mapping[str, Any], baseline: float) -> BoostedTrees:
    """The trees of a model in XGBoost's JSON.

    Leaves have their value where nodes have their threshold, and rows go left below it, not at it.
    """
    trees = model["learner"]["gradient_booster"]["model"]["trees"]
    sizes = [len(tree["left_children"]) for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    feature, condition, left, right = (
        np.concatenate([tree[name] for tree in trees])
        for name in ("split_indices", "split_conditions", "left_children", "right_children")
    )
    is_leaf, starts = left < 0, np.repeat(roots, sizes)
    below = np.nextafter(condition.astype(np.float32), np.float32(-np.inf)).astype(np.float64)
    return BoostedTrees(
        np.where(is_leaf, -1, feature).astype(np.int32),
        np.where(is_leaf, 0, below),
        np.where(is_leaf, 0, left + starts).astype(np.int32),
        np.where(is_leaf, 0, right + starts).astype(np.int32),
        np.where(is_leaf, condition, 0),
        roots.astype(np.int32),
        np.array([baseline]),
    )
