"""A word's own spelling among its translations: raised by the prior, and nothing else changed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from muse.ranking.translations import PRIOR, own_spelling, with_own_spelling
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.vectors import Vectors
from tests.support.spaces import RETRIEVALS, plain_space

DIRECTION = ("fr", "en")


def spaced(seed: int = 0, count: int = 40) -> Space:
    """Random rows, and words of which every other is spelled alike in both languages."""
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(count, 6)).astype(np.float32) for _ in range(2)]
    words = [[f"w{i}" if i % 2 else f"{name}{i}" for i in range(count)] for name in DIRECTION]
    return plain_space(rows[0], rows[1], words[0], words[1])


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
def test_as_if_the_prior_were_added_to_a_full_ranking(retrieval: Retrieval) -> None:
    space = spaced()
    words = space.vectors("fr").words
    rows = dict(zip(words, space.tensor("fr"), strict=True))
    everything = space.look_up(space.tensor("fr"), DIRECTION, top=len(words), retrieval=retrieval)
    found = with_own_spelling(space, rows, [best[:10] for best in everything], DIRECTION, retrieval)
    prior = PRIOR if retrieval.method == "csls" else PRIOR / 2
    for word, best, all_of_them in zip(words, found, everything, strict=True):
        expected = sorted(((t, s + prior * (t == word)) for t, s in all_of_them), key=lambda one: -one[1])
        assert [target for target, _ in best] == [target for target, _ in expected[:10]]
        assert [score for _, score in best] == pytest.approx([score for _, score in expected[:10]], abs=1e-5)


def test_nothing_to_raise() -> None:
    space = spaced()
    rows, found = {"fr0": torch.ones(6)}, [[("w1", 0.5)]]
    assert with_own_spelling(space, rows, found, DIRECTION, Retrieval("nn")) is found
    assert with_own_spelling(space, {}, [], DIRECTION, Retrieval("nn")) == []


def test_spellings_that_count() -> None:
    source = Vectors("fr", [*"abcdefgh", "Paris", "tu"], np.zeros((10, 1), np.float32))
    target = Vectors("en", [*(f"x{i}" for i in range(300)), "paris"], np.zeros((301, 1), np.float32))
    assert own_spelling("Paris", source, target) is None  # ranks 9 and 301: 18 and 310 are too far apart
    assert own_spelling("Paris", source, Vectors("en", ["x", "paris"], np.zeros((2, 1), "f"))) == "paris"
    assert own_spelling("tu", source, target) is None
    assert own_spelling("zu", source, Vectors("en", ["zu"], np.zeros((1, 1), "f"))) is None  # a new word
