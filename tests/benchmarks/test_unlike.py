"""The ideas of unlike_starts.py: on an easy pair they find what is there, and strings match."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from muse.learn.bilingual import normalise_in_place
from muse.normalise import DEFAULT_STEPS
from muse.vectors import Vectors

pytestmark = pytest.mark.slow

DIMENSION, CENTRES = 60, 20
WORDS = {"independent components": 400}  # of which the others need fewer
EXACT = (
    "Gromov-Wasserstein", "iterative normalisation", "same spectrum", "leading components removed",
    "whitening", "partial transport", "KL-relaxed transport", "features as prior", "features",
    "frequency bands", "independent components", "strings",
)  # fmt: skip


@pytest.fixture
def module() -> Any:
    """A function that imports a module of the benchmarks."""
    return importlib.import_module


def easy_pair(words: int) -> tuple[Vectors, Vectors]:
    """Clustered vectors of different lengths, and the same rotated, in another order, with a little noise."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CENTRES, DIMENSION))[rng.integers(CENTRES, size=words)]
    noise = rng.gamma(2, 0.5, (words, DIMENSION)) * rng.standard_normal((words, DIMENSION))
    rows = (centres + noise) * (np.arange(DIMENSION) + 1.0) ** -0.4
    rotation = np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION)))[0]
    other = rows @ rotation + 0.02 * rng.standard_normal(rows.shape)
    names = ["x" * int(rng.integers(2, 9)) + str(place) for place in range(words)]
    order = np.argsort(np.arange(words) + 20 * rng.standard_normal(words))  # frequencies differ too
    source = Vectors("aa", names, rows.astype(np.float32))
    target = Vectors("bb", [names[place] for place in order], other[order].astype(np.float32))
    return normalise_in_place(source, DEFAULT_STEPS)[0], normalise_in_place(target, DEFAULT_STEPS)[0]


@pytest.mark.parametrize("idea", EXACT)
def test_an_idea_recovers_a_rotation(module: Any, idea: str) -> None:
    words = WORDS.get(idea, 200)
    x, y = easy_pair(words)
    pairs = module("benchmarks.align.unlike_ideas").IDEAS[idea](x, y, np.random.default_rng(0)).tolist()
    assert len(pairs) > 0.9 * words
    assert np.mean([x.words[i] == y.words[j] for i, j in pairs]) > 0.9


def test_a_word_and_its_transliteration_have_the_same_skeleton(module: Any) -> None:
    skeleton = module("benchmarks.align.unlike_strings").skeleton
    cyrillic, latin = ["метод", "философ", "вариант"], ["method", "philosoph", "variant"]
    assert [skeleton(word) for word in cyrillic] == [skeleton(word) for word in latin]
    assert len({skeleton(word) for word in [*latin, "варианты", "методы"]}) == 5


def test_strings_match_identical_words_and_others_only_over_scripts(module: Any) -> None:
    match = module("benchmarks.align.unlike_strings").identical_and_transliterated
    source, target = ["метод", "php", "да", "moral"], ["method", "da", "morall", "php"]
    assert match(source, target) == [(1, 3), (0, 0)]  # да is too short, moral in the same script
