"""The unsupervised criterion: the mean cosine of the CSLS translations of the most frequent words.

`standard_errors` tells whether one alignment gets significantly more cases right than another.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from muse.procrustes import both_mapped
from muse.search.retrieval import Retrieval, best_targets
from muse.vectors import Matrix, Vectors

MOST_FREQUENT = 10_000
Criterion = Callable[[Matrix], float]
SIGNIFICANT = 2.0  # standard errors that a gain must exceed


def mean_cosine(source: Tensor, target: Tensor) -> float:
    """The mean cosine of every mapped source word (n, d) to its CSLS translation among the targets (m, d).

    It ranks mappings of one pair of languages. Its value alone proves nothing: it can be high for a
    wrong mapping, and its level differs from pair to pair (Conneau et al., 2018, section 3.5).
    """
    found = best_targets(source, target, Retrieval())  # (n,)
    return float((source * target[found]).sum(dim=1).mean())


def criterion(
    source: Vectors, target: Vectors, *, most_frequent: int = MOST_FREQUENT, device: str = "cpu"
) -> Criterion:
    """A function from a mapping W (e, d) to the criterion over the most frequent words of both sides."""
    source_rows, target_rows = (side.most_frequent(most_frequent).tensor(device) for side in (source, target))

    def evaluate(mapping: Matrix) -> float:
        mapped, keys = both_mapped(source_rows, target_rows, torch.from_numpy(mapping).to(device))
        # During training W need not be orthogonal, so the rows are normalised again.
        return mean_cosine(torch.nn.functional.normalize(mapped, dim=1), keys)

    return evaluate


def standard_errors(before: Tensor, after: Tensor) -> float:
    """The gain in right cases from `before` to `after`, in standard errors (McNemar, 1947).

    `before` and `after` (p,) say for each case whether it is right. With b cases gained and c lost:
    (b - c) / sqrt(b + c), 0 if none changed.

    >>> import torch
    >>> standard_errors(torch.tensor([True, False]), torch.tensor([True, True]))
    1.0
    """
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    return (gained - lost) / math.sqrt(gained + lost) if gained + lost else 0.0
