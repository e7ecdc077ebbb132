"""Refinement: a rough mapping becomes the planted one, every round is a rotation, a good one stays."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import torch

from muse.alignment import Alignment
from muse.learn.bilingual import normalise_in_place
from muse.learn.pair import LanguagePair
from muse.learn.refine import PLAIN, RefineConfig, refine
from muse.learn.refine import rounds as rounds_of
from muse.vectors import Matrix
from tests.support.references import csls_pairs, polar, unit, weighted
from tests.support.toys import pair, raw_pair


def rough(turn: Matrix, noise: float) -> Matrix:
    """The closest rotation to a noisy copy of `turn`."""
    left, _, right = np.linalg.svd(turn + np.random.default_rng(0).normal(0, noise, turn.shape))
    return np.asarray(left @ right, np.float32)


def rounds(start: Matrix, config: RefineConfig) -> list[Alignment]:
    source, target, _ = pair()
    rng = np.random.default_rng(0)
    return list(refine(LanguagePair(source, target), Alignment(start, method="m"), config=config, rng=rng))


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_planted_rotation_is_reached(noise: float) -> None:
    turn = pair()[2]
    found = rounds(rough(turn, noise), RefineConfig())
    assert np.abs(found[-1].source_map - turn).max() < 0.03
    assert all(alignment.orthogonality_defect < 1e-5 for alignment in found)
    assert {alignment.method for alignment in found} == {"m"}


def test_a_cutoff_ends_when_nothing_is_gained() -> None:
    config = RefineConfig(cutoffs=(200,), max_rounds=20, patience=2, gain=1.0)
    assert len(rounds(pair()[2], config)) == 3  # the first gains; the next two do not
    assert len(rounds(pair()[2], replace(config, patience=20))) == 20


def test_two_rounds_by_their_definition() -> None:
    """CSLS from all scores; words looked up by the pairs of other folds; half of the memory is the last."""
    source, target, turn = pair(300, noise=0.15)
    x, y = source.matrix.astype(float), target.matrix.astype(float)
    start = rough(turn, 0.3)
    config = RefineConfig(max_rounds=2, folds=3)
    found = list(
        rounds_of(source.tensor(), target.tensor(), torch.from_numpy(start), config, np.random.default_rng(0))
    )
    left, right = csls_pairs(x @ start.T, y)
    memory = y[right].T @ x[left]
    np.testing.assert_allclose(found[0][0].numpy(), polar(memory), atol=1e-4)
    assert found[0][1] == pytest.approx(((x @ start.T)[left] * y[right]).sum() / 300, abs=1e-5)

    folds = np.random.default_rng(0).integers(3, size=300)
    mapped, keys = np.empty_like(x), unit(y @ weighted(memory, x, y)[1])
    for fold in range(3):
        others = folds[left] != fold
        turned, weighting = weighted(y[right[others]].T @ x[left[others]], x, y)
        mapped[folds == fold] = unit(x @ (weighting @ turned).T)[folds == fold]
    left, right = csls_pairs(mapped, keys)
    np.testing.assert_allclose(found[1][0].numpy(), polar(memory / 2 + y[right].T @ x[left]), atol=1e-4)
    assert found[1][1] == pytest.approx((mapped[left] * keys[right]).sum() / 300, abs=1e-5)


def test_rare_words_are_left_out() -> None:
    source, target, turn = pair()
    start = Alignment(rough(turn, 0.2), method="m")
    few = source.most_frequent(300), target.most_frequent(300)
    found = [
        refine(LanguagePair(*sides), start, config, np.random.default_rng(0))
        for sides, config in (
            ((source, target), RefineConfig(share=0.5)),
            (few, RefineConfig(share=1.0)),
        )
    ]
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one.source_map, other.source_map)


def test_plain_rounds_are_procrustes_on_raw_mutual_neighbours() -> None:
    """Each round by its definition: mutual CSLS neighbours by cosine, then scipy's Procrustes on raw rows."""
    raw = raw_pair(300, noise=0.4)
    x, y, turn = raw[0].matrix.astype(float), raw[1].matrix.astype(float), raw[2]
    source, target = (normalise_in_place(side, ())[0] for side in raw[:2])
    start = Alignment(rough(turn, 0.2))
    rng = np.random.default_rng(0)
    found = list(refine(LanguagePair(source, target), start, config=PLAIN, rng=rng))
    assert len(found) == 5
    mapping = start.source_map.astype(float)
    for one in found:
        left, right = csls_pairs(unit(x @ mapping.T), unit(y))
        mapping = scipy.linalg.orthogonal_procrustes(x[left], y[right])[0].T
        np.testing.assert_allclose(one.source_map, mapping, atol=1e-4)


def test_plain_rounds_take_the_most_frequent_words_of_each_side() -> None:
    source, target, turn = pair(300, noise=0.15)
    few = target.most_frequent(100)
    config, start = replace(PLAIN, cutoffs=(200,), max_rounds=1), Alignment(rough(turn, 0.1))
    (found,) = refine(LanguagePair(source, few), start, config=config, rng=np.random.default_rng(0))
    x, y = source.matrix[:200].astype(float), few.matrix.astype(float)
    left, right = csls_pairs(x @ start.source_map.T.astype(float), y)
    expected = scipy.linalg.orthogonal_procrustes(x[left], y[right])[0].T
    np.testing.assert_allclose(found.source_map, expected, atol=1e-4)
