"""The verdict: did it work? Answered without a dictionary, from what the mapping predicts.

A right mapping can be learned from a few of its pairs and then predicts the others; a wrong one
only repeats what it was fitted to. So: take the mutual CSLS neighbours of the mapping, fit
Procrustes to 2d of them drawn at random, and count how many of the others the fitted mapping
finds again. 2d pairs are a fixed number of observations for each free direction of a rotation,
which makes the rate comparable across dimensions. The thresholds are fitted to a handful of
runs of known outcome (d of 20, 50 and 300); their calibration on many is still to come.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from muse.alignment import Alignment
from muse.procrustes import procrustes
from muse.retrieval import Retrieval, found_again, mutual_neighbours
from muse.runtime import Runtime
from muse.vectors import Vectors

WORDS = 8_000  # the most frequent words of each side are enough, and quick
FITTED_PAIRS_PER_DIMENSION = 2
DRAWS = 3
# Wrong mappings agree with themselves at about NULL / sqrt(d): .33 at d = 20, .20 at 50, .09 at 300.
NULL = 1.45
MARGIN = 0.1  # above that, right and wrong are equally likely
SLOPE = 30.0  # of the logistic curve from agreement to confidence
ALIGNED, FAILED = 0.8, 0.2  # confidence at or above, and below


@dataclass(frozen=True)
class Verdict:
    """`label` is aligned, doubtful or failed; `confidence` (0 to 1) that the mapping is right.

    `agreement` is the share of held-out mutual pairs found again, `mutual` the share of source
    words that have a mutual neighbour.
    """

    label: str
    confidence: float
    agreement: float
    mutual: float


def judge(
    source: Vectors, target: Vectors, alignment: Alignment, *, rng: np.random.Generator, runtime: Runtime
) -> Verdict:
    """The verdict on `alignment` between normalised `source` and `target`; touches no dictionary."""
    x, y = (side.most_frequent(WORDS).tensor(runtime.device) for side in (source, target))
    mapping = torch.from_numpy(alignment.source_map).to(runtime.device)
    pairs = mutual_neighbours(x @ mapping.T, y, Retrieval())  # (p, 2)
    rates = [_found_again(x, y, pairs, rng) for _ in range(DRAWS)]
    agreement, mutual = float(np.mean(rates)), len(pairs) / len(x)
    middle = NULL / math.sqrt(x.shape[1]) + MARGIN
    confidence = 1 / (1 + math.exp(-SLOPE * (agreement - middle)))
    return Verdict(_label(confidence), round(confidence, 4), round(agreement, 4), round(mutual, 4))


def _found_again(x: Tensor, y: Tensor, pairs: Tensor, rng: np.random.Generator) -> float:
    """The share of held-out pairs that a mapping fitted to the other pairs finds again."""
    shuffled = pairs[torch.from_numpy(rng.permutation(len(pairs))).to(pairs.device)]
    fitted = min(FITTED_PAIRS_PER_DIMENSION * x.shape[1], len(pairs) // 2)
    if fitted == 0:
        return 0.0
    known, held_out = shuffled[:fitted], shuffled[fitted:]
    mapping = procrustes(x[known[:, 0]], y[known[:, 1]])
    return float(found_again(x @ mapping.T, y, held_out).double().mean())


def _label(confidence: float) -> str:
    if confidence >= ALIGNED:
        return "aligned"
    return "failed" if confidence < FAILED else "doubtful"
