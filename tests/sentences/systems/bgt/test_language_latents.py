"""FOLDER+language: the language latents of a saved BGT, by the API and on the command line."""

from pathlib import Path

import numpy as np
import pytest
import torch

from muse.errors import BadFile, BadSetting
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.loading import load_encoder
from muse.sentences.systems.bgt.latent_network import BgtNetwork
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from muse.space import load_space
from tests.support.command import Command, refused
from tests.support.parallel import toy_space, toy_text, write_text

TEXT = ["fr1 fr2 !", "nosuch", "fr3 fr1 fr7 fr9 fr1"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """BGTs after one epoch: bgt, and trans, which has the translation alone."""
    folder = tmp_path_factory.mktemp("trained")
    space = toy_space(folder / "space")
    write_text(folder / "text.tsv", [(f"{en} .", f"{fr} !") for en, fr in toy_text()])
    for name, settings in (("bgt", {"language": "4"}), ("trans", {"reconstruction": "0"})):
        request = TrainingRequest(
            space, "fr", folder / name, parallel=(folder / "text.tsv",),
            settings={"bag": "words", "semantic": "16", **settings},
            trainer={"epochs": 1, "rate": 0.03, "batch": 32},
        )  # fmt: skip
        train_system("bgt", request, Runtime("cpu", Progress(quiet=True)))
    return folder


def test_the_rows_are_the_means_of_the_language_posterior(trained: Path) -> None:
    space = load_space(trained / "space")
    semantic = load_encoder(trained / "bgt", space)
    own = load_encoder(f"{trained}/bgt+language", space)
    assert isinstance(semantic, NetworkEncoder)
    assert isinstance(semantic.network, BgtNetwork)
    assert (own.name, own.dimension) == (f"{semantic.name}+language", 4)
    assert own.languages == semantic.languages
    found = own.encode(TEXT, "fr")
    assert (found.matrix.shape, found.empty, found.unknown) == ((3, 4), 1, 1)
    sentences = semantic.network.reader("fr").read([TEXT[0]]).sentences
    with torch.no_grad():
        expected = semantic.network.language_posterior(sentences, "fr").mean
    np.testing.assert_allclose(found.matrix[:1], expected, rtol=1e-5)
    assert not np.allclose(found.matrix, own.encode(TEXT, "en").matrix)  # each language has its own


def test_corrections_and_other_encoders_may_stand_beside_them(trained: Path) -> None:
    folder, space = trained, load_space(trained / "space")
    plain = load_encoder(f"{folder}/bgt+language", space).encode(TEXT, "fr").matrix
    centred = load_encoder(f"{folder}/bgt+language+centre", space).fit(TEXT, "fr")
    rows = centred.encode(TEXT, "fr").matrix
    np.testing.assert_allclose(rows[[0, 2]], plain[[0, 2]] - plain[[0, 2]].mean(axis=0), atol=1e-6)
    both = load_encoder(f"{folder}/bgt & {folder}/bgt+language", space).encode(TEXT, "fr").matrix
    np.testing.assert_allclose(both[:, 16:], plain)


def test_they_are_saved_and_loaded(trained: Path, tmp_path: Path) -> None:
    folder, space = trained, load_space(trained / "space")
    for name in ("bgt+language", "bgt+language+centre"):
        encoder = load_encoder(f"{folder}/{name}", space).fit(TEXT, "fr")
        encoder.save(tmp_path / "out")
        again = load_encoder(tmp_path / "out", space)
        assert again.name == encoder.name
        np.testing.assert_array_equal(again.encode(TEXT, "fr").matrix, encoder.encode(TEXT, "fr").matrix)
        with pytest.raises(BadSetting, match=r"\+language needs the folder of a bgt, got that of bgt.*"):
            load_encoder(f"{tmp_path / 'out'}+language", space)


def test_a_folder_with_such_a_name_is_that_folder(trained: Path, tmp_path: Path) -> None:
    space = load_space(trained / "space")
    encoder = load_encoder("mean", space)
    encoder.save(tmp_path / "mean+language")
    assert load_encoder(f"{tmp_path}/mean+language", space).name == "mean"
    assert load_encoder(f"{tmp_path}/mean+language+centre", space).name == "mean+centre"
    with pytest.raises(BadSetting, match=r"\+language needs the folder of a bgt, got that of mean"):
        load_encoder(f"{tmp_path}/mean+language+language", space)


def test_what_has_no_language_latents_is_named(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = load_space(trained / "space")
    monkeypatch.chdir(trained)
    for name in ("trans+language", "./trans+language"):
        with pytest.raises(BadSetting, match=r"got bgt\[16\+0.*reconstruction:0\]"):
            load_encoder(name, space)
    with pytest.raises(BadFile, match="nosuch: expected a saved encoder"):
        load_encoder("./nosuch+language", space)
    with pytest.raises(
        BadSetting, match=r"\+language comes directly after the folder of a bgt; got language"
    ):
        load_encoder("mean+language", space)


def test_the_commands_take_them(muse: Command, trained: Path) -> None:
    space = load_space(trained / "space")
    folder = trained
    encoder = ["--encoder", f"{folder}/bgt+language"]
    found = muse("encode", folder / "space", "--lang", "fr", *encoder, "--json", stdin="fr1 fr2 !\n").json
    expected = load_encoder(f"{folder}/bgt+language", space).encode(["fr1 fr2 !"], "fr").matrix
    np.testing.assert_allclose(found["vectors"], expected, rtol=1e-5)
    text = [part for name in ("en", "fr") for part in ("--text", f"{name}={folder / name}.txt")]
    for name, side in zip(("en", "fr"), zip(*toy_text(), strict=True), strict=True):
        (folder / f"{name}.txt").write_text("\n".join(side) + "\n", encoding="utf-8")
    command = ["evaluate", folder / "space", "--task", "probe", *text, "--probe", "length", "--size", 60]
    scores = muse(*command, *encoder, "--json").out
    assert "+language" in scores
    refused(
        muse(*command, "--encoder", f"{folder}/trans+language"), "+language needs a bgt with language latents"
    )
