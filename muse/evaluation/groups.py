"""Groups of queries: frequency bands and kinds of words, each with its own precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting
from muse.evaluation.score import Hits, Interval, bootstrap_interval, json_fields
from muse.vectors import WordIndex

BANDS = (1_000, 5_000, 20_000)  # the last rank of each band; a further band has the rest
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class GroupScore:
    """P@1 in percent over a group of queries, with its 95 % interval, and their number."""

    name: str
    p_at_1: float
    ci95: Interval
    queries: int

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return json_fields(self)

    def __str__(self) -> str:
        """The line to print."""
        low, high = self.ci95
        return f"{self.name:12} P@1 = {self.p_at_1:.1f} [{low:.1f}, {high:.1f}], {self.queries}"


def by_band(
    rows: Rows, hits: Hits, rng: np.random.Generator, *, words: int, edges: Sequence[int] = BANDS
) -> tuple[GroupScore, ...]:
    """The scores by frequency rank of the queries, `rows` (q,) from 0; empty bands are left out.

    `edges` are the last ranks of the bands, counted from 1, in ascending order; the last band ends with
    the vocabulary, which has `words` words.
    """
    if list(edges) != sorted(set(edges)) or any(edge < 1 for edge in edges):
        raise BadSetting(f"the bands' last ranks must be positive and ascending, got {list(edges)}")
    starts, ends = (0, *edges), (*(min(edge, words) for edge in edges), words)
    names = [f"{start + 1}-{end}" for start, end in zip(starts, ends, strict=True)]
    return _scores({name: np.searchsorted(edges, rows + 1) == i for i, name in enumerate(names)}, hits, rng)


def by_part(
    words: Sequence[str], translations: Sequence[Sequence[str]], hits: Hits, rng: np.random.Generator
) -> tuple[GroupScore, ...]:
    """The scores of queries (q,) by kind of word; empty groups are left out.

    identical: a gold translation is the word itself, ignoring case; different: none is. number: has a
    digit; capitalised: starts with a capital letter; plain: neither.
    """
    listed = [WordIndex([word.casefold() for word in gold]) for gold in translations]
    same = np.array([word.casefold() in gold for word, gold in zip(words, listed, strict=True)])
    number = np.array([any(sign.isdigit() for sign in word) for word in words])
    capital = np.array([word[:1].isupper() for word in words]) & ~number
    parts = {"identical": same, "different": ~same, "number": number, "capitalised": capital}
    return _scores({**parts, "plain": ~number & ~capital}, hits, rng)


def _scores(groups: Mapping[str, Hits], hits: Hits, rng: np.random.Generator) -> tuple[GroupScore, ...]:
    return tuple(group_score(name, hits[of], rng) for name, of in groups.items() if of.any())


def group_score(name: str, hits: Hits, rng: np.random.Generator) -> GroupScore:
    """The score of one group, by whether each of its queries, at least one, is answered right: (q,)."""
    return GroupScore(name, 100 * float(hits.mean()), bootstrap_interval(hits, rng), len(hits))
