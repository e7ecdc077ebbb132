"""Re-weighting: stress the directions both languages share, on both sides, where that pays.

It gives up the isometry and moves the target too, so it is an option, and kept only where more
held-out pairs are found than chance explains. (The last step of Artetxe et al., 2018 (AAAI),
section 3, with correlations in place of whitening: procrustes.stressed.)
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.procrustes import Stressed, gram, stressed
from muse.retrieval import Retrieval, found_again, mutual_neighbours
from muse.runtime import Runtime
from muse.vectors import Vectors

log = logging.getLogger(__name__)

WORDS = 20_000
SIGNIFICANT = 2.0  # standard errors that the gain on held-out pairs must exceed


def reweight(
    source: Vectors, target: Vectors, start: Alignment, *, rng: np.random.Generator, runtime: Runtime
) -> Alignment:
    """`start` re-weighted, if that makes the translations of significantly more words hold; else `start`.

    A translation holds if it is mutual and is found again by a mapping fitted without the word's
    half of the vocabulary. Pairs that only one of the two mappings has found would favour that one,
    so each is asked about its own.
    """
    x, y = (side.most_frequent(WORDS).tensor(runtime.device) for side in (source, target))
    mapping = torch.from_numpy(start.source_map).to(runtime.device)
    half = torch.from_numpy(rng.integers(2, size=len(x))).to(x.device)
    pairs = mutual_neighbours(x @ mapping.T, y, Retrieval())  # (p, 2)
    stress = _fitted(x, y, pairs).stress
    plain = _holding(x, y, pairs, half, weighted=False)
    pairs = mutual_neighbours(normalize(x @ (stress @ mapping).T), normalize(y @ stress), Retrieval())
    weighted = _holding(x, y, pairs, half, weighted=True)
    gain = standard_errors(plain, weighted)
    log.info(
        "re-weighting: the translations of %d words hold, by the rotation %d (%.1f standard errors)",
        int(weighted.sum()), int(plain.sum()), gain,
    )  # fmt: skip
    if gain <= SIGNIFICANT:
        return start
    weights = stress.cpu().numpy()  # (d, d)
    return replace(start, source_map=weights @ start.source_map, target_map=weights)


def _holding(x: Tensor, y: Tensor, pairs: Tensor, half: Tensor, *, weighted: bool) -> Tensor:
    """For each word of x (n, d), whether its pair is found by what the other half teaches: (n,) bool."""
    holding = torch.zeros(len(x), dtype=torch.bool, device=x.device)
    for part in (0, 1):
        own = half[pairs[:, 0]] == part
        fit = _fitted(x, y, pairs[~own])
        mapped, keys = x @ fit.rotation.T, y
        if weighted:
            mapped, keys = normalize(mapped @ fit.stress), normalize(keys @ fit.stress)
        holding[pairs[own, 0]] = found_again(mapped, keys, pairs[own])
    return holding


def standard_errors(before: Tensor, after: Tensor) -> float:
    """How far more of the same cases are right, in standard errors (McNemar, 1947).

    `before` and `after` (p,) say for each case whether it was right. With b cases gained and c lost:
    (b - c) / sqrt(b + c), 0 where none changed.

    >>> standard_errors(torch.tensor([True, False]), torch.tensor([True, True]))
    1.0
    """
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    return (gained - lost) / math.sqrt(gained + lost) if gained + lost else 0.0


def _fitted(x: Tensor, y: Tensor, pairs: Tensor) -> Stressed:
    product = y[pairs[:, 1]].double().T @ x[pairs[:, 0]].double()  # (d, d)
    return stressed(product, gram(x), gram(y))
