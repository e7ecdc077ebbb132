"""A slice of the degenerate vectors of benchmarks/align/degenerate.py."""

import pytest

from benchmarks.align.degenerate import measured


@pytest.mark.slow
@pytest.mark.parametrize("sides", ["unrelated", "blurred"])
@pytest.mark.parametrize("kind", ["rank 2", "duplicates", "few clusters", "binary"])
def test_none_is_aligned_without_right_words_and_none_that_failed_is_sure(kind: str, sides: str) -> None:
    found = measured(kind, sides, words=500, seed=0, dimension=50)
    assert found["verdict"] != "aligned" or found["p_at_1"] >= 10
    if found["verdict"] == "failed":
        assert not found["above_half"]
    assert found["sure_right"] >= 0.8 * found["sure"]
    if (kind, sides) == ("binary", "blurred"):  # degenerate to the eye alone
        assert found["verdict"] == "aligned"
