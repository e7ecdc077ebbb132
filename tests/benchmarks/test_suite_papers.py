"""The order of the suite's systems: only tasks that both sides have of all shared systems count."""

import pytest

pytest.importorskip("scipy")

from benchmarks.sentences.suite_papers import compared, means, tau


def test_means_are_over_seeds() -> None:
    rows = [{"encoder": "sp", "task": "MR", "seed": str(seed), "value": str(60 + seed)} for seed in (0, 2)]
    assert means(rows) == {"sp": {"MR": 61.0}}


def test_a_task_that_a_shared_system_lacks_is_left_out() -> None:
    paper = {"sp": {"MR": 1.0, "CR": 2.0}, "BGT": {"MR": 2.0, "CR": 3.0}, "USE": {"MR": 5.0, "CR": 4.0}}
    ours = {"sp": {"MR": 2.0, "CR": 1.0}, "BGT": {"MR": 1.0}, "mean": {"MR": 3.0, "CR": 3.0}}
    assert compared(paper, ours) == (["sp", "BGT"], ["MR"])


def test_tau_is_one_for_the_same_order() -> None:
    one, other = {"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 10.0, "b": 11.0, "c": 50.0}
    assert tau("abc", one, other)[0] == 1
    assert tau("abc", one, {name: -value for name, value in one.items()})[0] == -1


def test_p_is_exact_unless_there_are_ties() -> None:
    one = {name: float(place) for place, name in enumerate("abcd")}
    other = {**one, "c": 3.0, "d": 2.0}
    # 4 of the 24 orders of four have at most one pair the other way around, and 4 at most one the same.
    assert tau("abcd", one, other) == pytest.approx((2 / 3, 8 / 24))
    tied, p = tau("abcd", one, {**one, "d": 2.0})
    assert tied == pytest.approx(5 / 30**0.5)
    assert 0 < p < 1
