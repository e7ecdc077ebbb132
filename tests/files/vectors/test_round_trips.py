"""Round trips: vectors that go from program to program and back are the same ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from muse.files import read_vectors, write_vectors_text, write_word2vec

pytestmark = pytest.mark.slow  # each program takes a second to load

# An apostrophe, Japanese, an emoji, a joiner, a number, an accent that stands apart.
WORDS = ["the", "\u00e9t\u00e9", "l\u2019eau", "\u65e5\u672c", "\U0001f44d", "x\u200dy", "1984", "e\u0301"]
WORDS += [f"w{place}" for place in range(60)]


@pytest.mark.parametrize("binary", [False, True])
def test_from_fasttext_over_muse_to_gensim_and_back(tmp_path: Path, binary: bool) -> None:
    fasttext = pytest.importorskip("fasttext")
    gensim = pytest.importorskip("gensim.models")
    (tmp_path / "text").write_text("\n".join([" ".join(WORDS)] * 5), encoding="utf-8")
    settings = {"dim": 5, "epoch": 1, "minCount": 1, "bucket": 50, "thread": 1, "verbose": 0}
    fasttext.train_unsupervised(str(tmp_path / "text"), **settings).save_model(str(tmp_path / "x.bin"))
    read = read_vectors(tmp_path / "x.bin", language="en")
    assert set(read.words) == {*WORDS, "</s>"}
    (write_word2vec if binary else write_vectors_text)(tmp_path / "ours", read.words, read.matrix)
    theirs = gensim.KeyedVectors.load_word2vec_format(str(tmp_path / "ours"), binary=binary)
    assert theirs.index_to_key == list(read.words)
    np.testing.assert_array_equal(theirs.vectors, read.matrix)
    theirs.save_word2vec_format(str(tmp_path / "theirs"), binary=binary)
    again = read_vectors(tmp_path / "theirs", language="en")
    assert again.words == read.words
    np.testing.assert_array_equal(again.matrix, read.matrix)


def test_to_a_pipeline_of_spacy_and_back(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    from spacy.vectors import Vectors

    rows = np.random.default_rng(0).normal(0, 1, (len(WORDS), 5)).astype(np.float32)
    write_vectors_text(tmp_path / "x.vec", WORDS, rows)
    read = read_vectors(tmp_path / "x.vec", language="en")
    nlp = spacy.blank("xx")
    for word in read.words:
        nlp.vocab.strings.add(word)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=read.matrix, keys=list(read.words))
    nlp.to_disk(tmp_path / "pipeline")
    again = read_vectors(tmp_path / "pipeline", language="en")
    assert list(again.words) == WORDS
    np.testing.assert_array_equal(again.matrix, rows)
