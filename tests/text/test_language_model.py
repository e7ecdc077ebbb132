"""The language model against KenLM's figures, sums that must be 1, and the equations of Kneser-Ney."""

import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadSetting, Mismatch
from muse.text.arpa import read_arpa
from muse.text.language_model import LanguageModel, learn_language_model
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


Gram = tuple[str, ...]


def reference(sentences: list[list[str]], order: int) -> dict[Gram, float]:
    """The probability of the last word of every n-gram seen, by Chen & Goodman's equations as they stand."""
    padded = [["<s>", *sentence, "</s>"] for sentence in sentences]
    seen = [
        Counter(tuple(s[i : i + n]) for s in padded for i in range(len(s) - n + 1))
        for n in range(1, order + 1)
    ]
    counts: list[dict[Gram, int]] = []
    for n in range(1, order + 1):
        before: dict[Gram, set[str]] = defaultdict(set)
        for gram in seen[n] if n < order else ():
            before[gram[1:]].add(gram[0])
        counts.append(
            {g: len(before[g]) if n < order and g[0] != "<s>" else c for g, c in seen[n - 1].items()}
        )
    counts[0] = {gram: count for gram, count in counts[0].items() if gram != ("<s>",)}
    discounts = []
    for grams in counts:
        t = [sum(count == times for count in grams.values()) for times in (1, 2, 3, 4)]
        d = [0.5, 1.0, 1.5]
        if all(t):
            y = t[0] / (t[0] + 2 * t[1])
            exact = [i - (i + 1) * y * t[i] / t[i - 1] for i in (1, 2, 3)]
            d = exact if all(0 < value < i for i, value in enumerate(exact, 1)) else d
        discounts.append([0.0, *d])
    vocabulary = {gram[0] for gram in counts[0]} | {"<unk>"}

    def p(gram: Gram) -> float:
        if not gram:
            return 1 / len(vocabulary)
        grams, d = counts[len(gram) - 1], discounts[len(gram) - 1]
        following = {g: c for g, c in grams.items() if g[:-1] == gram[:-1]}
        total = sum(following.values())
        if not total:
            return p(gram[1:])
        gamma = sum(d[min(c, 3)] for c in following.values()) / total
        own = following.get(gram, 0)
        return (own - d[min(own, 3)]) / total + gamma * p(gram[1:] if len(gram) > 1 else ())

    return {gram: p(gram) for grams in counts for gram in grams}


def random_text(seed: int, sentences: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, sentences)
    return [[f"w{int(number)}" for number in rng.geometric(0.25, length)] for length in lengths]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("sentences", [3, 200])  # 3: too few for the discounts' estimate
def test_the_equations(order: int, sentences: int) -> None:
    text = random_text(order, sentences)
    model = learn_language_model(text, order=order)
    expected = reference(text, order)
    assert sum(len(level) for level in model.levels) == len(expected) + 2  # <s> and <unk>
    for gram, probability in expected.items():
        states = np.full((1, order - 1), -1, np.int64)
        for word in model.ids(gram[:-1]):
            states = model.step(states, np.array([[word]])).states[:, 0]
        found = model.step(states, model.ids(gram[-1:])[None]).log_p[0, 0]
        assert found == pytest.approx(math.log(probability), abs=1e-4), gram


def test_signs_of_sentences_in_the_text_are_no_signs() -> None:
    model = learn_language_model([["a", "</s>", "<s>", "b"], [], ["<unk>", "a"]], order=2)
    assert sorted(model.words) == ["</s>", "<s>", "<unk>", "a", "b"]


def test_bad_input() -> None:
    with pytest.raises(Mismatch, match="at least one word of text"):
        learn_language_model([[], []])
    with pytest.raises(Mismatch, match="at least one word of text"):
        learn_language_model([["<s>"]])
    for order in (0, 7):
        with pytest.raises(BadSetting, match=f"--order must be 1 to 6, got {order}"):
            learn_language_model([["a"]], order=order)
