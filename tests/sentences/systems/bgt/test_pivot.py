"""Forms of BGT: the paper's EnglishAE, EnglishVAE and EnglishTrans, and translations from samples."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.loading import load_encoder
from muse.sentences.systems.bgt.bgt_system import Rewriting
from muse.sentences.systems.bgt.inputs import BgtConfig
from muse.sentences.systems.bgt.latent_network import Decoder, Gaussian
from muse.sentences.systems.pieces import BOS, EOS
from muse.space import load_space
from tests.support.bgt import LAYERS, PAIR, SMALL, drawn, learner_of, made, posteriors
from tests.support.command import Command, refused, refused_leaving
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.toy_training import set_options

AE: dict[str, Any] = {"read_from": "pivot", "language": 0, "translation": 0.0, "prior": 0.0}
VAE: dict[str, Any] = {**AE, "prior": 1.0}
TRANS: dict[str, Any] = {"read_from": "pivot", "reconstruction": 0.0}
SHORT = Ragged.of([[5, 6], [6]]), Ragged.of([[6], [5, 5, 6]])  # of the ids that all networks know
ALL = {"EnglishAE": AE, "EnglishVAE": VAE, "EnglishTrans": TRANS}


@pytest.mark.parametrize("config", [SMALL, LAYERS], ids=["bag", "layers"])
@pytest.mark.parametrize("name", ALL)
def test_only_what_is_needed_is_made_and_all_of_it_learns(name: str, config: BgtConfig) -> None:
    network = made(replace(config, **ALL[name]))
    parts = {".".join(name.split(".")[:2]) for name, _ in network.named_parameters()}
    writes = "translators.0" if name == "EnglishTrans" else "decoders.0"
    assert {part for part in parts if not part.startswith("semantic.")} == {writes}
    assert any(part.startswith("semantic.") for part in parts)
    told, divergence, translated, _ = network.terms(SHORT, 0, drawn())
    (told + divergence + translated).mean().backward()  # type: ignore[no-untyped-call]
    assert not [name for name, part in network.named_parameters() if part.grad is None or not part.grad.any()]


@pytest.mark.parametrize("config", [SMALL, LAYERS], ids=["bag", "layers"])
def test_an_autoencoder_is_one_of_the_pivot_alone(config: BgtConfig) -> None:
    network = made(replace(config, **VAE))
    told, divergence, translated, _ = network.terms(SHORT, 0, drawn(4))
    meaning = network.semantic_posterior(SHORT[0], "en")
    sentences = (SHORT[0].framed(BOS, EOS) if config.decoder_layers else SHORT[0]).padded()
    torch.testing.assert_close(told, network.decoders[0]([meaning.sample(drawn(4))], sentences))
    expected = kl_divergence(Normal(meaning.mean, (meaning.log_variance / 2).exp()), Normal(0.0, 1.0))
    torch.testing.assert_close(divergence, expected.sum(dim=1))
    assert not translated.any()
    others = SHORT[0], Ragged.of([[5, 6, 6], [5]])
    for one, other in zip(
        network.terms(others, 0, drawn(4)), (told, divergence, translated, 0 * told), strict=True
    ):
        assert torch.equal(one, other)


def test_a_translation_is_that_of_the_pivot_alone() -> None:
    network = made(replace(SMALL, **TRANS))
    told, _, translated, _ = network.terms(PAIR, 0, drawn())
    meaning = network.semantic_posterior(PAIR[0], "en").mean
    torch.testing.assert_close(translated, network.translators[0]([meaning], PAIR[1].padded(), 0.1))
    assert not told.any()


@pytest.mark.parametrize("sides", ["steps", "pairs"])
def test_every_step_reads_the_pivot(sides: str) -> None:
    network = made(replace(SMALL, **{**VAE, "sides": sides}))
    learner = learner_of(network)
    for step, weight in ((3, 0.3), (4, 0.4)):
        told, divergence, _, _ = network.terms(PAIR, 0, drawn(step))
        learner.begin(step)
        found = learner.loss(torch.arange(2), drawn(step))
        torch.testing.assert_close(found, (told + weight * divergence).mean())


def planned(settings: dict[str, Any], epochs: int) -> float:
    """The score of a network, when it is trained for so many epochs of one step."""
    return learner_of(made(replace(SMALL, **settings)), epochs).eval().held_out().score


def test_a_translation_is_scored_by_its_held_out_loss() -> None:
    network = made(replace(SMALL, **TRANS))
    meaning = network.semantic_posterior(PAIR[0], "en").mean
    nats: Tensor = network.translators[0]([meaning], PAIR[1].padded(), 0.1)
    assert planned(TRANS, 5) == pytest.approx(-nats.mean().item(), rel=1e-5)
    learner = learner_of(network)
    assert (learner.metric, learner.held_out().hits) == ("-loss", None)


def test_the_score_has_the_weight_of_the_divergence_that_training_ends_with() -> None:
    # After 10 steps, `annealing`, the divergence has the weight of the prior; a step is an epoch here.
    divergence = made(replace(SMALL, **VAE)).semantic_posterior(PAIR[0], "en").divergence().mean().item()
    scores = {epochs: planned({**VAE, "prior": 2.0}, epochs) for epochs in (0, 5, 10, 20)}
    assert divergence > 0.01
    for epochs, weight in ((5, 1.0), (10, 2.0), (20, 2.0)):
        assert scores[0] - scores[epochs] == pytest.approx(weight * divergence, rel=1e-3)
    learner = learner_of(made(replace(SMALL, **VAE)))
    before = learner.held_out().score
    learner.begin(9)
    assert learner.held_out().score == before  # the same weight and the same draws in all epochs


@pytest.fixture
def files(tmp_path: Path) -> Path:
    toy_space(tmp_path / "space")
    write_text(tmp_path / "text.tsv", [(f"{en} .", f"{fr} !") for en, fr in toy_text()])
    return tmp_path


def training(files: Path, settings: dict[str, Any], *more: object) -> list[object]:
    named = set_options(**settings)
    text = ["--lang", "fr", "--parallel", files / "text.tsv", "--batch", 32, "--rate", 0.03]
    return [
        "train", files / "space", "--encoder", "bgt", *text, *named, "--out", files / "out", *more
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["EnglishVAE", "EnglishTrans"])
def test_a_baseline_learns_is_saved_and_loaded(muse: Command, files: Path, name: str) -> None:
    settings = {"bag": "words", "semantic": 16, **ALL[name]}
    found = muse(*training(files, settings, "--json", "--epochs", 4)).json
    assert (found["metric"], found["ci95"]) == ("-loss", None)
    assert found["score_by_epoch"] == sorted(found["score_by_epoch"])  # it learns in every epoch
    assert found["score"] == found["score_by_epoch"][-1]
    assert found["encoder"].endswith("read_from:pivot]")
    encoder = load_encoder(files / "out", load_space(files / "space"))
    for language in ("en", "fr"):  # the rows of the space are aligned: what is unread is encoded too
        rows = encoder.encode([f"{language}1 {language}2", f"{language}3"], language).matrix
        assert rows.shape == (2, 16)
        assert bool(np.isfinite(rows).all() and rows.any(axis=1).all())


def test_a_language_latent_needs_a_second_language(muse: Command, files: Path) -> None:
    refused_leaving(files, muse, training(files, {"read_from": "pivot"}), "language must be 0, got 32")
    settings = {**AE, "reconstruction": 0}
    refused(muse(*training(files, settings)), "one of translation and reconstruction")


@pytest.mark.parametrize(
    ("settings", "target", "part"),
    [
        (AE, "en", "decoders"),
        (TRANS, "fra", "translators"),
        ({"read_from": "pivot", "language": 0}, "en", "decoders"),
        ({"read_from": "pivot", "language": 0}, "fra", "translators"),
    ],
)
def test_it_writes_what_it_learned_to_write(
    settings: dict[str, Any], target: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, seen, writing = made(replace(LAYERS, **settings)).eval(), list[object](), Decoder.writing
    (writer,) = getattr(network, part)

    def noted(decoder: Decoder, latents: Sequence[Tensor], beam: int) -> Any:
        seen.append(decoder)
        return writing(decoder, latents, beam)

    monkeypatch.setattr(Decoder, "writing", noted)
    found = Rewriting(network, ("en", target)).write(SHORT[0], 1)
    assert (len(found), seen) == (2, [writer])


@pytest.mark.parametrize(
    ("settings", "direction", "writes"),
    [
        (AE, ("fra", "fra"), "en"),
        (AE, ("en", "fra"), "en"),
        (TRANS, ("fra", "en"), "fra"),
        (TRANS, ("en", "en"), "fra"),
        ({"read_from": "pivot", "language": 0}, ("fra", "fra"), "en, fra"),
    ],
)
def test_it_writes_nothing_else(settings: dict[str, Any], direction: tuple[str, str], writes: str) -> None:
    with pytest.raises(BadSetting, match=f"got '{direction[0]}' to write in"):
        Rewriting(made(replace(LAYERS, **settings)), direction)


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
