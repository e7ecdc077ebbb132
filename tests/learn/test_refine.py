"""Refinement, joint refinement, re-weighting: planted rotations, fixed points, when they are not kept."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
import torch

from muse.alignment import Alignment
from muse.learn.bilingual import normalise_in_place
from muse.learn.joint import Change, Fit, Joint, JointConfig, Pairs, Products, refine_jointly
from muse.learn.pair import LanguagePair
from muse.learn.refine import PLAIN, RefineConfig, refine
from muse.learn.refine import rounds as rounds_of
from muse.learn.reweighting import _rival, reweight
from muse.learn.supervise.linear import orthogonal
from muse.learn.supervise.training_pairs import TrainingPairs
from muse.normalise import normalise
from muse.procrustes import procrustes
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, best_targets, recovered
from muse.vectors import Matrix, Vectors
from tests.support.references import csls_pairs, polar, unit, weighted
from tests.support.spaces import rotation
from tests.support.toys import DIMENSION, cloud, pair, raw_pair, strangers


def rough(turn: Matrix, noise: float) -> Matrix:
    """The closest rotation to a noisy copy of `turn`."""
    left, _, right = np.linalg.svd(turn + np.random.default_rng(0).normal(0, noise, turn.shape))
    return np.asarray(left @ right, np.float32)


def rounds(start: Matrix, config: RefineConfig) -> list[Alignment]:
    source, target, _ = pair()
    rng = np.random.default_rng(0)
    return list(refine(LanguagePair(source, target), Alignment(start, method="m"), config=config, rng=rng))


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_planted_rotation_is_reached(noise: float) -> None:
    turn = pair()[2]
    found = rounds(rough(turn, noise), RefineConfig())
    assert np.abs(found[-1].source_map - turn).max() < 0.03
    assert all(alignment.orthogonality_defect < 1e-5 for alignment in found)
    assert {alignment.method for alignment in found} == {"m"}


def test_a_cutoff_ends_when_nothing_is_gained() -> None:
    config = RefineConfig(cutoffs=(200,), max_rounds=20, patience=2, gain=1.0)
    assert len(rounds(pair()[2], config)) == 3  # the first gains; the next two do not
    assert len(rounds(pair()[2], replace(config, patience=20))) == 20


def test_two_rounds_by_their_definition() -> None:
    """CSLS from all scores; words looked up by the pairs of other folds; half of the memory is the last."""
    source, target, turn = pair(300, noise=0.15)
    x, y = source.matrix.astype(float), target.matrix.astype(float)
    start = rough(turn, 0.3)
    config = RefineConfig(max_rounds=2, folds=3)
    found = list(
        rounds_of(source.tensor(), target.tensor(), torch.from_numpy(start), config, np.random.default_rng(0))
    )
    left, right = csls_pairs(x @ start.T, y)
    memory = y[right].T @ x[left]
    np.testing.assert_allclose(found[0][0].numpy(), polar(memory), atol=1e-4)
    assert found[0][1] == pytest.approx(((x @ start.T)[left] * y[right]).sum() / 300, abs=1e-5)

    folds = np.random.default_rng(0).integers(3, size=300)
    mapped, keys = np.empty_like(x), unit(y @ weighted(memory, x, y)[1])
    for fold in range(3):
        others = folds[left] != fold
        turned, weighting = weighted(y[right[others]].T @ x[left[others]], x, y)
        mapped[folds == fold] = unit(x @ (weighting @ turned).T)[folds == fold]
    left, right = csls_pairs(mapped, keys)
    np.testing.assert_allclose(found[1][0].numpy(), polar(memory / 2 + y[right].T @ x[left]), atol=1e-4)
    assert found[1][1] == pytest.approx((mapped[left] * keys[right]).sum() / 300, abs=1e-5)


def test_rare_words_are_left_out() -> None:
    source, target, turn = pair()
    start = Alignment(rough(turn, 0.2), method="m")
    few = source.most_frequent(300), target.most_frequent(300)
    found = [
        refine(LanguagePair(*sides), start, config, np.random.default_rng(0))
        for sides, config in (((source, target), RefineConfig(share=0.5)), (few, RefineConfig(share=1.0)))
    ]
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one.source_map, other.source_map)


def test_plain_rounds_are_procrustes_on_raw_mutual_neighbours() -> None:
    """Each round by its definition: mutual CSLS neighbours by cosine, then scipy's Procrustes on raw rows."""
    raw = raw_pair(300, noise=0.4)
    x, y, turn = raw[0].matrix.astype(float), raw[1].matrix.astype(float), raw[2]
    source, target = (normalise_in_place(side, ())[0] for side in raw[:2])
    start = Alignment(rough(turn, 0.2))
    rng = np.random.default_rng(0)
    found = list(refine(LanguagePair(source, target), start, config=PLAIN, rng=rng))
    assert len(found) == 5
    mapping = start.source_map.astype(float)
    for one in found:
        left, right = csls_pairs(unit(x @ mapping.T), unit(y))
        mapping = scipy.linalg.orthogonal_procrustes(x[left], y[right])[0].T
        np.testing.assert_allclose(one.source_map, mapping, atol=1e-4)


def test_plain_rounds_take_the_most_frequent_words_of_each_side() -> None:
    source, target, turn = pair(300, noise=0.15)
    few = target.most_frequent(100)
    config, start = replace(PLAIN, cutoffs=(200,), max_rounds=1), Alignment(rough(turn, 0.1))
    (found,) = refine(LanguagePair(source, few), start, config=config, rng=np.random.default_rng(0))
    x, y = source.matrix[:200].astype(float), few.matrix.astype(float)
    left, right = csls_pairs(x @ start.source_map.T.astype(float), y)
    expected = scipy.linalg.orthogonal_procrustes(x[left], y[right])[0].T
    np.testing.assert_allclose(found.source_map, expected, atol=1e-4)


D, WORDS = 40, 1_500


def sides(noise: Matrix) -> tuple[Vectors, Vectors, Matrix]:
    """Two noisy views of one cloud, the second turned, and the turn; column i has noise of scale noise[i]."""
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(WORDS, D))
    turn = rotation(1, D)
    x, y = (signal + rng.normal(size=signal.shape) * noise for _ in range(2))
    views = {"xx": x, "yy": y @ turn.T}
    source, target = (
        Vectors(name, [f"{name}{i}" for i in range(WORDS)], normalise(rows.astype(np.float32))[0])
        for name, rows in views.items()
    )
    return source, target, turn


def reweighted(noise: Matrix) -> tuple[Alignment, Alignment]:
    source, target, turn = sides(noise)
    start = Alignment(turn, method="m")
    return start, reweight(LanguagePair(source, target), start, rng=np.random.default_rng(0))


def test_it_is_kept_where_some_directions_are_of_one_side_alone() -> None:
    noise = np.array([2.5] * 4 + [0.4] * 36)
    start, found = reweighted(noise)
    assert found.method == "m"
    assert found.target_map is not None
    assert found_by(found, noise) > found_by(start, noise) + 0.05


def found_by(alignment: Alignment, noise: Matrix) -> float:
    """The share of words translated rightly: word i of either side is the same."""
    source, target, _ = sides(noise)
    left = normalise(source.matrix @ alignment.source_map.T, ["unit"])[0]
    target_map = np.eye(D) if alignment.target_map is None else alignment.target_map
    right = normalise((target.matrix @ target_map.T).astype(np.float32), ["unit"])[0]
    best = best_targets(torch.from_numpy(left), torch.from_numpy(right), Retrieval()).numpy()
    return float((best == np.arange(WORDS)).mean())


def test_the_rotation_stays_where_all_directions_are_alike() -> None:
    start, found = reweighted(np.full(D, 0.6))
    assert found is start


def test_a_pair_is_recovered_by_the_fit_to_the_other_half_alone() -> None:
    # Pairs of words that have nothing to do with each other: only a fit that has seen them recovers them.
    x, y = (side.tensor() for side in strangers(60, 40))
    pairs = torch.arange(60)[:, None].expand(60, 2).clone()
    seen = TrainingPairs(x, y, pairs, torch.ones(60), (60, 60))
    maps = orthogonal(seen)
    assert float(recovered(maps.of_source(x), maps.of_target(y), pairs).double().mean()) > 0.7
    found = _rival("the rotation", orthogonal, seen, torch.arange(60) % 2).found
    assert float(found.double().mean()) < 0.2


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
