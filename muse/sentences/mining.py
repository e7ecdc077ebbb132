"""Mining: pairs of sentences from two texts that translate each other (Artetxe & Schwenk, 2019).

The candidates of a sentence are its k nearest sentences in the other text by cosine, and those that have
it among their own k nearest. A pair is kept if no candidate of either sentence scores higher and its
score reaches the threshold.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import Mismatch
from muse.progress import Progress
from muse.search.approximate import Approximation
from muse.search.bidirectional_search import BidirectionalSearch, BothDirections
from muse.search.retrieval import PairScore
from muse.vectors import Matrix

Rows = NDArray[np.int64]
Values = NDArray[np.float32]


@dataclass(frozen=True)
class MiningConfig:
    """The score of pairs (not isf), the lowest score kept (None: all), and how candidates are searched."""

    score: PairScore = PairScore()
    threshold: float | None = None
    backend: str = "auto"
    device: str = "cpu"
    approximation: Approximation = Approximation()


class Mined(NamedTuple):
    """Pairs of rows (p, 2), source and target, with their scores (p,), best first."""

    pairs: Rows
    scores: Values


NOTHING = Mined(np.empty((0, 2), np.int64), np.empty(0, np.float32))


def mine(
    source: Matrix, target: Matrix, *, config: MiningConfig | None = None, progress: Progress | None = None
) -> Mined:
    """The pairs of rows of `source` (n, d) and `target` (m, d) that are each other's best candidate.

    Rows need not be of unit length; a row of zeros (an empty sentence) is in no pair.

    >>> rows = np.eye(3, dtype=np.float32)
    >>> mine(rows, rows[[2, 0, 1]]).pairs.tolist()
    [[0, 1], [1, 2], [2, 0]]
    """
    config = config or MiningConfig()
    if source.shape[1] != target.shape[1]:
        raise Mismatch(
            f"both texts must be encoded in the same space, got rows of {source.shape[1]} and "
            f"{target.shape[1]} numbers; encode them with the same encoder"
        )
    kept = [np.flatnonzero(side.any(axis=1)) for side in (source, target)]
    if not all(map(len, kept)):
        return NOTHING
    x, y = (
        normalize(torch.from_numpy(np.ascontiguousarray(side[rows], np.float32)).to(config.device))
        for side, rows in zip((source, target), kept, strict=True)
    )
    found = paired(_nearest(x, y, config, progress or Progress(quiet=True)), config)
    return Mined(np.stack([kept[side][found.pairs[:, side]] for side in (0, 1)], axis=1), found.scores)


def paired(found: BothDirections, config: MiningConfig) -> Mined:
    """The pairs among what all sentences of both texts have found (n, k) and (m, k)."""
    pairs, scores = _candidates(found, config.score)  # (p, 2), (p,)
    best = _mutual(pairs, scores)
    if config.threshold is not None:
        best &= scores >= config.threshold
    pairs, scores = pairs[best], scores[best]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))
    return Mined(pairs[order], scores[order])


def _candidates(found: BothDirections, score: PairScore) -> tuple[Rows, Values]:
    # Each pair of neighbours, in either direction, once (p, 2), and its score (p,).
    there, back = found
    own, other = there.scores.mean(dim=1), back.scores.mean(dim=1)  # (n,), (m,)
    first = [torch.arange(len(own), device=own.device)[:, None].expand_as(there.indices), back.indices]
    second = [there.indices, torch.arange(len(other), device=own.device)[:, None].expand_as(back.indices)]
    rows, columns = (torch.cat([part.reshape(-1) for part in side]) for side in (first, second))
    cosines = torch.cat([there.scores.reshape(-1), back.scores.reshape(-1)])
    scores = score.score(cosines, own[rows], other[columns]).cpu().numpy()
    codes, once = np.unique((rows * len(other) + columns).cpu().numpy(), return_index=True)
    return np.stack(np.divmod(codes, len(other)), axis=1), scores[once]


def _nearest(x: Tensor, y: Tensor, config: MiningConfig, progress: Progress) -> BothDirections:
    k, approximation = config.score.k, config.approximation
    if not approximation.applies(len(x), len(y), on_gpu=y.is_cuda):
        with progress.stage("candidates", len(x), "sentences") as tick:
            return BidirectionalSearch(x, y, config.backend).nearest(k, step=tick)
    with progress.stage("candidates of the source", len(x), "sentences") as tick:
        there = approximation.nearest(x, y, k, tick)
    with progress.stage("candidates of the target", len(y), "sentences") as tick:
        return BothDirections(there, approximation.nearest(y, x, k, tick))


def _mutual(pairs: Rows, scores: Values) -> NDArray[np.bool_]:
    # Whether each pair (p, 2) is the best of its row and of its column; the first of equal ones.
    chosen = np.ones(len(pairs), bool)
    for side in (0, 1):
        order = np.lexsort((pairs[:, 1 - side], -scores, pairs[:, side]))
        _, first = np.unique(pairs[order, side], return_index=True)
        best = np.zeros(len(pairs), bool)
        best[order[first]] = True
        chosen &= best
    return chosen
