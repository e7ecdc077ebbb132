"""The expected share of right first translations: monotone, sane everywhere, and what rests on it."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.stats

from muse.api.answers import judged
from muse.learn.verdict import LEAST_GOOD, Verdict
from muse.ranking.expected import ERROR, FREQUENT, ExpectedPrecision, frequent_probability, log_odds_of
from muse.ranking.induction import least_probability
from muse.ranking.model import ChoiceReport
from muse.space.derived import AnswerTable


def test_the_interval_is_that_of_normal_log_odds_about_the_mean_probability() -> None:
    found = ExpectedPrecision.of(0.6)
    middle, low, high = (log_odds_of(one / 100) for one in (found.p_at_1, *found.ci95))
    assert found.p_at_1 == 60
    normal = scipy.stats.norm(middle, ERROR)
    assert [normal.cdf(low), normal.cdf(high)] == pytest.approx([0.025, 0.975], abs=2e-3)
    assert found.at_least(0.5) == pytest.approx(normal.sf(0), abs=2e-3)
    assert ExpectedPrecision.of_report(found.as_json()) == found
    assert ExpectedPrecision.of_report({"expected_p_at_1": 60}) is None


@pytest.mark.parametrize("tested", [50, 500])
def test_more_evidence_never_means_less_and_held_out_words_hold_promises_down(tested: int) -> None:
    shares = np.linspace(0, 1, 21).tolist()
    for one in shares[1:]:
        found = [ExpectedPrecision.of(one, held, tested) for held in shares]
        assert all(before.p_at_1 <= after.p_at_1 for before, after in pairwise(found))
        assert all(0 < each.ci95[0] <= each.p_at_1 <= each.ci95[1] < 100 for each in found)
    promised = ExpectedPrecision.of(0.43, 0.13, tested)
    assert promised.p_at_1 < 22 and promised.ci95[0] < 13 < promised.ci95[1]


def table(columns: list[int], shares: list[float]) -> AnswerTable:
    """One answer a word, -1 for none."""
    some = [one >= 0 for one in columns]
    kept = np.array([one for one in columns if one >= 0])
    probability = np.array([one for one, there in zip(shares, some, strict=True) if there], np.float32)
    return AnswerTable(np.append(0, np.cumsum(some)), kept, np.zeros(len(kept), np.float32), probability)


def test_the_mean_is_of_frequent_words_whose_answer_is_not_more_probable_for_another() -> None:
    assert frequent_probability(table([1, 0, -1, 1], [0.9, 0.7, 0.0, 0.4])) == pytest.approx(1.6 / 2)
    assert frequent_probability(table([-1, -1], [0.0, 0.0])) == 0
    rng = np.random.default_rng(0)
    columns, shares = rng.integers(-1, 500, FREQUENT + 900), rng.random(FREQUENT + 900).astype(np.float32)
    best = {column: shares[columns == column].max() for column in set(columns.tolist()) - {-1}}
    counted = [one for column, one in zip(columns.tolist(), shares, strict=True) if best.get(column) == one]
    frequent = [one for one in counted if one in shares[:FREQUENT]]
    found = frequent_probability(table(columns.tolist(), shares.tolist()))
    assert found == pytest.approx(np.mean(frequent)) and len(frequent) < len(counted)


@dataclass(frozen=True)
class Judged:
    """What `judged` reads of what was learned."""

    verdict: Verdict


def verdict_of(*expected: ExpectedPrecision | None) -> Verdict:
    """What becomes of a sure verdict with these estimates of both directions."""
    learned: Any = {"fr": Judged(Verdict("aligned", 0.99, 0.3, 0.3, null=0.2))}
    there, back = (ChoiceReport("all evidence", 0, 0.0, expected=one) for one in expected)
    return judged(learned, {"fr": (there, back)})["fr"].verdict


def test_answers_that_are_hardly_ever_right_leave_no_verdict_aligned() -> None:
    good, bad = map(ExpectedPrecision.of, (0.6, 0.02))
    assert [verdict_of(good, good).label, verdict_of(good, bad).label] == ["aligned", "aligned"]
    assert (verdict_of(bad, bad).label, verdict_of(None, None).label) == ("doubtful", "aligned")
    assert verdict_of(bad, bad).confidence == pytest.approx(max(0.2, bad.at_least(LEAST_GOOD)), abs=1e-4)


@pytest.mark.parametrize("precision", [0.2, 0.55, 0.8, 0.95])
def test_as_many_pairs_are_kept_as_have_the_precision(precision: float) -> None:
    shares = np.random.default_rng(4).random(200).round(1)  # many are equal
    least = least_probability(shares, precision)
    assert least is not None
    sizes = [len(kept) for one in set(shares.tolist()) if (kept := shares[shares >= one]).mean() >= precision]
    assert (shares >= least).sum() == max(sizes)
    assert least_probability(shares, 1.01) is None
    assert least_probability(np.array([]), 0.5) is None
