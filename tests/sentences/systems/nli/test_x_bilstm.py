"""X-BiLSTM through muse train: what each of its settings changes, and what it leaves as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.space import load_space
from tests.sentences.systems.nli.test_nli import files, infersent, opened, x_bilstm
from tests.support.command import Command
from tests.support.parallel import toy_text
from tests.support.toy_training import set_options

__all__ = ["files"]  # a fixture
ENGLISH, FRENCH = ([pair[side] for pair in toy_text(20, seed=9)] for side in (0, 1))


def copied_from(muse: Command, files: Path, *settings: str) -> NetworkEncoder:
    """An InferSent encoder of these settings, for the other tests to copy."""
    more = set_options(*settings)
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
