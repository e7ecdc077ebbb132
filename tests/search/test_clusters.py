"""Search by clusters misses no more than is demanded, and its cosines are exact."""

from __future__ import annotations

import pytest
import torch

from muse.search import clusters
from muse.search.approximate import Demand
from muse.search.clusters import nearest_both_by_clusters, nearest_by_clusters
from muse.search.exact import nearest

K = 12


def made(count: int, groups: int, seed: int) -> torch.Tensor:
    """Unit rows (count, 20) around some directions, which other seeds share."""
    middle = torch.randn(groups, 20, generator=torch.Generator().manual_seed(0))
    rng = torch.Generator().manual_seed(seed)
    rows = middle[torch.randint(groups, (count,), generator=rng)] + torch.randn(count, 20, generator=rng)
    return torch.nn.functional.normalize(rows, dim=1)


@pytest.mark.parametrize("demand", [Demand(0.9, 0.8), Demand(0.99, 0.98)])
def test_as_many_are_found_as_is_demanded(demand: Demand) -> None:
    queries, keys = made(9_000, 40, 1), made(4_000, 40, 2)
    keys[::50], queries[::90] = 0, 0
    found, exact = nearest_by_clusters(queries, keys, K, demand), nearest(queries, keys, K)
    cosines = (queries[:, None] * keys[found.indices]).sum(dim=2)
    torch.testing.assert_close(found.scores, cosines, atol=1e-6, rtol=0)
    assert (found.scores.diff(dim=1) <= 0).all()
    assert not (found.indices % 50 == 0).any()
    first = (found.scores[:, 0] >= exact.scores[:, 0] - 1e-6).double().mean()
    ten = (found.scores[:, :10] >= exact.scores[:, 9:10] - 1e-6).double().mean()
    assert first > demand.at_1 - 0.02 and demand.at_10 - 0.02 < ten < 1


@pytest.mark.parametrize("keys", [3, 60])
def test_where_clusters_say_nothing_the_search_is_exact(keys: int) -> None:
    queries, few = made(50, 40, 1), made(keys, 40, 2)
    found, exact = nearest_by_clusters(queries, few, K, Demand(1, 1)), nearest(queries, few, K)
    torch.testing.assert_close(found.scores, exact.scores, atol=1e-6, rtol=0)
    assert torch.equal(found.indices, exact.indices)


def test_what_one_direction_misses_the_other_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "COMPARED_FIRST", ())  # both directions compare by much the same components
    source, target = made(4_000, 40, 1), made(5_000, 40, 2)
    demand = Demand(0.8, 0.7)
    both = nearest_both_by_clusters(source, target, K, demand)
    for found, (own, other) in zip(both, ((source, target), (target, source)), strict=True):
        exact, alone = nearest(own, other, K), nearest_by_clusters(own, other, K, demand)
        torch.testing.assert_close(
            found.scores, (own[:, None] * other[found.indices]).sum(2), atol=1e-6, rtol=0
        )
        assert (found.scores.diff(dim=1) <= 0).all() and (found.scores >= alone.scores - 1e-6).all()
        assert all(len(set(row)) == K for row in found.indices.tolist())
        missed, still = ((one.scores[:, 0] < exact.scores[:, 0] - 1e-6).sum() for one in (alone, found))
        assert 2 * still < missed
