"""CSLS, the inverted softmax and scores of pairs by their formulas; both directions by brute force."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import logsumexp, softmax
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import BadSetting
from muse.search import bidirectional_search, exact
from muse.search.bidirectional_search import BidirectionalSearch
from muse.search.exact import largest_in_rows, row_length
from muse.search.retrieval import (
    METHODS,
    PAIR_METHODS,
    PairScore,
    Retrieval,
    best_targets,
    log_partition,
    mutual_neighbours,
    mutual_pairs,
    recovered,
    translations,
)
from tests.search.test_neighbours import Largest, random_rows
from tests.support.spaces import rotation

Table = np.ndarray[Any, Any]


def cosines(x: Tensor, y: Tensor) -> Table:
    return np.asarray(x.double().numpy() @ y.double().numpy().T)


def csls(x: Tensor, y: Tensor, k: int) -> Table:
    """2 cos(x, y) - r(x) - r(y), one pair after the other."""
    table = cosines(x, y)
    of_x = [np.sort(row)[::-1][:k].mean() for row in table]
    of_y = [np.sort(column)[::-1][:k].mean() for column in table.T]
    return np.array([[2 * table[i, j] - of_x[i] - of_y[j] for j in range(len(y))] for i in range(len(x))])


@pytest.mark.parametrize("backend", ["torch", "faiss"])
@pytest.mark.parametrize("k", [1, 10, 200])
def test_csls_is_the_formula(backend: str, k: int) -> None:
    x, y = random_rows(0, 40), random_rows(1, 31)
    retrieval = Retrieval("csls", k=k, backend=backend)
    found = retrieval.translate(x, y, 31, bias=retrieval.bias(x, y))
    expected = np.take_along_axis(csls(x, y, k), found.indices.numpy(), axis=1)
    np.testing.assert_allclose(found.scores.numpy(), expected, atol=5e-6)
    assert (found.indices[:, 0].numpy() == csls(x, y, k).argmax(axis=1)).all()


def test_isf_is_the_formula() -> None:
    x, y = random_rows(2, 40), random_rows(3, 31)
    retrieval = Retrieval("isf", beta=30)
    found = retrieval.translate(x, y, 31, bias=retrieval.bias(x, y))
    share = softmax(30 * cosines(x, y), axis=0)  # of each source in what a target gives to all sources
    expected = np.take_along_axis(np.log(share) / 30, found.indices.numpy(), axis=1)
    np.testing.assert_allclose(found.scores.numpy(), expected, atol=5e-6)
    assert (best_targets(x, y, retrieval).numpy() == share.argmax(axis=1)).all()


@pytest.mark.parametrize("beta", [1.0, 30.0, 1_000.0])
def test_the_partition_in_tiles(monkeypatch: pytest.MonkeyPatch, beta: float) -> None:
    monkeypatch.setattr(exact, "TILE_QUERIES", 7)
    monkeypatch.setattr(exact, "TILE_KEYS", 5)
    x, y = random_rows(4, 20), random_rows(5, 13)
    np.testing.assert_allclose(
        log_partition(x, y, beta=beta).numpy(), logsumexp(beta * cosines(x, y), axis=1), rtol=1e-5
    )


def test_nn_is_the_highest_cosine() -> None:
    x, y = random_rows(6, 40), random_rows(7, 31)
    retrieval = Retrieval("nn")
    assert retrieval.bias(x, y) is None
    assert (best_targets(x, y, retrieval).numpy() == cosines(x, y).argmax(axis=1)).all()


@pytest.mark.parametrize("method", METHODS)
def test_turning_both_spaces_changes_nothing(method: str) -> None:
    x, y, turn = random_rows(10, 200), random_rows(11, 150), torch.from_numpy(rotation(3, 12))
    retrieval = Retrieval(method)
    for first, second in zip(
        translations(x, y, retrieval), translations(x @ turn.T, y @ turn.T, retrieval), strict=True
    ):
        assert torch.equal(first, second)


def test_csls_takes_a_hub_down() -> None:
    rows = normalize(random_rows(12, 60) + 2 * normalize(torch.ones(12), dim=0))  # they lean one way
    hub = normalize(rows.mean(dim=0, keepdim=True))
    targets = torch.cat([normalize(rows + 0.9 * random_rows(13, 60)), hub])
    count = {name: int((best_targets(rows, targets, Retrieval(name)) == 60).sum()) for name in ("nn", "csls")}
    assert count["nn"] > 30
    assert count["csls"] < 0.5 * count["nn"]


def test_mutual_pairs() -> None:
    pairs = mutual_pairs(torch.tensor([1, 0, 1]), torch.tensor([1, 2]))
    assert pairs.tolist() == [[1, 0], [2, 1]]
    assert mutual_pairs(torch.tensor([1, 1]), torch.tensor([0, 5])).shape == (0, 2)


@pytest.mark.parametrize("method", METHODS)
def test_mutual_neighbours_are_the_pairs_best_both_ways(method: str) -> None:
    x, y, retrieval = random_rows(14, 40), random_rows(15, 30), Retrieval(method)
    forward, backward = best_targets(x, y, retrieval), best_targets(y, x, retrieval)
    expected = [[i, j] for i in range(40) for j in range(30) if forward[i] == j and backward[j] == i]
    assert mutual_neighbours(x, y, retrieval).tolist() == expected
    assert 0 < len(expected) < 30


def test_names() -> None:
    assert [str(Retrieval(name)) for name in METHODS] == ["csls:10", "nn", "isf:30"]
    with pytest.raises(BadSetting, match="one of csls, nn, isf; got 'magic'"):
        Retrieval("magic")
    with pytest.raises(BadSetting, match="one row or more, got k = 0"):
        Retrieval(k=0)
    with pytest.raises(BadSetting, match="one of auto, torch, faiss; got 'fais'"):
        Retrieval(backend="fais")


def test_what_is_found_again_is_the_best_of_all() -> None:
    x, y = random_rows(8, 60), random_rows(9, 40)
    best = csls(x, y, 10).argmax(axis=1)
    pairs = torch.stack([torch.arange(0, 60, 2), torch.from_numpy(best)[::2]], dim=1)
    pairs[::3, 1] = (pairs[::3, 1] + 1) % 40
    expected = [i % 3 != 0 for i in range(30)]
    assert recovered(x, y, pairs).tolist() == expected


def unit_rows(seed: int, count: int) -> torch.Tensor:
    rows = np.random.default_rng(seed).normal(0.4, 1, (count, 6)).astype(np.float32)
    return normalize(torch.from_numpy(rows))


def by_hand(method: str, x: np.ndarray, y: np.ndarray, row: int, column: int, k: int) -> float:
    cosines = x @ y.T
    cosine = cosines[row, column]
    own = sorted(cosines[row], reverse=True)[:k]
    other = sorted(cosines[:, column], reverse=True)[:k]
    if method == "margin":  # cos / (sum / 2k + sum / 2k)
        return float(cosine / (sum(own) / (2 * k) + sum(other) / (2 * k)))
    if method == "csls":
        return float(2 * cosine - sum(own) / k - sum(other) / k)
    if method == "isf":
        return float(cosine - math.log(sum(math.exp(30 * value) for value in cosines[:, column])) / 30)
    return float(cosine)


@pytest.mark.parametrize("method", PAIR_METHODS)
def test_scores_are_those_of_the_formula(method: str) -> None:
    x, y = unit_rows(0, 9), unit_rows(1, 12)
    how = PairScore(method, k=3)
    own, other = how.sides(x, y)
    scores = how.score(x @ y.T, own[:, None], other)
    for row, column in ((0, 0), (3, 11), (8, 5)):
        wanted = by_hand(method, x.double().numpy(), y.double().numpy(), row, column, 3)
        assert float(scores[row, column]) == pytest.approx(wanted, abs=1e-5)


def test_a_ratio_keeps_its_sign_where_nothing_is_near() -> None:
    x, y = torch.eye(2), -torch.eye(2)
    how = PairScore("margin", k=2)
    own, other = how.sides(x, y)
    assert bool((how.score(x @ y.T, own[:, None], other).diagonal() < 0).all())


@pytest.mark.parametrize(("method", "k"), [("magic", 4), ("margin", 0)])
def test_bad_settings(method: str, k: int) -> None:
    with pytest.raises(BadSetting, match=r"must (be one of|have one row)"):
        PairScore(method, k=k)


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
