"""The leading principal components of a language, and rounds of Procrustes in them.

Few pairs of an initialisation are right. In 50 leading components, where there is little to overfit, plain
rounds of Procrustes and mutual neighbours extend them to more words
(benchmarks/results/align/tried-alignment.md), until the pairs stay the same (`stabilised`).

An initialisation compares spaces of one dimension k. If those of the two languages differ, it is given the
rows of the larger side along its k leading principal axes, k the dimension of the smaller side, and what it
finds is lifted to the whole of that side (`in_common_dimensions`). Refinement then fits a semi-orthogonal
mapping to word pairs in all dimensions (muse/procrustes.py): the directions that correspond best need not be
those of largest variance.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.errors import NotConverged
from muse.learn.pair import Criterion, LanguagePair
from muse.normalise import normalise
from muse.procrustes import procrustes
from muse.search.retrieval import Retrieval, mutual_neighbours, mutual_pairs
from muse.vectors import Matrix, Vectors

BLOCK = 1 << 18  # rows that are copied to double precision at once
# Of the rounds of `stabilised`: the most frequent words, the leading components, and when they end.
WORDS, DIMENSIONS = 5_000, 50
ROUNDS = 30  # at most
STABLE = 0.98  # the share of a round's pairs that are those of the round before
Initialiser = Callable[[LanguagePair, Criterion, np.random.Generator], Iterator[Alignment]]


def principal_axes(side: Vectors, k: int) -> Matrix:
    """The k leading principal axes of the rows, (d, k), in descending order of variance."""
    if not np.isfinite(side.matrix).all():
        raise NotConverged(f"{side.language}: vectors must be finite, found nan or inf; repair their file")
    products = np.zeros((side.dimension, side.dimension))
    for begin in range(0, len(side.matrix), BLOCK):
        wide = side.matrix[begin : begin + BLOCK].astype(np.float64)
        products += wide.T @ wide
    axes = np.linalg.eigh(products)[1]  # (d, d), in ascending order of variance
    return np.asarray(axes[:, ::-1][:, :k], dtype=np.float32)


def components(rows: Matrix, basis: Matrix) -> Tensor:
    """The rows (n, d) along the axes (d, k), as (n, k), scaled to entries of variance 1."""
    # The learning rates then have the same effect in every dimension.
    inside = rows @ basis  # (n, k)
    return torch.tensor(inside / max(float(np.sqrt(np.mean(inside**2))), 1e-12))


def unit_components(pair: LanguagePair, words: int, dimensions: int) -> tuple[Tensor, Tensor]:
    """The most frequent rows of both sides along their own leading principal axes, (n, k), of unit length."""
    x, y = (
        normalize(components(side.matrix, principal_axes(side, dimensions))).to(pair.runtime.device)
        for side in (one.most_frequent(words) for one in pair.sides)
    )
    return x, y


def stabilised(pair: LanguagePair, plan: Tensor) -> Tensor:
    """The mapping (d, d) after rounds that begin with the mutual maxima of the transport plan (n, m)."""
    pairs = mutual_pairs(plan.argmax(dim=1), plan.argmax(dim=0))  # (p, 2)
    x, y = unit_components(pair, WORDS, DIMENSIONS)
    known = torch.full((len(x),), -1, device=pairs.device)  # each word's partner in the round before
    with pair.runtime.progress.stage("stabilise", ROUNDS, "rounds", may_end_early=True) as tick:
        for done in range(ROUNDS):
            mapping = procrustes(x[pairs[:, 0]], y[pairs[:, 1]])  # (k, k)
            pairs = mutual_neighbours(x @ mapping.T, y, Retrieval())
            kept = float((known[pairs[:, 0]] == pairs[:, 1]).double().mean())
            tick(done + 1, kept=kept)
            if kept >= STABLE:
                break
            known = torch.full_like(known, -1).scatter_(0, pairs[:, 0], pairs[:, 1])
    x, y = pair.rows(WORDS)
    return procrustes(x[pairs[:, 0]], y[pairs[:, 1]])


def in_common_dimensions(initialise: Initialiser) -> Initialiser:
    """The initialisation for vectors of any dimensions: its source maps are (d_target, d_source)."""

    def run(pair: LanguagePair, score: Criterion, rng: np.random.Generator) -> Iterator[Alignment]:
        k, largest = sorted(side.dimension for side in pair.sides)
        if k == largest:
            yield from initialise(pair, score, rng)
            return
        own, other = (principal_axes(side, k) for side in pair.sides)  # (d_source, k), (d_target, k)
        reduced = LanguagePair(_reduced(pair.source, own), _reduced(pair.target, other), pair.runtime)

        def lifted(mapping: Matrix) -> Matrix:
            return np.asarray(other @ mapping @ own.T, np.float32)  # (d_target, d_source)

        for found in initialise(reduced, lambda mapping: score(lifted(mapping)), rng):
            yield replace(found, source_map=lifted(found.source_map))

    return run


def _reduced(side: Vectors, axes: Matrix) -> Vectors:
    """The rows along the axes (d, k), (n, k), of unit length."""
    rows = side.fitted() @ axes
    scales = None if side.scales is None else np.linalg.norm(rows, axis=1)
    return replace(side, matrix=normalise(rows, ["unit"])[0], scales=scales)


def in_smaller_space(alignment: Alignment) -> Alignment:
    """An alignment into a target of more dimensions, as one into a space of the source's: both maps (k, d).

    With W (d_target, d_source) the source stays and the target goes through W^T. Others are unchanged.
    """
    rows, columns = alignment.source_map.shape
    if rows <= columns or alignment.target_map is not None:
        return alignment
    stays = np.eye(columns, dtype=np.float32)
    return replace(alignment, source_map=stays, target_map=np.ascontiguousarray(alignment.source_map.T))
