"""Exact neighbours: every backend against brute force, in bounded memory; rows of zeros, never found."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import BadSetting
from muse.normalise import normalise
from muse.search import exact
from muse.search.approximate import Approximation
from muse.search.bidirectional_search import BidirectionalSearch
from muse.search.exact import Keys, Neighbours, nearest, nearest_and_best, nonzero_places, zero_places
from muse.search.retrieval import METHODS, Retrieval, log_partition, mutual_neighbours, translations

BACKENDS = ["torch", "faiss", "auto"]


def random_rows(seed: int, count: int, dimension: int = 12) -> Tensor:
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return torch.from_numpy(normalise(rows, ["unit"])[0])


def brute(queries: Tensor, keys: Tensor, bias: Tensor | None) -> np.ndarray[Any, Any]:
    table: np.ndarray[Any, Any] = queries.double().numpy() @ keys.double().numpy().T
    return table if bias is None else table - bias.double().numpy()


def check(queries: Tensor, keys: Tensor, k: int, bias: Tensor | None, backend: str) -> None:
    found = nearest(queries, keys, k, bias=bias, backend=backend)
    table = brute(queries, keys, bias)
    k = min(k, len(keys))
    assert found.scores.shape == found.indices.shape == (len(queries), k)
    assert (found.scores.dtype, found.indices.dtype) == (torch.float32, torch.int64)
    best = -np.sort(-table, axis=1)[:, :k]
    np.testing.assert_allclose(found.scores.numpy(), best, atol=2e-6)
    # Ties may be in any order: what must hold is that each neighbour has the score of its place.
    chosen = np.take_along_axis(table, found.indices.numpy(), axis=1)
    np.testing.assert_allclose(chosen, best, atol=2e-6)
    assert all(len(set(row)) == k for row in found.indices.tolist())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("k", [1, 3, 50, 99])
def test_against_brute_force(backend: str, biased: bool, k: int) -> None:
    queries, keys = random_rows(0, 33), random_rows(1, 50)
    check(queries, keys, k, torch.linspace(-1, 1, 50) if biased else None, backend)


@pytest.mark.parametrize("keys", [1, 6, 7, 8, 14, 15])
@pytest.mark.parametrize("queries", [1, 4, 5, 6, 11])
def test_at_the_borders_of_tiles(monkeypatch: pytest.MonkeyPatch, queries: int, keys: int) -> None:
    monkeypatch.setattr(exact, "TILE_QUERIES", 5)
    monkeypatch.setattr(exact, "TILE_KEYS", 7)
    for k in (1, 6, 7, 8, 20):
        bias = torch.rand(keys, generator=torch.Generator().manual_seed(k))
        check(random_rows(2, queries), random_rows(3, keys), k, bias, "torch")


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_keys_are_each_found_once(backend: str) -> None:
    check(random_rows(4, 5), random_rows(5, 3).repeat(4, 1), 9, None, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("biased", [False, True])
def test_batches_find_what_all_find_in_keys_prepared_once(
    monkeypatch: pytest.MonkeyPatch, backend: str, biased: bool
) -> None:
    prepared, prepare = list[Tensor](), exact.BACKENDS[exact.resolved(backend)]

    def counting(rows: Tensor, bias: Tensor | None) -> exact.Search:
        prepared.append(rows)
        return prepare(rows, bias)

    monkeypatch.setitem(exact.BACKENDS, exact.resolved(backend), counting)
    queries, rows, bias = random_rows(10, 40), random_rows(11, 50), torch.linspace(-1, 1, 50)
    keys = Keys(rows, bias if biased else None, backend)
    best = [
        keys.nearest(batch, k).indices[:, 0]
        for batch, k in zip(torch.split(queries, 15), (1, 3, 99), strict=True)
    ]
    table = brute(queries, rows, keys.bias)
    assert torch.cat(best).tolist() == table.argmax(axis=1).tolist()
    assert len(prepared) == 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("counts", [(1, 3), (10, 2), (99, 20)])
def test_nearest_and_best_are_two_searches(
    monkeypatch: pytest.MonkeyPatch, backend: str, biased: bool, counts: tuple[int, int]
) -> None:
    monkeypatch.setattr(exact, "TILE_QUERIES", 5)
    monkeypatch.setattr(exact, "TILE_KEYS", 7)
    queries, keys, bias = random_rows(12, 11), random_rows(13, 50), torch.linspace(-1, 1, 50)
    less = bias if biased else None
    both = nearest_and_best(queries, keys, counts, bias=less, backend=backend)
    for found, k, subtracted in zip(both, counts, (None, less), strict=True):
        apart = nearest(queries, keys, k, bias=subtracted, backend=backend)
        assert torch.equal(found.scores, apart.scores) and torch.equal(found.indices, apart.indices)


def test_nearest_and_best_share_their_products(monkeypatch: pytest.MonkeyPatch) -> None:
    operations, product = list[int](), torch.mm

    def counting(queries: Tensor, keys: Tensor, *, out: Tensor) -> Tensor:
        operations.append(len(queries) * keys.shape[1])
        return product(queries, keys, out=out)

    monkeypatch.setattr(torch, "mm", counting)
    nearest_and_best(random_rows(14, 11), random_rows(15, 50), (10, 2), bias=torch.rand(50))
    assert sum(operations) == 11 * 50


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_arguments_are_left_alone(backend: str) -> None:
    queries, keys, bias = random_rows(6, 9), random_rows(7, 8), torch.rand(8)
    copies = queries.clone(), keys.clone(), bias.clone()
    nearest(queries, keys, 2, bias=bias, backend=backend)
    nearest_and_best(queries, keys, (3, 2), bias=bias, backend=backend)
    for before, after in zip(copies, (queries, keys, bias), strict=True):
        assert torch.equal(before, after)


class Largest(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Remembers the size of the largest tensor that any operation makes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.elements = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(tensor, Tensor):
                self.elements = max(self.elements, tensor.numel())
        return made


def test_memory_is_bounded_by_the_tile() -> None:
    queries, keys = random_rows(8, 4_100, 8), random_rows(9, 20_000, 8)
    with Largest() as largest:
        nearest(queries, keys, 1, bias=torch.zeros(20_000))
    assert 0 < largest.elements <= exact.TILE_QUERIES * exact.TILE_KEYS


@pytest.mark.parametrize("chosen", ["torch", "faiss", "auto"])
def test_auto_is_the_backend_that_was_chosen(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    used = list[str]()

    def counting(name: str, search: Any, *given: Any) -> Any:
        used.append(name)
        return search(*given)

    for name in ("torch", "faiss"):
        monkeypatch.setitem(exact.BACKENDS, name, partial(counting, name, exact.BACKENDS[name]))
    queries, keys = random_rows(0, 9), random_rows(1, 50)
    with exact.searching_by(chosen):
        inside = nearest(queries, keys, 3)
        nearest(queries, keys, 3, backend="torch")
    assert used == ["faiss" if chosen == "faiss" else "torch", "torch"]
    np.testing.assert_array_equal(nearest(queries, keys, 3).indices, inside.indices)
    assert used[-1] == "torch"
    with pytest.raises(BadSetting, match="must be one of auto, torch, faiss"), exact.searching_by("annoy"):
        pass


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
