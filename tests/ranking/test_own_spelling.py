"""A word's own spelling among its translations: raised by the prior, and nothing else changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from muse.evaluation.ranks import ranks
from muse.ranking.ranker import PRIOR, Ranker, own_spelling
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
@pytest.mark.parametrize("top", [3, 40])
def test_as_if_the_prior_were_added_to_a_full_ranking(retrieval: Retrieval, top: int) -> None:
    space, rows = spaced(), np.arange(40)
    everything = Ranker(space.by_csls(), DIRECTION, retrieval, top=40).best(rows)
    ranker = Ranker(space, DIRECTION, retrieval, top)
    found = ranker.best(rows)
    prior = PRIOR if retrieval.method == "csls" else 0
    for row in rows:
        scores = everything.scores[row] + prior * ((everything.columns[row] == row) & (row % 2 == 1))
        order = np.argsort(-scores, kind="stable")[:top]
        np.testing.assert_array_equal(found.columns[row], everything.columns[row][order])
        np.testing.assert_allclose(found.scores[row], scores[order], atol=1e-5)
    if top == 40:  # evaluation ranks them so, and they are preferred in the other direction too
        pairs = np.stack([np.repeat(rows, 2), found.columns[:, [0, 7]].ravel()], axis=1)
        assert ranks(ranker, pairs).tolist() == [1, 8] * 40
        back = ranker.reversed().best(rows).columns
        np.testing.assert_array_equal(ranker.back(), back)


def test_spellings_that_count() -> None:
    source = Vectors("fr", [*"abcdefgh", "Paris", "tu"], np.zeros((10, 1), np.float32))
    target = Vectors("en", [*(f"x{i}" for i in range(300)), "paris"], np.zeros((301, 1), np.float32))
    assert own_spelling("Paris", source, target) == -1  # ranks 9 and 301: 18 and 310 are too far apart
    assert own_spelling("Paris", source, Vectors("en", ["x", "paris"], np.zeros((2, 1), "f"))) == 1
    assert own_spelling("tu", source, target) == -1
    assert own_spelling("zu", source, Vectors("en", ["zu"], np.zeros((1, 1), "f"))) == -1  # a new word


def test_a_space_made_to_answer_by_csls_prefers_no_spelling() -> None:
    space = spaced()
    made = replace(space, manifest=replace(space.manifest, settings={"answers": "csls"}))
    assert (Ranker(space, DIRECTION).own_spellings(np.arange(40)) >= 0).any()
    assert (Ranker(made, DIRECTION).own_spellings(np.arange(40)) < 0).all()
