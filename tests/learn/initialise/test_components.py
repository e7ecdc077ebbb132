"""Languages whose vectors differ in dimension: one shared space, and every initialisation that can."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from muse.alignment import Alignment
from muse.learn.bilingual import learn, normalise_in_place
from muse.learn.initialise.components import in_common_dimensions, in_smaller_space
from muse.learn.multilingual import learn_many
from muse.learn.pair import Criterion, LanguagePair
from muse.learn.settings import AlignConfig
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, best_targets
from muse.space.saving import mapped
from muse.vectors import Matrix, Vectors
from tests.support.references import unit
from tests.support.spaces import rotation
from tests.support.toys import DIMENSION, cloud, pair

COUNT = 700
MORE = 8  # the dimensions that only one of the languages has


def sides() -> tuple[Vectors, Vectors]:
    """The languages small (20 d) and large (28 d): a rotated copy of small beside other directions."""
    rng = np.random.default_rng(0)
    rows = cloud(0, COUNT)
    other = np.hstack([rows + rng.normal(0, 0.02, rows.shape), 0.3 * cloud(1, COUNT, MORE)])
    turned = (other @ rotation(2, DIMENSION + MORE).T).astype(np.float32)
    found = (
        Vectors(language, [f"{language}{i}" for i in range(COUNT)], matrix)
        for language, matrix in (("small", rows), ("large", turned))
    )
    small, large = (normalise_in_place(vectors, ("unit", "centre", "unit"))[0] for vectors in found)
    return small, large


def right(source: Vectors, target: Vectors, alignment: Alignment) -> float:
    """The share of words whose best translation in the shared space is the right one."""
    maps = alignment.source_map, alignment.target_map
    x, y = (
        torch.from_numpy(mapped(side.matrix, own)) for side, own in zip((source, target), maps, strict=True)
    )
    assert x.shape[1] == y.shape[1]
    found = best_targets(x, y, Retrieval())
    return float((found == torch.arange(COUNT)).double().mean())


@pytest.mark.parametrize("init", ["gromov", "similarity"])
@pytest.mark.parametrize("wider", ["source", pytest.param("target", marks=pytest.mark.slow)])
def test_the_shared_space_is_the_smaller_one(init: str, wider: str) -> None:
    small, large = sides()
    source, target = (large, small) if wider == "source" else (small, large)
    config = AlignConfig(init=init, reweight=False)
    learned = learn(source, target, config=config, runtime=Runtime())
    alignment = learned.alignment
    assert learned.verdict.label == "aligned"
    assert alignment.source_map.shape == (DIMENSION, source.dimension)
    assert alignment.orthogonality_defect < 1e-5
    if wider == "source":
        assert alignment.target_map is None
    else:
        assert alignment.target_map is not None
        assert alignment.target_map.shape == (DIMENSION, target.dimension)
    assert right(source, target, alignment) > 0.95


@pytest.mark.parametrize("wider", ["source", "target"])
def test_an_initialisation_gets_unit_rows_of_the_components_and_the_score_of_what_it_lifts_to(
    wider: str,
) -> None:
    small, large = sides()
    source, target = (large, small) if wider == "source" else (small, large)
    inside = rotation(7, DIMENSION)
    given, scored = list[Vectors](), list[Matrix]()

    def initialise(pair: LanguagePair, score: Criterion, rng: np.random.Generator) -> Iterator[Alignment]:
        given.extend(pair.sides)
        yield Alignment(inside, method="x", criterion=score(inside))

    def score(mapping: Matrix) -> float:
        scored.append(mapping)
        return 0.25

    (found,) = in_common_dimensions(initialise)(LanguagePair(source, target), score, np.random.default_rng(0))
    assert found.criterion == 0.25
    np.testing.assert_array_equal(scored[0], found.source_map)
    axes = [
        np.linalg.svd(side.matrix.astype(float), full_matrices=False)[2][:DIMENSION].T
        for side in (source, target)
    ]
    for side, rows, own in zip((source, target), given, axes, strict=True):
        inner = unit(side.matrix @ own)
        np.testing.assert_allclose(rows.matrix @ rows.matrix.T, inner @ inner.T, atol=1e-4)
    # Lifted, it maps a source row along the axes to where `inside` maps its components.
    lifted = target.matrix @ found.source_map @ source.matrix.T
    x, y = (side.matrix @ axis for side, axis in zip((source, target), axes, strict=True))
    signs = [np.sign((rows.matrix * one).sum(axis=0)) for rows, one in zip(given, (x, y), strict=True)]
    np.testing.assert_allclose(lifted, (y * signs[1]) @ inside @ (x * signs[0]).T, atol=1e-4)


def test_both_maps_may_be_weighted() -> None:
    small, large = sides()
    learned = learn(small, large, config=AlignConfig(init="similarity"), runtime=Runtime())
    assert right(small, large, learned.alignment) > 0.95


@pytest.mark.slow
def test_a_target_that_several_share_keeps_its_dimension() -> None:
    small, large = sides()
    other = replace(large, language="other")
    config = AlignConfig(init="similarity", joint=True)
    for target, sources in ((large, [small, other]), (small, [large, other])):
        many = learn_many(sources, target, config=config, runtime=Runtime())
        for source in sources:
            alignment = many.languages[source.language].alignment
            assert alignment.target_map is None
            assert alignment.source_map.shape == (target.dimension, source.dimension)
            assert right(source, target, alignment) > 0.95


def test_equal_dimensions_are_not_reduced() -> None:
    source, target, turn = pair()
    found = learn(source, target, config=AlignConfig(init="similarity"), runtime=Runtime()).alignment
    assert in_smaller_space(found) is found
    assert np.abs(found.source_map - turn).max() < 0.03


def test_into_the_smaller_space_cosines_are_those_of_the_projection() -> None:
    small, large = sides()
    embedding = np.linalg.qr(np.random.default_rng(1).normal(size=(28, 20)))[0].astype(np.float32)
    moved = in_smaller_space(Alignment(embedding))
    assert moved.target_map is not None
    np.testing.assert_array_equal(mapped(small.matrix, moved.source_map), mapped(small.matrix, None))
    np.testing.assert_allclose(
        mapped(large.matrix, moved.target_map), mapped(large.matrix @ embedding, None), atol=1e-6
    )
