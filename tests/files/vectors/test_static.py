"""Files of other programs: read where that is safe, or named with a way out that works."""

import gzip
import json
import pickle
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from muse.errors import BadFile
from muse.files import read_vectors
from muse.vectors import Matrix
from tests.support.spaces import saved
from tests.support.vector_files import refusal

WORDS = ["the", "été", "new york", "日本", "w4"]
ROWS = np.random.default_rng(0).normal(0, 1, (5, 3)).astype(np.float32)


def _keyed(path: Path) -> None:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(3)
    keyed.add_vectors(WORDS, ROWS)
    keyed.save(str(path))


def _model(kind: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        from gensim import models

        text = [[word.replace(" ", "_") for word in WORDS]] * 9
        settings = {"bucket": 100} if kind == "FastText" else {}
        model = getattr(models, kind)(text, vector_size=3, min_count=1, workers=1, epochs=1, **settings)
        model.save(str(path))

    return write


def _fasttext_keyed(path: Path) -> None:
    from gensim.models import FastText

    text = [["new_york", "the"]] * 9
    FastText(text, vector_size=3, min_count=1, workers=1, epochs=1, bucket=100).wv.save(str(path))


GENSIM: dict[str, tuple[str, Callable[[Path], None]]] = {
    "gensim.models.keyedvectors.KeyedVectors": ("x.kv", _keyed),
    "gensim.models.word2vec.Word2Vec": ("x.model", _model("Word2Vec")),
    "gensim.models.fasttext.FastText": ("x.model", _model("FastText")),
    "gensim.models.fasttext.FastTextKeyedVectors": ("it's.kv", _fasttext_keyed),
}


@pytest.mark.parametrize("name", GENSIM)
def test_what_gensim_saves_is_named_and_the_command_converts_it(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, write = GENSIM[name]
    write(tmp_path / file)
    before, found, command = refusal(tmp_path / file).partition("convert it: ")
    assert found
    assert "a pickle of gensim; it can run code and is never loaded" in before
    python, option, code = shlex.split(command)
    assert (python, option) == ("python", "-c")
    exec(code, {})  # noqa: S102 - as the user would
    read = read_vectors((tmp_path / file).with_suffix(".bin"), language="en")
    assert {"new_york", "new york"} & set(read.words)
    (tmp_path / "x.gz").write_bytes(gzip.compress((tmp_path / file).read_bytes()))
    assert "a pickle of gensim" in refusal(tmp_path / "x.gz")


@pytest.mark.slow
def test_the_command_runs_in_a_shell(tmp_path: Path) -> None:
    _keyed(tmp_path / "it's $HOME.kv")
    command = refusal(tmp_path / "it's $HOME.kv").partition("convert it: python ")[2]
    subprocess.run(f"{shlex.quote(sys.executable)} {command}", shell=True, check=True)  # noqa: S602
    read = read_vectors(tmp_path / "it's $HOME.bin", language="en")
    np.testing.assert_array_equal(read.matrix[read.index["été"]], ROWS[1])


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", range(6))
def test_no_pickle_is_ever_loaded(tmp_path: Path, protocol: int) -> None:
    for number, thing in enumerate(
        ({"words": WORDS, "it": Evil(tmp_path / "ran")}, [Evil(tmp_path / "ran")])
    ):
        path = tmp_path / f"{number}.pkl"
        path.write_bytes(pickle.dumps(thing, protocol=protocol))
        message = refusal(path)
        assert protocol < 2 or "a Python pickle; it can run code and is never loaded" in message
    torch.save({"words": WORDS, "vectors": ROWS, "it": Evil(tmp_path / "ran")}, tmp_path / "x.pt")
    assert "one with Python objects, which can run code" in refusal(tmp_path / "x.pt")
    assert not (tmp_path / "ran").exists()


def test_an_old_pt_is_named(tmp_path: Path) -> None:
    torch.save(torch.ones(2, 3), tmp_path / "x.pth", _use_new_zipfile_serialization=False)
    assert "a pickle of a PyTorch before 1.6" in refusal(tmp_path / "x.pth")


def static_folder(folder: Path, model: dict[str, Any], tensors: dict[str, Any], **others: Any) -> Path:
    folder.mkdir(parents=True)
    added = [{"id": 0, "content": "[PAD]", "special": True}]
    settings = {"version": "1.0", "added_tokens": added, "model": model}
    (folder / "tokenizer.json").write_text(json.dumps(settings), encoding="utf-8")
    for name, content in others.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    save_file(tensors, folder / "model.safetensors")
    return folder


def numbered(*tokens: str) -> dict[str, int]:
    return {token: place for place, token in enumerate(tokens)}


PIECES: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "words": (
        {"type": "WordLevel", "vocab": numbered("[PAD]", "[UNK]", "the", "été"), "unk_token": "[UNK]"},
        {"the": 2, "été": 3},
    ),
    "word pieces": (
        {
            "type": "WordPiece",
            "vocab": numbered("[PAD]", "[UNK]", "the", "##ing", "king", "[CLS]", "[unused7]", "</s>", "[x]"),
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
        },
        {"the": 2, "king": 4, "[x]": 8},
    ),
    "sentencepiece": (
        {"type": "Unigram", "vocab": [["[PAD]", 0], ["▁", -1], ["▁roi", -2], ["s", -3], ["▁日本", -4]]},
        {"roi": 2, "日本": 4},
    ),
    "bytes": (
        {"type": "BPE", "vocab": numbered("[PAD]", "Ġthe", "ing", "ĠÃ©tÃ©", "Ġ", "ĠÃ"), "merges": []},
        {"the": 1, "été": 3},
    ),
    "ends of words": (
        {"type": "BPE", "vocab": numbered("[PAD]", "the</w>", "th", "roi</w>"), "end_of_word_suffix": "</w>"},
        {"the": 1, "roi": 3},
    ),
}


@pytest.mark.parametrize("table", ["embedding.weight", "embeddings"])
@pytest.mark.parametrize("kind", PIECES)
def test_the_whole_words_of_a_static_embedding_are_read(tmp_path: Path, kind: str, table: str) -> None:
    model, expected = PIECES[kind]
    rows = np.random.default_rng(1).normal(0, 1, (len(model["vocab"]), 4)).astype(np.float32)
    read = read_vectors(static_folder(tmp_path / "x", model, {table: rows}), language="en")
    assert list(read.words) == list(expected)
    np.testing.assert_array_equal(read.matrix, rows[list(expected.values())])


def test_model2vec_shares_and_weights_rows(tmp_path: Path) -> None:
    model, _ = PIECES["words"]
    rows = np.array([[1, 2], [3, 4]], np.int8)
    tensors = {"embeddings": rows, "mapping": np.array([0, 0, 1, 0]), "weights": np.array([1, 1, 0.5, 2.0])}
    read = read_vectors(static_folder(tmp_path / "x", model, tensors, config={}), language="en")
    assert read.matrix.tolist() == [[1.5, 2], [2, 4]]


STATIC = "sentence_transformers.models.StaticEmbedding"


@pytest.mark.parametrize("place", ["", ".", "0_StaticEmbedding"])
def test_sentence_transformers_say_where_it_is(tmp_path: Path, place: str) -> None:
    model, _ = PIECES["words"]
    static_folder(tmp_path / "x" / place, model, {"embedding.weight": ROWS[:4]})
    modules = [{"idx": 0, "name": "0", "path": place, "type": STATIC}]
    (tmp_path / "x" / "modules.json").write_text(json.dumps(modules))
    assert read_vectors(tmp_path / "x", language="en").words == ("the", "été")


def test_our_own_folder_is_read_back(tmp_path: Path) -> None:
    from muse.export.static_embedding import export_static_embedding
    from muse.space import load_space

    saved(tmp_path / "space")
    space = load_space(tmp_path / "space")
    written = export_static_embedding(space, tmp_path / "out", languages=["fr"])
    read, side = read_vectors(tmp_path / "out", language="fr"), space.vectors("fr")
    assert len(read) == written.words > 20
    np.testing.assert_array_equal(read.matrix, [side.matrix[side.index[word]] for word in read.words])


def _broken_folders(tmp_path: Path) -> dict[str, tuple[Path, str]]:
    model, _ = PIECES["words"]
    rows = {"embeddings": ROWS[:4]}
    contextual = static_folder(tmp_path / "contextual", model, {"encoder.weight": ROWS})
    sentences = static_folder(
        tmp_path / "sentences", model, rows, modules=[{"type": "x.Transformer", "path": ""}]
    )
    outside = static_folder(tmp_path / "outside", model, rows, modules=[{"type": STATIC, "path": "../../x"}])
    lacking = static_folder(tmp_path / "lacking", model, rows)
    (lacking / "model.safetensors").unlink()
    return {
        "contextual": (contextual, "got a model that reads whole sentences; give it as --encoder"),
        "sentences": (sentences, "got a model that reads whole sentences; give it as --encoder"),
        "outside": (outside, "expected the folder 'x' in it"),
        "lacking": (lacking, "expected vectors in model.safetensors, found no such file"),
        "few": (static_folder(tmp_path / "few", model, {"embeddings": ROWS[:3]}), "got 3 and the number 3"),
        "flat": (static_folder(tmp_path / "flat", model, {"embeddings": ROWS[0]}), "of shape (3,)"),
        "mapping": (
            static_folder(tmp_path / "mapping", model, {**rows, "mapping": np.array([0, 1, 2, 9])}),
            "expected rows of embeddings in mapping",
        ),
        "one row many times": (
            static_folder(
                tmp_path / "one",
                model,
                {**rows, "mapping": np.zeros(10**6, np.uint8), "embeddings": np.ones((4, 200), np.float32)},
            ),
            "grows at most 100 times",
        ),
        "weights": (
            static_folder(tmp_path / "weights", model, {**rows, "weights": ROWS[0]}),
            "expected a weight for each token",
        ),
        "vocabulary": (
            static_folder(tmp_path / "vocabulary", {"vocab": 3}, rows),
            "expected a tokenizer's vocabulary",
        ),
        "numbers": (
            static_folder(tmp_path / "numbers", {"vocab": {"a": "b"}}, rows),
            "expected a tokenizer's vocabulary",
        ),
        "none": (static_folder(tmp_path / "none", {"vocab": {}}, rows), "got float32 of shape (0, 3)"),
    }


def test_other_folders_are_refused(tmp_path: Path) -> None:
    for folder, part in _broken_folders(tmp_path).values():
        with pytest.raises(BadFile) as caught:
            read_vectors(folder, language="en")
        assert part in str(caught.value)
        assert str(caught.value).startswith(str(folder))


def test_broken_tokens_are_dropped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tokens = [f"w{place}" for place in range(40)]
    rows: Matrix = np.random.default_rng(0).normal(0, 1, (41, 3)).astype(np.float32)
    rows[5] = np.nan
    model = {"vocab": numbered(*tokens, "\ud800")}
    read = read_vectors(static_folder(tmp_path / "x", model, {"embeddings": rows}), language="en")
    assert len(read) == 39
    assert "1 word that is not UTF-8" in caplog.text
    assert "1 word whose numbers are broken, w5" in caplog.text
