"""Search by clusters: the nearest keys, looked for in the clusters of keys that are nearest to each query.

As with inverted lists (Sivic and Zisserman, 2003), but one product compares all the queries that look through
a cluster with its keys, so that a comparison takes no longer than in an exact search. In how many clusters to
look is known from a sample of the queries: from how many are nearer to it than those of its nearest keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.search.approximate import BEST, Demand
from muse.search.bidirectional_search import BothDirections
from muse.search.exact import Neighbours, nearest, nonzero_places
from muse.vectors import Matrix, Numbers

CLUSTERS = 1.5  # in square roots of the number of keys
LEARNED_FROM, ROUNDS = 40, 4  # keys a cluster, and rounds of k-means
SAMPLE = 400  # queries whose nearest keys are searched exactly
MOST_SEARCHED = 0.4  # of the clusters: to look through more takes as long as an exact search
BOUNDING = 1, 4  # clusters, after which fewer keys of the next are near enough to be kept
BLOCK = 8_192  # queries at a time
# A key that was found is one number: its query, how far it is, as 2 ** 24 times 1 - product, and the key.
ONE, KEY_BITS, QUERY_FROM = 2.0**24, 24, 50


def nearest_both_by_clusters(source: Tensor, target: Tensor, k: int, demand: Demand) -> BothDirections:
    """The k nearest targets (n, d) of every source, and back, as far as either direction finds them."""
    with ThreadPoolExecutor(min(2, torch.get_num_threads())) as pool:
        sides = (source, target), (target, source), (k, k), (demand, demand)
        there, back = pool.map(nearest_by_clusters, *sides)
        return BothDirections(*pool.map(_completed, (there, back), (back, there)))


def _completed(found: Neighbours, back: Neighbours) -> Neighbours:
    """The k nearest (n, k) of those found and of those by which a row was found, among their own (m, k)."""
    count, k = found.indices.shape
    pairs = np.arange(count)[:, None] << KEY_BITS | found.indices.numpy()
    others = back.indices.numpy() << KEY_BITS | np.arange(len(back.indices))[:, None]
    pairs, places = np.unique(np.append(pairs, others), return_index=True)
    scores = np.append(found.scores.numpy(), back.scores.numpy())[places]
    rows = pairs >> KEY_BITS
    order = np.argsort(rows + (1 - scores.astype(np.float64)) / 4)  # a product is -1 or more
    rank = np.arange(len(rows)) - np.searchsorted(rows, np.arange(count))[rows]
    best = order[rank < k].reshape(count, k)
    return Neighbours(torch.from_numpy(scores[best]), torch.from_numpy(pairs[best] % 2**KEY_BITS))


def nearest_by_clusters(queries: Tensor, keys: Tensor, k: int, demand: Demand, seed: int = 0) -> Neighbours:
    """The k nearest of keys (m, d) of every query (q, d), unit rows; as many are missed as the demand lets.

    Keys of zeros are never found.
    """
    rng, places = np.random.default_rng(seed), nonzero_places(keys)
    rows = keys if places is None else keys[places]
    centres = _centres(rows, round(CLUSTERS * len(rows) ** 0.5), rng)
    cluster = (rows @ centres.T).argmax(dim=1)  # (m,)
    sample = queries[torch.from_numpy(np.sort(rng.permutation(len(queries))[:SAMPLE]))]
    searched = _searched(sample, centres, cluster[nearest(sample, rows, BEST).indices], demand)
    if searched > MOST_SEARCHED * len(centres):
        return nearest(queries, keys, k)
    order = cluster.argsort(stable=True)
    starts = np.searchsorted(cluster[order].numpy(), np.arange(len(centres) + 1))
    lists = _Lists(rows[order], (order if places is None else places[order]).numpy(), starts, centres)
    found = Neighbours.joined([lists.nearest(block, k, searched) for block in torch.split(queries, BLOCK)])
    few = (found.indices < 0).any(dim=1)  # the clusters looked through had fewer keys
    if few.any():
        found.scores[few], found.indices[few] = nearest(queries[few], keys, k)
    return found


def _centres(keys: Tensor, count: int, rng: np.random.Generator) -> Tensor:
    """The centres (c, d), of unit length, of clusters of keys (m, d), by spherical k-means."""
    sample = keys[torch.from_numpy(rng.permutation(len(keys))[: LEARNED_FROM * count])]
    centres = sample[:count]
    for _ in range(ROUNDS):
        own = (sample @ centres.T).argmax(dim=1)
        centres = normalize(torch.zeros_like(centres).index_add_(0, own, sample), dim=1)
    return centres


def _searched(sample: Tensor, centres: Tensor, held: Tensor, demand: Demand) -> int:
    """In how many clusters queries (s, d) find enough of their nearest keys, in clusters `held` (s, j)."""
    near = sample @ centres.T  # (s, c)
    before = (near[:, None] > near.gather(1, held)[..., None]).sum(dim=2).double()  # (s, j)
    most = max(before[:, 0].quantile(demand.at_1), before.quantile(demand.at_10))
    return 1 + max(*BOUNDING, int(most.ceil()))


@dataclass(frozen=True, eq=False)
class _Lists:
    """Keys (m, d) and their numbers `places` (m,), cluster by cluster, from these `starts` (c + 1,)."""

    keys: Tensor
    places: Numbers
    starts: Numbers
    centres: Tensor

    def nearest(self, queries: Tensor, k: int, searched: int) -> Neighbours:
        """The k nearest keys of queries (b, d) in so many clusters; -1 where these have fewer."""
        near = (queries @ self.centres.T).topk(searched, dim=1).indices.numpy()  # (b, searched)
        scores, names = np.full((len(queries), k), -np.inf, np.float32), np.full((len(queries), k), -1)
        found = np.zeros(0, np.int64)
        for some in np.split(near, BOUNDING, axis=1):
            found = np.sort(np.concatenate([found, *self._nearer(queries, some, scores[:, -1])]))
            asking = found >> QUERY_FROM
            rank = np.arange(len(found)) - np.searchsorted(asking, np.arange(len(queries)))[asking]
            found, place = found[rank < k], (asking[rank < k], rank[rank < k])
            scores[place] = 1 - (found % 2**QUERY_FROM >> KEY_BITS) / ONE
            names[place] = self.places[found % 2**KEY_BITS]
        return Neighbours(torch.from_numpy(scores), torch.from_numpy(names))

    def _nearer(self, queries: Tensor, near: Numbers, least: Matrix) -> Iterator[Numbers]:
        """Yields the keys in clusters `near` (b, s) whose product with a query is above its `least` (b,)."""
        order = np.argsort(near.ravel(), kind="stable")
        ends = np.searchsorted(near.ravel()[order], np.arange(len(self.starts)))
        for cluster, (start, stop) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            asking = order[ends[cluster] : ends[cluster + 1]] // near.shape[1]
            products = (queries[torch.from_numpy(asking)] @ self.keys[start:stop].T).numpy()
            chosen = np.flatnonzero(products > least[asking, None])
            query, key = np.divmod(chosen, max(1, stop - start))
            far = ((1 - products.ravel()[chosen]) * ONE).clip(0, 2 * ONE).astype(np.int64)
            yield asking[query] << QUERY_FROM | far << KEY_BITS | start + key
