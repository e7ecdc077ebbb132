"""Exact neighbours: every backend against brute force, at the borders of tiles, in bounded memory."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.normalise import normalise
from muse.search import exact
from muse.search.exact import Keys, nearest, nearest_and_best

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
