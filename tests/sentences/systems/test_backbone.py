"""Backbones: the space's rows, a Hugging Face folder, a trained XLM; folders that are no backbone."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.errors import BadFile, BadSetting, Mismatch
from muse.sentences.encoders.reading import Reading
from muse.sentences.loading import load_encoder
from muse.sentences.systems.backbone import (
    Backbone,
    HuggingFaceBackbone,
    Matrices,
    SpaceBackbone,
    XlmBackbone,
)
from muse.sentences.systems.networks.transformer import Inputs
from muse.sentences.systems.pieces import BOS, EOS
from muse.sentences.training.pair_learner import PairLearner
from muse.space import load_space
from tests.support.command import Command, refused
from tests.support.killed import killed_at
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.tiny_bert import SPECIAL, save_tiny_bert
from tests.support.toy_training import set_options, texts_of

PIECES = [*SPECIAL, "a", "the", "cat", "sat", "un", "##known", "##s"]


def matrices(backbone: Backbone, text: list[str], language: str) -> tuple[Reading, Matrices]:
    reading = backbone.reader(language).read(text)
    return reading, backbone.matrices(reading.sentences, language)


def test_the_words_of_a_space_in_their_order(tmp_path: Path) -> None:
    space = toy_space(tmp_path / "space")
    backbone = SpaceBackbone(space)
    reading, (rows, mask) = matrices(backbone, ["fr3 fr1 nosuch", "", "fr2 fr2 fr5"], "fr")
    of = space.vectors("fr").matrix
    expected = np.zeros((3, 3, 16), np.float32)
    expected[0, :2], expected[2] = of[[3, 1]], of[[2, 2, 5]]
    np.testing.assert_array_equal(rows, expected)
    assert mask.tolist() == [[True, True, False], [False] * 3, [True] * 3]
    assert (reading.unknown, reading.truncated) == (1, 0)
    long = backbone.reader("fr").read(["fr1 " * 600, "fr2"])
    assert (long.sentences.lengths.tolist(), long.truncated) == ([512, 1], 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backbone for sentences of at most six pieces between [CLS] and [SEP]."""
    return save_tiny_bert(tmp_path_factory.mktemp("backbone") / "tiny", PIECES, longest=8)


def test_a_folder_is_an_encoder_of_means_and_is_saved(folder: Path, tmp_path: Path) -> None:
    space, backbone = toy_space(tmp_path / "space"), HuggingFaceBackbone(folder)
    encoder = load_encoder(folder, space)
    reading, (rows, _) = matrices(backbone, ["the cat sat", "a cat"], "en")
    expected = [
        of[:count].mean(axis=0) for of, count in zip(rows.numpy(), reading.sentences.lengths, strict=True)
    ]
    found = encoder.encode(["the cat sat", "", "a cat"], "fr").matrix
    np.testing.assert_allclose(found, [expected[0], np.zeros(8), expected[1]], atol=1e-5)
    encoder.save(tmp_path / "saved")
    again = load_encoder(tmp_path / "saved", space)
    assert again.name == encoder.name and backbone.name in encoder.name
    np.testing.assert_array_equal(again.encode(["a cat"], "en").matrix[0], found[2])


def test_the_last_layer_of_a_folder(folder: Path) -> None:
    import transformers

    backbone = HuggingFaceBackbone(folder)
    assert backbone.dimension == 8
    assert backbone.name.startswith("tiny@")
    text = ["the cat sat", "", "unknowns", "the dog", "a cat"]
    reading, (rows, mask) = matrices(backbone, text, "any")
    assert reading.sentences.lengths.tolist() == [3, 0, 3, 2, 2]
    assert (reading.unknown, reading.truncated) == (1, 0)
    model = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
    for place, ids in enumerate([[6, 7, 8], [], [9, 10, 11], [6, 1], [5, 7]]):
        with torch.no_grad():
            alone = model(torch.tensor([[2, *ids, 3]])).last_hidden_state[0, 1:-1]
        torch.testing.assert_close(rows[place, : len(ids)], alone, rtol=1e-4, atol=1e-5)
        assert mask[place].sum() == len(ids)
        assert not rows[place, len(ids) :].any()


def test_what_is_too_long_for_the_model_is_cut_and_counted(folder: Path) -> None:
    reading, (rows, _) = matrices(HuggingFaceBackbone(folder), ["the cat sat " * 9, "a cat"], "en")
    assert (reading.sentences.lengths.tolist(), reading.truncated) == ([6, 2], 1)
    assert rows.shape == (2, 6, 8)


def test_positions_that_begin_after_that_of_padding(tmp_path: Path) -> None:
    transformers: Any = pytest.importorskip("transformers", reason="needs transformers")
    folder = save_tiny_bert(tmp_path / "tiny", PIECES, longest=12)
    config = transformers.XLMRobertaConfig(
        vocab_size=len(PIECES), hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=12, pad_token_id=0,
    )  # fmt: skip
    transformers.XLMRobertaModel(config).save_pretrained(folder)
    reading, (rows, _) = matrices(HuggingFaceBackbone(folder), ["the cat sat " * 9], "en")
    assert (reading.sentences.lengths.tolist(), reading.truncated) == ([12 - 1 - 2], 1)
    assert torch.isfinite(rows).all()


def test_folders_that_are_no_core(folder: Path, tmp_path: Path) -> None:
    for name, message in (("model.safetensors", "without weights"), ("config.json", "without config")):
        broken = tmp_path / name
        shutil.copytree(folder, broken)
        (broken / name).unlink()
        with pytest.raises(BadFile, match=f"{name}.*{message}"):
            HuggingFaceBackbone(broken)
    with pytest.raises(BadFile, match="nosuch: expected the folder of a pretrained encoder"):
        HuggingFaceBackbone(tmp_path / "nosuch")
    half = tmp_path / "half"
    shutil.copytree(folder, half)
    (half / "model.safetensors").write_bytes(b"half")
    with pytest.raises(BadFile, match="expected a valid safetensors file"):
        HuggingFaceBackbone(half)


def test_another_tokenizer(folder: Path, tmp_path: Path) -> None:
    transformers: Any = pytest.importorskip("transformers", reason="needs transformers")
    for pieces in (PIECES[:6], [*PIECES, "more"]):
        other = tmp_path / str(len(pieces))
        shutil.copytree(folder, other, ignore=shutil.ignore_patterns("*token*", "vocab*"))
        (other / "vocab.txt").write_text("\n".join(pieces) + "\n")
        transformers.BertTokenizerFast(str(other / "vocab.txt")).save_pretrained(other)
        with pytest.raises(Mismatch, match="has 12 pieces, got"):
            HuggingFaceBackbone(other)


SIZES = ("hidden=16", "heads=2", "layers=1", "pieces=120", "length=12", "steps=2", "warmup=1")


@pytest.fixture
def files(muse: Command, tmp_path: Path) -> Path:
    pytest.importorskip("tokenizers")
    toy_space(tmp_path / "space")
    text = toy_text()
    write_text(tmp_path / "text.tsv", text)
    for place, name in enumerate(("en", "fr")):
        (tmp_path / f"{name}.txt").write_text("".join(f"{pair[place]}\n" for pair in text))
    assert muse(*training(tmp_path, "xlm")).code == 0
    return tmp_path


def training(files: Path, out: str, *more: object) -> list[object]:
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
    refused(muse(*lens, files / "words", "--out", files / "y"), "expected a model trained with xlm")


def test_a_core_that_has_changed_is_told(muse: Command, files: Path) -> None:
    command = ["train", files / "space", "--encoder", "lens", "--lang", "fr"]
    command += ["--parallel", files / "text.tsv"]
    assert muse(*command, "--backbone", files / "xlm", "--epochs", 0, "--out", files / "lens", "-q").code == 0
    assert muse(*training(files, "xlm", "--seed", 5)).code == 0
    with pytest.raises(Mismatch, match="restore the original weights"):
        load_encoder(files / "lens", load_space(files / "space"))
