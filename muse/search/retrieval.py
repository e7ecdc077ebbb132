"""Retrieval: nearest neighbours, CSLS and the inverted softmax, as one search with a bias per key.

Whatever the method, the translations of x are the y of highest cos(x, y) - bias(y):

* nn    bias(y) = 0
* csls  bias(y) = r(y) / 2, r(y) the mean cosine of y to its k nearest sources (Conneau et al., 2018, eq. 3)
* isf   bias(y) = log sum_x exp(beta cos(x, y)) / beta, the inverted softmax (Smith et al., 2017, eq. 9)

All rows are of unit length. Sources and targets are (n, d) and (m, d) in the shared space.

Pairs of sentences are scored from cosines, with one term for each row and one for each column (`PairScore`),
since a ratio is not an inner product with a bias. With r(x) the mean cosine of x to its k nearest rows of the
other side, and r(y) likewise,

* nn      cos(x, y)
* csls    2 cos(x, y) - r(x) - r(y)          (Conneau et al., 2018, eq. 3)
* margin  cos(x, y) / ((r(x) + r(y)) / 2)    (the ratio margin of Artetxe & Schwenk, 2019, eq. 2)
* isf     cos(x, y) - log sum_x' exp(beta cos(x', y)) / beta    (Smith et al., 2017, eq. 9)
"""

from dataclasses import dataclass
from textwrap import shorten

import numpy as np
import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.search import exact
from muse.search.bidirectional_search import BidirectionalSearch

METHODS = ("csls", "nn", "isf")
PAIR_METHODS = (*METHODS, "margin")
FLOOR = 1e-6  # of a mean cosine: with 0 or less there is no ratio, or one of the wrong sign


def check_count(name: str, count: object) -> None:
    """Raise BadSetting unless a count is a whole number of at least 1."""
    if not isinstance(count, int | np.integer) or isinstance(count, bool):
        raise BadSetting(f"{name} must be a whole number of at least 1, got {shorten(repr(count), 60)}")
    if count < 1:
        raise BadSetting(f"{name} must be at least 1, got {count}")


def check_neighbourhood(k: int) -> None:
    """Raise BadSetting for a neighbourhood of no row."""
    if k < 1:
        raise BadSetting(f"a neighbourhood must have one row or more, got k = {k}")


@dataclass(frozen=True)
class Retrieval:
    """How translations are looked up: the method, CSLS' neighbourhood k, the softmax' beta, the backend."""

    method: str = "csls"
    """csls, nn (plain nearest neighbours) or isf (inverted softmax): `--retrieval`."""
    k: int = 10
    """The neighbours over which CSLS takes its mean."""
    beta: float = 30.0
    """The inverse temperature of the inverted softmax."""
    backend: str = "auto"
    """auto, torch or faiss, which give the same neighbours: `--backend`."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise BadSetting(f"a retrieval must be one of {', '.join(METHODS)}; got {self.method!r}")
        check_neighbourhood(self.k)
        exact.check_backend(self.backend)

    def __str__(self) -> str:
        """The part of a signature that names it: csls:10, nn or isf:30."""
        return {"csls": f"csls:{self.k}", "nn": "nn", "isf": f"isf:{self.beta:g}"}[self.method]

    def bias(self, source: Tensor, target: Tensor, step: exact.Step | None = None) -> Tensor | None:
        """What is subtracted from the cosines of each target, (m,), or None; `step` is called on progress."""
        if self.method == "csls":
            return mean_similarity(target, source, k=self.k, backend=self.backend, step=step) / 2
        if self.method == "isf":
            return log_partition(target, source, beta=self.beta, step=step) / self.beta
        return None

    def translate(
        self, queries: Tensor, target: Tensor, top: int, *, bias: Tensor | None
    ) -> exact.Neighbours:
        """The `top` best targets of each query (q, d), with the method's score.

        The scores are cosines for nn, 2 cos - r(x) - r(y) for csls, and cos - bias for isf.
        """
        if self.method != "csls":
            return exact.nearest(queries, target, top, bias=bias, backend=self.backend)
        near, best = exact.nearest_and_best(queries, target, (self.k, top), bias=bias, backend=self.backend)
        own = near.scores.mean(dim=1)  # (q,)
        return exact.Neighbours(2 * best.scores - own[:, None], best.indices)


def mean_similarity(
    queries: Tensor, keys: Tensor, *, k: int = 10, backend: str = "auto", step: exact.Step | None = None
) -> Tensor:
    """The r (q,) of CSLS: the mean cosine of a query (q, d) to its k nearest keys (m, d); high for a hub."""
    return exact.nearest(queries, keys, k, backend=backend, step=step).scores.mean(dim=1)


def log_partition(queries: Tensor, keys: Tensor, *, beta: float, step: exact.Step | None = None) -> Tensor:
    """The log of sum_y exp(beta x . y) for each query x (q, d) over the keys (m, d), in bounded memory.

    Keys of zeros, which nothing finds, are not in the sum.
    """
    rows, columns = exact.tile_sizes(queries)
    if (places := exact.nonzero_places(keys)) is not None:
        keys = keys[places]
    total, done = [], 0
    for block in torch.split(queries, rows):
        tiles = [torch.logsumexp(beta * (block @ tile.T), dim=1) for tile in torch.split(keys, columns)]
        total.append(torch.logsumexp(torch.stack(tiles), dim=0))  # (b,)
        done += len(block)
        if step is not None:
            step(done)
    return torch.cat(total)


def translations(source: Tensor, target: Tensor, retrieval: Retrieval) -> tuple[Tensor, Tensor]:
    """The best target of every source (n,) and the best source of every target (m,), as row numbers."""
    products = BidirectionalSearch(source, target, retrieval.backend)
    known = products.nearest(retrieval.k if retrieval.method == "csls" else 1)
    if retrieval.method == "nn":
        return known.of_source.indices[:, 0], known.of_target.indices[:, 0]
    if retrieval.method == "csls":
        own, other = (found.scores.mean(dim=1) / 2 for found in known)
    else:
        sides, beta = (source, target), retrieval.beta
        own, other = (log_partition(*of, beta=beta) / beta for of in (sides, sides[::-1]))
    return products.best((own, other), known)


def best_targets(source: Tensor, target: Tensor, retrieval: Retrieval) -> Tensor:
    """The row number (n,) of the best target of every source."""
    return translations(source, target, retrieval)[0]


def recovered(source: Tensor, target: Tensor, pairs: Tensor) -> Tensor:
    """Whether the target of each of `pairs` (p, 2) is the best of its source by CSLS: (p,) bool."""
    return best_targets(source, target, Retrieval())[pairs[:, 0]] == pairs[:, 1]


def mutual_neighbours(source: Tensor, target: Tensor, retrieval: Retrieval) -> Tensor:
    """The (p, 2) row numbers of the source rows (n, d) and target rows (m, d) that translate each other."""
    return mutual_pairs(*translations(source, target, retrieval))


def mutual_pairs(forward: Tensor, backward: Tensor) -> Tensor:
    """The (p, 2) row numbers of source and target that are each other's best."""
    rows = torch.arange(len(forward), device=forward.device)
    chosen = rows[backward[forward] == rows]
    return torch.stack([chosen, forward[chosen]], dim=1)


@dataclass(frozen=True)
class PairScore:
    """How pairs are scored: the method, the size k of neighbourhoods, the softmax' beta.

    >>> str(PairScore("margin")), str(PairScore("csls", k=10)), str(PairScore("nn"))
    ('margin:4', 'csls:10', 'nn')
    """

    method: str = "margin"
    k: int = 4
    beta: float = 30.0

    def __post_init__(self) -> None:
        if self.method not in PAIR_METHODS:
            raise BadSetting(
                f"a score of sentence pairs must be one of {', '.join(PAIR_METHODS)}; got {self.method!r}"
            )
        check_neighbourhood(self.k)

    def __str__(self) -> str:
        """The part of a signature that names it: margin:4, csls:4, nn or isf:30."""
        size = {"nn": "", "isf": f":{self.beta:g}"}.get(self.method, f":{self.k}")
        return f"{self.method}{size}"

    def sides(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """The terms of each source row (n,) and each target row (m,) in the score of its pairs."""
        none = source.new_zeros(len(source)), source.new_zeros(len(target))
        if self.method == "nn":
            return none
        if self.method == "isf":
            return none[0], log_partition(target, source, beta=self.beta) / self.beta
        return mean_similarity(source, target, k=self.k), mean_similarity(target, source, k=self.k)

    def score(self, cosines: Tensor, own: Tensor, other: Tensor) -> Tensor:
        """The scores of pairs with these cosines; `own` and `other` are the terms of `sides`.

        All three have one shape, or shapes that broadcast: (b, m), (b, 1) and (m,).
        """
        if self.method == "nn":
            return cosines
        if self.method == "csls":
            return 2 * cosines - own - other
        if self.method == "margin":
            return cosines / ((own + other) / 2).clamp_min(FLOOR)
        return cosines - other
