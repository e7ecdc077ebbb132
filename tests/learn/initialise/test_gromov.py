"""Gromov-Wasserstein: planted rotations among shuffled words, and what is matched."""

import numpy as np
import pytest

from muse.alignment import Alignment
from muse.learn.initialise.components import unit_components
from muse.learn.initialise.gromov import GromovConfig, gromov, similarity_root
from muse.learn.pair import LanguagePair
from muse.vectors import Vectors
from tests.support.toys import pair, shuffled


def run(source: Vectors, target: Vectors, *priors: str) -> list[Alignment]:
    both, config = LanguagePair(source, target), GromovConfig(priors=priors)
    return list(gromov(both, both.criterion(), np.random.default_rng(0), config=config))


@pytest.mark.parametrize("prior", ["none", "length", "rank"])
def test_a_planted_rotation(prior: str) -> None:
    source, target, turn = pair(400)
    (found,) = run(source, target, prior)
    assert found.method == f"gromov:{prior}"
    assert found.init == "gromov"
    assert np.abs(found.source_map - turn).max() < 0.1
    assert found.orthogonality_defect < 1e-5


def test_what_is_matched_is_the_root_of_the_similarities_of_the_components() -> None:
    source, _, _ = pair(400)
    factor = similarity_root(unit_components(LanguagePair(source, source), 400, 7)[0]).double().numpy()
    axes = np.linalg.svd(source.matrix.astype(np.float64), full_matrices=False)[2][:7]
    rows = source.matrix @ axes.T
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    root = factor @ factor.T
    np.testing.assert_allclose(root @ root, rows @ rows.T, atol=1e-4)


def test_the_order_of_the_words_is_not_needed() -> None:
    source, target, turn = pair(400)
    (found,) = run(source, shuffled(target)[0], "none")
    assert np.abs(found.source_map - turn).max() < 0.1


def test_lengths_that_are_not_known_are_no_prior() -> None:
    source, target, _ = pair(100)
    bare = Vectors("fr", source.words, source.matrix)
    assert [found.method for found in run(bare, target, "none", "length")] == ["gromov:none"]
