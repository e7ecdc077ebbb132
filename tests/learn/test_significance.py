"""Standard errors of a gain: only cases that changed count."""

from __future__ import annotations

import pytest
import torch

from muse.learn.pair import standard_errors


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("0000", "0000", 0.0), ("0000", "1111", 2.0), ("1100", "0000", -(2**0.5)), ("1100", "0111", 1 / 3**0.5)],
)
def test_standard_errors_count_the_cases_that_changed(before: str, after: str, expected: float) -> None:
    rights = (torch.tensor([letter == "1" for letter in word]) for word in (before, after))
    assert standard_errors(*rights) == pytest.approx(expected)
