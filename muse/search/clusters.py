"""Search by clusters: the nearest keys, looked for in the clusters of keys that are nearest to each query.

As with inverted lists (Sivic and Zisserman, 2003), but one product compares all the queries that look through
a cluster with its keys, so that a comparison takes no longer than in an exact search. In how many clusters to
look is known from a sample of the queries: from how many are nearer to it than those of its nearest keys.

Keys are compared first by their principal components alone, of which few have most of their lengths; those
found so, some more than are asked for, are then compared as a whole. The sample tells how many it takes, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.procrustes import eigenpairs, gram
from muse.search.approximate import BEST, Demand
from muse.search.bidirectional_search import BothDirections
from muse.search.exact import Neighbours, at_once, merged, nearest, nonzero_places
from muse.vectors import Flags, Matrix, Numbers

CLUSTERS = 1.5  # in square roots of the number of keys
LEARNED_FROM, ROUNDS = 40, 4  # keys a cluster, and rounds of k-means
SAMPLE = 400  # queries whose nearest keys are searched exactly
MOST_SEARCHED = 0.4  # of the clusters: to look through more takes as long as an exact search
FEW = 4  # clusters, whose keys tell how near those that are kept must be
ROUNDING = 1e-6  # of a product
TIES = 1e-7  # by which each cluster is nearer than the one before
BLOCK = 8_192  # queries at a time
COMPARED_FIRST = 0.8, 0.85, 0.9, 0.95  # of the squared lengths of keys, in the components compared first
FOUND_FIRST = 1.25, 20  # times as many keys as asked for, and keys at least
COMPARED_QUERIES = 64  # whose keys are compared as a whole at a time: the rows of more leave the cache
# A key that was found is one number: its query, how far it is, as 2 ** 24 times 1 - product, and the key.
ONE, KEY_BITS, QUERY_FROM = 2.0**24, 24, 50


def nearest_both_by_clusters(source: Tensor, target: Tensor, k: int, demand: Demand) -> BothDirections:
    """The k nearest targets (n, d) of every source, and back, as far as either direction finds them."""
    sides = (source, target), (target, source), (k, k), (demand, demand)
    there, back = at_once(nearest_by_clusters, *sides)
    return BothDirections(*at_once(_completed, (there, back), (back, there)))


def _completed(found: Neighbours, back: Neighbours) -> Neighbours:
    """The k nearest (n, k) of those found and of those by which a row was found, among their own (m, k)."""
    extra = list[tuple[Tensor, ...]]()
    for begin in range(0, len(back.indices), BLOCK):
        some = back.of(slice(begin, begin + BLOCK))
        place, column = (some.scores > found.scores[some.indices, -1]).nonzero().unbind(1)
        rows, keys = some.indices[place, column], begin + place
        missed = (found.indices[rows] != keys[:, None]).all(dim=1)
        extra.append((rows[missed], keys[missed], some.scores[place, column][missed]))
    rows, keys, scores = map(torch.cat, zip(*extra, strict=True))
    if not len(rows):
        return found
    own, places, counts = np.unique(rows.numpy(), return_inverse=True, return_counts=True)
    order = np.argsort(places, kind="stable")
    places, rank = places[order], np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    others = Neighbours(*(one.new_zeros(len(own), int(counts.max())) for one in (scores, keys)))
    others.scores.fill_(-torch.inf)
    others.scores[places, rank], others.indices[places, rank] = scores[order], keys[order]
    asked = torch.from_numpy(own)
    best = merged(found.of(asked), others, found.indices.shape[1])
    return Neighbours(*(whole.index_copy(0, asked, some) for whole, some in zip(found, best, strict=True)))


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
    components = _compared_first(learned_from, sample[::2], rows, best[::2, :k], many, demand)
    first = rows @ components
    centres = _centres(learned_from @ components, count)
    cluster = (first @ centres.T).argmax(dim=1)  # (m,)
    searched = _searched(sample @ components, centres, cluster[best], demand)
    if searched > MOST_SEARCHED * len(centres):
        return nearest(queries, keys, k)
    order = cluster.argsort(stable=True)
    starts = np.searchsorted(cluster[order].numpy(), np.arange(len(centres) + 1))
    names = order if places is None else places[order]
    lists = _Lists(first[order].numpy(), names.numpy(), starts, centres.numpy())
    blocks = torch.split(queries, BLOCK)
    near = np.concatenate([lists.nearest((block @ components).numpy(), many, searched) for block in blocks])
    best_of_near = (
        torch.from_numpy(one[:, :k].copy()) for one in compared(queries.numpy(), keys.numpy(), near)
    )
    found = Neighbours(*best_of_near)
    few = torch.from_numpy((near < 0).any(axis=1))  # the clusters looked through had fewer keys
    if few.any():
        found.scores[few], found.indices[few] = nearest(queries[few], keys, k)
    return found


def compared(rows: Matrix, others: Matrix, near: Numbers) -> tuple[Matrix, Numbers]:
    """Unit rows (n, d) and those `near` (n, j) among others (m, d): cosines and these, nearest first."""
    cosines = np.empty(near.shape, np.float32)
    room = np.empty((COMPARED_QUERIES * near.shape[1], others.shape[1]), others.dtype)
    for begin in range(0, len(rows), COMPARED_QUERIES):
        some = near[begin : begin + COMPARED_QUERIES]
        own = others.take(some.ravel(), 0, room[: some.size], "clip").reshape(*some.shape, -1)
        np.matmul(
            own, rows[begin : begin + len(some), :, None], out=cosines[begin : begin + len(some), :, None]
        )
    order = np.argsort(-cosines, axis=1, kind="stable")
    return np.take_along_axis(cosines, order, 1), np.take_along_axis(near, order, 1)


def _compared_first(
    learned_from: Tensor, sample: Tensor, keys: Tensor, best: Tensor, many: int, demand: Demand
) -> Tensor:
    """The principal directions (d, c) of keys, the fewest by which enough of the `best` are found.

    That is among the `many` nearest of keys (m, d) of queries (s, d), whose best (s, j) as a whole are known;
    half as many may be missed as the demand lets, for the clusters miss some too.
    """
    values, axes = eigenpairs(gram(learned_from))
    directions, shares = axes.to(keys), values.cumsum(0) / values.sum()
    for share in COMPARED_FIRST:
        components = directions[:, : 1 + int((shares < share).sum())]
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

    keys: Matrix
    places: Numbers
    starts: Numbers
    centres: Matrix

    def nearest(self, queries: Matrix, k: int, searched: int) -> Numbers:
        """The k nearest keys (b, k) of queries (b, d) in so many clusters; -1 where these have fewer."""
        # Of a query of zeros all products are the same, yet it looks through no more clusters than others.
        products = queries @ self.centres.T + np.float32(TIES) * np.arange(
            len(self.centres), dtype=np.float32
        )
        best = np.partition(products, -searched, axis=1)[:, -searched:]
        least = self._bounds(queries, products >= np.partition(best, -FEW, axis=1)[:, -FEW, None], k)
        found = np.sort(np.concatenate([*self._nearer(queries, products >= best[:, :1], least)]))
        asking = found >> QUERY_FROM
        rank = np.arange(len(found)) - np.searchsorted(asking, np.arange(len(queries)))[asking]
        kept, names = rank < k, np.full((len(queries), k), -1)
        names[asking[kept], rank[kept]] = self.places[found[kept] % 2**KEY_BITS]
        return names

    def _bounds(self, queries: Matrix, near: Flags, k: int) -> Matrix:
        """Less than the k-th largest product (b,) with the keys of some clusters (b, c), `near` each."""
        best, place = np.full((len(queries), FEW, k), -np.inf, np.float32), np.zeros(len(queries), np.int64)
        for asking, _, products in self._products(queries, near):
            if (more := products.shape[1] - k) > 0:
                products = np.partition(products, more, axis=1)[:, more:]
            best[asking, np.minimum(place[asking], FEW - 1), : products.shape[1]] = products
            place[asking] += 1
        best = np.partition(best.reshape(len(queries), -1), -k, axis=1)
        return np.asarray(best[:, -k] - ROUNDING, np.float32)

    def _nearer(self, queries: Matrix, near: Flags, least: Matrix) -> Iterator[Numbers]:
        """Yields the keys of clusters (b, c) `near` a query whose product with it is above `least` (b,)."""
        for asking, start, products in self._products(queries, near):
            chosen = np.flatnonzero(products > least[asking, None])
            query, key = np.divmod(chosen, max(1, products.shape[1]))
            far = ((1 - products.ravel()[chosen]) * ONE).clip(0, 2 * ONE).astype(np.int64)
            yield asking[query] << QUERY_FROM | far << KEY_BITS | start + key

    def _products(self, queries: Matrix, near: Flags) -> Iterator[tuple[Numbers, int, Matrix]]:
        """Yields the queries (a,) that clusters (b, c) are `near`, their first keys, and products (a, k)."""
        clusters, asking = near.T.nonzero()
        ends = np.searchsorted(clusters, np.arange(len(self.starts)))
        rows, sizes = np.empty_like(queries), np.diff(self.starts)
        room = np.empty(int((np.diff(ends) * sizes).max()), np.float32)
        for cluster, (start, size) in enumerate(zip(self.starts, sizes, strict=False)):
            some = asking[ends[cluster] : ends[cluster + 1]]
            own = queries.take(some, 0, rows[: len(some)], "clip")
            out = room[: len(some) * size].reshape(len(some), size)
            yield some, start, np.matmul(own, self.keys[start : start + size].T, out=out)
