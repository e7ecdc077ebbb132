"""The language model against KenLM's figures for a small file, and against sums that must be 1."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.text.arpa import read_arpa
from muse.text.language_model import NOWHERE, LanguageModel, NGrams, find, learn_language_model
from tests.text.test_arpa import SMALL

# kenlm 0.3.0: Model(SMALL).score(text), to the base 10.
KENLM = {
    "the cat": -0.400000,
    "the dog": -1.550000,
    "cat the": -3.100000,
    "the cat sat": -2.820000,
    "zzz the cat": -2.830000,
    "": -1.000000,
}
SENTENCES = [text.split() for text in ("a b c", "a b", "b c c", "a c b a", "d a b c", "b")]


def total(model: LanguageModel, history: list[str]) -> float:
    """The sum of p(w | history) over all words but <s>, which is never predicted."""
    states = model.start()
    for word in model.ids(history):
        states = model.step(states, np.array([[word]])).states[:, 0]
    log_p = model.step(states, np.arange(len(model.words))[None]).log_p.astype(float)
    return float(np.exp(log_p).sum())


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("history", [[], ["a"], ["a", "b"], ["c", "c", "a"], ["zzz"], ["a", "zzz", "b"]])
def test_probabilities_sum_to_one(order: int, history: list[str]) -> None:
    assert total(learn_language_model(SENTENCES, order=order), history) == pytest.approx(1, abs=1e-5)


def test_the_figures_of_kenlm(tmp_path: Path) -> None:
    (tmp_path / "small.arpa").write_text(SMALL, encoding="utf-8")
    model = read_arpa(tmp_path / "small.arpa")
    for text, score in KENLM.items():
        assert model.log_probability(text.split()) / math.log(10) == pytest.approx(score, abs=1e-5), text


def test_many_words_at_once_are_the_same_as_one_by_one() -> None:
    model = learn_language_model(SENTENCES, order=3)
    rng = np.random.default_rng(0)
    states = model.start()
    for _ in range(5):
        words = rng.integers(len(model.words), size=(len(states), 4))
        step = model.step(states, words)
        for row, column in np.ndindex(words.shape):
            alone = model.step(states[row : row + 1], words[row : row + 1, column : column + 1])
            assert alone.log_p[0, 0] == step.log_p[row, column]
            assert (alone.states[0, 0] == step.states[row, column]).all()
        states = step.states.reshape(-1, model.order - 1)[:7]


@pytest.mark.parametrize("order", [4, 5, 6])
def test_a_length_without_n_grams_backs_off_to_the_shorter_ones(order: int) -> None:
    single = [["a"], ["b"], ["c"]]  # no sentence has four words with its marks
    model = learn_language_model(single, order=order)
    assert not any(len(level.keys) for level in model.levels[3:])
    assert total(model, ["a", "b", "c"]) == pytest.approx(1)
    expected = learn_language_model(single, order=3)
    assert model.log_probability(["a", "b"]) == expected.log_probability(["a", "b"])


def test_words_are_found_as_they_are_or_in_lower_case() -> None:
    model = learn_language_model([["the", "Tom"]], order=1)
    assert [model.words[row] for row in model.ids(["The", "Tom", "tom"])] == ["the", "Tom", "<unk>"]


def test_what_every_model_must_have() -> None:
    empty = np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0, np.float32)
    with pytest.raises(Mismatch, match="must have the word </s>, got none among 1"):
        LanguageModel(["<s>"], (NGrams(*empty),))
    assert find(empty[0], np.array([3])).tolist() == [NOWHERE]
