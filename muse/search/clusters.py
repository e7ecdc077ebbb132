"""Search by clusters: the nearest keys, looked for in the clusters of keys that are nearest to each query.

As with inverted lists (Sivic and Zisserman, 2003), but one product compares all the queries that look through
a cluster with its keys, so that a comparison takes no longer than in an exact search. In how many clusters to
look is known from a sample of the queries: from how many are nearer to it than those of its nearest keys.

Keys are compared first by their principal components alone, of which few have most of their lengths; those
found so, some more than are asked for, are then compared as a whole. The sample tells how many it takes, too.
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
FEW = 4  # clusters, after which fewer keys of the next are near enough to be kept
ROUNDING = 1e-6  # of a product
BLOCK = 8_192  # queries at a time
COMPARED_FIRST = 0.8, 0.85, 0.9, 0.95  # of the squared lengths of keys, in the components compared first
FOUND_FIRST = 1.25, 20  # times as many keys as asked for, and keys at least
COMPARED_QUERIES = 64  # whose keys are compared as a whole at a time: the rows of more leave the cache
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
    count = round(CLUSTERS * len(rows) ** 0.5)
    learned_from = rows[torch.from_numpy(rng.permutation(len(rows))[: LEARNED_FROM * count])]
    sample = queries[torch.from_numpy(np.sort(rng.permutation(len(queries))[:SAMPLE]))]
    best = nearest(sample, rows, BEST).indices
    many = max(round(FOUND_FIRST[0] * k), FOUND_FIRST[1])
    components = _compared_first(learned_from, sample, rows, best[:, :k], many, demand)
    first = rows @ components
    centres = _centres(learned_from @ components, count)
    cluster = (first @ centres.T).argmax(dim=1)  # (m,)
    searched = _searched(sample @ components, centres, cluster[best], demand)
    if searched > MOST_SEARCHED * len(centres):
        return nearest(queries, keys, k)
    order = cluster.argsort(stable=True)
    starts = np.searchsorted(cluster[order].numpy(), np.arange(len(centres) + 1))
    lists = _Lists(first[order], (order if places is None else places[order]).numpy(), starts, centres)
    blocks = torch.split(queries, BLOCK)
    near = np.concatenate([lists.nearest(block @ components, many, searched) for block in blocks])
    cosines, names = compared(queries.numpy(), keys.numpy(), near)
    found = Neighbours(torch.from_numpy(cosines[:, :k].copy()), torch.from_numpy(names[:, :k].copy()))
    few = torch.from_numpy((near < 0).any(axis=1))  # the clusters looked through had fewer keys
    if few.any():
        found.scores[few], found.indices[few] = nearest(queries[few], keys, k)
    return found


def compared(rows: Matrix, others: Matrix, near: Numbers) -> tuple[Matrix, Numbers]:
    """Unit rows (n, d) and those `near` (n, j) among others (m, d): cosines and these, nearest first."""
    cosines = np.empty(near.shape, np.float32)
    for begin in range(0, len(rows), COMPARED_QUERIES):
        block = slice(begin, begin + COMPARED_QUERIES)
        cosines[block] = np.matmul(others[near[block]], rows[block, :, None])[:, :, 0]
    order = np.argsort(-cosines, axis=1, kind="stable")
    return np.take_along_axis(cosines, order, 1), np.take_along_axis(near, order, 1)


def _compared_first(
    learned_from: Tensor, sample: Tensor, keys: Tensor, best: Tensor, many: int, demand: Demand
) -> Tensor:
    """The principal directions (d, c) of keys, the fewest by which enough of the `best` are found.

    That is among the `many` nearest of keys (m, d) of queries (s, d), whose best (s, j) as a whole are known;
    half as many may be missed as the demand lets, for the clusters miss some too.
    """
    found: tuple[Tensor, Tensor] = torch.linalg.eigh(learned_from.T @ learned_from)
    values, directions = found
    shares = values.flip(0).cumsum(0) / values.sum()
    for share in COMPARED_FIRST:
        components = directions.flip(1)[:, : 1 + int((shares < share).sum())]
        near = nearest(sample @ components, keys @ components, many).indices
        right = (best[:, :, None] == near[:, None]).any(dim=2).double()
        if right[:, 0].mean() >= (1 + demand.at_1) / 2 and right.mean() >= (1 + demand.at_10) / 2:
            return components
    return directions


def _centres(keys: Tensor, count: int) -> Tensor:
    """The centres (c, d), of unit length, of clusters of keys (m, d), by spherical k-means."""
    centres = keys[:count]
    for _ in range(ROUNDS):
        own = (keys @ centres.T).argmax(dim=1)
        centres = normalize(torch.zeros_like(centres).index_add_(0, own, keys), dim=1)
    return centres


def _searched(sample: Tensor, centres: Tensor, held: Tensor, demand: Demand) -> int:
    """In how many clusters queries (s, d) find enough of their nearest keys, in clusters `held` (s, j)."""
    near = sample @ centres.T  # (s, c)
    before = (near[:, None] > near.gather(1, held)[..., None]).sum(dim=2).double()  # (s, j)
    most = max(before[:, 0].quantile(demand.at_1), before.quantile(demand.at_10))
    return 1 + max(FEW, int(most.ceil()))


@dataclass(frozen=True, eq=False)
class _Lists:
    """Keys (m, d) and their numbers `places` (m,), cluster by cluster, from these `starts` (c + 1,)."""

    keys: Tensor
    places: Numbers
    starts: Numbers
    centres: Tensor

    def nearest(self, queries: Tensor, k: int, searched: int) -> Numbers:
        """The k nearest keys (b, k) of queries (b, d) in so many clusters; -1 where these have fewer."""
        near = (queries @ self.centres.T).topk(searched, dim=1).indices.numpy()  # (b, searched)
        least, names = self._bounds(queries, near[:, :1], k), np.full((len(queries), k), -1)
        found = np.zeros(0, np.int64)
        for some in np.split(near, [FEW], axis=1):
            found = np.sort(np.concatenate([found, *self._nearer(queries, some, least)]))
            asking = found >> QUERY_FROM
            rank = np.arange(len(found)) - np.searchsorted(asking, np.arange(len(queries)))[asking]
            last = rank == k - 1
            least[asking[last]] = 1 - (found[last] % 2**QUERY_FROM >> KEY_BITS) / ONE
            found, asking, rank = found[rank < k], asking[rank < k], rank[rank < k]
        names[asking, rank] = self.places[found % 2**KEY_BITS]
        return names

    def _bounds(self, queries: Tensor, near: Numbers, k: int) -> Matrix:
        """Less than the k-th largest product (b,) with the keys of one cluster `near` (b, 1) each."""
        least = np.full(len(queries), -np.inf, np.float32)
        for asking, _, products in self._products(queries, near):
            if products.shape[1] >= k:
                least[asking] = products.topk(k, dim=1).values[:, -1].numpy() - ROUNDING
        return least

    def _nearer(self, queries: Tensor, near: Numbers, least: Matrix) -> Iterator[Numbers]:
        """Yields the keys in clusters `near` (b, s) whose product with a query is above its `least` (b,)."""
        for asking, start, tensor in self._products(queries, near):
            products = tensor.numpy()
            chosen = np.flatnonzero(products > least[asking, None])
            query, key = np.divmod(chosen, max(1, products.shape[1]))
            far = ((1 - products.ravel()[chosen]) * ONE).clip(0, 2 * ONE).astype(np.int64)
            yield asking[query] << QUERY_FROM | far << KEY_BITS | start + key

    def _products(self, queries: Tensor, near: Numbers) -> Iterator[tuple[Numbers, int, Tensor]]:
        """Yields queries (a,), the first key of a cluster `near` (b, s) to each, and products (a, c)."""
        order = np.argsort(near.ravel(), kind="stable")
        ends = np.searchsorted(near.ravel()[order], np.arange(len(self.starts)))
        for cluster, (start, stop) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            asking = order[ends[cluster] : ends[cluster + 1]] // near.shape[1]
            yield asking, start, queries[torch.from_numpy(asking)] @ self.keys[start:stop].T
