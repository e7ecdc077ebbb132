"""Schedules: the published formulas, written again, and what cannot be one."""

from __future__ import annotations

from typing import Any

import pytest

from muse.errors import BadSetting
from muse.sentences.training.optimising import Schedule


def test_noam_is_equation_3() -> None:
    schedule = Schedule("noam", warmup=4_000, width=512)
    for step in (1, 3_999, 4_000, 4_001, 100_000):
        assert schedule(step) == pytest.approx(512**-0.5 * min(step**-0.5, step * 4_000**-1.5))
    assert max(range(1, 9_000), key=schedule) == 4_000


def test_the_others() -> None:
    assert [Schedule()(step) for step in (1, 10**6)] == [1, 1]
    assert [Schedule(warmup=4)(step) for step in (1, 4, 5)] == [0.25, 1, 1]
    linear = Schedule("linear", warmup=10, steps=110)
    assert [linear(step) for step in (5, 10, 60, 110, 120)] == [0.5, 1, 0.5, 0, 0]
    root = Schedule("inverse-sqrt", warmup=100)
    assert [root(step) for step in (50, 100, 400)] == [0.5, 1, 0.5]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "cosine"}, "one of constant, linear, inverse-sqrt, noam; got 'cosine'"),
        ({"name": "noam", "width": 8}, "1 or more steps of warm-up, got 0"),
        ({"name": "noam", "warmup": 8}, "width of the model"),
        ({"name": "linear", "warmup": 8, "steps": 8}, "more steps than the 8"),
        ({"warmup": -1}, "got -1"),
    ],
)
def test_settings_that_cannot_work(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        Schedule(**settings)
