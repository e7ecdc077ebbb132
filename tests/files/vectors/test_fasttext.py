"""FastText models: the vectors of their words, of any other string, and models that are broken."""

import gzip
import random
import struct
import sys
from pathlib import Path

import fasttext
import numpy as np
import pytest
from gensim.models.fasttext import load_facebook_vectors

from muse.errors import BadFile, Mismatch, MissingExtra
from muse.files import read_vectors, subword_vectors, write_vectors_text
from muse.installation import install_packages

DIMENSION = 8


def _train(folder: Path, name: str, **options: object) -> Path:
    rng = random.Random(0)
    words = [f"word{i}" for i in range(60)] + ["été", "naïve", "日本語", "👍"]
    text = folder / f"{name}.txt"
    text.write_text("\n".join(" ".join(rng.choices(words, k=12)) for _ in range(300)), encoding="utf-8")
    settings = {
        "dim": DIMENSION, "epoch": 1, "minCount": 1, "bucket": 500, "thread": 1, "verbose": 0, **options,
    }  # fmt: skip
    fasttext.train_unsupervised(str(text), **settings).save_model(str(folder / f"{name}.bin"))
    return folder / f"{name}.bin"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _train(tmp_path_factory.mktemp("fasttext"), "model")


@pytest.fixture(scope="module")
def without_ngrams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _train(tmp_path_factory.mktemp("fasttext"), "plain", maxn=0)


def test_words_and_vectors_are_those_gensim_reads(model: Path) -> None:
    theirs = load_facebook_vectors(str(model))
    ours = read_vectors(model, language="en")
    assert list(ours.words) == theirs.index_to_key
    assert ours.words[0] == "</s>"
    # Unlike fastText, gensim gives the end of a sentence, the first word, n-grams too.
    np.testing.assert_allclose(ours.matrix[1:], theirs.vectors[1:], rtol=1e-5, atol=1e-6)


def test_unknown_words_get_the_vectors_gensim_gives(model: Path) -> None:
    theirs = load_facebook_vectors(str(model))
    strings = ["unseen", "日本", "étés", "word1", "wor d", "👍👍", "x" * 300]
    ours = subword_vectors(model, strings)
    assert ours.shape == (len(strings), DIMENSION)
    assert ours.dtype == np.float32
    expected = np.array([theirs.get_vector(word) for word in strings])
    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


def test_directions_are_those_of_the_library(model: Path) -> None:
    library = fasttext.load_model(str(model))
    for word in ["word1", "unseen", "été"]:
        ours, theirs = subword_vectors(model, [word])[0], library.get_word_vector(word)
        assert ours @ theirs == pytest.approx(np.linalg.norm(ours) * np.linalg.norm(theirs), rel=1e-5)


def test_no_string_has_no_vector(model: Path) -> None:
    assert subword_vectors(model, []).shape == (0, DIMENSION)
    assert not subword_vectors(model, [""]).any()


def test_max_vocab_and_a_packed_model(model: Path, tmp_path: Path) -> None:
    packed = tmp_path / "model.bin.gz"
    packed.write_bytes(gzip.compress(model.read_bytes()))
    whole = read_vectors(model, language="en")
    few = read_vectors(packed, language="en", max_vocab=5)
    assert few.words == whole.words[:5]
    assert np.array_equal(few.matrix, whole.matrix[:5])
    assert np.array_equal(subword_vectors(packed, ["unseen"]), subword_vectors(model, ["unseen"]))


def test_a_model_without_ngrams(without_ngrams: Path) -> None:
    vectors = read_vectors(without_ngrams, language="en")
    assert np.array_equal(
        subword_vectors(without_ngrams, ["word1"])[0], vectors.matrix[vectors.index["word1"]]
    )
    with pytest.raises(BadFile, match="with n-grams for the unknown word 'unseen'"):
        subword_vectors(without_ngrams, ["unseen"])


def test_half_a_surrogate_pair(model: Path) -> None:
    with pytest.raises(Mismatch, match="expected words in UTF-8"):
        subword_vectors(model, ["\ud800"])


def test_only_a_model_has_ngrams(tmp_path: Path) -> None:
    write_vectors_text(tmp_path / "x.vec", ["a"], np.ones((1, 2), np.float32))
    with pytest.raises(BadFile, match="expected a fastText model"):
        subword_vectors(tmp_path / "x.vec", ["b"])


def test_without_the_package(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fasttext", None)
    with pytest.raises(MissingExtra, match="need the package fasttext-community") as caught:
        read_vectors(model, language="en")
    assert install_packages("fasttext-community") in str(caught.value)


def _refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(BadFile) as caught:
        read_vectors(path, language="en")
    assert str(caught.value).startswith(f"{path}: expected ")
    return str(caught.value)


@pytest.mark.parametrize("part", [0.002, 0.02, 0.1, 0.5, 0.9, 0.999])
def test_cut_off_anywhere(model: Path, tmp_path: Path, part: float) -> None:
    content = model.read_bytes()
    assert "ends early" in _refused(tmp_path / "x.bin", content[: max(4, int(part * len(content)))])


@pytest.mark.parametrize(
    ("offset", "value", "part"),
    [
        (4, 99, "version"),
        (8, 0, "settings"),
        (32, 9, "settings"),  # the loss
        (40, 0, "settings"),  # the buckets, by which the library divides
        (48, -5, "settings"),  # the longest n-gram
        (68, 10**6, "1000000 words and 0 labels for 65"),
        (84, 5, "pruned"),
    ],
)
def test_settings_that_would_crash_the_library(
    model: Path, tmp_path: Path, offset: int, value: int, part: str
) -> None:
    content = bytearray(model.read_bytes())
    struct.pack_into("<q" if offset == 84 else "<i", content, offset, value)
    assert part in _refused(tmp_path / "x.bin", bytes(content))


def test_numbers_that_are_not_finite(without_ngrams: Path, tmp_path: Path) -> None:
    content = bytearray(without_ngrams.read_bytes())
    words = len(read_vectors(without_ngrams, language="en"))
    outputs = len(content) - 4 * DIMENSION * words
    inputs = outputs - 17 - 4 * DIMENSION * words
    for word in range(1, 20):
        struct.pack_into("<f", content, inputs + 4 * DIMENSION * word, float("nan"))
    assert "expected finite numbers" in _refused(tmp_path / "x.bin", bytes(content))


def test_a_list_of_words_takes_the_place_of_the_models_own(model: Path) -> None:
    words = ["unseen", "word1", "日本"]
    read = read_vectors(model, language="en", words=words)
    assert list(read.words) == words
    np.testing.assert_array_equal(read.matrix, subword_vectors(model, words))
