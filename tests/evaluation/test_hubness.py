"""The k-occurrence against a count by hand, and CSLS, which must lower its skewness."""

from __future__ import annotations

import numpy as np
import pytest

from muse.evaluation.words import hubness
from muse.search.retrieval import Retrieval
from tests.evaluation.test_words import noisy_space, scores
from tests.support.spaces import RETRIEVALS, plain_space


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
def test_the_count_by_hand(retrieval: Retrieval) -> None:
    space = noisy_space(0)
    found = hubness(space, "fr", "en", retrieval, k=4)
    table = scores(space.vectors("fr").matrix, space.vectors("en").matrix, retrieval)
    counts = np.zeros(60)
    for row in np.argsort(-table, axis=1)[:, :4]:
        counts[row] += 1
    deviation = counts - counts.mean()
    assert found.skewness == pytest.approx((deviation**3).mean() / (deviation**2).mean() ** 1.5)
    assert found.never == pytest.approx(100 * (counts == 0).mean())
    assert [count for _, count in found.largest] == sorted(counts.tolist(), reverse=True)[:10]
    assert all(counts[int(word[1:])] == count for word, count in found.largest)
    assert sum(counts) == 50 * 4


def test_csls_is_less_hubby() -> None:
    rng = np.random.default_rng(0)
    target = rng.normal(0, 1, (500, 20)).astype(np.float32)
    source = target + rng.normal(0, 0.5, target.shape).astype(np.float32)
    source[:, 0] += 3  # all sources lean one way: the targets that do so too are hubs
    space = plain_space(source, target, [f"s{i}" for i in range(500)], [f"t{i}" for i in range(500)])
    nn, csls = (hubness(space, "fr", "en", Retrieval(method)) for method in ("nn", "csls"))
    assert csls.skewness < 0.8 * nn.skewness
    assert csls.never < nn.never


def test_a_space_without_hubs() -> None:
    axes = np.eye(4, dtype=np.float32)
    found = hubness(plain_space(axes, axes, list("abcd"), list("wxyz")), "fr", "en", Retrieval("nn"), k=1)
    assert (found.skewness, found.never, found.largest[0]) == (0, 0, ("w", 1))
