"""Parts: how well the words of one unit translate those of another, whatever their order.

Word i of a unit weighs g_i, its rarity over that of all its words. The unit t covers of the unit s the share
sum_i g_i sum_j p(t_j | s_i), with p what the space says of single words; the reverse share is that of t which
s covers. A target of one word that begins as a translation of one part does, and ends as one of another, is
taken for a compound of both: Wohn-zimmer.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import permutations, product
from os.path import commonprefix
from typing import TypeAlias

import numpy as np
import scipy

from muse.vectors import Doubles, Numbers

COMMON = 100.0  # words that say little beside others
SHORTEST = 3  # letters of a part of a compound
Sparse: TypeAlias = scipy.sparse.csr_matrix
LONGEST_COMPOSED = 3  # words
LONGEST_ENDING = 2  # letters of a word that are no part of a compound, and of what joins its parts


def word_shares(units: Sequence[Sequence[int]], rarity: Doubles) -> Sparse:
    """The shares (u, n) of the words in units, by the numbers of their words, -1 for one the space lacks.

    `rarity` (n + 1,) is that of each word, and of one that the space lacks. Rows sum to 1, or to less.

    >>> word_shares([(0, 2), (1, -1)], np.array([1.0, 1.0, 3.0, 1.0])).toarray().tolist()
    [[0.25, 0.0, 0.75], [0.0, 0.5, 0.0]]
    """
    rows, columns, values = list[int](), list[int](), list[float]()
    for place, parts in enumerate(units):
        weights = rarity[list(parts)]
        for part, weight in zip(parts, (weights / weights.sum()).tolist(), strict=True):
            if part >= 0:
                rows.append(place)
                columns.append(part)
                values.append(weight)
    return Sparse((values, (rows, columns)), (len(units), len(rarity) - 1))


def coverage(source: Sparse, target: Sparse, translations: Sparse) -> Sparse:
    """The share (u, v) of each of u units that each of v units covers, by the `translations` (n, m) of words.

    `source` (u, n) and `target` (v, m) are their words' shares. What is not stored is 0.
    """
    return Sparse((source @ translations) @ target.sign().T)


def rarity_of_ranks(ranks: Numbers) -> Doubles:
    """The rarity log(1 + rank / COMMON) of words by their ranks (n,), from 0: little of function words."""
    return np.asarray(np.log1p((ranks + 1) / COMMON))


def best_in_rows(scores: Sparse, k: int) -> tuple[Numbers, Numbers]:
    """The rows and columns of the k highest stored values in each row."""
    rows, columns = list[Numbers](), list[Numbers]()
    for row in range(scores.shape[0]):
        own = slice(scores.indptr[row], scores.indptr[row + 1])
        values, names = scores.data[own], scores.indices[own]
        best = np.argpartition(-values, k)[:k] if len(values) > k else np.arange(len(values))
        rows.append(np.full(len(best), row))
        columns.append(names[best].astype(np.int64))
    return np.concatenate(rows), np.concatenate(columns)


def compounds(
    parts: Sequence[Sequence[Mapping[str, float]]], words: Sequence[str]
) -> dict[tuple[int, int], float]:
    """The compounds among `words` of the translations of each unit's `parts`, by unit and word.

    Their value is the product of both probabilities. `parts` has for each unit, for each of its content
    words, its translations with their probabilities.

    >>> compounds([[{"wohnen": 0.5}, {"zimmer": 0.8}]], ["wohnzimmer", "zimmer"])
    {(0, 0): 0.4}
    """
    heads = _heads(words, {one for unit in parts for part in unit for one in part})
    found: dict[tuple[int, int], float] = {}
    for number, unit in enumerate(parts):
        for first, last in permutations(unit, 2):
            for tail, share in last.items():
                for place, head in heads.get(tail, ()):
                    best = max((other for one, other in first.items() if is_stem(head, one)), default=0.0)
                    found[number, place] = max(found.get((number, place), 0.0), share * best)
    return {key: share for key, share in found.items() if share > 0}


def compositions(
    parts: Sequence[Sequence[Sequence[int]]], known: Container[tuple[int, ...]]
) -> set[tuple[int, ...]]:
    """The sequences that consist, in any order, of a translation of each part of a unit.

    `parts` has for each unit, for each of its words, the numbers of its translations in a text with the
    sequences `known`.

    >>> compositions([[[3, 4], [7]]], {(7, 4), (3, 8)})
    {(7, 4)}
    """
    orders = (order for unit in parts if len(unit) <= LONGEST_COMPOSED for order in permutations(unit))
    return {words for order in orders for words in product(*order) if words in known}


def _heads(words: Sequence[str], tails: Container[str]) -> dict[str, list[tuple[int, str]]]:
    """The words that end in one of `tails`, by it: their places, and what stands before."""
    found: dict[str, list[tuple[int, str]]] = {}
    for place, word in enumerate(words):
        for begin in range(SHORTEST, len(word) - SHORTEST + 1):
            if (tail := word[begin:]) in tails:
                found.setdefault(tail, []).append((place, word[:begin]))
    return found


def is_stem(head: str, word: str) -> bool:
    """Whether the beginning of a compound may be of a word: wohn of wohnen, arbeits of arbeit.

    >>> is_stem("wohn", "wohnen"), is_stem("arbeits", "arbeit"), is_stem("haupt", "hafen")
    (True, True, False)
    """
    same = len(commonprefix((head, word)))
    return same >= SHORTEST and max(len(word), len(head)) - same <= LONGEST_ENDING
