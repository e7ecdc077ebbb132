"""Exact ranks against sorted tables, and average precision against its definition."""

import numpy as np
import pytest

from muse.evaluation.ranks import average_precisions, best_ranks, ranks
from muse.ranking.ranker import Ranker
from muse.search.retrieval import Retrieval
from tests.evaluation.test_words import noisy_space, scores
from tests.support.spaces import RETRIEVALS, plain_space, space_with_zeros


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
@pytest.mark.parametrize("tile", [8, 2_048])
def test_ranks_are_places_in_the_sorted_row(
    retrieval: Retrieval, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muse.evaluation.ranks.tile_sizes", lambda _: (tile, tile))
    space = noisy_space(1)
    table = scores(space.vectors("fr").matrix, space.vectors("en").matrix, retrieval)
    pairs = np.random.default_rng(0).integers((50, 60), size=(80, 2))
    place = np.argsort(np.argsort(-table, axis=1), axis=1) + 1
    assert ranks(Ranker(space, ("fr", "en"), retrieval), pairs).tolist() == place[tuple(pairs.T)].tolist()


def test_where_all_scores_tie_nothing_is_found() -> None:
    flat = np.ones((5, 3), np.float32)
    space = plain_space(flat, flat, list("abcde"), list("vwxyz"))
    pairs = np.array([[0, 0], [3, 4]])
    assert ranks(Ranker(space, ("fr", "en"), Retrieval("nn")), pairs).tolist() == [5, 5]


def test_means_by_their_definitions() -> None:
    rng = np.random.default_rng(0)
    queries = rng.integers(9, size=40)
    of_pairs = rng.permutation(200)[:40] + 1
    best, precisions = best_ranks(queries, of_pairs), average_precisions(queries, of_pairs)
    for i, query in enumerate(sorted(set(queries.tolist()))):
        mine = sorted(of_pairs[queries == query].tolist())
        assert best[i] == mine[0]
        hits = [sum(rank <= place for rank in mine) / place for place in mine]
        assert precisions[i] == pytest.approx(sum(hits) / len(mine))


def test_a_target_of_zeros_is_behind_all_others() -> None:
    pairs = np.array([[4, 4], [7, 7], [4, 5], [3, 3]])
    assert ranks(Ranker(space_with_zeros(), ("fr", "en"), Retrieval("nn")), pairs).tolist() == [1, 40, 40, 38]
