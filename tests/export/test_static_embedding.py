"""muse export --format sentence-transformers: the real library loads it, and encodes every language."""

import json
import os
import sys
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest

from muse.errors import BadFile, Mismatch, MissingExtra
from muse.export.static_embedding import MODULE, export_static_embedding
from muse.space import Space
from tests.support.command import Command, tree
from tests.support.spaces import plain_space, saved

pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")

FRENCH = ["chat", "noir", "table", "aujourd'hui", "deux mots"]
ENGLISH = ["cat", "black", "table", "today"]


@pytest.fixture
def space() -> Space:
    rows = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    return plain_space(rows, rows[:4] + np.float32(0.01), FRENCH, ENGLISH)


def weights(out: Path) -> tuple[dict[str, int], np.ndarray]:
    from safetensors.numpy import load_file

    tokenizer = json.loads((out / MODULE / "tokenizer.json").read_text(encoding="utf-8"))
    return tokenizer["model"]["vocab"], load_file(out / MODULE / "model.safetensors")["embedding.weight"]


def test_the_rows_are_those_of_the_words(space: Space, tmp_path: Path) -> None:
    written = export_static_embedding(space, tmp_path / "out")
    vocabulary, weight = weights(tmp_path / "out")
    assert (written.words, written.left_out) == (6, 2)
    assert set(vocabulary) == {"[UNK]", "chat", "noir", "table", "cat", "black", "today"}
    french, english = space.vectors("fr"), space.vectors("en")
    np.testing.assert_array_equal(weight[vocabulary["chat"]], french.matrix[0])
    both = (french.matrix[2] + english.matrix[2]) / 2
    np.testing.assert_allclose(weight[vocabulary["table"]], both, rtol=1e-6)
    assert not weight[vocabulary["[UNK]"]].any()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # the library's own, of no concern here
def test_sentence_transformers_loads_it_and_encodes_both_languages(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
    library = pytest.importorskip("sentence_transformers", reason="the test needs the library itself")
    export_static_embedding(space, tmp_path / "out")
    model = library.SentenceTransformer(str(tmp_path / "out"), device="cpu")
    found = model.encode(["Chat noir", "black cat", "today", "nosuchword"])
    french, english = (np.asarray(space.vectors(name).matrix) for name in ("fr", "en"))
    np.testing.assert_allclose(found[0], (french[0] + french[1]) / 2, atol=1e-6)
    np.testing.assert_allclose(found[1], (english[0] + english[1]) / 2, atol=1e-6)
    assert not found[3].any()
    similar = model.similarity(found[:1], found[1:3]).numpy()[0]
    assert similar[0] > 0.99 > similar[1]


def test_case_is_kept_where_the_words_have_it(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    rows = np.eye(2, dtype=np.float32)
    export_static_embedding(plain_space(rows, rows, ["Haus", "haus"], ["a", "b"]), tmp_path / "out")
    tokenizer = Tokenizer.from_file(str(tmp_path / "out" / MODULE / "tokenizer.json"))
    assert tokenizer.encode("Haus haus HAUS").tokens == ["Haus", "haus", "[UNK]"]


def test_a_word_is_found_in_every_unicode_form(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    composed, apart = "th\u00e9", "the\u0301"
    french, english = np.random.default_rng(0).normal(size=(2, 6, 4)).astype(np.float32)
    # In French the composed form of tea comes second; of a letter with two accents only others are there.
    french_words = [apart, composed, "o\u0302\u0323", "\u1ecd\u0302", normalize("NFD", "été"), " été"]
    english_words = [normalize("NFD", "naïve"), apart, "cat", "cat-flap", "\u212b", "x"]
    space = plain_space(french, english, french_words, english_words)
    written = export_static_embedding(space, tmp_path / "out")
    vocabulary, weight = weights(tmp_path / "out")
    assert set(vocabulary) == {"[UNK]", composed, "\u1ed9", "été", "naïve", "cat", "\u00c5", "x"}
    assert (written.words, written.left_out) == (7, 3)  # the second way of o, " été" and "cat-flap"
    rows = {language: np.asarray(space.vectors(language).matrix) for language in ("fr", "en")}
    expected = {
        composed: (rows["fr"][1] + rows["en"][1]) / 2, "\u1ed9": rows["fr"][2], "été": rows["fr"][4],
        "naïve": rows["en"][0], "\u00c5": rows["en"][4],
    }  # fmt: skip
    tokenizer = Tokenizer.from_file(str(tmp_path / "out" / MODULE / "tokenizer.json"))
    for word, row in expected.items():
        for form in ("NFC", "NFD"):
            (place,) = tokenizer.encode(normalize(form, word)).ids
            np.testing.assert_allclose(weight[place], row, rtol=1e-6)
    only = export_static_embedding(space, tmp_path / "fr", languages=["fr"])
    assert (only.words, only.left_out) == (3, 3)  # here the first form of tea too


def test_of_one_language_and_of_the_frequent(space: Space, tmp_path: Path) -> None:
    export_static_embedding(space, tmp_path / "out", languages=["en"], max_vocab=2)
    assert set(weights(tmp_path / "out")[0]) == {"[UNK]", "cat", "black"}


def test_from_the_command_line_and_again(muse: Command, tmp_path: Path) -> None:
    saved(tmp_path / "space")
    out = tmp_path / "model"
    for _ in range(2):  # an earlier export is replaced
        ended = muse(
            "export", tmp_path / "space", "--format", "sentence-transformers", "--out", out, "--json"
        )
        assert ended.code == 0
    assert ended.json["words"] == len(weights(out)[0]) - 1


def test_bad_places(space: Space, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.doc").write_text("x", encoding="utf-8")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    before = tree(tmp_path)
    for name in ("mine", "file", "file/below"):
        with pytest.raises(BadFile):
            export_static_embedding(space, tmp_path / name)
    rows = np.eye(2, dtype=np.float32)
    with pytest.raises(Mismatch, match="got none"):
        export_static_embedding(plain_space(rows, rows, ["a b", "c d"], ["e f", "g-h"]), tmp_path / "x")
    assert tree(tmp_path) == before


def test_without_the_extra(space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match="exchange"):
        export_static_embedding(space, tmp_path / "out")
    assert tree(tmp_path) == {}
