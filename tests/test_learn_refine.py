"""Refinement: a rough mapping becomes the planted one, every round is a rotation, a good one stays."""

from __future__ import annotations

import numpy as np
import pytest

from muse.alignment import Alignment
from muse.learn.refine import RefineConfig, refine
from muse.run.runtime import Runtime
from muse.vectors import Matrix
from tests.spaces import rotation
from tests.toys import DIMENSION, pair


def rough(turn: Matrix, noise: float) -> Matrix:
    """The closest rotation to a noisy copy of `turn`."""
    left, _, right = np.linalg.svd(turn + np.random.default_rng(0).normal(0, noise, turn.shape))
    return np.asarray(left @ right, np.float32)


def rounds(start: Matrix, config: RefineConfig) -> list[Alignment]:
    source, target, _ = pair()
    rng = np.random.default_rng(0)
    return list(
        refine(source, target, Alignment(start, method="m"), config=config, rng=rng, runtime=Runtime())
    )


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_planted_rotation_is_reached(noise: float) -> None:
    turn = pair()[2]
    found = rounds(rough(turn, noise), RefineConfig())
    assert np.abs(found[-1].source_map - turn).max() < 0.03
    assert all(alignment.orthogonality_defect < 1e-5 for alignment in found)
    assert {alignment.method for alignment in found} == {"m"}


def test_the_same_generator_gives_the_same_rounds() -> None:
    start = rotation(5, DIMENSION)
    for one, other in zip(rounds(start, RefineConfig()), rounds(start, RefineConfig()), strict=True):
        assert np.array_equal(one.source_map, other.source_map)


def test_rounds_are_bounded() -> None:
    config = RefineConfig(cutoffs=(100, 200), max_rounds=3)
    assert 2 <= len(rounds(rotation(5, DIMENSION), config)) <= 6
