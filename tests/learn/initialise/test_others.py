"""Similar distributions, identical strings, Gromov-Wasserstein and features as initialisations."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import torch

from muse.alignment import Alignment
from muse.errors import Mismatch
from muse.learn.initialise.components import unit_components
from muse.learn.initialise.features import (
    CORRELATIONS,
    FeaturesConfig,
    features,
    log_likelihood_ratio,
    sharpened,
    word_features,
)
from muse.learn.initialise.gromov import GromovConfig, gromov, similarity_root
from muse.learn.initialise.identical import IdenticalConfig, identical, identical_strings
from muse.learn.initialise.similarity import SimilarityConfig, similarity
from muse.learn.pair import LanguagePair
from muse.run.runtime import Runtime
from muse.vectors import Vectors
from tests.support.spaces import rotation
from tests.support.toys import pair, shuffled

RNG = np.random.default_rng(0)


def test_similarity_finds_a_planted_rotation_in_any_order() -> None:
    source, target, turn = pair(500)
    mixed, _ = shuffled(target)
    for other in (target, mixed, mixed.most_frequent(490)):
        score = LanguagePair(source, other).criterion()
        (found,) = similarity(LanguagePair(source, other), score, RNG, config=SimilarityConfig())
        assert found.method == "similarity"
        assert found.criterion == pytest.approx(score(found.source_map))
        if len(other) == len(source):
            assert np.abs(found.source_map - turn).max() < 0.2


def test_identical_strings() -> None:
    source, target, turn = pair(300)
    shared = replace(target, words=[*target.words[:100], *source.words[100:]])
    assert identical_strings(source, shared).pairs[0] == ("fr100", "fr100")
    assert len(identical_strings(source, shared)) == 200
    both = LanguagePair(source, shared)
    (found,) = identical(both, both.criterion(), RNG, config=IdenticalConfig())
    assert found.method == "identical"
    assert np.abs(found.source_map - turn).max() < 0.1


@pytest.mark.parametrize("shared", [0, 9])
def test_too_few_identical_strings(shared: int) -> None:
    source, target, _ = pair(300)
    other = replace(target, words=[*source.words[:shared], *target.words[shared:]])
    with pytest.raises(Mismatch, match=f"at least 10 words spelt alike in both languages, got {shared}"):
        list(identical(LanguagePair(source, other), lambda _: 0.0, RNG, config=IdenticalConfig()))


def test_identical_strings_that_mean_something_else_are_left_out() -> None:
    source, target, turn = pair(400)
    false = shuffled(target.most_frequent(100))[0].matrix
    rows = np.concatenate([false, target.matrix[100:]])
    shared = replace(target, words=source.words, matrix=rows)
    errors = []
    for chance in (0.95, 0.0):
        config, rng = IdenticalConfig(chance=chance), np.random.default_rng(0)
        (found,) = identical(LanguagePair(source, shared), lambda _: 0.0, rng, config=config)
        errors.append(np.abs(found.source_map - turn).max())
    assert errors[0] < errors[1] / 2


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


def by_features(source: Vectors, target: Vectors) -> Alignment:
    both = LanguagePair(source, target)
    (found,) = features(both, both.criterion(), np.random.default_rng(0), config=FeaturesConfig())
    return found


def test_the_ratio_is_that_of_bivariate_and_independent_normals() -> None:
    rng = np.random.default_rng(0)
    names = ("rank", "skewness")
    x, y = ({name: rng.normal(size=count) for name in names} for count in (4, 3))
    expected = np.zeros((4, 3))
    for name in names:
        r = CORRELATIONS[name]
        together = scipy.stats.multivariate_normal(cov=[[1, r], [r, 1]])
        points = np.stack(np.broadcast_arrays(x[name][:, None], y[name][None, :]), axis=-1)
        alone = scipy.stats.norm.logpdf(points).sum(axis=-1)
        expected += together.logpdf(points) - alone + np.log(1 - r**2) / 2
    np.testing.assert_allclose(log_likelihood_ratio(x, y).numpy(), expected, atol=1e-5)


def test_features_do_not_depend_on_the_axes() -> None:
    source, _, _ = pair(300)
    turned = replace(source, matrix=source.matrix @ rotation(3, source.dimension).T)
    own, other = word_features(source), word_features(turned)
    assert own.keys() == other.keys() <= CORRELATIONS.keys()
    for name in own:
        assert np.corrcoef(own[name], other[name])[0, 1] > 0.999


def test_a_feature_that_is_unknown_or_the_same_for_all_is_left_out() -> None:
    source, _, _ = pair(300)
    bare = replace(source, lengths=None, words=[f"{row:03}" for row in range(300)])
    assert not {"length", "neighbours' length", "letters"} & word_features(bare).keys()
    assert "rank" in word_features(bare)


def test_features_find_a_planted_rotation() -> None:
    source, target, turn = pair(500)
    found = by_features(source, target)
    assert (found.method, found.init) == ("features", "features")
    assert np.abs(found.source_map - turn).max() < 0.1
    assert found.orthogonality_defect < 1e-5


def test_about_the_same_order_of_the_words_is_enough() -> None:
    source, target, turn = pair(500)
    order = np.argsort(np.arange(500) + np.random.default_rng(0).uniform(0, 100, 500))
    lengths = None if target.lengths is None else target.lengths[order]
    other = replace(target, matrix=target.matrix[order], lengths=lengths)
    assert np.abs(by_features(source, other).source_map - turn).max() < 0.1


@pytest.mark.parametrize("right", [0.0, 3.0])
def test_a_hint_at_the_right_pairs_is_enough(right: float) -> None:
    rows = torch.nn.functional.normalize(torch.randn(200, 30, generator=torch.Generator().manual_seed(0)))
    turn = torch.from_numpy(rotation(1, 30))
    ratio = torch.zeros(200, 200)
    ratio[::4] = right * torch.eye(200)[::4]
    plan = sharpened(rows, rows @ turn.T, ratio, FeaturesConfig(), Runtime())
    found = float((plan.argmax(dim=1) == torch.arange(200)).double().mean())
    assert found > 0.95 if right else found < 0.2
