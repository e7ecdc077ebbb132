"""Whether BLEU follows the lexicon: an exact test over all orders of the teachers."""

import pytest

from benchmarks.systems.teachers import rising


@pytest.mark.parametrize(
    ("bleu", "correlation", "p"),
    [
        ((1.0, 2.0, 3.0, 4.0), "1.00 (1.00-1.00)", "0.0017"),
        ((4.0, 3.0, 2.0, 1.0), "-1.00 (-1.00--1.00)", "1"),
    ],
)
def test_one_order_in_576_is_as_good_as_two_of_four_teachers_that_rise(
    bleu: tuple[float, ...], correlation: str, p: str
) -> None:
    rows = [
        {"lang": lang, "teacher": str(place), "seed": "0", "direction": way, "steps": "9",
         "p_at_1": str(place), "bleu": str(value)}
        for lang in "ab" for way in ("to", "from") for place, value in enumerate(bleu)
    ]  # fmt: skip
    assert rising(rows, "p_at_1") == (
        f"BLEU by p_at_1: a {correlation} of 4 teachers, b {correlation} of 4 teachers; p = {p}"
    )
