"""Words by a pretrained encoder: folders that are whole, and what is wrong with others."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.embedding.pretrained import PretrainedEncoder
from muse.errors import BadFile
from muse.progress import Progress

WORDS = {"xx": ["ab", "ba"], "yy": ["abba"]}


def encode(folder: Path, cache: Path, template: str = "{word}") -> list[np.ndarray]:
    quiet = Progress(quiet=True)
    return PretrainedEncoder(folder, template).encode(WORDS, cache=cache, device="cpu", progress=quiet)


class Counting:
    def encode(self, texts: list[str], **_: object) -> np.ndarray:
        return np.array([[len(text), text.count("a")] for text in texts], np.float32)


def test_what_another_template_gave_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muse.embedding.pretrained._load", lambda *_: Counting())
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    cache = tmp_path / ".s.encoded"
    first = encode(tmp_path, cache)
    assert [rows.tolist() for rows in first] == [[[2, 1], [2, 1]], [[4, 2]]]
    kept = {path.name for path in cache.iterdir()}
    (cache / "mine.txt").write_text("x")
    encode(tmp_path, cache, "a {word}")
    left = {path.name for path in cache.iterdir()}
    assert len(left) == 3
    assert "mine.txt" in left and not kept & left


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """A tiny model of Hugging Face that reads letters, with random weights."""
    transformers = pytest.importorskip("transformers")
    folder = tmp_path / "bert"
    folder.mkdir()
    letters = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", *(f"##{one}" for one in "abcdefgh")]
    (folder / "vocab.txt").write_text("\n".join(letters) + "\n")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    save(transformers, folder, len(letters))
    return folder


def save(transformers: Any, folder: Path, tokens: int) -> None:
    config = transformers.BertConfig(
        vocab_size=tokens, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    transformers.BertModel(config).save_pretrained(folder)


@pytest.mark.slow  # for the library, which takes seconds to import
def test_a_folder_of_hugging_face(bert: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sentence_transformers")
    encoder = PretrainedEncoder(bert)
    encoder.check()
    # OpenVINO keeps numbers, no code, in a file that ends like a pickle.
    for name in ("openvino_model.bin", "openvino_model.xml"):
        (bert / "openvino").mkdir(exist_ok=True)
        (bert / "openvino" / name).write_bytes(b"x")
    encoder.check()
    for name in ("pytorch_model.bin", "pytorch_model.xml"):
        (bert / "openvino" / name).write_bytes(b"x")
    encoder.check()  # which nothing reads
    source, _ = encode(bert, tmp_path / "cache")
    assert source.shape == (2, 8)
    assert abs(source[0] - source[1]).max() > 1e-4
    assert "Loading" not in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("rows", [np.full((4, 3), np.nan), np.full((4, 3), np.inf), np.ones((4, 0))])
def test_a_model_without_finite_numbers_is_refused(tmp_path: Path, rows: np.ndarray[Any, Any]) -> None:
    pytest.importorskip("sentence_transformers")
    tokens = {"model": {"type": "WordLevel", "vocab": {"probe": 0, "b": 1}, "unk_token": "b"}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokens))
    (tmp_path / "modules.json").write_text(
        json.dumps([{"type": "sentence_transformers.models.StaticEmbedding"}])
    )
    save_file = pytest.importorskip("safetensors.numpy").save_file
    save_file({"embedding.weight": rows.astype(np.float32)}, tmp_path / "model.safetensors")
    with pytest.raises(BadFile, match="finite numbers"):
        encode(tmp_path, tmp_path / "cache")


@pytest.mark.slow
def test_weights_that_are_missing_are_no_random_numbers(bert: Path, tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    pytest.importorskip("sentence_transformers")
    path = bert / "model.safetensors"
    weights = safetensors.load_file(path)
    # The pooler is of no use to a mean: many models are published without.
    kept = {name: rows for name, rows in weights.items() if "pooler" not in name}
    safetensors.save_file(kept, path, {"format": "pt"})
    encode(bert, tmp_path / "cache")
    kept = {name: rows for name, rows in weights.items() if "word_embeddings" not in name}
    safetensors.save_file(kept, path, {"format": "pt"})
    with pytest.raises(BadFile, match="expected the weights of the whole model"):
        encode(bert, tmp_path / "cache")


@pytest.mark.slow
def test_a_tokenizer_of_another_model(bert: Path, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    save(transformers, bert, 6)
    with pytest.raises(BadFile, match="expected a model that encodes words, got index out of range"):
        encode(bert, tmp_path / "cache")


@pytest.mark.slow
def test_weights_that_are_cut_off_are_told_before_all_else(bert: Path) -> None:
    pytest.importorskip("sentence_transformers")
    path = bert / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(BadFile, match="model.safetensors: expected a valid safetensors file"):
        PretrainedEncoder(bert).check()
