"""Joint refinement: planted rotations, the fixed point it must be at, and when it is not kept."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
import torch

from muse.learn.bilingual import normalise_in_place
from muse.learn.joint import Change, Fit, Joint, JointConfig, Pairs, Products, refine_jointly
from muse.procrustes import procrustes
from muse.run.runtime import Runtime
from muse.vectors import Matrix, Vectors
from tests.support.spaces import rotation
from tests.support.toys import DIMENSION, cloud, strangers

COUNT = 900
STEPS = ("unit", "centre", "unit")
SMALL = JointConfig(words=COUNT, share=1.0, rounds=1)


def languages(*noise: float) -> tuple[list[Vectors], dict[str, Matrix]]:
    """Languages l0, l1, ... and last the pivot, each a noisy turned copy, and the mappings to the pivot."""
    rows, last = cloud(0, COUNT), len(noise) - 1
    turns = [rotation(seed + 50, DIMENSION) for seed in range(len(noise))]
    found = []
    for seed, (turn, spread) in enumerate(zip(turns, noise, strict=True)):
        error = np.random.default_rng(seed + 9).normal(0, spread, rows.shape)
        raw = Vectors(
            f"l{seed}", [f"{seed}-{row}" for row in range(COUNT)], (rows @ turn.T + error).astype("f4")
        )
        found.append(normalise_in_place(raw, STEPS)[0])
    maps = {f"l{seed}": (turns[last] @ turns[seed].T).astype(np.float32) for seed in range(last)}
    return found, maps


def fit_of(sides: list[Vectors], config: JointConfig = SMALL) -> Fit:
    return Fit({side.language: side.tensor() for side in sides}, sides[-1].language, config)


def identical(fit: Fit) -> dict[tuple[str, str], torch.Tensor]:
    """The true pairs: word i of one language is word i of the other."""
    rows = torch.arange(COUNT)
    return dict.fromkeys(combinations(fit.rows, 2), torch.stack([rows, rows], dim=1))


def test_without_other_pairs_it_is_procrustes_with_the_pivot() -> None:
    sides, _ = languages(0.1, 0.1, 0.1)
    fit = fit_of(sides)
    found = fit.solve(fit.products(identical(fit)), 0.0)
    for side in sides[:-1]:
        expected, _ = scipy.linalg.orthogonal_procrustes(side.matrix, sides[-1].matrix)
        np.testing.assert_allclose(found[side.language].numpy().T, expected, atol=1e-4)
    assert torch.equal(found["l2"], torch.eye(DIMENSION))


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_each_map_is_procrustes_on_the_union_of_its_pairs(weight: float) -> None:
    sides, _ = languages(0.3, 0.3, 0.3, 0.3)
    fit = fit_of(sides, replace(SMALL, gain=1e-12, turns=500))
    found = fit.solve(fit.products(identical(fit)), weight)
    for side in sides[:-1]:
        others = [other for other in sides if other is not side]
        weights = [1.0 if other is sides[-1] else weight for other in others]
        source = torch.cat([side.tensor() * one for one in weights])
        target = torch.cat([other.tensor() @ found[other.language].T for other in others])
        assert torch.dist(procrustes(source, target), found[side.language]) < 1e-2
        own = found[side.language].double()
        assert (own @ own.T - torch.eye(DIMENSION)).abs().max() < 1e-5


def test_pairs_without_the_pivot_help_where_the_pivot_is_noisy() -> None:
    sides, truth = languages(0.05, 0.05, 0.6)
    fit = fit_of(sides)
    products = fit.products(identical(fit))

    def error(weight: float) -> float:
        found = fit.solve(products, weight)
        between = found["l1"].T @ found["l0"]  # l0 as it lies in l1
        return float(np.abs(between.numpy() - truth["l1"].T @ truth["l0"]).max())

    assert error(1.0) < 0.7 * error(0.0)


def test_anchored_to_what_refinement_learned() -> None:
    sides, start = languages(0.2, 0.2, 0.2)
    fit = fit_of(sides)
    pairs = identical(fit)
    maps = {language: torch.from_numpy(mapping) for language, mapping in start.items()}
    anchored, products = fit.anchored(pairs, maps), fit.products(pairs)
    found = fit.solve(anchored, 0.0)
    for language, mapping in maps.items():
        assert torch.dist(found[language], mapping) < 1e-4
        cosines = [(mapping.double() * each[language, "l2"]).sum() for each in (anchored, products)]
        assert cosines[0] == pytest.approx(float(cosines[1]))
    assert torch.equal(anchored["l0", "l1"], products["l0", "l1"])


def test_a_better_space_is_kept_and_found_again_by_the_same_seed() -> None:
    sides, start = languages(0.05, 0.05, 0.5)

    def refined() -> Joint:
        return refine_jointly(sides, start, rng=np.random.default_rng(0), runtime=Runtime(), config=SMALL)

    one, other = refined(), refined()
    assert one.weight > 0
    assert one.as_json() == other.as_json()
    for language in start:
        assert np.array_equal(one.mappings[language], other.mappings[language])
    change = {(each.source, each.target): each for each in one.changes}["l0", "l1"]
    assert change.after > change.before
    assert one.as_json()["pairs"]["l0-l1"]["after"] == change.after
    assert str(one).startswith("kept; held-out pairs recovered: l0-l1 ")


def test_where_nothing_is_gained_the_mappings_stay() -> None:
    sides, start = languages(0.0, 0.0, 0.0)
    joint = refine_jointly(sides, start, rng=np.random.default_rng(0), runtime=Runtime(), config=SMALL)
    assert joint.weight == 0
    assert joint.mappings is start
    assert joint.as_json()["kept"] is False
    assert str(joint).startswith("not kept")


WON, WITHIN = Change("a", "b", 900, 400, 450, 5.0), Change("a", "c", 900, 400, 398, -0.5)
LOST = Change("a", "c", 900, 400, 380, -1.1)


@pytest.mark.parametrize(
    ("trials", "kept"),
    [
        ([(WON, WITHIN), (LOST, LOST)], SMALL.weights[0]),
        ([(WON, LOST), (WON, WITHIN)], SMALL.weights[1]),
        ([(WON, LOST), (WITHIN, WITHIN)], 0.0),
    ],
    ids=["the first weight", "the second", "neither"],
)
def test_no_two_languages_may_lose(
    monkeypatch: pytest.MonkeyPatch, trials: list[tuple[Change, ...]], kept: float
) -> None:
    def scripted(*_: object) -> Iterator[tuple[Change, ...]]:
        return iter(trials)

    monkeypatch.setattr(Fit, "trials", scripted)
    sides, start = languages(0.1, 0.1, 0.1)
    joint = refine_jointly(sides, start, rng=np.random.default_rng(0), runtime=Runtime(), config=SMALL)
    assert joint.weight == kept
    assert joint.changes in trials
    assert (joint.mappings is start) == (kept == 0)


@dataclass(frozen=True, eq=False)
class Noted(Fit):
    """Keeps the pairs that mappings are fitted to."""

    seen: list[Pairs] = field(default_factory=list)

    def products(self, pairs: Pairs) -> Products:
        self.seen.append(pairs)
        return super().products(pairs)


def test_what_is_tested_was_not_seen() -> None:
    # Pairs of words that have nothing to do with each other: none is found by who was not fitted to it.
    count, tested = 60, 40
    sides = [strangers(count, 40, seed)[seed % 2] for seed in range(3)]
    rows = {f"l{seed}": side.tensor() for seed, side in enumerate(sides)}
    fit = Noted(rows, "l2", replace(SMALL, tested=tested, weights=(1.0,)))
    same = torch.arange(count)
    pairs = dict.fromkeys(combinations(rows, 2), torch.stack([same, same], dim=1))
    (changes,) = fit.trials(pairs, np.random.default_rng(0), Runtime())
    first, second = fit.seen
    for key in pairs:
        for column in (0, 1):
            halves = [half[key][:, column].tolist() for half in (first, second)]
            assert sorted(halves[0] + halves[1]) == same.tolist()  # a pair's words are in one half
            assert 0.25 < len(halves[0]) / count < 0.75
    fitted = fit.solve(fit.products(first), 0.0)
    own = first["l0", "l2"]
    found = (rows["l0"][own[:, 0]] @ fitted["l0"].T @ rows["l2"].T).argmax(dim=1) == own[:, 1]
    assert float(found.double().mean()) > 0.7  # what was seen would be found
    for change in changes:
        assert change.tested == tested
        assert max(change.before, change.after) < 0.2 * tested
