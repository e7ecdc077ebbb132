"""Looking up both directions at once, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from muse.search import both_ways, neighbours
from muse.search.both_ways import Products
from muse.search.largest import largest_in_columns, largest_in_rows
from muse.search.retrieval import Retrieval, translations

SIZES = ((1_500, 70), (131, 1_417), (40, 9))


def sides(n: int, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.Generator().manual_seed(n)
    return normalize(torch.randn(n, 12, generator=drawn)), normalize(torch.randn(m, 12, generator=drawn))


@pytest.mark.parametrize("k", [1, 10])
@pytest.mark.parametrize("size", SIZES)
def test_the_largest_are_those_of_a_sort(size: tuple[int, int], k: int) -> None:
    scores = torch.randn(*size, generator=torch.Generator().manual_seed(1)).round(decimals=1)  # with ties
    for values, places, rows in (
        (*largest_in_rows(scores, k), scores),
        (*largest_in_columns(scores, k), scores.T),
    ):
        expected = rows.sort(dim=1, descending=True).values[:, :k]
        assert torch.equal(values, expected)
        assert torch.equal(rows.gather(1, places), expected)
        assert all(len(set(own)) == len(own) for own in places.tolist())


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_both_ways_are_brute_force(
    size: tuple[int, int], kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "TILE_QUERIES", 256)
    monkeypatch.setattr(neighbours, "TILE_KEYS", 512)
    monkeypatch.setattr(both_ways, "KEPT", 2**30 if kept else 0)
    x, y = sides(*size)
    cosines = (x @ y.T).numpy()
    own, other = Products(x, y).hubness(10)
    r_own = np.sort(cosines, axis=1)[:, -10:].mean(axis=1)
    r_other = np.sort(cosines, axis=0)[-10:].mean(axis=0)
    np.testing.assert_allclose(own.numpy(), r_own, atol=1e-6)
    np.testing.assert_allclose(other.numpy(), r_other, atol=1e-6)
    csls = 2 * cosines - r_own[:, None] - r_other
    forward, backward = translations(x, y, Retrieval())
    np.testing.assert_array_equal(forward.numpy(), csls.argmax(axis=1))
    np.testing.assert_array_equal(backward.numpy(), csls.argmax(axis=0))


@pytest.mark.parametrize("method", ["csls", "nn", "isf"])
def test_every_backend_finds_the_same(method: str) -> None:
    x, y = sides(300, 211)
    ours, faiss = (translations(x, y, Retrieval(method, backend=one)) for one in ("torch", "faiss"))
    assert all(torch.equal(one, other) for one, other in zip(ours, faiss, strict=True))


@pytest.mark.parametrize("kept", [True, False])
def test_biases_of_any_size_are_brute_force(kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(both_ways, "KEPT", 2**30 if kept else 0)
    x, y = sides(700, 333)
    drawn = np.random.default_rng(0)
    own, other = (torch.from_numpy(drawn.exponential(0.3, size).astype(np.float32)) for size in (700, 333))
    found = Products(x, y).nearest(3, (own, other))
    cosines = x @ y.T
    for ours, scores in ((found.of_source, cosines - other), (found.of_target, cosines.T - own)):
        expected = scores.sort(dim=1, descending=True)
        torch.testing.assert_close(ours.scores, expected.values[:, :3])
        assert torch.equal(ours.indices, expected.indices[:, :3])
