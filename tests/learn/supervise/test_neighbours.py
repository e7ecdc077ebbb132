"""Kept neighbours against a count in numpy, and the choice for rows, which rests on them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from muse.learn.supervise.choice import MethodScore, choose, keeping_most, simplest
from muse.learn.supervise.cross_validation import Folds, HeldOutSearch, Ranks, kept_neighbours
from muse.learn.supervise.evidence import Evidence, Maps
from muse.learn.supervise.methods import unfitted
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


def scored(name: str, ranks: list[int], kept: list[float]) -> MethodScore:
    words = np.arange(len(ranks))
    found = Ranks(words, np.array(ranks), words)
    return MethodScore(
        unfitted(name, Maps(torch.eye(1), torch.eye(1))), [], found, 0.0, dict(enumerate(kept))
    )


def test_neighbours_decide_among_those_that_find_counterparts_as_well() -> None:
    best = scored("best", [1, 1, 1, 1, 2, 1, 1, 1], [0.2] * 8)
    equal = scored("equal", [1, 1, 1, 1, 1, 2, 1, 1], [0.4] * 8)
    worse = scored("worse", [9] * 8, [0.9] * 8)
    assert keeping_most([best, equal, worse]).method.name == "equal"
    assert simplest([best, equal, worse]).method.name == "best"


@pytest.mark.slow
def test_corrections_compete_with_what_is_learned_from_more_pairs() -> None:
    _, found = choose(known(pairs=60), [], fixed=True, regress=True, seed=[0], runtime=Runtime())
    names = {one["name"] for one in found.candidates}
    assert {"procrustes+ridge:0.3,rank:16", "ridge:0.3", "canonical:0.5,0.5", "transport"} <= names
    assert {"self-learning", "self-learning+ridge:0.3", "transport+ridge:1"} <= names
    assert all("kept_neighbours" in one for one in found.candidates)
