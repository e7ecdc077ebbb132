"""X-BiLSTM through muse train: what each of its settings changes, and what it leaves as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.training import trainer
from muse.sentences.training.losses import PairLearner
from muse.space import load_space
from tests.sentences.systems.nli.test_nli import files, infersent, opened, sentences, x_bilstm
from tests.support.command import Command
from tests.support.parallel import toy_text

__all__ = ["files"]  # a fixture
ENGLISH, FRENCH = ([pair[side] for pair in toy_text(20, seed=9)] for side in (0, 1))


def copied_from(muse: Command, files: Path, *settings: str) -> NetworkEncoder:
    """An InferSent encoder of these settings, for the other tests to copy."""
    more = [part for setting in settings for part in ("--set", setting)]
    assert muse(*infersent(files, "-q", "--epochs", 1, *more)).code == 0
    return opened(files, "out")


@pytest.mark.parametrize("words", ["false", "true"])
def test_words_keep_the_rows_of_the_space_or_are_trained(muse: Command, files: Path, words: str) -> None:
    english = copied_from(muse, files).network
    found = muse(*x_bilstm(files, "--json", "--set", f"words={words}")).json
    assert found["best_epoch"] > 0
    network = opened(files, "x").network
    rows = network.get_parameter("others.fr.words.weight").detach().numpy()
    kept = np.array_equal(rows, load_space(files / "space").vectors("fr").matrix)
    assert kept == (words == "false")
    for name, weights in english.get_submodule(
        "encoder"
    ).named_parameters():  # the BiLSTM is trained with both
        assert not torch.equal(network.get_parameter(f"others.fr.encoder.{name}"), weights)


def test_lambda_weighs_the_negatives_and_0_leaves_the_mean_distance(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = copied_from(muse, files)
    losses, learner = dict[float, float](), list[PairLearner]()

    def noted(given: PairLearner, *more: Any, **named: Any) -> Any:
        with torch.no_grad():  # before training, when French is read by the weights of English
            losses[weight] = float(given.loss(torch.arange(32), torch.Generator().manual_seed(0)))
        learner.append(given)
        return trainer.train(given, *more, **named)

    monkeypatch.setattr("muse.sentences.systems.system.train", noted)
    trained = []
    for weight in (0.0, 0.1, 0.5):
        found = muse(*x_bilstm(files, "--json", "--epochs", 1, "--set", f"weight={weight}")).json
        assert found["encoder"] == f"x-bilstm[max:16,align:{weight:g}]"
        trained.append(opened(files, "x").encode(FRENCH, "fr").matrix)
    pairs = learner[0].corpus.pairs["fr"]
    chosen = pairs.training[:32]

    def rows(side: Ragged, language: str) -> Any:
        return english.encode(sentences(side.take(chosen), language), language).matrix

    distances = np.linalg.norm(rows(pairs.pivot, "en") - rows(pairs.other, "fr"), axis=1)
    assert losses[0.0] == pytest.approx(distances.mean(), rel=1e-5)
    slopes = [(losses[0.0] - losses[weight]) / weight for weight in (0.1, 0.5)]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-4)
    assert slopes[0] > 2 * losses[0.0]  # two negatives, farther than the translation
    for one, other in ((0, 1), (1, 2)):
        assert not np.allclose(trained[one], trained[other])


def test_random_weights_are_not_those_that_english_began_with(muse: Command, files: Path) -> None:
    assert muse(*infersent(files, "-q", "--epochs", 0)).code == 0
    assert muse(*x_bilstm(files, "-q", "--epochs", 0, "--set", "copied=false")).code == 0
    network = opened(files, "x").network
    for name, weights in opened(files, "out").network.get_submodule("encoder").named_parameters():
        own = network.get_parameter(f"others.fr.encoder.{name}")
        assert (own != weights).float().mean() > 0.9


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ((), "max:16"),
        (("pooling=last",), "last:16"),
        (("network=lstm", "pooling=mean"), "lstm-mean:8"),
        (("network=gru", "pooling=attention"), "gru-attention:32"),
        (("network=convolution",), "convolution:64"),
    ],
)
def test_an_infersent_of_any_form_is_copied(
    muse: Command, files: Path, settings: tuple[str, ...], name: str
) -> None:
    english = copied_from(muse, files, *settings)
    expected = {
        language: english.encode(text, language).matrix
        for language, text in (("en", ENGLISH), ("fr", FRENCH))
    }
    found = muse(*x_bilstm(files, "--json", "--epochs", 0)).json
    assert found["encoder"] == f"x-bilstm[{name},align:0.25]"
    # Over the same word vectors a copy of the layers makes the same rows.
    np.testing.assert_allclose(opened(files, "x").encode(FRENCH, "fr").matrix, expected["fr"], atol=1e-6)
    found = muse(*x_bilstm(files, "--json")).json
    assert found["loss_curve"][-1] < found["loss_curve"][0]
    trained = opened(files, "x")
    np.testing.assert_array_equal(trained.encode(ENGLISH, "en").matrix, expected["en"])
    far = [
        np.linalg.norm(one - expected["en"]) for one in (expected["fr"], trained.encode(FRENCH, "fr").matrix)
    ]
    assert far[1] < far[0]
