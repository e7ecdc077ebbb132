"""BGT whose translations are from samples: the paper's BGT without language variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.bgt.inputs import BgtConfig
from muse.sentences.systems.bgt.latent_network import Gaussian
from tests.support.bgt import LAYERS, PAIR, SMALL, drawn, learner_of, made, posteriors

SAMPLED = replace(SMALL, translates="sample")
PAPER: dict[str, Any] = {"translates": "sample", "reconstruction": 0.0}


def divergence(posterior: Gaussian) -> torch.Tensor:
    """KL(q(z | x) || N(0, I)) (b,), by torch."""
    normal = Normal(posterior.mean, (posterior.log_variance / 2).exp())
    return kl_divergence(normal, Normal(0.0, 1.0)).sum(dim=1)


def test_each_translation_is_from_a_sample_whose_divergence_counts() -> None:
    network = made(replace(SAMPLED, reconstruction=0.0, prior=0.5))
    rows, learner = torch.arange(2), learner_of(network)
    (first, second), _ = posteriors(network)
    for step, weight in ((1, 0.05), (2, 0.1), (10, 0.5), (40, 0.5)):
        generator = drawn(step)
        (first, second)[step % 2].sample(generator)  # that of the reconstruction is drawn before
        expected = network.translators[0]([second.sample(generator)], PAIR[0].padded(), 0.1)
        expected = expected + network.translators[1]([first.sample(generator)], PAIR[1].padded(), 0.1)
        expected = expected + weight * (divergence(first) + divergence(second))
        learner.begin(step)
        torch.testing.assert_close(learner.loss(rows, drawn(step)), expected.mean())


def test_beside_the_reconstruction_each_bound_has_its_own_divergence() -> None:
    network = made(replace(SAMPLED, reconstruction=0.5, translation=2.0))
    rows, learner = torch.arange(2), learner_of(network)
    learner.begin(5)
    terms = network.terms(PAIR, 1, drawn(3))
    meanings, own = posteriors(network)
    first, second = map(divergence, meanings)
    bound = terms.reconstruction + 0.5 * (second + sum(map(divergence, own)))
    translation = terms.translated + 0.5 * (first + second)
    torch.testing.assert_close(learner.loss(rows, drawn(3)), (0.5 * bound + 2 * translation).mean())


def test_nothing_but_the_translation_changes() -> None:
    """The draws of the reconstruction come first, so that it is the same from means and from samples."""
    mean, sample = (made(config).terms(PAIR, 0, drawn(2)) for config in (SMALL, SAMPLED))
    assert torch.equal(mean.reconstruction, sample.reconstruction)
    assert torch.equal(mean.divergence, sample.divergence)
    assert not torch.allclose(mean.translated, sample.translated)
    assert not mean.translation_divergence.any()


def test_without_variance_a_sample_is_the_mean() -> None:
    networks = [made(config) for config in (SMALL, SAMPLED)]
    found = []
    for network in networks:
        weights = network.semantic.get_parameter("_out.weight")
        with torch.no_grad():  # all rows (v, d) have a 1 in front, and the log of the variance is -60 of it
            weights[SMALL.semantic :] = 0.0
            weights[SMALL.semantic :, 0] = -60.0
            for place in range(2):
                network.get_buffer(f"rows_{place}")[:, 0] = 1.0
        found.append(network.terms(PAIR, 0, drawn()).translated)
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("config", [SMALL, LAYERS], ids=["bag", "layers"])
@pytest.mark.parametrize("read_from", ["both", "pivot"])
def test_the_variance_learns_from_samples_alone(config: BgtConfig, read_from: str) -> None:
    small = Ragged.of([[5, 6], [6]]), Ragged.of([[6], [5, 5, 6]])
    for translates in ("mean", "sample"):
        network = made(replace(config, reconstruction=0.0, read_from=read_from, translates=translates))
        network.terms(small, 0, drawn()).translated.mean().backward()  # type: ignore[no-untyped-call]
        mean, variance = network.semantic.get_parameter("_out.weight").grad.chunk(2)  # type: ignore[union-attr]
        assert mean.any()
        assert bool(variance.any()) == (translates == "sample")


def test_of_the_pivot_the_divergence_is_that_of_its_posterior() -> None:
    network = made(replace(SMALL, **PAPER, read_from="pivot"))
    found = network.terms(PAIR, 0, drawn()).translation_divergence
    torch.testing.assert_close(found, divergence(posteriors(network)[0][0]))
