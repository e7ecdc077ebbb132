"""A back-off n-gram language model, and its estimation from sentences by Kneser-Ney smoothing.

The estimate (Kneser & Ney, 1995; Chen & Goodman, 1998, sec. 3) is

    p(w | h) = max(c(hw) - D(c(hw)), 0) / sum_v c(hv) + gamma(h) p(w | h without its first word)

interpolated, with three discounts D for each length. For all but the longest n-grams, c is the number of
different words that precede the n-gram rather than its count; n-grams at the start of a sentence have no
preceding word and keep their count. The 1-grams are interpolated with the uniform distribution, which alone
gives <unk> its probability.

The model is sorted arrays that are searched for many words at once. An n-gram is a node, numbered within its
length; its key is `node of its first n - 1 words * v + last word` with v words in the vocabulary. The sorted
keys of a length are both its table and its numbering.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch
from muse.vectors import WordIndex

Ids = NDArray[np.int64]
Logs = NDArray[np.float32]
BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
NOWHERE = -1  # the node of an n-gram that is not in the model
Counts = NDArray[np.float64]
ORDERS = range(1, 7)
NEVER = -99.0  # log10 of the probability of <s>, which is never predicted
# For a text too small to estimate discounts, the values of KenLM's --discount_fallback.
FALLBACK = (0.5, 1.0, 1.5)


@dataclass(frozen=True, eq=False)
class NGrams:
    """The g n-grams of one length: sorted `keys` (g,), natural logs `log_p` (g,) and `backoff` (g,)."""

    keys: Ids
    log_p: Logs
    backoff: Logs

    def __len__(self) -> int:
        return len(self.keys)


class Step(NamedTuple):
    """The natural `log_p` (b, k) of k words after each of b histories, and the new `states` (b, k, n - 1)."""

    log_p: Logs
    states: Ids


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """The n-grams of a text by length; `levels[0]` are the 1-grams, in the order of `words`.

    `words` has <s>, </s> and <unk>. A state (n - 1,) has the nodes of the last 1, 2, ... n - 1 words,
    NOWHERE for an n-gram that is not in the model.
    """

    words: Sequence[str]
    levels: tuple[NGrams, ...]

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.levels)

    @cached_property
    def index(self) -> WordIndex:
        """The number of each word, looked up in whatever Unicode form."""
        return WordIndex(self.words)

    @cached_property
    def cased(self) -> Mapping[str, str]:
        """The words that the model has with capitals alone, such as German nouns, by lower-case form."""
        found = {word.lower(): word for word in reversed(self.words) if word != word.lower()}
        return {lower: word for lower, word in found.items() if lower not in self.index}

    def ids(self, words: Sequence[str]) -> Ids:
        """The number (p,) of each word, or else of its lower-case form, or else of <unk>."""
        index, unknown = self.index, self.index[UNKNOWN]
        return np.array([index.get(word, index.get(word.lower(), unknown)) for word in words], dtype=np.int64)

    def start(self) -> Ids:
        """The state (1, n - 1) at the start of a sentence."""
        states = np.full((1, self.order - 1), NOWHERE, np.int64)
        states[:, :1] = self.index[BEGIN]
        return states

    def step(self, states: Ids, words: Ids) -> Step:
        """The log-probabilities of words (b, k) after the states (b, n - 1), and the new states.

        log p(w | h) is stored for (h, w), or backoff(h) + log p(w | h without its first word): Katz, 1987.
        """
        log_p, nodes = self.levels[0].log_p[words], [words]
        for length in range(1, self.order):
            context, level = states[:, length - 1, None], self.levels[length]  # (b, 1)
            backoff = np.zeros(context.shape, np.float32)  # of a length longer than every sentence too
            known = context != NOWHERE
            backoff[known] = self.levels[length - 1].backoff[context[known]]
            found = np.where(known, find(level.keys, context * len(self.words) + words), NOWHERE)  # (b, k)
            log_p, there = log_p + backoff, found != NOWHERE
            log_p[there] = level.log_p[found[there]]
            nodes.append(found)
        none = np.empty((*words.shape, 0), np.int64)
        return Step(log_p, np.stack(nodes[: self.order - 1], axis=-1) if self.order > 1 else none)

    def log_probability(self, sentence: Sequence[str]) -> float:
        """The natural log-probability of a whole sentence, including its end."""
        states, total = self.start(), 0.0
        for word in self.ids([*sentence, END]):
            step = self.step(states, np.array([[word]]))
            states, total = step.states[:, 0], total + float(step.log_p[0, 0])
        return total


def find(keys: Ids, wanted: Ids) -> Ids:
    """The index of each wanted key among the sorted `keys` (g,), NOWHERE if it is not there."""
    if not len(keys):
        return np.full(wanted.shape, NOWHERE, np.int64)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, places, NOWHERE)


@dataclass(frozen=True, eq=False)
class _Counted:
    # The g different n-grams of one length, sorted by key: counts (g,), and the nodes, one length shorter, of
    # the first n - 1 words (`contexts`) and of the last n - 1 (`suffixes`), (g,) each.
    keys: Ids
    counts: Counts
    contexts: Ids
    suffixes: Ids


def learn_language_model(sentences: Iterable[Sequence[str]], *, order: int = 3) -> LanguageModel:
    """The language model of `order`, estimated from sentences of words; Mismatch if there are none.

    >>> model = learn_language_model([["the", "cat"], ["the", "dog"], ["a", "cat"]], order=2)
    >>> model.log_probability(["the", "cat"]) > model.log_probability(["cat", "the"])
    True
    """
    if order not in ORDERS:
        raise BadSetting(f"--order must be {ORDERS[0]} to {ORDERS[-1]}, got {order}")
    words, tokens, ends = _numbered(sentences)
    if len(words) == 3:
        raise Mismatch("a language model needs at least one word of text, got none; check the file")
    counted = _count(tokens, ends, len(words), order)
    return LanguageModel(words, _levels(counted, words))


def _numbered(sentences: Iterable[Sequence[str]]) -> tuple[list[str], Ids, Ids]:
    # The vocabulary; the text (t,) as numbers, with <s> and </s>; the end (t,) of the sentence of each token.
    index = {UNKNOWN: 0, BEGIN: 1, END: 2}
    tokens: list[int] = []
    lengths: list[int] = []
    for sentence in sentences:
        # <s> as a word of the text must not start a sentence in the middle of another.
        inside = [0 if word in (BEGIN, END) else index.setdefault(word, len(index)) for word in sentence]
        if inside:
            tokens += [1, *inside, 2]
            lengths.append(len(inside) + 2)
    ends = np.cumsum(np.array(lengths, dtype=np.int64))
    return list(index), np.array(tokens, dtype=np.int64), np.repeat(ends, lengths)


def _count(tokens: Ids, ends: Ids, v: int, order: int) -> list[_Counted]:
    nodes = tokens  # (t,), for every position the node of the n-gram that starts there
    seen = np.bincount(tokens, minlength=v).astype(np.float64)
    found = [_Counted(np.arange(v), seen, np.zeros(v, np.int64), np.zeros(v, np.int64))]
    for length in range(2, order + 1):
        places = np.flatnonzero(np.arange(length, len(tokens) + length) <= ends)
        keys = nodes[places] * v + tokens[places + length - 1]
        unique, first, inverse, times = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        firsts = places[first]  # (g,), for every n-gram the position of one occurrence
        found.append(_Counted(unique, times.astype(np.float64), nodes[firsts], nodes[firsts + 1]))
        nodes = np.full(len(tokens), NOWHERE, np.int64)
        nodes[places] = inverse
    for place, (short, long) in enumerate(pairwise(found)):
        # The number of different words before each n-gram in place of its count.
        before = np.bincount(long.suffixes, minlength=len(short.keys)).astype(np.float64)
        found[place] = replace(short, counts=np.where(before > 0, before, short.counts))
    return found


def _levels(counted: list[_Counted], words: list[str]) -> tuple[NGrams, ...]:
    v, begin = len(words), words.index(BEGIN)
    probabilities, weights = list[Counts](), list[Counts]()
    lower = np.full(1, 1 / (v - 1))  # uniform over all words but <s>
    for length, ngrams in enumerate(counted, 1):
        counts, contexts = ngrams.counts.copy(), len(lower) if length == 1 else len(counted[length - 2].keys)
        if length == 1:
            counts[begin] = 0
        taken = np.array([0.0, *_discounts(counts)])[np.minimum(counts, 3).astype(np.int64)]  # (g,)
        total = np.bincount(ngrams.contexts, counts, minlength=contexts)
        freed = np.bincount(ngrams.contexts, taken, minlength=contexts)
        gamma = np.divide(freed, total, out=np.zeros(contexts), where=total > 0)  # (contexts,)
        seen = np.maximum(total[ngrams.contexts], 1)
        p = (counts - taken) / seen + gamma[ngrams.contexts] * lower[ngrams.suffixes]  # (g,)
        if length == 1:
            p[begin] = 10**NEVER
        probabilities.append(p)
        weights.append(np.where(gamma > 0, gamma, 1))
        lower = p
    weights.append(np.ones(len(counted[-1].keys)))
    return tuple(
        NGrams(ngrams.keys, np.log(p).astype(np.float32), np.log(weight).astype(np.float32))
        for ngrams, p, weight in zip(counted, probabilities, weights[1:], strict=True)
    )


def _discounts(counts: Counts) -> tuple[float, ...]:
    # D1, D2, D3+ of Chen & Goodman, eq. 17, from the numbers of n-grams with counts 1 to 4.
    t = [int((counts == times).sum()) for times in range(1, 5)]
    if not all(t):
        return FALLBACK
    y = t[0] / (t[0] + 2 * t[1])
    found = tuple(i - (i + 1) * y * t[i] / t[i - 1] for i in (1, 2, 3))
    return found if all(0 < d < i for i, d in enumerate(found, 1)) else FALLBACK
