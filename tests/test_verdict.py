"""The verdict on mappings known to be right, and on mappings between spaces that have no right one."""

from __future__ import annotations

import numpy as np
import pytest

from muse.alignment import Alignment
from muse.procrustes import procrustes
from muse.runtime import Runtime
from muse.vectors import Matrix, Vectors
from muse.verdict import Verdict, judge
from tests.spaces import rotation
from tests.toys import pair, shuffled, strangers


def verdict(source: Vectors, target: Vectors, mapping: Matrix) -> Verdict:
    return judge(source, target, Alignment(mapping), rng=np.random.default_rng(0), runtime=Runtime())


@pytest.mark.parametrize("dimension", [20, 50])
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_a_planted_rotation_is_aligned(dimension: int, noise: float) -> None:
    found = verdict(*pair(1_000, dimension, noise))
    assert found.label == "aligned"
    assert found.confidence > 0.95
    assert found.agreement > 0.9


def test_the_order_of_the_words_does_not_matter() -> None:
    source, target, turn = pair(1_000)
    assert verdict(source, shuffled(target)[0], turn).label == "aligned"


@pytest.mark.parametrize("dimension", [50, 100])
def test_strangers_fail_under_a_random_mapping(dimension: int) -> None:
    found = verdict(*strangers(1_000, dimension), rotation(1, dimension))
    assert (found.label, found.confidence < 0.2) == ("failed", True)


def test_a_wrong_mapping_of_a_good_pair_fails() -> None:
    source, target, _ = pair(1_000, 50)
    assert verdict(source, target, rotation(9, 50)).label == "failed"


def test_a_mapping_fitted_to_shuffled_words_fails() -> None:
    # Even clouds: where a few directions hold nearly all variance, few pairs fix a mapping, right or wrong.
    source, _ = strangers(1_000, 50)
    mixed, _ = shuffled(source)
    assert verdict(source, source, procrustes(source.tensor(), mixed.tensor()).numpy()).label == "failed"


def test_two_words_are_no_reason_to_break() -> None:
    source, target, turn = pair(600)
    found = verdict(source.most_frequent(2), target.most_frequent(2), turn)
    assert found.label in ("failed", "doubtful", "aligned")
    assert 0 <= found.agreement <= 1
