"""Evidence: likelihood ratios against scipy's densities, and planted rotations."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import torch

from muse.alignment import Alignment
from muse.learn.initialise.features import (
    CORRELATIONS,
    FeaturesConfig,
    features,
    log_likelihood_ratio,
    sharpened,
    word_features,
)
from muse.learn.pair import LanguagePair
from muse.run.runtime import Runtime
from muse.vectors import Vectors
from tests.support.spaces import rotation
from tests.support.toys import pair


def run(source: Vectors, target: Vectors) -> Alignment:
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


def test_a_planted_rotation() -> None:
    source, target, turn = pair(500)
    found = run(source, target)
    assert (found.method, found.init) == ("features", "features")
    assert np.abs(found.source_map - turn).max() < 0.1
    assert found.orthogonality_defect < 1e-5


def test_about_the_same_order_of_the_words_is_enough() -> None:
    source, target, turn = pair(500)
    order = np.argsort(np.arange(500) + np.random.default_rng(0).uniform(0, 100, 500))
    lengths = None if target.lengths is None else target.lengths[order]
    other = replace(target, matrix=target.matrix[order], lengths=lengths)
    assert np.abs(run(source, other).source_map - turn).max() < 0.1


@pytest.mark.parametrize("right", [0.0, 3.0])
def test_a_hint_at_the_right_pairs_is_enough(right: float) -> None:
    rows = torch.nn.functional.normalize(torch.randn(200, 30, generator=torch.Generator().manual_seed(0)))
    turn = torch.from_numpy(rotation(1, 30))
    ratio = torch.zeros(200, 200)
    ratio[::4] = right * torch.eye(200)[::4]
    plan = sharpened(rows, rows @ turn.T, ratio, FeaturesConfig(), Runtime())
    found = float((plan.argmax(dim=1) == torch.arange(200)).double().mean())
    assert found > 0.95 if right else found < 0.2
