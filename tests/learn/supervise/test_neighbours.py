"""Kept neighbours against a count in numpy, and the choice for rows, which rests on them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from muse.learn.supervise.cross_validation import Folds, HeldOutSearch, Ranks, kept_neighbours
from muse.learn.supervise.linear import drawn_units, orthogonal, ridge, with_units
from muse.learn.supervise.model_selection import (
    NETWORK_PENALTIES,
    ChoiceConfig,
    HeldOutTrials,
    MethodScore,
    choose,
    choose_into_store,
    keeping_most,
    simplest,
)
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.run.runtime import Runtime


def known(count: int = 550, pairs: int = 40) -> TrainingPairs:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count, 6))
    y = x @ rng.normal(size=(6, 6)) + 0.3 * rng.normal(size=x.shape)
    left, right = (normalize(torch.from_numpy(side.astype(np.float32))) for side in (x, y))
    places = torch.arange(pairs).repeat(2, 1).T
    return TrainingPairs(left, right, places, torch.ones(pairs), (count, count))


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
    return MethodScore(name, orthogonal, [], found, kept=dict(enumerate(kept)))


def test_neighbours_decide_among_those_that_find_counterparts_as_well() -> None:
    best = scored("best", [1, 1, 1, 1, 2, 1, 1, 1], [0.2] * 8)
    equal = scored("equal", [1, 1, 1, 1, 1, 2, 1, 1], [0.4] * 8)
    worse = scored("worse", [9] * 8, [0.9] * 8)
    assert keeping_most([best, equal, worse]).name == "equal"
    assert simplest([best, equal, worse]).name == "best"


def silent(done: int, **figures: float) -> None:
    """A progress line that nobody sees."""


def bent(count: int, bend: float) -> TrainingPairs:
    """Rows whose counterparts are a rotation of them, bent."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count, 6))
    y = x @ np.linalg.qr(rng.normal(size=(6, 6)))[0] + bend * np.abs(x[:, ::-1])
    y += 0.1 * rng.normal(size=y.shape)
    left, right = (
        normalize(torch.from_numpy((side - side.mean(axis=0)).astype(np.float32))) for side in (x, y)
    )
    return TrainingPairs(left, right, torch.arange(count).repeat(2, 1).T, torch.ones(count), (count, count))


def test_hidden_units_are_ridge_regression_of_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muse.learn.supervise.linear.BLOCK_OF_UNITS", 33)
    evidence, rng = bent(80, 1.0), np.random.default_rng(1)
    start = torch.from_numpy(rng.normal(size=(6, 6)).astype(np.float32))
    (maps,) = with_units(evidence, start, drawn_units(6, 20, rng), [0.5])
    x, y, v = (one.double().numpy() for one in (evidence.x, evidence.y, start))
    scale = ((x @ v.T) * y).sum() / ((x @ v.T) ** 2).sum()
    assert maps.hidden is not None
    units = maps.hidden.units(evidence.x).double().numpy()
    assert (units[:, -1] == 1).all()
    penalty = 0.5 * units.var(axis=0).mean() * len(x)
    # The last unit stands for the intercept, which is that of centred units but not of centred rests.
    rest, centred = y - scale * x @ v.T, units - units.mean(axis=0)
    own = centred[:, :-1]
    weights = np.linalg.inv(own.T @ own + penalty * np.eye(19)) @ own.T @ rest
    found = evidence.x @ maps.source.T + maps.hidden(evidence.x)
    expected = scale * x @ v.T + own @ weights
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-4)


@pytest.mark.parametrize(("bend", "name"), [(1.0, "network"), (0.0, "ridge")])
def test_hidden_units_map_queries_where_no_linear_map_does(
    monkeypatch: pytest.MonkeyPatch, bend: float, name: str
) -> None:
    monkeypatch.setattr("muse.learn.supervise.model_selection.LEAST_FOR_NETWORK", 200)
    monkeypatch.setattr("muse.learn.supervise.model_selection.UNITS", 60)
    evidence, rng = bent(600, bend), np.random.default_rng(1)
    folds, search = Folds.of(evidence, rng), HeldOutSearch.of(evidence, rng)
    choice = HeldOutTrials(folds, search, ChoiceConfig(fixed=True, regress=True), [0], silent)
    tested = [choice.test(f"ridge:{size:g}", partial(ridge, penalty=size)) for size in (3.0, 0.03)]
    found, everything = choose_into_store(choice, tested)
    assert found is not None and name in found.method and found.method.startswith("ridge:0.03")
    assert [one.name for one in everything[2:]] == [
        f"ridge:0.03+network:{size:g}" for size in NETWORK_PENALTIES
    ]
    assert (found.maps.hidden is not None) == (bend > 0)
    chosen = next(one for one in everything if one.name == found.method)
    assert found.kept == pytest.approx(100 * np.mean([*(chosen.kept or {}).values()]))


@pytest.mark.slow
def test_corrections_compete_with_what_is_learned_from_more_pairs() -> None:
    _, found = choose(
        known(pairs=60), [], ChoiceConfig(fixed=True, regress=True), seed=[0], runtime=Runtime()
    )
    names = {one["name"] for one in found.candidates}
    assert {"procrustes+ridge:0.3,rank:16", "ridge:0.3", "canonical:0.5,0.5", "transport"} <= names
    assert {
        "self-learning from transport",
        "self-learning from transport+ridge:0.3",
        "transport+ridge:1",
    } <= names
    assert all("kept_neighbours" in one for one in found.candidates)
    assert found.into_store is not None
    most = max(found.candidates, key=lambda one: float(one["kept_neighbours"]))
    assert found.as_json()["into_store"] == {
        "chosen": most["name"], "kept_neighbours": most["kept_neighbours"],
    }  # fmt: skip
