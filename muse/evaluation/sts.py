"""Semantic textual similarity: the correlation of cosines of sentences with human ratings of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from muse.errors import Mismatch
from muse.evaluation.score import Interval, Signature, json_fields
from muse.evaluation.similarity import FEWEST, Values, correlations
from muse.vectors import Matrix


@dataclass(frozen=True)
class StsScore:
    """Pearson's and Spearman's correlation, -1 to 1, with 95 % intervals, over all pairs.

    `empty` is the number of pairs in which a sentence has no known word: their cosine is 0.
    """

    pearson: float
    spearman: float
    pearson_ci95: Interval
    spearman_ci95: Interval
    pairs: int
    empty: int
    signature: Signature

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return json_fields(self)

    def __str__(self) -> str:
        """The lines to print."""
        low, high = self.pearson_ci95
        first = f"Pearson = {self.pearson:.3f} [{low:.3f}, {high:.3f}] | {self.signature}"
        low, high = self.spearman_ci95
        second = f"Spearman = {self.spearman:.3f} [{low:.3f}, {high:.3f}] | {self.signature}"
        return f"{first}\n{second}\n{self.pairs} pairs, {self.empty} of them without a known word on a side"


def evaluate_sts(
    first: Matrix, second: Matrix, ratings: Values, signature: Signature, *, rng: np.random.Generator
) -> StsScore:
    """The correlation of the cosines of paired rows (p, d) and (p, d) with their ratings (p,).

    Nothing is trained (the cosine protocol of SentEval, Conneau & Kiela, 2018). `rng` is for the bootstrap.
    """
    check_ratings(first, second, ratings)
    found = cosines(first, second)
    return correlated(found, ratings, empty_pairs(first, second), signature, rng=rng)


def check_ratings(first: Matrix, second: Matrix, ratings: Values) -> None:
    """Mismatch unless rows (p, d) and (p, d) have enough ratings (p,), and these differ."""
    if not len(first) == len(second) == len(ratings) or len(ratings) < FEWEST:
        raise Mismatch(
            f"a correlation needs at least {FEWEST} rated pairs, got {len(first)} and {len(second)} "
            f"sentences and {len(ratings)} ratings; check the file"
        )
    if not np.ptp(ratings):
        raise Mismatch(f"a correlation needs ratings that differ, got {ratings[0]:g} for all; check the file")


def correlated(
    found: Values, ratings: Values, empty: int, signature: Signature, *, rng: np.random.Generator
) -> StsScore:
    """The correlation of what was found (p,) for pairs with their ratings (p,); `empty` is its field.

    Mismatch if all pairs got the same, as they do where no word is known.
    """
    if not np.ptp(found):
        raise Mismatch(
            f"a correlation needs similarities that differ, got {found[0]:.3g} for all {len(found)} pairs; "
            "check that --src is the language of the sentences"
        )
    return StsScore(*correlations(found, ratings, rng), len(ratings), empty, signature)


def empty_pairs(first: Matrix, second: Matrix) -> int:
    """The number of pairs of rows (p, d) and (p, d) of which one is zero: a sentence without a known word."""
    return int((~(first.any(axis=1) & second.any(axis=1))).sum())


def cosines(first: Matrix, second: Matrix) -> Values:
    """The cosine (p,) of each pair of rows (p, d) and (p, d); 0 if one of them is zero."""
    x, y = first.astype(np.float64), second.astype(np.float64)
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    found: Values = np.einsum("pd,pd->p", x, y) / np.where(lengths, lengths, 1)
    return found
