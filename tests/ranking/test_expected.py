"""The expected share of right first translations: monotone, sane everywhere, and what rests on it."""

from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import scipy.stats

from muse.api.answers import judged
from muse.learn.verdict import LEAST_GOOD, Verdict
from muse.ranking.expected import ERROR, FREQUENT, ExpectedPrecision, frequent_shares, log_odds_of
from muse.ranking.induction import least_probability
from muse.ranking.model import ChoiceReport
from muse.space.derived import AnswerTable

SHARES, GAINS = (0.0, 0.05, 0.3, 0.6, 0.9, 1.0), (-2.0, 0.0, 1.0, 3.0, 9.0)


@pytest.mark.parametrize("place", range(3))
def test_more_evidence_never_means_less(place: int) -> None:
    values = [SHARES, SHARES, GAINS]
    others = values[:place] + values[place + 1 :]
    for rest in product(*others):
        found = [ExpectedPrecision.of(*(*rest[:place], one, *rest[place:])).p_at_1 for one in values[place]]
        assert all(one <= more for one, more in pairwise(found))
        assert all(0 < one < 100 for one in found)


def test_the_interval_is_that_of_normal_log_odds_about_the_estimate() -> None:
    found = ExpectedPrecision.of(0.6, 0.5, 1.5)
    middle, low, high = (log_odds_of(one / 100) for one in (found.p_at_1, *found.ci95))
    normal = scipy.stats.norm(middle, ERROR)
    assert [normal.cdf(low), normal.cdf(high)] == pytest.approx([0.025, 0.975], abs=2e-3)
    assert found.at_least(0.5) == pytest.approx(normal.sf(0), abs=1e-6)
    assert ExpectedPrecision.of_report(found.as_json()) == found
    assert ExpectedPrecision.of_report({"expected_p_at_1": 60}) is None


def table(columns: list[int], shares: list[float]) -> AnswerTable:
    """One answer a word, -1 for none."""
    some = [one >= 0 for one in columns]
    kept = np.array([one for one in columns if one >= 0])
    probability = np.array([one for one, there in zip(shares, some, strict=True) if there], np.float32)
    return AnswerTable(np.append(0, np.cumsum(some)), kept, np.zeros(len(kept), np.float32), probability)


def test_the_shares_are_of_the_frequent_words_and_count_those_without_an_answer() -> None:
    there, back = table([1, 0, -1, 1], [0.9, 0.7, 0.0, 0.4]), table([1, 0], [0.5, 0.5])
    assert frequent_shares(there, back) == pytest.approx((2.0 / 4, 2 / 4))
    rare = [0] * (FREQUENT + 9)
    assert frequent_shares(table(rare, [0.5] * FREQUENT + [1.0] * 9), back)[0] == 0.5


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
    good, bad = (ExpectedPrecision.of(one, one, 0.2) for one in (0.6, 0.02))
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
