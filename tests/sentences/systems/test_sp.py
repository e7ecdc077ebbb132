"""SP: the mean of word pieces, of all languages together, trained by a margin on hard negatives."""

from pathlib import Path

import numpy as np
import pytest

from muse.normalise import normalise
from muse.sentences.loading import load_encoder
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.registry import TrainedSystem
from muse.sentences.systems.word_encoders import SpNetwork
from muse.space import load_space
from tests.support.command import Command
from tests.support.parallel import toy_space, toy_text
from tests.support.toy_training import train_on_toy

pytest.importorskip("tokenizers")
SIZES = {"pieces": "300", "dimension": "16"}
NETWORKS = {"mean": {"network": "mean"}, "bilstm": {"network": "bilstm", "units": "32"}}


def trained(folder: Path, epochs: int = 10, /, **settings: str) -> TrainedSystem:
    return train_on_toy("sp", folder, {**SIZES, **settings}, {"epochs": epochs, "batch": 64, "rate": 1e-2})


def network_of(done: TrainedSystem) -> SpNetwork:
    assert isinstance(done.encoder, NetworkEncoder)
    assert isinstance(done.encoder.network, SpNetwork)
    return done.encoder.network


def test_a_sentence_is_the_mean_of_its_pieces_cut_to_the_longest(tmp_path: Path) -> None:
    done = trained(tmp_path, 0, longest="3")
    network = network_of(done)
    ids = network.reader("fr").read(["fr1 fr22 fr3 fr4"]).sentences.ids
    assert len(ids) == 3
    expected = network.rows.detach().numpy()[ids.numpy()].mean(axis=0)
    found = done.encoder.encode(["fr1 fr22 fr3 fr4", ""], "fr").matrix
    np.testing.assert_allclose(found, [expected, np.zeros(16)], atol=1e-6)


def test_punctuation_is_read_or_left_out(tmp_path: Path) -> None:
    for kind in ("true", "false"):
        folder, settings = tmp_path / kind, {"punctuation": kind}
        done = train_on_toy("sp", folder, {**SIZES, **settings}, {"epochs": 0}, ends=".?")
        encoder = load_encoder(folder / "out", load_space(folder / "space"))
        plain, asked, mark = encoder.encode(["fr1 fr2", "fr1 fr2?", "?"], "fr").matrix
        assert np.allclose(plain, asked) == (kind == "false")
        assert mark.any()  # nothing else is there to be read
        assert ("punctuation:no" in done.encoder.name) == (kind == "false")


@pytest.mark.slow
@pytest.mark.parametrize(("network", "least"), [("mean", 95), ("bilstm", 60)])
def test_it_learns_to_find_translations_from_random_rows(network: str, least: float, tmp_path: Path) -> None:
    done = trained(tmp_path, initial="random", **NETWORKS[network])
    assert done.epochs[0].score < 50
    assert done.best.score > least
    english, french = zip(*toy_text(100, seed=9), strict=True)
    x = normalise(done.encoder.encode(french, "fr").matrix, ["unit"])[0]
    y = normalise(done.encoder.encode(english, "en").matrix, ["unit"])[0]
    assert 100 * ((x @ y.T).argmax(axis=1) == np.arange(100)).mean() > least


@pytest.mark.parametrize("network", ["mean", "bilstm"])
def test_order_is_read_by_the_bilstm_alone(network: str, tmp_path: Path) -> None:
    encoder = trained(tmp_path, 1, **NETWORKS[network]).encoder
    one, other = encoder.encode(["fr1 fr2 fr3", "fr3 fr1 fr2"], "fr").matrix
    assert np.allclose(one, other, atol=1e-6) == (network == "mean")


def test_it_is_saved_and_reads_words_that_the_space_lacks(tmp_path: Path, muse: Command) -> None:
    done = trained(tmp_path, 1)
    encoder = load_encoder(str(tmp_path / "out"), toy_space(tmp_path / "same"))
    text = ["fr1 fr2", "fr12fr7"]  # the second is no word of the space
    assert text[1] not in toy_space(tmp_path / "other").vectors("fr").index
    found = encoder.encode(text, "fr").matrix
    np.testing.assert_array_equal(found, done.encoder.encode(text, "fr").matrix)
    assert found.any(axis=1).all()
    assert encoder.name == "sp[16,aligned]"
    exported = muse("export", tmp_path / "space", "--encoder", tmp_path / "out", "--format", "space",
                    "--out", tmp_path / "words")  # fmt: skip
    assert exported.code == 0
    words = load_space(tmp_path / "words").vectors("fr")
    expected = normalise(encoder.encode(["fr12"], "fr").matrix, ["unit"])[0][0]
    np.testing.assert_allclose(words.matrix[words.index["fr12"]], expected, atol=1e-6)


def test_no_column_stays_zero_where_more_are_asked_for_than_the_space_has(tmp_path: Path) -> None:
    done = trained(tmp_path, 2, dimension="26")
    assert done.encoder.dimension == 16
    assert network_of(done).rows.abs().max(dim=0).values.min() > 0
    other = trained(tmp_path / "random", 0, dimension="26", initial="random")
    assert other.encoder.dimension == 26
