"""Ranks: the rank of each gold translation among all targets, and average precision."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.ranking.ranker import PRIOR, Ranker
from muse.search.exact import tile_sizes, zero_places

BLOCK = 1 << 25  # scores held at once: 128 MB

Values = NDArray[np.float64]
Ranks = NDArray[np.int64]


def ranks(ranker: Ranker, pairs: Ranks) -> Ranks:
    """The rank (p,), from 1, of the target of each pair (p, 2) of rows among all targets, as a ranker has it.

    Ties count as ahead: if all scores are equal, every rank is the worst. Answers by all the evidence come
    before all other targets, if the space has them; else a word's own spelling is preferred.
    """
    space, (source, target) = ranker.space, ranker.direction
    bias = space.bias(source, target, ranker.retrieval)
    raised = ranker.own_spellings(pairs[:, 0])
    found, cosines = ranks_and_cosines(*ranker.rows, pairs, bias, raised)
    if ranker.table is None or bias is None:
        return found
    r = space.bias(target, source, ranker.retrieval)
    own = 0.0 if r is None else 2 * r.double().cpu().numpy()[pairs[:, 0]]
    scores = 2 * cosines - own - 2 * bias.double().cpu().numpy()[pairs[:, 1]]
    columns, of_answers, _ = ranker.table.padded(pairs[:, 0])  # (p, k)
    hits = columns == pairs[:, 1:]
    worse = ((columns >= 0) & (of_answers < scores[:, None])).sum(axis=1)  # answers that overtake the pair
    return np.asarray(np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, found + worse))


def ranks_and_cosines(
    x: Tensor, y: Tensor, pairs: Ranks, bias: Tensor | None, raised: Ranks | None = None
) -> tuple[Ranks, Values]:
    """The rank (p,), from 1, and the cosine (p,) of the row of y (m, d) that belongs to a row of x (n, d).

    `pairs` (p, 2) are row numbers, `bias` (m,) is what the retrieval subtracts, and `raised` (p,) are rows of
    y that are preferred by PRIOR, -1 for none. Ties count as ahead. A target of zeros, which no search finds,
    is behind all others.
    """
    zeros = zero_places(y)
    rows, _ = tile_sizes(x)
    size = max(1, min(rows // 4, BLOCK // len(y)))
    ranks, cosines = [np.empty(0, np.int64)], [np.empty(0, np.float64)]
    for begin in range(0, len(pairs), size):
        block = torch.from_numpy(pairs[begin : begin + size]).to(x.device)
        # The term of CSLS that is equal for all targets is left out: it does not change ranks.
        scores = x[block[:, 0]] @ y.T  # (b, m)
        cosines.append(scores.gather(1, block[:, 1:])[:, 0].double().cpu().numpy())
        if bias is not None:
            scores -= bias
        if raised is not None:
            own_spelling = torch.from_numpy(raised[begin : begin + size]).to(x.device)
            places = (own_spelling >= 0).nonzero()[:, 0]
            scores[places, own_spelling[places]] += PRIOR / 2  # of a cosine, half of CSLS
        scores[:, zeros] = -torch.inf
        own = scores.gather(1, block[:, 1:])  # (b, 1)
        ranks.append((scores >= own).sum(dim=1).cpu().numpy())
    return np.concatenate(ranks), np.concatenate(cosines)


def best_ranks(queries: Ranks, of_pairs: Ranks) -> Ranks:
    """The best rank (q,) of each query, in ascending order of queries, over its pairs (p,) and (p,).

    >>> best_ranks(np.array([7, 3, 7]), np.array([5, 2, 1])).tolist()
    [2, 1]
    """
    names, places = np.unique(queries, return_inverse=True)
    best = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(best, places, of_pairs)
    return best


def average_precisions(queries: Ranks, of_pairs: Ranks) -> Values:
    """The average precision (q,) of each query: the mean over its translations of i / rank of the i-th.

    (Manning, Raghavan and Schuetze, 2008, section 8.4; with one translation it is 1 / rank.)

    >>> average_precisions(np.array([0, 0, 4]), np.array([4, 1, 2])).tolist()
    [0.75, 0.5]
    """
    order = np.lexsort((of_pairs, queries))
    queries, of_pairs = queries[order], of_pairs[order]
    _, first, counts = np.unique(queries, return_index=True, return_counts=True)
    place = np.arange(len(queries)) - np.repeat(first, counts) + 1  # (p,)
    sums: Values = np.add.reduceat(place / of_pairs, first) / counts
    return sums
