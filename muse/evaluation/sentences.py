"""Sentence retrieval: how often the translation of a sentence is among its best target sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import Mismatch
from muse.evaluation.ranks import BLOCK
from muse.evaluation.score import Hits, Interval, Score, Signature, bootstrap_interval, json_fields
from muse.search.pair_score import PairScore
from muse.vectors import Matrix

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class SentenceScore:
    """P@1, P@5 and P@10 in percent over all queries, with the 95 % interval of P@1.

    `targets` is the number of different sentences searched. Ties with the translation count as ahead of
    it. `empty` queries have no known word and count as wrong.
    """

    p_at_1: float
    p_at_5: float
    p_at_10: float
    ci95: Interval
    queries: int
    targets: int
    empty: int
    signature: Signature
    correct: Hits = field(repr=False, compare=False)

    @property
    def score(self) -> Score:
        """P@1 as one line to print."""
        return Score("P@1", self.p_at_1, self.ci95, self.signature)

    def as_json(self) -> dict[str, Any]:
        """All fields except `correct`, for JSON."""
        return json_fields(self, "correct")

    def __str__(self) -> str:
        """The lines to print."""
        return (
            f"{self.score}\nP@5 = {self.p_at_5:.1f}, P@10 = {self.p_at_10:.1f}, {self.queries} queries, "
            f"{self.empty} of them without a known word, {self.targets} sentences searched"
        )


@dataclass(frozen=True, eq=False)
class Queries:
    """Sentences (q, d) to translate, the different targets (m, d), and each query's target `gold` (q,)."""

    source: Matrix
    target: Matrix
    gold: Rows

    def __post_init__(self) -> None:
        if not len(self.source):
            raise Mismatch("sentence retrieval needs at least one pair of sentences, got none")
        if self.source.shape[1] != self.target.shape[1] or len(self.gold) != len(self.source):
            raise Mismatch(
                f"every query needs a target in the same space, got arrays of shape {self.source.shape} "
                f"and {self.target.shape} with {len(self.gold)} answers; encode both with the same encoder"
            )


def different(sentences: Sequence[str]) -> tuple[list[str], Rows]:
    """The sentences (m,) without duplicates, and for each given sentence its index (n,) among them.

    Without duplicates there is a single right target for each query.

    >>> different(["b", "a", "b"])
    (['b', 'a'], array([0, 1, 0]))
    """
    place: dict[str, int] = {}
    found = [place.setdefault(sentence, len(place)) for sentence in sentences]
    return list(place), np.array(found, np.int64)


def evaluate_sentences(
    queries: Queries, how: PairScore, signature: Signature, *, rng: np.random.Generator, device: str = "cpu"
) -> SentenceScore:
    """The precision of retrieving each query's translation among the targets; `rng` is for the bootstrap.

    (Sentence retrieval as in Conneau et al., 2018, section 4.1, and Artetxe & Schwenk, 2019.)
    """
    found = sentence_ranks(queries, how, device=device)
    p_at_1, p_at_5, p_at_10 = (100 * float((found <= k).mean()) for k in (1, 5, 10))
    hits = found == 1
    return SentenceScore(
        p_at_1, p_at_5, p_at_10, bootstrap_interval(hits, rng), len(found), len(queries.target),
        int((~queries.source.any(axis=1)).sum()), signature, hits,
    )  # fmt: skip


def sentence_ranks(queries: Queries, how: PairScore, *, device: str = "cpu") -> Rows:
    """The rank (q,), from 1, of each query's translation among all targets; ties count as ahead."""
    x, y = (_unit(rows, device) for rows in (queries.source, queries.target))
    own, other = how.sides(x, y)  # (q,), (m,)
    gold = torch.from_numpy(queries.gold).to(x.device)
    size = max(1, BLOCK // len(y))
    found = []
    for rows in torch.split(torch.arange(len(x), device=x.device), size):
        scores = how.score(x[rows] @ y.T, own[rows, None], other)  # (b, m)
        best = scores.gather(1, gold[rows, None])  # (b, 1)
        found.append((scores >= best).sum(dim=1))
    ranks = torch.cat(found).cpu().numpy()
    # A query of zeros retrieves nothing, however the biases order the targets.
    return np.where(queries.source.any(axis=1), ranks, len(y) + 10)


def _unit(rows: Matrix, device: str) -> Tensor:
    return normalize(torch.from_numpy(np.ascontiguousarray(rows, np.float32)).to(device))
