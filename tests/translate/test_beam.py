"""The beam against every sentence that could be made, scored one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from muse.text.language_model import LanguageModel, learn_language_model
from muse.translate.text import Options, best_path

MODEL = learn_language_model([list(text) for text in ("abca", "abcc", "bca", "ccab", "abcab")], order=3)


def options(seed: int, length: int, k: int = 3) -> list[Options]:
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.normal(size=(length, k)).astype(np.float32))[:, ::-1]
    return [Options([str(c) for c in rng.choice(list("abcz"), k, replace=False)], row) for row in scores]


def total(path: tuple[int, ...], tried: list[Options], model: LanguageModel, weight: float) -> float:
    words = [option.words[place] for place, option in zip(path, tried, strict=True)]
    lexical = sum(float(option.scores[place]) for place, option in zip(path, tried, strict=True))
    return lexical + weight * model.log_probability(words)


@pytest.mark.parametrize("weight", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_the_best_sentence(seed: int, weight: float) -> None:
    tried = options(seed, 5)
    best = max(product(range(3), repeat=5), key=lambda path: total(path, tried, MODEL, weight))
    assert best_path(tried, MODEL, weight=weight, beam=3**5) == list(best)


def test_a_narrow_beam_is_no_better_and_weight_none_takes_the_first() -> None:
    for seed in range(5):
        tried = options(seed, 6)
        wide, narrow = (tuple(best_path(tried, MODEL, weight=1, beam=beam)) for beam in (3**6, 1))
        assert total(narrow, tried, MODEL, 1) <= total(wide, tried, MODEL, 1) + 1e-5
        assert best_path(tried, MODEL, weight=0, beam=2) == [0] * 6


def test_nothing_and_one_option() -> None:
    assert best_path([], MODEL, weight=1, beam=3) == []
    assert best_path([Options(["a"], np.zeros(1, np.float32))], MODEL, weight=1, beam=3) == [0]
