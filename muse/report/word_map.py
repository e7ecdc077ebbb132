"""Picture: a two-dimensional map of the words of two languages, each near its translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.procrustes import eigenpairs, gram
from muse.ranking.ranker import Ranker
from muse.ranking.translations import TRUSTED
from muse.space import Space

WORDS = 3_000  # pairs are chosen among the most frequent words of each language
PERPLEXITY = 30.0  # of t-SNE: roughly, how many neighbours a word should keep
NEAREST = 3  # pairs that a word is placed towards
STEPS = 400  # of t-SNE: after them, a thousand pairs hardly move, and their neighbours stay the same
EARLY = 150  # of them, the first, in which pairs attract each other EXAGGERATION times as much
EXAGGERATION = 12.0
BEGINNING = 1e-4  # the deviation of the places at first: so close that none is in another's way
JITTER = 0.1  # of that: what the seed decides, and what parts equal rows
TOWARDS = 0.2  # of the way from the place of its pair to that of its nearest ones, a word is placed
REGION = 35  # pairs to a region, about: enough for a theme
STARTS = 10  # of the search for regions, of which the best counts
ROUNDS = 25  # of each
Plane = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Picture:
    """The places (2p, 2) of the words of p pairs: all source words, then their translations.

    `rows` (2p, d) are their rows in the space, in the same order.
    """

    source: str
    target: str
    pairs: tuple[tuple[str, str], ...]
    places: Plane
    rows: Tensor


@dataclass(frozen=True)
class Region:
    """A part of a picture: its middle, how many pairs lie in it, and the number of the one that names it."""

    x: float
    y: float
    pairs: int
    name: int


def draw_picture(space: Space, source: str, target: str, pairs: NDArray[np.int64], seed: int) -> Picture:
    """The picture of `pairs` (p, 2) of rows, by t-SNE on cosines (van der Maaten and Hinton, 2008).

    The means of the pairs are laid out, half as many points as there are words; each word lies a little
    towards the pairs that are nearest to itself.
    """
    chosen = torch.from_numpy(pairs)
    sides = space.tensor(source)[chosen[:, 0]], space.tensor(target)[chosen[:, 1]]  # (p, d) each
    means = torch.nn.functional.normalize(sides[0] + sides[1])  # (p, d)
    middles = on_a_plane(means.cpu().numpy(), seed)
    places = np.concatenate([_towards_nearest(middles, means, side) for side in sides])
    places /= max(float(np.abs(places).max(initial=0)), 1e-12)
    of_source, of_target = space.vectors(source), space.vectors(target)
    words = tuple((of_source.words[i], of_target.words[j]) for i, j in pairs.tolist())
    return Picture(source, target, words, places, torch.cat(sides))


def _towards_nearest(middles: Plane, means: Tensor, rows: Tensor) -> Plane:
    """The places (p, 2) of words with these rows (p, d), whose pairs lie at `middles` (p, 2)."""
    if not len(middles):
        return middles
    nearest = torch.topk(rows @ means.T, min(NEAREST, len(means)), dim=1).indices.cpu().numpy()
    return np.asarray((1 - TOWARDS) * middles + TOWARDS * middles[nearest].mean(axis=1))


def frequent_pairs(space: Space, source: str, target: str, limit: int = WORDS) -> NDArray[np.int64]:
    """The (p, 2) rows of readable words that answer each other, among the `limit` most frequent of both.

    There are none where a language has rows in no order: ids and texts are no labels of a picture.
    """
    if not all(space.vectors(language).frequency_ordered for language in (source, target)):
        return np.empty((0, 2), np.int64)
    pairs = _mutual(space, source, target, limit)
    sides = (space.vectors(source).words, space.vectors(target).words)
    readable = [all(is_readable(side[row]) for side, row in zip(sides, pair, strict=True)) for pair in pairs]
    return np.asarray(pairs[np.array(readable, dtype=bool)], dtype=np.int64)


def _mutual(space: Space, source: str, target: str, limit: int) -> NDArray[np.int64]:
    """The mutual pairs (p, 2) of rows below the limit: each is the first answer to the other."""
    ranker = Ranker(space, (source, target))
    first = ranker.firsts(np.arange(min(limit, len(space.vectors(source)))))
    rows = np.flatnonzero((first >= 0) & (first < limit))
    rows = rows[ranker.reversed().firsts(first[rows]) == rows]
    return np.stack([rows, first[rows]], axis=1)


def grouped_pairs(
    space: Space, source: str, target: str, *, groups: int = 9, size: int = 6, limit: int = WORDS
) -> NDArray[np.int64]:
    """The (p, 2) rows of mutual pairs in a few `groups` of similar words that are far apart."""
    pairs = frequent_pairs(space, source, target, limit)
    if not len(pairs):
        return pairs
    rows = torch.from_numpy(pairs)
    means = space.tensor(source)[rows[:, 0]] + space.tensor(target)[rows[:, 1]]  # (p, d)
    return pairs[_groups(torch.nn.functional.normalize(means), groups, size)]


def regions(
    picture: Picture, seed: int, probabilities: NDArray[np.float32] | None = None
) -> tuple[Region, ...]:
    """The regions of a picture, those with most pairs first: k-means of the places of its pairs.

    The pair nearest to the mean of a region, in the space, names it; with the `probabilities` (p,) of the
    pairs, one of its more probable half that is shown as trusted: regions without one are left out.
    """
    p = len(picture.pairs)
    if not p:
        return ()
    middles = (picture.places[:p] + picture.places[p:]) / 2  # (p, 2)
    rows = torch.nn.functional.normalize(picture.rows[:p] + picture.rows[p:]).cpu()  # (p, d)
    distinct = len(set(map(tuple, middles.tolist())))
    labels = torch.from_numpy(clusters(middles, min(distinct, max(1, p // REGION)), seed))
    found = []
    for label in sorted(set(labels.tolist())):
        members = torch.nonzero(labels == label)[:, 0]
        similar = rows[members] @ rows[members].mean(dim=0)
        if probabilities is not None:
            shares = torch.from_numpy(probabilities)[members]
            similar[shares < max(float(shares.median()), TRUSTED)] = -torch.inf
        if similar.max() == -torch.inf:
            continue
        name = members[similar.argmax()]
        x, y = middles[members.numpy()].mean(axis=0).tolist()
        found.append(Region(x, y, len(members), int(name)))
    return tuple(sorted(found, key=lambda region: -region.pairs))


def is_readable(word: str) -> bool:
    """Whether a word is likely to mean something to a reader: at least three characters, all letters.

    A picture of particles and numerals shows little.
    """
    return len(word) > 2 and word.isalpha()


def _groups(means: Tensor, groups: int, size: int) -> Sequence[int]:
    # Farthest-point sampling of the centres (Gonzalez, 1985); each takes its nearest pairs still free.
    free = torch.ones(len(means), dtype=torch.bool, device=means.device)
    closest, centre, chosen = torch.full((len(means),), -torch.inf, device=means.device), 0, []
    for _ in range(groups):
        if not bool(free.any()):
            break
        cosines = means @ means[centre]  # (p,)
        near = torch.where(free, cosines, -torch.inf).topk(min(size, int(free.sum()))).indices
        chosen += near.tolist()
        free[near] = False
        closest = torch.maximum(closest, cosines)
        centre = int(torch.where(free, closest, torch.inf).argmin())
    return chosen


def clusters(places: Plane, count: int, seed: int) -> NDArray[np.int64]:
    """The cluster (p,) of each of these places (p, 2), at most `count` of them, by k-means (faiss)."""
    import faiss

    found = faiss.Kmeans(
        2, count, niter=ROUNDS, nredo=STARTS, seed=seed, min_points_per_centroid=1,
        max_points_per_centroid=len(places),
    )  # fmt: skip
    rows = places.astype(np.float32)
    found.train(rows)
    return np.asarray(found.index.search(rows, 1)[1][:, 0], np.int64)


def on_a_plane(rows: NDArray[Any], seed: int) -> Plane:
    """The places (p, 2) of unit rows (p, d) by t-SNE, within -1 to 1: near rows stay near."""
    if len(rows) < 4 or rows.shape[1] < 2:  # too few for t-SNE: a circle
        angles = 2 * np.pi * np.arange(len(rows)) / max(1, len(rows))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    unit = torch.from_numpy(np.asarray(rows, np.float32))
    found = _descend(_affinities(unit, min(PERPLEXITY, (len(unit) - 1) / 3)), _beginning(unit, seed))
    places = found.T.double().numpy()
    places -= places.mean(axis=0)
    return np.asarray(places / max(float(np.abs(places).max()), 1e-12))


def _beginning(rows: Tensor, seed: int) -> Tensor:
    """The places (2, p) at first: the two principal components of rows (p, d), with a little noise."""
    centred = (rows - rows.mean(dim=0)).double()
    plane = (centred @ eigenpairs(gram(centred))[1][:, :2]).T  # (2, p)
    noise = torch.from_numpy(np.random.default_rng(seed).standard_normal(tuple(plane.shape)))
    places = plane / plane[0].std().clamp_min(1e-12) + JITTER * noise
    beginning: Tensor = (BEGINNING * places).float().contiguous()
    return beginning


def _affinities(rows: Tensor, perplexity: float) -> Tensor:
    """How much unit rows (p, d) belong together: a symmetric (p, p), of sum 1.

    Each row's Gaussian over its nearest others is as wide as makes its perplexity that asked for, found by
    halving; others farther away are of no weight.
    """
    cosines = rows @ rows.T
    cosines.fill_diagonal_(-torch.inf)
    near = torch.topk(cosines, min(len(rows) - 1, int(3 * perplexity)), dim=1)
    # Squares of 1 less the cosine, which keep more neighbours than those of Euclidean distances do.
    apart = (1 - near.values).square()  # (p, k)
    apart = apart - apart[:, :1]  # the nearest one's distance does not matter
    rates = 1 / apart.mean(dim=1, keepdim=True).clamp_min(1e-12)
    low, high = torch.zeros_like(rates), torch.full_like(rates, torch.inf)
    for _ in range(40):
        weights = torch.exp(-rates * apart)
        sums = weights.sum(dim=1, keepdim=True)
        entropy = sums.log() + rates * (weights * apart).sum(dim=1, keepdim=True) / sums
        wide = entropy > np.log(perplexity)
        low, high = torch.where(wide, rates, low), torch.where(wide, high, rates)
        rates = torch.where(high.isinf(), 2 * rates, (low + high) / 2)
    weights = torch.exp(-rates * apart)
    shares = torch.zeros_like(cosines).scatter_(1, near.indices, weights / weights.sum(dim=1, keepdim=True))
    return (shares + shares.T) / (2 * len(rows))


def _descend(affinities: Tensor, places: Tensor) -> Tensor:
    """The places (2, p) of least divergence from affinities (p, p), by STEPS of gradient descent.

    For some thousand points no tree is needed: a step is a few passes over a (p, p) that stays in the
    processor's cache, and loads no other library.
    """
    pull, rate = EXAGGERATION * affinities, len(affinities) / EXAGGERATION  # (Linderman et al., 2019)
    speed, gains = torch.zeros_like(places), torch.ones_like(places)
    one, push, force = torch.ones(1, len(affinities)), torch.empty_like(pull), torch.empty_like(pull)
    for step in range(STEPS):
        if step == EARLY:
            pull = affinities
        squares = (places * places).sum(dim=0, keepdim=True)
        # 1 + the squared distances, by one product
        torch.mm(torch.cat([-2 * places, squares + 1, one]).T, torch.cat([places, one, squares]), out=push)
        push.reciprocal_().fill_diagonal_(0)
        torch.add(pull, push, alpha=-1 / float(push.sum()), out=force).mul_(push)
        # by vectors: a product with so thin a matrix takes five times as long
        moved = torch.stack([torch.mv(force, row) for row in places])
        gradient = 4 * (torch.mv(force, one[0]) * places - moved)
        gains = torch.where(gradient * speed < 0, gains + 0.2, gains * 0.8).clamp_min_(0.01)
        speed = (0.5 if step < EARLY else 0.8) * speed - rate * gains * gradient
        places = places + speed
    return places
