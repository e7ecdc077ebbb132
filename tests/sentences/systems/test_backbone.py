"""Backbones: matrices of the space's rows and of a Hugging Face folder, and folders that are no backbone."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.errors import BadFile, Mismatch
from muse.sentences.encoders.reading import Reading
from muse.sentences.systems.backbone import Backbone, HuggingFaceBackbone, Matrices, SpaceBackbone
from tests.support.parallel import toy_space
from tests.support.tiny_bert import SPECIAL, save_tiny_bert

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
    with pytest.raises(BadFile, match="nosuch: --backbone must be a folder"):
        HuggingFaceBackbone(tmp_path / "nosuch")
    half = tmp_path / "half"
    shutil.copytree(folder, half)
    (half / "model.safetensors").write_bytes(b"half")
    with pytest.raises(BadFile, match="but they do not load"):
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
