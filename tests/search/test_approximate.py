"""Approximate search: held against the exact one, deepened, and given up where it misses too much."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from muse.errors import BadSetting
from muse.search import approximate
from muse.search.exact import Neighbours, nearest
from muse.sentences.mining import MiningConfig, mine

D = 33  # odd


def drawn(seed: int, count: int) -> torch.Tensor:
    """Random rows (count, D) of unit length, in a spectrum that falls as that of word vectors."""
    rows = torch.randn(count, D, generator=torch.Generator().manual_seed(seed))
    return normalize(rows / (1 + torch.arange(D)) ** 0.5)


@pytest.fixture(scope="module")
def sides() -> tuple[torch.Tensor, torch.Tensor]:
    """Queries and keys: each query is a key with noise."""
    keys = drawn(1, 15_000)
    return normalize(keys[:12_000] + 0.5 * drawn(2, 12_000)), keys


def searched(queries: torch.Tensor, keys: torch.Tensor, k: int) -> tuple[Neighbours, approximate.Recall]:
    recalls: list[approximate.Recall] = []
    found = approximate.Approximation("approximate", report=recalls.append).nearest(queries, keys, k)
    return found, recalls[0]


@pytest.mark.slow
@pytest.mark.parametrize("common", [0, 1])  # the length of what all rows have in common
def test_scores_are_exact_and_recall_is_true(sides: tuple[torch.Tensor, torch.Tensor], common: int) -> None:
    x, y = (normalize(rows + common * torch.eye(D)[1]) for rows in sides)
    assert (float(y.mean(dim=0).square().sum()) > approximate.ONE_WAY) == bool(common)
    found, recall = searched(x, y, 10)
    assert recall.depth is not None and recall.depth.lists in approximate.LISTS_TRIED
    assert recall.queries == 1_000
    torch.testing.assert_close(found.scores, (x[:, None] * y[found.indices]).sum(dim=2))
    best = nearest(x, y, 10).scores
    right = float((found.scores[:, :1] >= best[:, :1] - 1e-6).double().mean())
    assert right > 0.98
    assert recall.at_1 == pytest.approx(right, abs=0.015)  # six standard errors of the sample
    all_ten = float((found.scores >= best[:, 9:] - 1e-6).double().mean())
    assert recall.at_10 == pytest.approx(all_ten, abs=0.015)
    assert searched(x, y, 4)[1].at_10 == recall.at_10  # whatever is asked for


def test_a_query_whose_lists_have_too_few_keys_is_searched_exactly(
    sides: tuple[torch.Tensor, torch.Tensor],
) -> None:
    x, y = sides[0][:50], sides[1]
    found = approximate.Index(y, np.random.default_rng(0)).search(x, 1_000, approximate.Depth(1e-9, 1))
    assert (found.indices >= 0).all()
    torch.testing.assert_close(found.scores, nearest(x, y, 1_000).scores)


@pytest.mark.slow
def test_deeper_finds_more(sides: tuple[torch.Tensor, torch.Tensor]) -> None:
    x, y = sides[0][:3_000], sides[1]
    index = approximate.Index(y, np.random.default_rng(0))
    best = nearest(x, y, 1).scores[:, 0]
    found = [
        index.search(x, 1, approximate.Depth(lists, approximate.CANDIDATES[0])).scores[:, 0]
        for lists in approximate.LISTS_TRIED
    ]
    shares = [float((one >= best - 1e-6).double().mean()) for one in found]
    assert shares == sorted(shares)
    assert shares[-1] > 0.999


def test_recall_is_of_queries_that_chose_nothing(sides: tuple[torch.Tensor, torch.Tensor]) -> None:
    keys = sides[1]
    sample = keys[:800].clone()  # half are keys, which find themselves at any depth,
    sample[1::2] = drawn(6, 400)  # half are near none
    prepared = approximate.Prepared.of(
        sample, keys, 1, np.random.default_rng(0), approximate.Demand(at_10=0.0)
    )
    assert prepared.recall.depth is not None and prepared.recall.queries == 400
    found = prepared.search(sample[1::2]).scores[:, 0]
    right = float((found >= nearest(sample[1::2], keys, 1).scores[:, 0] - 1e-6).double().mean())
    assert prepared.recall.at_1 == pytest.approx(right)
    assert right < 0.9


def test_one_query_both_chooses_and_measures(sides: tuple[torch.Tensor, torch.Tensor]) -> None:
    found, recall = searched(sides[0][:1], sides[1], 3)
    assert recall.queries == 1
    torch.testing.assert_close(found.scores[:, :1], nearest(sides[0][:1], sides[1], 1).scores)


@pytest.mark.slow
def test_what_misses_too_much_is_not_trusted(
    sides: tuple[torch.Tensor, torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = sides
    monkeypatch.setattr(approximate, "LISTS_TRIED", (1e-9,))
    monkeypatch.setattr(approximate, "CANDIDATES", (1, 0.0))
    found, recall = searched(x, y, 3)
    assert recall == approximate.Recall(1.0, 1.0, 2_000, None)
    assert torch.equal(found.indices, nearest(x, y, 3).indices)


def test_few_keys_are_searched_exactly() -> None:
    rows = drawn(3, 200)
    found, recall = searched(rows, rows, 1)
    assert found.indices[:, 0].tolist() == list(range(200))
    assert recall == approximate.Recall(1.0, 1.0, 200, None)


def test_when_it_applies() -> None:
    assert approximate.Approximation("auto").applies(80_001, 80_001)
    assert not approximate.Approximation("auto").applies(80_001, 79_998)
    assert not approximate.Approximation("auto").applies(80_001, 80_001, on_gpu=True)
    assert not approximate.Approximation("exact").applies(80_001, 80_001)
    assert approximate.Approximation("approximate").applies(1, 1)
    with pytest.raises(BadSetting, match="--search must be one of auto, exact, approximate; got 'fast'"):
        approximate.Approximation("fast")


@pytest.mark.slow
def test_mining_finds_the_same_pairs(sides: tuple[torch.Tensor, torch.Tensor]) -> None:
    x = sides[0]
    y = normalize(x + 0.05 * torch.randn(x.shape, generator=torch.Generator().manual_seed(5)))
    exact = mine(x.numpy(), y.numpy())
    recalls: list[approximate.Recall] = []
    asked = MiningConfig(approximation=approximate.Approximation("approximate", report=recalls.append))
    found = mine(x.numpy(), y.numpy(), config=asked)
    common = set(map(tuple, exact.pairs.tolist())) & set(map(tuple, found.pairs.tolist()))
    assert len(common) > 0.99 * len(exact)
    assert len(recalls) == 2
    assert min(recall.at_1 for recall in recalls) > 0.99
