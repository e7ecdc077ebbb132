"""Looking up both directions at once, against brute force."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from muse.search import bidirectional_search, exact
from muse.search.bidirectional_search import BidirectionalSearch
from muse.search.exact import largest_in_rows, row_length
from muse.search.retrieval import Retrieval, translations
from tests.search.test_neighbours import Largest

SIZES = ((1_500, 70), (131, 1_417), (40, 9))


def sides(n: int, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.Generator().manual_seed(n)
    return normalize(torch.randn(n, 12, generator=drawn)), normalize(torch.randn(m, 12, generator=drawn))


@pytest.mark.parametrize("k", [1, 10])
@pytest.mark.parametrize("size", [(70, 2_000), (131, 417), (9, 40)])
def test_the_largest_are_those_of_a_sort(size: tuple[int, int], k: int) -> None:
    rows, columns = size
    padded = torch.full((rows, row_length(columns)), -torch.inf)
    scores = torch.randn(*size, generator=torch.Generator().manual_seed(1)).round(decimals=1)  # with ties
    padded[:, :columns] = scores
    found = largest_in_rows(padded, columns, k)
    expected = scores.sort(dim=1, descending=True).values[:, :k]
    assert torch.equal(found.scores, expected)
    assert torch.equal(scores.gather(1, found.indices), expected)
    assert all(len(set(own)) == len(own) for own in found.indices.tolist())


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_both_ways_are_brute_force(
    size: tuple[int, int], kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "TILE_QUERIES", 256)
    monkeypatch.setattr(exact, "TILE_KEYS", 512)
    monkeypatch.setattr(bidirectional_search, "MAX_CACHED_BYTES", 2**30 if kept else 0)
    monkeypatch.setattr(bidirectional_search, "MIN_SOURCES", 0)
    monkeypatch.setattr(
        bidirectional_search, "MAX_TRANSIENT_BYTES", 0
    )  # then as few sources at a time as there can be
    x, y = sides(*size)
    cosines = (x @ y.T).numpy()
    own, other = BidirectionalSearch(x, y).hubness(10)
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
@pytest.mark.parametrize("known", [1, 3])
def test_biases_of_any_size_are_brute_force(kept: bool, known: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bidirectional_search, "MAX_CACHED_BYTES", 2**30 if kept else 0)
    monkeypatch.setattr(bidirectional_search, "MIN_SOURCES", 0)
    monkeypatch.setattr(
        bidirectional_search, "MAX_TRANSIENT_BYTES", 0
    )  # then as few sources at a time as there can be
    x, y = sides(700, 333)
    drawn = np.random.default_rng(0)
    own, other = (torch.from_numpy(drawn.exponential(0.3, size).astype(np.float32)) for size in (700, 333))
    products = BidirectionalSearch(x, y)
    forward, backward = products.best((own, other), products.nearest(known))
    cosines = x @ y.T
    assert torch.equal(forward, (cosines - other).argmax(dim=1))
    assert torch.equal(backward, (cosines - own[:, None]).argmax(dim=0))


def test_products_too_large_to_keep_are_made_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bidirectional_search, "MAX_CACHED_BYTES", 1_000_000)
    monkeypatch.setattr(bidirectional_search, "MIN_SOURCES", 0)
    monkeypatch.setattr(bidirectional_search, "MAX_TRANSIENT_BYTES", 400_000)
    x, y = sides(3_000, 512)
    with Largest() as largest:
        BidirectionalSearch(x, y).hubness(1)
    assert 0 < largest.elements * x.element_size() <= 400_000


def test_very_many_targets_are_searched_in_both_directions_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = sides(700, 333)
    expected = translations(x, y, Retrieval())
    monkeypatch.setattr(bidirectional_search, "MAX_CACHED_BYTES", 0)
    monkeypatch.setattr(bidirectional_search, "MAX_TRANSIENT_BYTES", 100 * 333 * x.element_size())
    monkeypatch.setattr(bidirectional_search, "SimilarityMatrix", None)  # so that it is not used
    assert all(map(torch.equal, translations(x, y, Retrieval()), expected))


def test_the_first_of_equals_is_best() -> None:
    x, y = torch.eye(4), torch.eye(4)[[0, 0, 1, 1, 2, 2, 3, 3]]
    forward, backward = translations(x, y, Retrieval(k=1))
    assert forward.tolist() == [0, 2, 4, 6]
    assert backward.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
