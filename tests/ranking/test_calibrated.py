"""The calibration of a space."""

from __future__ import annotations

import numpy as np

from muse.ranking.probability import (
    calibrate_rows,
    calibrate_space,
    find_calibration,
    known_calibration,
)
from muse.search.retrieval import Retrieval
from tests.support.spaces import plain_space, space_with_zeros


def test_the_same_as_of_the_rows_and_found_once_for_each_direction() -> None:
    space = space_with_zeros()
    assert known_calibration(space, "fr", "en") is None
    found = find_calibration(space, "fr", "en")
    expected = calibrate_rows(space.tensor("fr"), space.tensor("en"), rng=np.random.default_rng(0))
    assert found == expected
    assert calibrate_space(space, "fr", "en", rng=np.random.default_rng(0), retrieval=Retrieval()) == expected
    assert find_calibration(space, "fr", "en") is known_calibration(space, "fr", "en") is found
    assert known_calibration(space, "en", "fr") is None


def test_a_space_that_is_too_small_has_none() -> None:
    eye = np.eye(1, dtype=np.float32)
    assert find_calibration(plain_space(eye, eye, ["a"], ["b"]), "fr", "en") is None
