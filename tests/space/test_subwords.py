"""Subwords against the ridge regression they stand for, solved at once, and words made of known parts."""

from collections import Counter
from itertools import product
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.space import subwords
from muse.space.subwords import RIDGE, learn_subwords, ngrams

STEMS, ENDINGS = (
    ["parl", "chant", "dans", "mang", "trouv", "port", "jou"],
    ["er", "ons", "aient", "ant", "eraient"],
)
WORDS = [stem + ending for stem, ending in product(STEMS, ENDINGS)]


def test_the_same_as_the_normal_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subwords, "ROUNDS", 200)
    rows = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
    made = learn_subwords(WORDS, rows)
    counts = Counter(gram for word in WORDS for gram in set(ngrams(word)))
    grams = [gram for gram, n in counts.items() if n > 1]
    x = np.array([[list(ngrams(word)).count(gram) for gram in grams] for word in WORDS], dtype=float)
    x /= np.sqrt(x.sum(axis=1, keepdims=True))
    mean = rows.mean(axis=0)
    expected = np.linalg.solve(x.T @ x + RIDGE * np.eye(len(grams)), x.T @ (rows - mean))
    assert np.allclose(made.vectors[[made.index[gram] for gram in grams]], expected, atol=1e-3)
    found = x @ expected + mean
    assert np.allclose(made.rows(WORDS), found / np.linalg.norm(found, axis=1, keepdims=True), atol=1e-3)


def test_a_word_of_known_parts_is_near_its_place() -> None:
    rng = np.random.default_rng(1)
    parts = {part: rng.normal(size=20) for part in [*STEMS, *ENDINGS]}
    rows = np.array([parts[s] + parts[e] for s, e in product(STEMS, ENDINGS)], dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    held = WORDS.index("chantons")
    others = [row for row in range(len(WORDS)) if row != held]
    made = learn_subwords([WORDS[row] for row in others], rows[others])
    cosines = rows @ made.rows(["chantons"])[0]
    assert cosines.argmax() == held
    assert cosines[held] > 0.8


@pytest.mark.parametrize(("vocabulary", "asked"), list(product(("NFC", "NFD"), repeat=2)))
def test_unknown_words_are_composed_alike_in_every_unicode_form(
    vocabulary: Literal["NFC", "NFD"], asked: Literal["NFC", "NFD"]
) -> None:
    words = [stem + ending for stem, ending in product(STEMS, ["é", "âmes", "ât", "èrent"])]
    rows = np.random.default_rng(2).normal(size=(len(words), 5)).astype(np.float32)
    composed = learn_subwords(words, rows)
    made = learn_subwords([normalize(vocabulary, word) for word in words], rows)
    for word, known in (("rechantèrent", True), ("parlâ", True), ("éèâéèâ", False)):
        assert made.has(normalize(asked, word)) == composed.has(word) == known
    new = ["rechantèrent", "parlâ"]
    np.testing.assert_array_equal(made.rows([normalize(asked, word) for word in new]), composed.rows(new))


def test_what_it_makes_words_of() -> None:
    made = learn_subwords(WORDS, np.eye(len(WORDS), dtype=np.float32))
    assert made.has("parlaient")
    assert made.has("rechantaient")
    assert not made.has("Привет")
    assert not made.has("xyz")
    assert not made.has("")
    assert list(ngrams("")) == []
    with pytest.raises(Mismatch, match="share some n-gram of 3 letters, got none among 2"):
        learn_subwords(["ab", "cd"], np.eye(2, dtype=np.float32))
