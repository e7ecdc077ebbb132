"""Phrases counted in linked text, and how probable each is as the translation of another.

A probability is the mean of a Dirichlet posterior (MacKay & Peto, 1995): a count c in the text, and a prior q
that is worth `PRIOR` = a observations,

    p(t | s) = (c(s, t) + a q(t | s)) / (c(s) + a (1 + r(s)))

Of two linked words, q is what the space says, and r is 0. Of phrases, q is their lexical weight (Koehn, Och &
Marcu, 2003, section 3.4): the product, over the words of t, of the mean of p by the words of s that each is
linked with. r sums it over the translations of s, but for those of a word by a word, whose sum is 1 at most.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from muse.files.tables import BARS
from muse.vectors import Doubles

NO_WORD, ANY = "", " "  # what a word without a link is counted with, and every word
PRIOR = 4.0  # of powers of two, the likeliest on held-out sentences of Tatoeba, English and French
SMALLEST = 1e-30  # Moses takes logarithms, so no probability may be rounded to zero
WORD_FOR_WORD = "0-0"

WordPair = tuple[str, str]
Both = tuple[float, float]  # p(t | s) and p(s | t), or what they are made of


@dataclass(eq=False)
class PhraseCounts:
    """How often phrases were extracted from text, and words linked in it; filled by `add`.

    `pairs` are lines of a Moses extract file, `source ||| target ||| 0-0 1-1`, and `words` linked words, with
    their sums. Whenever there are more than `most` lines, which are then at least twice as many as were left
    before, those of several words that were seen once are forgotten.
    """

    most: int = 2_000_000
    pairs: Counter[str] = field(default_factory=Counter)
    words: Counter[WordPair] = field(default_factory=Counter)

    def add(self, pairs: Iterable[str], words: Iterable[WordPair]) -> None:
        """Count the lines and links of a pair of sentences."""
        self.pairs.update(pairs)
        for source, target in words:
            self.words.update(((source, target), (source, ANY), (ANY, target)))
        if len(self.pairs) > self.most:
            seen = self.pairs.items()
            self.pairs = Counter({line: count for line, count in seen if count > 1 or is_of_words(line)})
            self.most = max(self.most, 2 * len(self.pairs))


def is_of_words(line: str) -> bool:
    """Whether a line has one word on either side.

    >>> is_of_words("chat ||| cat ||| 0-0"), is_of_words("un chat ||| cat ||| 1-0")
    (True, False)
    """
    return not any(" " in phrase for phrase in line.split(BARS)[:2])


def share(count: float, total: float, prior: float, rest: float = 0.0) -> float:
    """The probability of what was counted so often of a total; `prior` and `rest` are q and r."""
    return (count + PRIOR * prior) / (total + PRIOR * (1 + rest))


def word_shares(words: Mapping[WordPair, int], pair: WordPair, by_space: Both) -> Both:
    """The probabilities of two words for each other, by the counts of links and by the space."""
    count, totals = words.get(pair, 0), (words.get((pair[0], ANY), 0), words.get((ANY, pair[1]), 0))
    return share(count, totals[0], by_space[0]), share(count, totals[1], by_space[1])


def lexical_weights(line: str, shares: Mapping[WordPair, Both]) -> Both:
    """The lexical weights of the target and of the source of a line, by the `shares` of linked words."""
    source, target, links = (part.split(" ") for part in line.split(BARS))
    places = [tuple(map(int, link.split("-"))) for link in links]
    direct = [
        [shares[source[i], word][0] for i, j in places if j == own] or [shares[NO_WORD, word][0]]
        for own, word in enumerate(target)
    ]
    inverse = [
        [shares[word, target[j]][1] for i, j in places if i == own] or [shares[word, NO_WORD][1]]
        for own, word in enumerate(source)
    ]
    there, back = (math.prod(sum(of) / len(of) for of in side) for side in (direct, inverse))
    return there, back


@dataclass(frozen=True, eq=False)
class PhrasePairs:
    """The p pairs of phrases of a text, in order; `known` (p, 3) are their counts and both lexical weights.

    `places` are those of a source, `targets` the count and the r of a target, `words` the counts of links.
    """

    lines: Sequence[str]
    known: Doubles
    places: Mapping[str, range]
    targets: Mapping[str, Both]
    words: Mapping[WordPair, int]

    @classmethod
    def of(
        cls, counted: PhraseCounts, by_space: Callable[[Sequence[WordPair]], Iterable[Both]]
    ) -> "PhrasePairs":
        """The pairs that were counted; `by_space` are the probabilities of pairs of words by the space."""
        linked = [pair for pair in counted.words if ANY not in pair]
        priors = zip(linked, by_space(linked), strict=True)
        shares = {pair: word_shares(counted.words, pair, prior) for pair, prior in priors}
        lines, known = list[str](), list[tuple[float, float, float]]()
        places, targets = dict[str, range](), dict[str, Both]()
        for (source, target), group in groupby(sorted(counted.pairs), key=lambda line: line.split(BARS)[:2]):
            same = list(group)
            line, count = max(same, key=counted.pairs.__getitem__), sum(counted.pairs[one] for one in same)
            weight = lexical_weights(line, shares)
            places[source] = range(places.get(source, range(len(lines), 0)).start, len(lines) + 1)
            seen, rest = targets.get(target, (0.0, 0.0))
            targets[target] = seen + count, rest + (0.0 if is_of_words(line) else weight[1])
            lines.append(line)
            known.append((count, *weight))
        return cls(lines, np.array(known, float).reshape(-1, 3), places, targets, counted.words)

    def scored(self, source: str, words: Mapping[str, Both]) -> list[str]:
        """The lines of the table for a source, in order; `words` are translations by the space.

        A line is `source ||| target ||| p(s|t) lex(s|t) p(t|s) lex(t|s) ||| 0-0 1-1`.
        """
        found = {
            one: (0.0, *word_shares(self.words, (source, one), shares), WORD_FOR_WORD)
            for one, shares in words.items()
        }
        total, rest = 0.0, 0.0
        for place in self.places.get(source, ()):
            line, (count, direct, inverse) = self.lines[place], self.known[place].tolist()
            found[line.split(BARS)[1]] = count, direct, inverse, line.split(BARS)[2]
            total, rest = total + count, rest + (0.0 if is_of_words(line) else direct)
        lines = []
        for target in sorted(found, key=lambda one: one + BARS):
            count, direct, inverse, links = found[target]
            seen, others = self.targets.get(target, (0.0, 0.0))
            scores = share(count, seen, inverse, others), inverse, share(count, total, direct, rest), direct
            figures = " ".join(f"{max(one, SMALLEST):.6g}" for one in scores)
            lines.append(f"{source}{BARS}{target}{BARS}{figures}{BARS}{links}\n")
        return lines
