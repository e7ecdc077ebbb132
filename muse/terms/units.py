"""Units: which sequences of words belong together, and how much they are terms of their text.

Association is the pointwise mutual information of the two sides of a sequence, where it is weakest, over its
maximum (normalised: Bouma, 2009): 0 by chance. A unit neither begins nor ends with a word that is frequent
both in the text and in the space, as function words are, unless its association is high (au lieu de).
C-value (Frantzi et al., 2000) takes away what stands in longer units: log2 |a| (f(a) - mean f of those). The
domain score says by how much a unit's words are more frequent than their ranks in the space let expect
(weirdness: Ahmad et al., 1999).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from muse.terms.sequences import Sequences
from muse.vectors import Doubles, Numbers, ShortRepr

ZIPF = 20.0  # added to ranks, whose inverse is the frequency that they let expect


@dataclass(frozen=True)
class UnitConfig:
    """What is taken for a unit; chosen on half of the entries of dictionaries that texts contain."""

    edge: int = 100
    """The rank, in the text and in the space, up to which a word is no edge of a unit."""
    association: float = 0.25
    edge_association: float = 0.45
    """The least association of a unit, and of one with such a word at an edge."""
    most: int = 30_000
    """The units of highest log likelihood that are kept."""


@dataclass(frozen=True, eq=False, repr=False)
class Units(ShortRepr):
    """Units as the numbers of their `words` in the text, of highest log likelihood first.

    `counts`, `association`, `c_value` and `domain` (u,) are what is known of them.
    """

    words: Sequence[tuple[int, ...]]
    counts: Numbers
    association: Doubles
    c_value: Doubles
    domain: Doubles

    def __len__(self) -> int:
        return len(self.words)

    def extended(self, words: Sequence[tuple[int, ...]], counts: Sequence[int]) -> Units:
        """These units, and others that stand so often, of which nothing else is known."""
        unknown = np.full(len(words), np.nan)
        sides = (np.append(one, unknown) for one in (self.association, self.c_value, self.domain))
        return Units([*self.words, *words], np.append(self.counts, np.array(counts, np.int64)), *sides)

    def chosen(self, places: Sequence[int]) -> Units:
        """The units at these places."""
        some, words = np.array(places, np.int64), [self.words[place] for place in places]
        association, c_value, domain = (one[some] for one in (self.association, self.c_value, self.domain))
        return Units(words, self.counts[some], association, c_value, domain)


def find_units(sequences: Sequence[Sequences], ranks: Numbers, config: UnitConfig | None = None) -> Units:
    """The units among sequences of words; `ranks` (v,) are those of words in a space, its size of others."""
    config = config or UnitConfig()
    counts = sequences[0].counts
    common = np.maximum(np.arange(len(ranks)), ranks)
    common = common.argsort(kind="stable").argsort(kind="stable")  # the rank by both
    words, numbers = list[tuple[int, ...]](), list[Doubles]()
    for shorter, some in zip(sequences, sequences[1:], strict=False):
        association, likelihood = associations(some, shorter.counts, counts)
        edge = np.minimum(common[some.words[:, 0]], common[some.words[:, -1]])
        least = np.where(edge < config.edge, config.edge_association, config.association)
        kept = np.flatnonzero(association >= least)
        words += map(tuple, some.words[kept].tolist())
        numbers.append(np.stack([some.counts[kept], association[kept], likelihood[kept]], axis=1))
    table = np.concatenate(numbers) if numbers else np.zeros((0, 3))
    order = np.argsort(-table[:, 2], kind="stable")[: config.most]
    best, table = [words[place] for place in order.tolist()], table[order]
    values = c_values(best, table[:, 0])
    apart = np.flatnonzero(values > 0)  # not only in longer units
    best, table = [best[place] for place in apart.tolist()], table[apart]
    return Units(
        best, table[:, 0].astype(np.int64), table[:, 1], values[apart], domain_scores(best, counts, ranks),
    )  # fmt: skip


def associations(some: Sequences, shorter: Numbers, single: Numbers) -> tuple[Doubles, Doubles]:
    """The association and the log likelihood ratio's main term (s,) of sequences, where they are weakest.

    `shorter` are the counts of sequences with a word less, `single` those of words. Of the places between
    words, the first and the last are looked at.
    """
    total = single.sum()
    expected = np.maximum(
        single[some.words[:, 0]] * shorter[some.rest].astype(np.float64),
        shorter[some.first].astype(np.float64) * single[some.words[:, -1]],
    ) / total  # fmt: skip
    information = np.log(some.counts / expected)
    return information / -np.log(some.counts / total), 2 * some.counts * information


def c_values(units: Sequence[tuple[int, ...]], counts: Doubles) -> Doubles:
    """The C-value (u,) of units that stand `counts` (u,) times.

    >>> c_values([(1, 2), (1, 2, 3), (4, 5)], np.array([10.0, 4.0, 3.0])).round(2).tolist()
    [6.0, 6.34, 3.0]
    """
    longer = defaultdict[tuple[int, ...], list[float]](list)
    for words, count in zip(units, counts.tolist(), strict=True):
        for length in range(2, len(words)):
            for begin in range(len(words) - length + 1):
                longer[words[begin : begin + length]].append(count)
    nested = [sum(longer[words]) / len(longer[words]) if words in longer else 0.0 for words in units]
    return np.asarray(np.log2([len(words) for words in units]) * (counts - nested), np.float64)


def domain_scores(units: Sequence[Sequence[int]], counts: Numbers, ranks: Numbers) -> Doubles:
    """The mean (u,) over a unit's words of the log of their frequency over that expected of their ranks."""
    expected = 1 / (ranks + ZIPF)
    seen = counts / counts.sum()
    weird = np.log(seen / (expected / (1 / (np.arange(ranks.max(initial=0) + 1) + ZIPF)).sum()))
    lengths = np.array([len(words) for words in units], np.int64)
    flat = np.fromiter(chain.from_iterable(units), np.int64)
    if not len(flat):
        return np.zeros(0)
    return np.asarray(np.add.reduceat(weird[flat], lengths.cumsum() - lengths) / lengths)
