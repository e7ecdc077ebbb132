"""The choice by all evidence gains where spelling or pairs inform, and loses nothing pretrained."""

import time
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile
from muse.ranking.candidates import Candidates, NeighbourLists
from muse.ranking.chosen import ChosenAnswers
from muse.ranking.expected import frequent_probability
from muse.ranking.features import NAMES, HeldOutRows, KnownPairs, places_of
from muse.ranking.model import (
    AnswerModel,
    ProbabilityCurve,
    csls_answers,
    mutual_share,
    mutual_shift,
    read_pretrained,
    write_pretrained,
)
from muse.ranking.oov import OovRanker, Targets, UnseenWords
from muse.ranking.train_ranker import learn_answers
from muse.ranking.trees import TreesConfig, fit_trees
from muse.space.derived import AnswerTable
from muse.space.inflections import learn_suffix_rules
from tests.support.made_up_pair import Made, made_up

FEW = TreesConfig(trees=25, rate=0.2, hessian=0.5)
Cipher = tuple[Made, np.ndarray, tuple[ChosenAnswers, ...]]


def pairs(made: Made, every: int = 2) -> np.ndarray:
    known = np.arange(0, len(made.gold), every)
    return np.stack([known, made.gold[known]], axis=1)


def right(answers: AnswerTable, made: Made, *, but: np.ndarray) -> float:
    """The share of words, without those of the pairs `but`, that are answered rightly."""
    others = np.setdiff1d(np.arange(len(made.gold)), but[:, 0])
    return float((answers.first()[others] == made.gold[others]).mean())


def learned(
    made: Made, known: np.ndarray | None = None, *, seed: int = 0, **options: Any
) -> tuple[ChosenAnswers, ...]:
    """The answers by the pairs that are known, by few trees."""
    given = None if known is None else KnownPairs(known, np.ones(len(known)))
    rng = np.random.default_rng(seed)
    return learn_answers(made.words, made.rows, given, rng=rng, config=FEW, **options)


@pytest.fixture(scope="module")
def cipher() -> Cipher:
    made = made_up(500)
    known = pairs(made)
    return made, known, learned(made, known)


def test_a_cipher_is_read(cipher: Cipher) -> None:
    made, known, (there, _) = cipher
    by_csls = right(csls_answers(NeighbourLists.of(*made.rows)), made, but=known)
    assert by_csls < 0.75
    assert right(there.answers, made, but=known) > by_csls + 0.15
    assert there.report.by == "all evidence"
    assert there.report.decided["spelling"] > 0.05


def test_back_as_well(cipher: Cipher) -> None:
    made, known, (there, back) = cipher
    share = mutual_share(there.answers.first(), back.answers.first())
    assert there.report.mutual == pytest.approx(share)
    assert share > (there.report.mutual_csls or 0)


def test_probabilities_are_near_the_share_that_is_right(cipher: Cipher) -> None:
    made, known, (there, _) = cipher
    others = np.setdiff1d(np.arange(len(made.gold)), known[:, 0])
    said = there.answers.probability[there.answers.pointers[others]]
    assert abs(float(said.mean()) - right(there.answers, made, but=known)) < 0.06


def test_order_and_ranges(cipher: Cipher) -> None:
    answers = cipher[2][0].answers
    inner = np.setdiff1d(np.arange(1, len(answers.columns)), answers.pointers)
    assert (np.diff(answers.probability)[inner - 1] <= 1e-6).all()
    assert ((answers.probability >= 0) & (answers.probability <= 1)).all()


@pytest.mark.slow
def test_ids_keep_csls() -> None:
    made = made_up(400, spelled="ids")
    known = pairs(made)
    there, back = learned(made, pretrained=read_pretrained())
    assert there.report.by == back.report.by == "csls"
    np.testing.assert_array_equal(there.answers.first(), NeighbourLists.of(*made.rows).columns[:, 0])
    by_csls = right(csls_answers(NeighbourLists.of(*made.rows)), made, but=known)
    assert right(learned(made, known)[0].answers, made, but=known) > by_csls - 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("spelled", "by"), [("cipher", "all evidence"), ("ids", "csls")])
def test_pairs_that_csls_knows_already_decide_nothing(spelled: str, by: str) -> None:
    made = made_up(500, spelled=spelled)
    alone, _ = learned(made, pretrained=read_pretrained())
    by_csls = NeighbourLists.of(*made.rows).columns[:, 0]
    easy = np.flatnonzero((alone.answers.first() == made.gold) & (by_csls == made.gold))[:120]
    known = np.stack([easy, made.gold[easy]], axis=1)
    report = learned(made, known, pretrained=read_pretrained())[0].report
    assert report.undecided
    assert report.evidence == pytest.approx(report.csls, abs=0.02)
    assert alone.report.by == report.by == by
    assert alone.report.spelling_informs == report.spelling_informs == (spelled == "cipher")


def test_nothing_known_keeps_csls() -> None:
    made = made_up(300)
    there, _ = learned(made)
    assert there.report.by == "csls"
    assert np.isnan(there.answers.probability).all()


@pytest.mark.slow
def test_maps_that_saw_the_pairs_are_not_believed() -> None:
    # The pairs' own rows are exact in the space, as of a mapping that learned them by heart.
    made = made_up(500, noise=1.8)
    known = pairs(made)
    exact = made.rows[0].copy()
    exact[known[:, 0]] = made.rows[1][known[:, 1]]
    without = np.ones(len(known), bool)
    naive = KnownPairs(known, np.ones(len(known)))
    fair = replace(naive, held_out=(HeldOutRows(*made.rows, without),))
    rows = exact, made.rows[1]
    (one,), (two,) = (
        learn_answers(made.words, rows, given, rng=np.random.default_rng(0), both=False, config=FEW)
        for given in (naive, fair)
    )
    assert right(two.answers, made, but=known) > right(one.answers, made, but=known)
    assert (one.report.csls or 0) > 0.95 > (two.report.csls or 0)


@pytest.mark.slow
def test_answers_promise_no_more_than_words_held_out_show() -> None:
    made, known = made_up(500, noise=1.2), pairs(made_up(500))
    promised = list[float]()
    for noise in (1.2, 2.5):  # of the maps that did not learn from the pairs
        fold = HeldOutRows(*made_up(500, noise).rows, np.ones(len(known), bool))
        given = KnownPairs(known, np.ones(len(known)), (fold,))
        options: Any = {"rng": np.random.default_rng(0), "config": FEW, "pretrained": read_pretrained()}
        there, _ = learn_answers(made.words, made.rows, given, **options)
        promised.append(frequent_probability(there.answers))
    assert promised[1] < promised[0] - 0.1


def test_saved_without_pickle(cipher: Cipher) -> None:
    there = cipher[2][0]
    file = BytesIO()
    assert there.unseen is not None
    model = there.unseen.model
    arrays: dict[str, Any] = {**model.arrays(), **there.answers.arrays()}
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as read:
        again, answers = AnswerModel.of_arrays(read), AnswerTable.of_arrays(read)
    evidence = np.random.default_rng(0).standard_normal((50, len(NAMES))).astype(np.float32)
    np.testing.assert_array_equal(again.log_odds(evidence), model.log_odds(evidence))
    np.testing.assert_array_equal(answers.first(), there.answers.first())


def test_unseen_words_are_answered_by_the_same_evidence() -> None:
    made = made_up(500)
    known = pairs(made)
    seen = np.arange(len(made.gold)) % 10 != 5  # of the words left out, none is in a pair
    left_out = np.flatnonzero(~seen)
    place = np.cumsum(seen) - 1
    words, (source, target) = made.words, made.rows
    given = KnownPairs(np.stack([place[known[:, 0]], known[:, 1]], axis=1), np.ones(len(known)))
    fewer = [words[0][row] for row in np.flatnonzero(seen)], words[1]
    (there,) = learn_answers(
        fewer, (source[seen], target), given, rng=np.random.default_rng(0), both=False, config=FEW
    )
    assert there.unseen is not None
    unseen = OovRanker.of_arrays(there.unseen.arrays())
    asked = [words[0][row] for row in left_out]
    compared = unseen.refined(target, words[1], learn_suffix_rules(words[1], target))
    targets = Targets(words[1], target, compared)
    found = unseen.answer(UnseenWords(asked, source[left_out]), targets)
    by_csls = NeighbourLists.of(source, target).columns[left_out, 0]
    gold = made.gold[left_out]
    assert (found.first() == gold).mean() > (by_csls == gold).mean() + 0.1

    # A word of the space is answered as its table does, its rank apart.
    some = np.arange(0, int(seen.sum()), 7)
    same = unseen.answer(UnseenWords([fewer[0][row] for row in some], source[seen][some]), targets)
    assert (same.first() == there.answers.first()[some]).mean() > 0.85


@pytest.mark.slow
def test_deterministic() -> None:
    made = made_up(300)
    (one,), (two,) = (learned(made, pairs(made), seed=1, both=False) for _ in "ab")
    np.testing.assert_array_equal(one.answers.columns, two.answers.columns)
    np.testing.assert_array_equal(one.answers.probability, two.answers.probability)


def test_calibration_recovers_shares() -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 2, 20_000)
    truth = 1 / (1 + np.exp(-(0.5 * odds - 1)))
    calibrated = ProbabilityCurve.fitted(odds, rng.random(len(odds)) < truth)
    assert abs(calibrated(odds) - truth).mean() < 0.02
    assert (np.diff(calibrated(np.sort(odds))) >= 0).all()


def test_more_mutual_answers_are_more_probable() -> None:
    def shift(count: int, words: int, targets: int | None = None) -> float:
        mine = np.arange(words)
        return mutual_shift(np.where(mine < count, mine, -1), mine[:targets])

    shifts = [shift(count, 10_000) for count in (1_000, 4_000, 5_000, 10_000)]
    assert shifts == sorted(shifts)
    assert shifts[2] == pytest.approx(0.15 + 0.7 * 0.25 * np.log(1 / 3), abs=1e-3)
    assert (shifts[0], shifts[3]) == (-0.5, 0.5)
    # Of the smaller vocabulary: sources without an equivalent among few targets say nothing.
    assert shift(4_000, 10_000, 5_000) > shifts[2]
    assert shift(15_000, 30_000) > shifts[2]  # a share that large is rarer


def test_a_shifted_curve_has_the_odds_multiplied() -> None:
    curve, knots = ProbabilityCurve.identity(), np.linspace(-8, 8, 33)
    np.testing.assert_allclose(curve.shifted(0.5)(knots), 1 / (1 + np.exp(-knots - 0.5)), rtol=1e-5)


def test_mixed_log_odds() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, len(NAMES))).astype(np.float32)
    rows[:, NAMES.index("length")] += 2
    here, pretrained = (fit_trees(rows, rows[:, column] > 0, rng=rng) for column in (0, 1))
    mixed = AnswerModel(here, pretrained, 0.25, ProbabilityCurve.identity())
    same, apart, length = rows[:, places_of("same string", "rank difference", "length")].T
    names = 5 * same * (abs(apart) <= np.log(10)) * (length >= 2)  # a word's own spelling, of a similar rank
    expected = 0.25 * here.log_odds(rows) + 0.75 * (pretrained.log_odds(rows) + names)
    np.testing.assert_allclose(mixed.log_odds(rows), expected, rtol=1e-5)


def test_candidates_without_order() -> None:
    found = [(np.array([3, 1, 3]), np.array([0, 5, 2])), (np.array([1, 0]), np.array([5, 1]))]
    one, two = (Candidates.of(np.array([1, 2, 3]), parts, 6) for parts in (found, found[::-1]))
    for of in (one, two):
        assert of.pointers.tolist() == [0, 1, 1, 3]
        assert of.columns.tolist() == [5, 0, 2]
    assert one.most(np.array([1.0, 4.0, 2.0])).tolist() == [1.0, -np.inf, 4.0]
    assert one.are(np.array([[3, 2], [1, 0]]), 6).tolist() == [False, False, True]


def test_trees_from_elsewhere_fit_the_evidence(tmp_path: Path) -> None:
    trees = read_pretrained()
    assert trees.feature.max() < len(NAMES)
    write_pretrained(trees, tmp_path / "same.npz")
    rows = np.random.default_rng(0).standard_normal((9, len(NAMES))).astype(np.float32)
    np.testing.assert_array_equal(read_pretrained(tmp_path / "same.npz").log_odds(rows), trees.log_odds(rows))


def test_trees_over_other_evidence_are_refused(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"names": np.array(["csls"]), **read_pretrained().arrays()}
    np.savez(tmp_path / "old.npz", **arrays)
    with pytest.raises(BadFile, match="learn them anew"):
        read_pretrained(tmp_path / "old.npz")


@pytest.mark.slow
def test_a_few_hundred_words_with_all_their_translations_take_seconds() -> None:
    made, rng = made_up(520), np.random.default_rng(0)
    known = KnownPairs(np.stack([np.arange(520), made.gold], axis=1), np.ones(520))
    learn_answers(made.words, made.rows, known, rng=rng, config=FEW, pretrained=read_pretrained())
    begun = time.process_time()
    learn_answers(made.words, made.rows, known, rng=rng, pretrained=read_pretrained())
    assert time.process_time() - begun < 6
