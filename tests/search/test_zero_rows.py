"""Rows of zeros: no search finds one, exact or approximate, by whatever backend and method."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.search.approximate import Approximation
from muse.search.bidirectional_search import BidirectionalSearch
from muse.search.exact import Neighbours, nearest, nearest_and_best, nonzero_places, zero_places
from muse.search.retrieval import METHODS, Retrieval, log_partition, mutual_neighbours, translations

N, M, D, K = 60, 12_000, 8, 5  # so many keys have an approximate index, without those of zeros too
Find = Callable[[Tensor, Tensor, Tensor], Neighbours]  # the K best of keys (m, d) less their bias (m,)

# A query is far from every key, so that a cosine of 0 would be the best.
SEARCHES: dict[str, Find] = {
    "torch": lambda x, y, _: nearest(x, y, K, backend="torch"),
    "faiss": lambda x, y, _: nearest(x, y, K, backend="faiss"),
    "torch, biased": lambda x, y, bias: nearest(x, y, K, bias=bias, backend="torch"),
    "faiss, biased": lambda x, y, bias: nearest(x, y, K, bias=bias, backend="faiss"),
    "at once": lambda x, y, bias: nearest_and_best(x, y, (K, K), bias=bias)[1],
    "both ways": lambda x, y, _: BidirectionalSearch(x, y).nearest(K).of_source,
    "the other way": lambda x, y, _: BidirectionalSearch(y, x).nearest(K).of_target,
    "approximate": lambda x, y, _: Approximation("approximate").nearest(x, y, K),
}


def sides() -> tuple[Tensor, Tensor, Tensor]:
    """Queries (n, d), keys (m, d) that point away from them, some of which are zeros, and a bias (m,)."""
    rng = torch.Generator().manual_seed(0)
    x, y = (normalize(torch.randn(count, D, generator=rng)) for count in (N, M))
    x[:, 0], y[:, 0] = x[:, 0].abs() + 2, -y[:, 0].abs() - 2
    y[::7] = 0
    return normalize(x), normalize(y), 0.01 * torch.rand(M, generator=rng)


def test_the_places_of_zeros() -> None:
    rows = torch.tensor([[0, 0], [0, 1], [1, 0], [0, 0], [0, 1e-30]])
    assert zero_places(rows).tolist() == [0, 3]
    assert (kept := nonzero_places(rows)) is not None and kept.tolist() == [1, 2, 4]
    assert nonzero_places(rows[[1, 2]]) is None
    assert nonzero_places(rows[[0, 3]]) is None


@pytest.mark.parametrize("name", SEARCHES)
def test_no_search_finds_one(name: str) -> None:
    x, y, bias = sides()
    kept = nonzero_places(y)
    assert kept is not None
    found = SEARCHES[name](x, y, bias)
    without = SEARCHES[name](x, y[kept], bias[kept])
    missed = 0.01 if name == "approximate" else 1e-5
    torch.testing.assert_close(found.scores, without.scores, atol=missed, rtol=0)
    assert y[found.indices].any(dim=2).all()
    assert float((found.indices == kept[without.indices]).double().mean()) > 0.98


@pytest.mark.parametrize("backend", ["torch", "faiss"])
def test_fewer_keys_than_are_asked_for(backend: str) -> None:
    x, y, _ = sides()
    y = y[:8]  # of which 0 and 7 are zeros
    assert sorted(nearest(x[:1], y, 8, backend=backend).indices[0].tolist()) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("backend", ["torch", "faiss"])
@pytest.mark.parametrize("method", METHODS)
def test_one_is_translated_by_none(method: str, backend: str) -> None:
    x, y, _ = sides()
    y, zero = y[:80], torch.zeros(1, D)
    source = torch.cat([x, zero])
    retrieval = Retrieval(method, backend=backend)
    forward, backward = translations(source, y, retrieval)
    assert y[forward].any(dim=1).all()
    assert (backward < N).all()
    kept = nonzero_places(y)
    assert kept is not None
    pairs = mutual_neighbours(x, y[kept], retrieval)
    np.testing.assert_array_equal(
        mutual_neighbours(source, y, retrieval), torch.stack([pairs[:, 0], kept[pairs[:, 1]]], dim=1)
    )


def test_one_is_not_in_the_sum_of_the_inverted_softmax() -> None:
    x, y, _ = sides()
    kept = nonzero_places(y)
    assert kept is not None
    torch.testing.assert_close(log_partition(x, y, beta=30.0), log_partition(x, y[kept], beta=30.0))
