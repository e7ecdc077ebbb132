"""Translations of sentences: how often they are among the best target sentences, and how well they are mined.

Mined pairs are judged by precision, recall and F1 at a threshold, and by the threshold with the best F1. A
threshold of the ratio margin usually transfers between pairs of languages (Kiros, 2020, table 5), so it can
be chosen on a pair with known translations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from muse.evaluation.ranks import BLOCK
from muse.evaluation.score import Hits, Interval, JsonScore, Score, Signature, bootstrap_interval
from muse.search.retrieval import PairScore
from muse.vectors import Matrix

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class SentenceScore(JsonScore):
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

    def __str__(self) -> str:
        return (
            f"{Score('P@1', self.p_at_1, self.ci95, self.signature)}\nP@5 = {self.p_at_5:.1f}, "
            f"P@10 = {self.p_at_10:.1f}, {self.queries} queries, "
            f"{self.empty} of them without a known word, {self.targets} sentences searched"
        )


class Queries(NamedTuple):
    """Sentences (q, d) to translate, the different targets (m, d), and each query's target `gold` (q,)."""

    source: Matrix
    target: Matrix
    gold: Rows


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
    return SentenceScore(
        p_at_1, p_at_5, p_at_10, bootstrap_interval(found == 1, rng), len(found), len(queries.target),
        int((~queries.source.any(axis=1)).sum()), signature,
    )  # fmt: skip


def sentence_ranks(queries: Queries, how: PairScore, *, device: str = "cpu") -> Rows:
    """The rank (q,), from 1, of each query's translation among all targets; ties count as ahead."""
    x, y = (
        normalize(torch.from_numpy(np.ascontiguousarray(rows, np.float32)).to(device)) for rows in queries[:2]
    )
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


@dataclass(frozen=True)
class MiningScore(JsonScore):
    """Percentages of the pairs that reach a threshold; `f1` is the harmonic mean of the other two.

    `precision` is over those pairs, `recall` over the `known` ones.
    """

    threshold: float
    precision: float
    recall: float
    f1: float
    known: int

    def __str__(self) -> str:
        """The line to print, with a threshold that keeps the same pairs when it is given again."""
        threshold = np.format_float_positional(np.float32(self.threshold), trim="-")  # scores are float32
        return (
            f"F1 = {self.f1:.1f} at {threshold} (precision {self.precision:.1f}, "
            f"recall {self.recall:.1f} of {self.known} known pairs)"
        )


@dataclass(frozen=True, eq=False)
class Judged:
    """The scores (p,) of mined pairs, best first, whether each is right (p,), and the number of known pairs.

    >>> judged = Judged(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]), known=4)
    >>> print(judged.best())
    F1 = 57.1 at 1 (precision 66.7, recall 50.0 of 4 known pairs)
    >>> print(judged.at(2.5))
    F1 = 40.0 at 2.5 (precision 100.0, recall 25.0 of 4 known pairs)
    """

    scores: NDArray[np.floating[Any]]
    right: Hits
    known: int

    def at(self, threshold: float) -> MiningScore:
        """The figures at a threshold; all are 0 if no pair reaches it."""
        right = self.right[self.scores >= threshold]
        hits, kept = int(right.sum()), len(right)
        precision, recall, f1 = hits / max(kept, 1), hits / self.known, 2 * hits / (kept + self.known)
        return MiningScore(threshold, 100 * precision, 100 * recall, 100 * f1, self.known)

    def best(self) -> MiningScore:
        """The figures at the threshold with the highest F1; of equal ones, the highest threshold."""
        if not len(self.scores):
            return self.at(0.0)
        f1 = 2 * self.right.cumsum() / (np.arange(1, len(self.right) + 1) + self.known)  # (p,)
        # No threshold separates pairs of equal score: only the last of them is a candidate.
        last = np.append(self.scores[1:] != self.scores[:-1], True)
        return self.at(float(self.scores[np.where(last, f1, -1).argmax()]))
