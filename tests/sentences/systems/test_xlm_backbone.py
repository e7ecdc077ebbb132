"""A backbone from a trained XLM: its states, the languages it has, and a lens over it."""

from pathlib import Path

import numpy as np
import pytest
import torch

from muse.errors import BadSetting, Mismatch
from muse.sentences.loading import load_encoder
from muse.sentences.systems.backbone import XlmBackbone
from muse.sentences.systems.networks.transformer import Inputs
from muse.sentences.systems.pieces import BOS, EOS
from muse.sentences.training.pair_learner import PairLearner
from muse.space import load_space
from tests.support.command import Command, refused
from tests.support.killed import killed_at
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.toy_training import set_options, texts_of

SIZES = ("hidden=16", "heads=2", "layers=1", "pieces=120", "length=12", "steps=2", "warmup=1")


@pytest.fixture
def files(muse: Command, tmp_path: Path) -> Path:
    """A folder with a space, parallel text, and an XLM of it."""
    pytest.importorskip("tokenizers")
    toy_space(tmp_path / "space")
    text = toy_text()
    write_text(tmp_path / "text.tsv", text)
    for place, name in enumerate(("en", "fr")):
        (tmp_path / f"{name}.txt").write_text("".join(f"{pair[place]}\n" for pair in text))
    assert muse(*training(tmp_path, "xlm")).code == 0
    return tmp_path


def training(files: Path, out: str, *more: object) -> list[object]:
    """The command that trains an XLM."""
    texts = texts_of(files)
    settings = set_options(*SIZES, "objective=mlm")
    command = ["train", files / "space", "--encoder", "xlm", "--lang", "fr", *texts, *settings]
    return [*command, "--epochs", 1, "--out", files / out, "-q", *more]


def test_rows_are_the_states_between_the_frames(files: Path) -> None:
    backbone = XlmBackbone(files / "xlm")
    assert backbone.dimension == 16
    assert backbone.name.startswith("xlm@")
    reading = backbone.reader("fr").read(["fr1 fr2", "", "fr3 " * 30])
    lengths = reading.sentences.lengths.tolist()
    assert (lengths[1], lengths[2], reading.truncated) == (0, 10, 1)
    rows, mask = backbone.matrices(reading.sentences, "fr")
    assert mask.sum(dim=1).tolist() == lengths
    encoder = load_encoder(files / "xlm", load_space(files / "space"))
    network = backbone._network
    for place in (0, 2):
        ids = torch.split(reading.sentences.ids, lengths)[place]
        framed = torch.cat([torch.tensor([BOS]), ids, torch.tensor([EOS])])[None]
        number = torch.full((1, 1), network.languages.index("fr"))
        states = network.model.transformer(Inputs(framed, languages=number))[0]
        torch.testing.assert_close(rows[place, : lengths[place]], states[1:-1], rtol=1e-4, atol=1e-5)
        mean = encoder.encode(["fr1 fr2"], "fr").matrix[0]
        if place == 0:
            np.testing.assert_allclose(mean, states.mean(dim=0).numpy(), rtol=1e-4, atol=1e-5)
    assert not rows[0, lengths[0] :].any()


def test_a_lens_over_it_is_trained_saved_and_loaded(muse: Command, files: Path) -> None:
    command = ["train", files / "space", "--encoder", "lens", "--lang", "fr", "--backbone", files / "xlm"]
    more = ["--parallel", files / "text.tsv", "--epochs", 2, "--set", "dimension=32", "--out", files / "lens"]
    found = muse(*command, *more, "--json").json
    assert found["encoder"].startswith("lens[simple:32,xlm@")
    assert found["loss_curve"][1] < found["loss_curve"][0]
    encoder = load_encoder(files / "lens", load_space(files / "space"))
    assert encoder.encode(["fr1 fr2"], "fr").matrix.any()


def test_a_run_resumes_with_the_same_core_in_another_folder(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ["train", files / "space", "--encoder", "lens", "--lang", "fr", "--parallel", files / "text.tsv"]
    run += ["--epochs", 2, "--set", "dimension=32", "-q"]
    assert muse(*run, "--core", files / "xlm", "--out", files / "whole").code == 0
    run += ["--out", files / "lens"]
    killed_at(monkeypatch, PairLearner, 2)
    assert muse(*run, "--backbone", files / "xlm").code == 130
    (files / "xlm").rename(files / "moved")
    assert muse(*training(files, "xlm", "--seed", 5)).code == 0
    refused(muse(*run, "--resume"), "those in", "differ")  # the rows of the space
    refused(muse(*run, "--resume", "--backbone", files / "xlm"), "those in", "differ")
    assert muse(*run, "--resume", "--backbone", files / "moved").code == 0
    same = [(files / name / "arrays.npz").read_bytes() for name in ("whole", "lens")]
    assert same[0] == same[1]


def test_another_model_or_language_is_refused(muse: Command, files: Path) -> None:
    backbone = XlmBackbone(files / "xlm")
    with pytest.raises(BadSetting, match="got 'de'"):
        backbone.reader("de")
    command = ["train", files / "space", "--lang", "fr", "--parallel", files / "text.tsv"]
    assert muse(*command, "--encoder", "x-cbow", "--epochs", 0, "--out", files / "words", "-q").code == 0
    lens = [*command, "--encoder", "lens", "--backbone"]
    refused(muse(*lens, files / "words", "--out", files / "y"), "--backbone must be a model trained with xlm")


def test_a_core_that_has_changed_is_told(muse: Command, files: Path) -> None:
    command = ["train", files / "space", "--encoder", "lens", "--lang", "fr"]
    command += ["--parallel", files / "text.tsv"]
    assert muse(*command, "--backbone", files / "xlm", "--epochs", 0, "--out", files / "lens", "-q").code == 0
    assert muse(*training(files, "xlm", "--seed", 5)).code == 0
    with pytest.raises(Mismatch, match="restore the original weights"):
        load_encoder(files / "lens", load_space(files / "space"))
