"""Significance: whether one space translates the same queries significantly better than another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from muse.errors import Mismatch
from muse.evaluation.score import Hits, Interval, json_fields, percentile_interval
from muse.evaluation.words import WordScore
from muse.space import AlignedSpace
from muse.word_index import WordIndex

SAMPLES = 10_000


@dataclass(frozen=True)
class Comparison:
    """The difference of two P@1 in percentage points over common `queries`, its 95 % interval, and p.

    `first` and `second` are the P@1 over these queries, `only_first` and `only_second` the numbers of them
    that only one of the two gets right.
    """

    difference: float
    ci95: Interval
    p_value: float
    queries: int
    first: float
    second: float
    only_first: int
    only_second: int

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return json_fields(self)

    def __str__(self) -> str:
        """The line to print."""
        low, high = self.ci95
        return (
            f"difference = {self.difference:+.1f} [{low:+.1f}, {high:+.1f}], p = {self.p_value:.4f}; "
            f"{self.queries} queries in both, of which {self.first:.1f} and {self.second:.1f} % are right, "
            f"{self.only_first} right here alone, {self.only_second} there alone"
        )


def compare(first: Hits, second: Hits, rng: np.random.Generator, *, samples: int = SAMPLES) -> Comparison:
    """The comparison of two systems' hits (q,) and (q,) on the same queries.

    The interval is by paired bootstrap: queries are drawn with both systems' hits (Koehn, 2004). p is by
    two-sided approximate randomisation: how often systems swapped at random, query by query, differ at
    least as much (Noreen, 1989). Only queries that one system alone gets right matter, so both are binomial
    and multinomial draws, without an array of (samples, q).

    >>> compare(np.array([True, True]), np.array([True, True]), np.random.default_rng(0)).p_value
    1.0
    """
    if len(first) != len(second) or not len(first):
        raise Mismatch(
            f"a comparison needs the same queries for both, at least one, got {len(first)} and {len(second)}"
        )
    q = len(first)
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    apart = only_first + only_second
    shares = np.array([only_first, only_second, q - apart]) / q
    drawn = rng.multinomial(q, shares, size=samples)  # (samples, 3)
    interval = percentile_interval(100 * (drawn[:, 0] - drawn[:, 1]) / q)
    swapped = 2 * rng.binomial(apart, 0.5, size=samples) - apart  # (samples,)
    extreme = int((np.abs(swapped) >= abs(only_first - only_second)).sum())
    p_value = (1 + extreme) / (1 + samples)
    difference = 100 * (only_first - only_second) / q
    right = [100 * float(hits.mean()) for hits in (first, second)]
    return Comparison(difference, interval, p_value, q, right[0], right[1], only_first, only_second)


def compare_words(first: WordScore, second: WordScore, rng: np.random.Generator) -> Comparison:
    """The comparison of two scores on one dictionary, over the queries that both spaces cover."""
    ours, theirs = first.correct, second.correct
    index, right = WordIndex(tuple(theirs)), tuple(theirs.values())
    common = [word for word in ours if word in index]
    here, there = [ours[word] for word in common], [right[index[word]] for word in common]
    return compare(np.array(here, bool), np.array(there, bool), rng)


def check_comparable(first: AlignedSpace, second: AlignedSpace, source: str, target: str) -> None:
    """Raise Mismatch if the two spaces are not comparable: they need the same languages and pivot."""
    for language in (source, target):
        if language not in second.languages:
            raise Mismatch(
                f"spaces to compare must both contain {source} and {target}, got one with "
                f"{', '.join(second.languages)}; choose another --against"
            )
    if first.pivot != second.pivot:
        raise Mismatch(
            f"spaces to compare must have the same pivot, got {first.pivot} and {second.pivot}; "
            "align one of them again with the --tgt of the other"
        )
