"""BGT whose sentences are bags of word pieces with learned rows."""

from pathlib import Path

import numpy as np
import pytest
import torch

from muse.errors import BadSetting
from muse.normalise import normalise
from muse.sentences.loading import load_encoder
from muse.sentences.systems.bgt.bgt_system import load_bgt
from muse.sentences.systems.bgt.inputs import SPREAD
from muse.sentences.systems.bgt.latent_network import BgtNetwork
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.registry import TrainedSystem
from muse.space import load_space
from tests.support.command import Command, refused
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.toy_training import set_options, train_on_toy

pytest.importorskip("tokenizers")
SIZES = {"bag": "pieces", "vocabulary": "600", "semantic": "12", "language": "4", "counted": "3"}
OPTIONS = set_options(**SIZES)


def trained(folder: Path, epochs: int, /, **settings: str) -> TrainedSystem:
    trainer = {"epochs": epochs, "batch": 64, "rate": 1e-2, "patience": epochs + 1}
    return train_on_toy("bgt", folder, {**SIZES, "annealing": "100", **settings}, trainer)


def network_of(done: TrainedSystem) -> BgtNetwork:
    assert isinstance(done.encoder, NetworkEncoder)
    assert isinstance(done.encoder.network, BgtNetwork)
    return done.encoder.network


def rows_of(network: BgtNetwork) -> torch.Tensor:
    assert network.table is not None
    return network.table.detach()


def test_the_meaning_is_a_map_of_the_mean_of_its_pieces(tmp_path: Path) -> None:
    network = network_of(trained(tmp_path, 0))
    ids = network.reader("fr").read(["fr1 fr22 fr3"]).sentences
    weight = network.semantic.get_parameter("_out.weight").detach()[:12]
    expected = weight @ rows_of(network)[ids.ids].mean(dim=0)
    torch.testing.assert_close(network(ids, "fr").detach()[0], expected)


def test_punctuation_is_left_to_the_language_latents(tmp_path: Path) -> None:
    sizes = {**SIZES, "counted": "30", "punctuation": "false"}
    train_on_toy("bgt", tmp_path, sizes, {"epochs": 0}, ends=".?")
    space, sentences = load_space(tmp_path / "space"), ["fr1 fr2", "fr1 fr2?", "fr1 fr2.", "?"]
    plain, asked, told, mark = load_encoder(tmp_path / "out", space).encode(sentences, "fr").matrix
    np.testing.assert_array_equal([asked, told], [plain, plain])
    assert mark.any()  # nothing else is there to be read
    own = load_encoder(f"{tmp_path / 'out'}+language", space).encode(sentences, "fr").matrix
    assert len(np.unique(own, axis=0)) == 4


def test_punctuation_can_have_a_meaning(tmp_path: Path) -> None:
    train_on_toy("bgt", tmp_path, {**SIZES, "punctuation": "true"}, {"epochs": 0}, ends=".?")
    encoder = load_encoder(tmp_path / "out", load_space(tmp_path / "space"))
    plain, asked = encoder.encode(["fr1 fr2", "fr1 fr2?"], "fr").matrix
    assert not np.allclose(plain, asked)
    assert "punctuation:no" not in encoder.name


def test_without_features_both_latents_read_the_same(tmp_path: Path) -> None:
    sizes = {name: value for name, value in SIZES.items() if name != "counted"}
    network = network_of(train_on_toy("bgt", tmp_path, {**sizes, "features": "false"}, {"epochs": 0}))
    ids = network.reader("fr").read(["fr1 fr22 fr3"]).sentences
    found = network.language_posterior(ids, "fr").mean.detach()[0]
    weight = network.own[1].get_parameter("_out.weight").detach()[: int(SIZES["language"])]
    torch.testing.assert_close(found, weight @ rows_of(network)[ids.ids].mean(dim=0))
    with pytest.raises(BadSetting, match="counted=3 has no effect with features=False"):
        train_on_toy("bgt", tmp_path / "again", {**SIZES, "features": "false"}, {"epochs": 0})


def test_rows_begin_as_those_of_the_space(tmp_path: Path) -> None:
    network, space = network_of(trained(tmp_path, 0)), toy_space(tmp_path / "again")
    for word in ("en1", "en25", "fr3"):
        side = space.vectors(word[:2])
        (piece,) = network.reader("en").read([word]).sentences.ids
        expected = SPREAD * normalise(side.matrix[[side.index[word]]], ["unit"])[0][0]
        np.testing.assert_allclose(rows_of(network)[piece], expected, atol=1e-5)


def test_it_learns_its_rows(tmp_path: Path) -> None:
    done = trained(tmp_path / "learned", 4)
    losses = [epoch.loss for epoch in done.epochs]
    assert losses[4] < losses[1]
    first = rows_of(network_of(trained(tmp_path / "first", 0)))
    assert not torch.allclose(rows_of(network_of(done)), first, atol=0.1)


def training(folder: Path, out: str, *more: object) -> list[object]:
    toy_space(folder / "space")
    text = write_text(folder / "pairs.tsv", toy_text(600))
    return [
        "train", folder / "space", "--encoder", "bgt", "--lang", "fr", "--parallel", text, *OPTIONS,
        "--batch", 64, "--epochs", 2, "--rate", 1e-2, "-q", "--out", folder / out, *more,
    ]  # fmt: skip


def test_it_is_saved_and_exported(tmp_path: Path, muse: Command) -> None:
    assert muse(*training(tmp_path, "out")).code == 0
    encoder = load_encoder(tmp_path / "out", load_space(tmp_path / "space"))
    assert "bag:pieces" in encoder.name
    found = encoder.encode(["fr1 fr2", "fr12fr7"], "fr").matrix  # the second is no word of the space
    assert found.any(axis=1).all()
    own = load_encoder(f"{tmp_path / 'out'}+language", load_space(tmp_path / "space"))
    assert own.encode(["fr1 fr2"], "fr").matrix.shape == (1, 4)
    words = ("--format", "space", "--out", tmp_path / "words")
    assert muse("export", tmp_path / "space", "--encoder", tmp_path / "out", *words).code == 0
    side = load_space(tmp_path / "words").vectors("fr")
    expected = normalise(encoder.encode(["fr12"], "fr").matrix, ["unit"])[0][0]
    np.testing.assert_allclose(side.matrix[side.index["fr12"]], expected, atol=1e-6)


def test_a_bag_writes_with_decoder_layers_alone(tmp_path: Path, muse: Command) -> None:
    trained(tmp_path / "bag", 0)
    bag = muse("translate", "--model", tmp_path / "bag" / "out", "--src", "fr", "--tgt", "en")
    refused(bag, "expected a bgt of word pieces with decoder layers, trained with --rate")
    sizes = {"hidden": "12", "heads": "2", "language": "12", "decoder_layers": "1"}
    done = trained(tmp_path / "writer", 0, **sizes)
    loaded = load_bgt(tmp_path / "writer" / "out")
    torch.testing.assert_close(rows_of(loaded), rows_of(network_of(done)))
