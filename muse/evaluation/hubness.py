"""Hubness: how unevenly targets occur as neighbours, before and after CSLS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats

from muse.search.neighbours import nearest
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace

NEIGHBOURS = 10
LARGEST = 10


@dataclass(frozen=True)
class Hubness:
    """Statistics of N_k(y), the number of source words that have the target y among their k best.

    `skewness` of N_k over the targets; `never` the percentage of targets with N_k = 0; `largest` the
    targets with the highest N_k.
    """

    retrieval: str
    k: int
    skewness: float
    never: float
    largest: tuple[tuple[str, int], ...]

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {**vars(self), "largest": [list(hub) for hub in self.largest]}


def hubness(
    space: AlignedSpace, source: str, target: str, retrieval: Retrieval, *, k: int = NEIGHBOURS
) -> Hubness:
    """The hubness of the targets among the `k` best of every source word.

    The skewness of the k-occurrence is the usual measure (Radovanovic, Nanopoulos and Ivanovic, 2010):
    0 if all targets occur equally often, large if a few hubs occur very often. CSLS lowers it.
    """
    x, y = space.tensor(source), space.tensor(target)
    found = nearest(x, y, k, bias=space.bias(source, target, retrieval), backend=retrieval.backend)
    counts = np.bincount(found.indices.cpu().numpy().ravel(), minlength=len(y))  # (m,)
    order = np.argsort(-counts, kind="stable")[:LARGEST]
    words = space.vectors(target).words
    # If all occur equally often the skewness is 0 / 0: there is no hub.
    skewness = float(scipy.stats.skew(counts)) if counts.min() < counts.max() else 0.0
    largest = tuple((words[row], int(counts[row])) for row in order.tolist())
    return Hubness(str(retrieval), min(k, len(y)), skewness, 100 * float((counts == 0).mean()), largest)
