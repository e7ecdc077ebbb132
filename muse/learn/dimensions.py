"""Vectors of different dimension: initialisations in the components that both have, and one shared space.

An initialisation compares spaces of one dimension k. If those of the two languages differ, it is given the
rows of the larger side along its k leading principal axes, k the dimension of the smaller side, and what it
finds is lifted to the whole of that side. Refinement then fits a semi-orthogonal mapping to word pairs in all
dimensions (muse/procrustes.py): the directions that correspond best need not be those of largest variance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from muse.alignment import Alignment
from muse.learn.criterion import Criterion
from muse.learn.initialise.components import principal_axes
from muse.normalise import normalise
from muse.run.runtime import Runtime
from muse.vectors import Matrix, Vectors

Initialiser = Callable[[Vectors, Vectors, Criterion, np.random.Generator, Runtime], Iterator[Alignment]]


def in_common_dimensions(initialise: Initialiser) -> Initialiser:
    """The initialisation for vectors of any dimensions: its source maps are (d_target, d_source)."""

    def run(
        source: Vectors, target: Vectors, score: Criterion, rng: np.random.Generator, runtime: Runtime
    ) -> Iterator[Alignment]:
        if source.dimension == target.dimension:
            yield from initialise(source, target, score, rng, runtime)
            return
        k = min(source.dimension, target.dimension)
        own, other = (principal_axes(side, k) for side in (source, target))  # (d_source, k), (d_target, k)
        x, y = _reduced(source, own), _reduced(target, other)

        def lifted(mapping: Matrix) -> Matrix:
            return np.asarray(other @ mapping @ own.T, np.float32)  # (d_target, d_source)

        for found in initialise(x, y, lambda mapping: score(lifted(mapping)), rng, runtime):
            yield replace(found, source_map=lifted(found.source_map))

    return run


def _reduced(side: Vectors, axes: Matrix) -> Vectors:
    """The rows along the axes (d, k), (n, k), of unit length."""
    return replace(side, matrix=normalise(side.matrix @ axes, ["unit"])[0])


def in_smaller_space(alignment: Alignment) -> Alignment:
    """An alignment into a target of more dimensions, as one into a space of the source's: both maps (k, d).

    With W (d_target, d_source) the source stays and the target goes through W^T. Others are unchanged.
    """
    rows, columns = alignment.source_map.shape
    if rows <= columns or alignment.target_map is not None:
        return alignment
    stays = np.eye(columns, dtype=np.float32)
    return replace(alignment, source_map=stays, target_map=np.ascontiguousarray(alignment.source_map.T))
