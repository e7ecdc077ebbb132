"""Kept neighbours against a count in numpy, and the choice for rows, which rests on them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from muse.learn.supervise.choice import choose
from muse.learn.supervise.cross_validation import Folds, HeldOutSearch
from muse.learn.supervise.evidence import Evidence, Maps
from muse.learn.supervise.neighbours import kept_neighbours
from muse.run.runtime import Runtime


def known(count: int = 550, pairs: int = 40) -> Evidence:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count, 6))
    y = x @ rng.normal(size=(6, 6)) + 0.3 * rng.normal(size=x.shape)
    left, right = (normalize(torch.from_numpy(side.astype(np.float32))) for side in (x, y))
    places = torch.arange(pairs).repeat(2, 1).T
    return Evidence(left, right, places, torch.ones(pairs), (count, count))


def test_kept_neighbours_are_counted_without_the_counterpart() -> None:
    evidence = known()
    rng = np.random.default_rng(1)
    folds, search = Folds.of(evidence, rng), HeldOutSearch.of(evidence, rng)
    fits = [
        Maps(torch.from_numpy(rng.normal(size=(6, 6)).astype(np.float32)), torch.eye(6)) for _ in folds.trials
    ]
    found = kept_neighbours(fits, folds, search)
    assert sorted(found) == list(range(40))
    x, y = evidence.x.numpy(), evidence.y.numpy()
    for row in range(40):
        mapped = x[row] @ fits[int(folds.of_pair[row])].source.numpy().T
        lists = []
        for query in (y[row], mapped):
            scores = y @ query
            scores[row] = -np.inf
            lists.append(set(np.argsort(-scores)[:10].tolist()))
        assert found[row] == pytest.approx(len(lists[0] & lists[1]) / 10)


def test_no_maps_keep_nothing() -> None:
    evidence = known()
    rng = np.random.default_rng(1)
    folds, search = Folds.of(evidence, rng), HeldOutSearch.of(evidence, rng)
    assert kept_neighbours([], folds, search) == {}


@pytest.mark.slow
def test_the_method_that_keeps_most_neighbours_is_chosen() -> None:
    _, found = choose(known(pairs=60), [], fixed=True, regress=True, seed=[0], runtime=Runtime())
    shares = {one["name"]: one["kept_neighbours"] for one in found.candidates}
    assert shares[found.chosen] == max(shares.values())
    assert {"procrustes+ridge:0.3,rank:16", "ridge:0.3", "canonical:0.5,0.5", "transport"} <= set(shares)
