"""Cross-validation, kept neighbours, the choice among methods, and the verdict on held-out pairs."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.stats
import torch
from torch.nn.functional import normalize

from muse.learn.supervise import model_selection
from muse.learn.supervise.cross_validation import (
    Folds,
    HeldOutConfig,
    HeldOutMaps,
    HeldOutSearch,
    Ranks,
    chance,
    held_out,
    kept_neighbours,
    ranked_apart,
    standard_errors,
    wilson,
)
from muse.learn.supervise.linear import drawn_units, orthogonal, ridge, with_units
from muse.learn.supervise.model_selection import (
    LEAST_TO_TRAIN,
    NETWORK_PENALTIES,
    ChoiceConfig,
    HeldOutTrials,
    MethodScore,
    Start,
    choose,
    choose_into_store,
    keeping_most,
    simplest,
)
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.learn.verdict import Verdict, with_pairs
from muse.run.runtime import Runtime
from tests.support.toys import COUNT, evidence, strangers


def test_folds_share_no_source_word_and_leave_no_pair_out() -> None:
    known = replace(
        evidence(100), pairs=torch.randint(0, 60, (100, 2), generator=torch.Generator().manual_seed(0))
    )
    folds = Folds.of(known, np.random.default_rng(0))
    tested = [own.pairs for _, own in folds.trials]
    assert sum(map(len, tested)) == 100
    for fitted, own in folds.trials:
        assert not set(fitted.pairs[:, 0].tolist()) & set(own.pairs[:, 0].tolist())
        assert len(fitted) + len(own) == 100


@pytest.mark.parametrize(("pairs", "folds"), [(1, 0), (2, 2), (4, 4), (9, 5)])
def test_few_words_have_few_folds(pairs: int, folds: int) -> None:
    assert len(Folds.of(evidence(pairs), np.random.default_rng(0)).trials) == folds


def test_ranks_are_those_of_brute_force_csls() -> None:
    known = evidence(40, noise=0.6)
    known = replace(
        known, pairs=torch.cat([known.pairs, known.pairs[:10] + torch.tensor([0, 1])]), weights=torch.ones(50)
    )
    lookup = HeldOutSearch.of(
        known, np.random.default_rng(0), HeldOutConfig(targets=COUNT, sources=COUNT, among=COUNT)
    )
    maps = orthogonal(known)
    found = lookup.ranks(maps, known)
    u, v = maps.of_source(known.x).numpy(), maps.of_target(known.y).numpy()
    hubness = np.sort(v @ u.T, axis=1)[:, -10:].mean(axis=1)
    scores = 2 * u @ v.T - hubness
    for word, rank, answer in zip(*found, strict=True):
        gold = [b for a, b in known.pairs.tolist() if a == word]
        best = max(scores[word, gold])
        assert rank == 1 + int((scores[word] > best + 1e-6).sum())
        assert scores[word, answer] == pytest.approx(scores[word].max(), abs=1e-5)


def test_a_duplicate_of_the_translation_is_not_the_translation() -> None:
    known = evidence(50)
    twice = replace(known, y=torch.cat([known.y, known.y]), words=(len(known.x), 2 * len(known.y)))
    once, found = (
        HeldOutSearch.of(one, np.random.default_rng(0)).ranks(orthogonal(known), one)
        for one in (known, twice)
    )
    assert once.right > 40
    assert found.right == 0
    assert chance(found, twice) == pytest.approx(chance(once, known))


def test_a_pair_that_is_given_twice_has_the_rank_of_one() -> None:
    known = evidence(50)
    twice = replace(known, pairs=torch.cat([known.pairs, known.pairs]), weights=torch.ones(100))
    lookup, maps = HeldOutSearch.of(known, np.random.default_rng(0)), orthogonal(known)
    for one, other in zip(lookup.ranks(maps, known), lookup.ranks(maps, twice), strict=True):
        assert one.tolist() == other.tolist()


def test_words_are_looked_up_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    known = evidence(50)
    known = replace(known, pairs=torch.cat([known.pairs, known.pairs[:10] + torch.tensor([0, 1])]))
    lookup, maps = HeldOutSearch.of(known, np.random.default_rng(0)), orthogonal(evidence(50))
    whole = lookup.ranks(maps, known)
    monkeypatch.setattr("muse.learn.supervise.cross_validation.BLOCK", 7)
    for one, other in zip(lookup.ranks(maps, known), whole, strict=True):
        assert one.tolist() == other.tolist()


def test_held_out_words_are_ranked_by_maps_that_never_saw_them() -> None:
    known = evidence(60)
    folds, lookup = (
        Folds.of(known, np.random.default_rng(0)),
        HeldOutSearch.of(known, np.random.default_rng(0)),
    )
    seen: list[set[int]] = []

    def fit(one: TrainingPairs) -> Maps:
        seen.append(set(one.pairs[:, 0].tolist()))
        return orthogonal(one)

    ranks = held_out([fit(fitted) for fitted, _ in folds.trials], folds, lookup)
    assert sorted(ranks.words.tolist()) == sorted(known.pairs[:, 0].tolist())
    for place, (_, own) in enumerate(folds.trials):
        assert not seen[place] & set(own.pairs[:, 0].tolist())


def test_chance_is_the_mean_over_shuffled_translations() -> None:
    rng = np.random.default_rng(0)
    words, targets = np.arange(40), rng.integers(8, size=40)  # a few targets are common
    known = replace(evidence(40), pairs=torch.from_numpy(np.stack([words, targets], axis=1)))
    answers = np.where(rng.random(40) < 0.3, targets, rng.integers(8, size=40))
    ranks = Ranks(words, np.where(answers == targets, 1, 2), answers)
    shuffles = []
    for _ in range(4_000):
        order = rng.permutation(40)
        kept = order != words  # a word is no stranger to itself
        shuffles.append((answers == targets[order])[kept].mean())
    assert chance(ranks, known) == pytest.approx(100 * np.mean(shuffles), rel=0.03)


@pytest.mark.parametrize(("right", "tested"), [(0, 5), (3, 5), (40, 1000), (7, 7)])
def test_wilsons_interval_is_scipys(right: int, tested: int) -> None:
    reference = scipy.stats.binomtest(right, tested).proportion_ci(method="wilson")
    assert wilson(right, tested) == pytest.approx((100 * reference.low, 100 * reference.high), abs=1e-4)


def _tested(name: str, ranks: list[int]) -> MethodScore:
    words = np.arange(len(ranks))
    return MethodScore(name, orthogonal, [], Ranks(words, np.array(ranks), words))


def test_the_simplest_within_one_standard_error() -> None:
    good, better = [1, 1, 1, 2] * 50, [1, 1, 1, 1] * 50
    nearly = [1] * 199 + [2]
    order = [
        _tested("bad", [9] * 200),
        _tested("good", good),
        _tested("nearly", nearly),
        _tested("best", better),
    ]
    assert simplest(order).name == "nearly"
    assert simplest(order, 10).name == "good"
    assert simplest([_tested("none", []), _tested("neither", [])]).name == "none"


@pytest.mark.slow
def test_a_dictionary_of_a_related_language() -> None:
    known = evidence(200, noise=0.05)
    maps, supervision = choose(known, [], ChoiceConfig(), seed=[0], runtime=Runtime())
    fields = supervision.as_json()
    assert fields["held_out_p_at_1"] > 90 and fields["chance"] < 1
    assert fields["ci95"][0] < fields["held_out_p_at_1"] <= fields["ci95"][1]
    assert fields["chosen"] in [one["name"] for one in fields["candidates"]]
    again, _ = choose(known, [], ChoiceConfig(), seed=[0], runtime=Runtime())
    assert torch.equal(maps.source, again.source) and torch.equal(maps.target, again.target)


@pytest.mark.slow
def test_a_fixed_target_does_not_move() -> None:
    maps, _ = choose(evidence(200, noise=0.05), [], ChoiceConfig(fixed=True), seed=[0], runtime=Runtime())
    assert torch.equal(maps.target, torch.eye(20))


@pytest.mark.slow
def test_a_dictionary_of_strangers_is_no_better_than_chance() -> None:
    source, target = strangers()
    rows = torch.arange(200)
    known = TrainingPairs(
        source.tensor(), target.tensor(), torch.stack([rows, rows], dim=1), torch.ones(200), (600, 600)
    )
    _, found = choose(known, [], ChoiceConfig(), seed=[0], runtime=Runtime())
    low, high = found.as_json()["ci95"]
    assert low < 1 and high < 6
    verdict = with_pairs(Verdict("aligned", 0.99, 0.5, 0.5), found.right, found.tested)
    assert verdict.label != "aligned"


@pytest.mark.parametrize(
    ("pairs", "failed", "chosen"),
    [(40, False, "start"), (40, True, "other"), (LEAST_TO_TRAIN, False, "other")],
)
def test_few_pairs_overrule_a_start_that_succeeded_only_if_they_are_sure(
    monkeypatch: pytest.MonkeyPatch, pairs: int, failed: bool, chosen: str
) -> None:
    # The other is better by 1.4 standard errors: 2 words of 40 rise from the second rank to the first.
    scores = [_tested("start", [1] * 38 + [2] * 2), _tested("other", [1] * 40)]
    monkeypatch.setattr(model_selection, "_tested", lambda *_: scores)
    start = Start("start", orthogonal(evidence(pairs)), failed)
    known = evidence(pairs)
    _, found = choose(known, [start], ChoiceConfig(), seed=[0], runtime=Runtime())
    assert found.chosen == chosen


@pytest.mark.slow
def test_a_start_that_failed_comes_after_its_equals_and_transport() -> None:
    maps = orthogonal(evidence(300, noise=0.05))

    def tried(failed: bool, pairs: int = 6) -> list[str]:
        start = Start("start", maps, failed)
        _, found = choose(evidence(pairs, noise=0.05), [start], ChoiceConfig(), seed=[0], runtime=Runtime())
        return [str(one["name"]) for one in found.candidates]

    trusted, failed = tried(failed=False), tried(failed=True)
    # Few pairs cannot show what self-learning spoils of a mapping that succeeded without them.
    assert trusted[0] == "start" and "self-learning from start" not in trusted
    assert tried(failed=False, pairs=LEAST_TO_TRAIN)[:2] == ["start", "self-learning from start"]
    assert failed[-2:] == ["start", "self-learning from start"]
    assert "transport" in failed and "transport" not in trusted


@pytest.mark.slow
def test_a_start_that_failed_is_taken_where_it_is_better() -> None:
    known = evidence(300, noise=0.05, wrong=0.97)
    start = Start("start", orthogonal(evidence(300, noise=0.05)), failed=True)
    _, found = choose(known, [start], ChoiceConfig(), seed=[0], runtime=Runtime())
    assert found.chosen == "start"


def test_one_pair_cannot_be_tested() -> None:
    _, found = choose(evidence(1), [], ChoiceConfig(plain=True), seed=[0], runtime=Runtime())
    assert (found.tested, found.right, found.p_at_1) == (0, 0, None)
    assert str(found) == "none of 1 pair: too few to test on"
    for fields in (found.as_json(), found.as_json()["candidates"][0]):
        assert (fields["held_out_p_at_1"], fields["ci95"]) == (None, None)
    before = Verdict("doubtful", 0.5, 0.1, 0.1)
    assert with_pairs(before, 0, 0) == before


def test_a_slow_method_is_tested_on_fewer_words() -> None:
    folds = Folds.of(evidence(500), np.random.default_rng(0))
    assert folds.enough(150) == 2 and folds.enough(10_000) == 5


@pytest.mark.slow
def test_regression_is_tried_where_it_is_wanted() -> None:
    known = evidence(60)
    for regress in (False, True):
        _, found = choose(known, [], ChoiceConfig(fixed=True, regress=regress), seed=[0], runtime=Runtime())
        names = [one["name"] for one in found.candidates]
        assert any(name.startswith("ridge:") for name in names) == regress
        assert ("refinement" in names) != regress
        # Of rows, self-learning begins once: with canonical maps, or with transport if that is as good.
        assert sum(name.startswith("self-learning") and "+" not in name for name in names) == 2 - regress


def hinted(known: TrainingPairs, wrong: float) -> TrainingPairs:
    """The evidence with a hint for every word, a share of them wrong."""
    rng = np.random.default_rng(1)
    columns = np.where(rng.random(COUNT) < wrong, rng.permutation(COUNT), np.arange(COUNT))
    pairs = torch.from_numpy(np.stack([np.arange(COUNT), columns], axis=1))
    return known.hinted(replace(known, pairs=pairs, weights=torch.ones(COUNT)))


def test_a_hint_has_no_word_of_the_dictionary() -> None:
    known = hinted(evidence(40), wrong=0.5)
    assert known.pseudo_dictionary is not None and 0 < len(known.pseudo_dictionary) <= COUNT - 40
    for side in (0, 1):
        assert not torch.isin(known.pseudo_dictionary[:, side], known.pairs[:, side]).any()
    (fitted, _), *_ = Folds.of(known, np.random.default_rng(0)).trials
    assert fitted.pseudo_dictionary is not None and torch.equal(
        fitted.pseudo_dictionary, known.pseudo_dictionary
    )  # nor of the words held out


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "better"), [(0.3, True), (1.0, False)])
def test_hints_are_believed_as_far_as_held_out_pairs_show(wrong: float, better: bool) -> None:
    known = evidence(30, noise=0.8)
    maps = [
        choose(one, [], ChoiceConfig(), seed=[0], runtime=Runtime())[0]
        for one in (known, hinted(known, wrong))
    ]
    lookup = HeldOutSearch.of(known, np.random.default_rng(0))
    rows = torch.arange(COUNT).repeat(2, 1).T
    others = replace(known, pairs=rows[known.contains_no_known_word(rows)])
    without, helped = (lookup.ranks(one, others).p_at_1 for one in maps)
    assert helped > 2 * without if better else helped >= without - 1


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


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("0000", "0000", 0.0), ("0000", "1111", 2.0), ("1100", "0000", -(2**0.5)), ("1100", "0111", 1 / 3**0.5)],
)
def test_standard_errors_count_the_cases_that_changed(before: str, after: str, expected: float) -> None:
    rights = (torch.tensor([letter == "1" for letter in word]) for word in (before, after))
    assert standard_errors(*rights) == pytest.approx(expected)


def test_words_ranked_apart_share_no_translation_with_another_fold_and_are_not_spelled_like_theirs() -> None:
    pairs = np.array([[0, 10], [1, 11], [1, 12], [2, 12], [3, 13], [4, 14], [5, 14]])
    fold = np.array([0, 0, 0, 1, 1, 2, 2])
    alike = np.array([False, False, False, False, True, False, False])
    ranks = Ranks(np.arange(6), np.array([1, 1, 1, 1, 1, 2]), np.arange(6) + 10)
    found = ranked_apart(ranks, HeldOutMaps(pairs, np.ones(len(pairs)), fold, ()), alike)
    # 1 and 2 share a translation over two folds, 3 is spelled like its own; 4 and 5 are in one fold.
    assert found.words.tolist() == [0, 4, 5]
    assert (found.right, found.answers.tolist()) == (2, [10, 14, 15])
