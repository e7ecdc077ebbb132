"""Translation shares: how often a word is translated by each word of the other language, from sentence pairs.

Words are linked by IBM model 1 (Brown et al., 1993, "The Mathematics of Statistical Machine Translation"),
learned in both directions, each sentence a set of words. The count of a pair is the geometric mean of what
both directions expect, its shares are of all counts of either word. Unlike the words that choose each other
by a coefficient, these have every form of a word, and words of several translations.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.align.unseen import WORD

ROUNDS = 6
LONGEST = 25  # different words of a sentence: of longer ones, each says little of many pairs
LEAST_COUNT, LEAST_SHARE = 0.5, 0.02  # of pairs that are kept


@dataclass(frozen=True, eq=False)
class TranslationShares:
    """Pairs of words with their expected `counts` (p,), and shares (p,) of those of either word."""

    pairs: list[tuple[str, str]]
    counts: NDArray[np.float64]
    of_source: NDArray[np.float64]
    of_target: NDArray[np.float64]

    @classmethod
    def of(cls, text: Iterable[tuple[str, str]]) -> "TranslationShares":
        """The shares in sentences and their translations."""
        known: tuple[dict[str, int], ...] = ({}, {})
        words = list[NDArray[np.int64]]()  # (2, c) for each sentence: all its pairs of words
        tokens = list[NDArray[np.int64]]()
        so_far = np.zeros((2, 1), np.int64)
        for sentences in text:
            found = [dict.fromkeys(WORD.findall(one)) for one in sentences]
            if not all(0 < len(one) <= LONGEST for one in found):
                continue
            numbers = [[of.setdefault(w, len(of)) for w in one] for one, of in zip(found, known, strict=True)]
            sizes = [len(one) for one in numbers]
            words.append(np.stack([np.repeat(numbers[0], sizes[1]), np.tile(numbers[1], sizes[0])]))
            places = np.arange(sizes[0]).repeat(sizes[1]), np.tile(np.arange(sizes[1]), sizes[0])
            tokens.append(np.stack(places) + so_far)
            so_far = so_far + np.array(sizes)[:, None]
        width = len(known[1])
        (first, second), tokens_of = np.concatenate(words, axis=1), np.concatenate(tokens, axis=1)
        numbers_of_pairs, entry = np.unique(first * width + second, return_inverse=True)
        sides = numbers_of_pairs // width, numbers_of_pairs % width
        # Each token of one language is made by the words of the other.
        there, back = (_expected(side, entry, of) for side, of in zip(sides, tokens_of[::-1], strict=True))
        counts = np.sqrt(there * back)
        shares = [counts / np.bincount(side, counts)[side] for side in sides]
        kept = (counts >= LEAST_COUNT) & (np.maximum(*shares) > LEAST_SHARE)
        names = [[*of] for of in known]
        pairs = [(names[0][x], names[1][y]) for x, y in zip(*(side[kept] for side in sides), strict=True)]
        return cls(pairs, counts[kept], shares[0][kept], shares[1][kept])


def _expected(
    side: NDArray[np.int64], entry: NDArray[np.int64], tokens: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How often each pair (p,), whose words are `side` (p,), is expected to make a token.

    Each of the tokens (c,) may be made by pairs `entry` (c,).
    """
    probability, counts = np.ones(len(side)), np.zeros(len(side))
    for _ in range(ROUNDS):
        values = probability[entry]
        values /= np.bincount(tokens, values)[tokens]
        counts = np.bincount(entry, values, len(side)).astype(np.float64)
        probability = counts / np.bincount(side, counts)[side]
    return counts
