"""LanguageModel: a back-off n-gram model, as sorted arrays that are searched for many words at once.

An n-gram is a node, numbered within its length; its key is `node of its first n - 1 words * v + last word`
with v words in the vocabulary. The sorted keys of a length are both its table and its numbering.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.word_index import WordIndex

Ids = NDArray[np.int64]
Logs = NDArray[np.float32]

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
NOWHERE = -1  # the node of an n-gram that is not in the model


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

    def __post_init__(self) -> None:
        for word in (BEGIN, END, UNKNOWN):
            if word not in self.index:
                raise Mismatch(
                    f"a language model must have the word {word}, got none among {len(self.words)}"
                )

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.levels)

    @cached_property
    def index(self) -> WordIndex:
        """The number of each word, looked up in whatever Unicode form."""
        return WordIndex(self.words)

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
            context = states[:, length - 1, None]  # (b, 1)
            known = context != NOWHERE
            backoff = _at(self.levels[length - 1].backoff, context)
            found = find(self.levels[length].keys, context * len(self.words) + words)  # (b, k)
            found = np.where(known, found, NOWHERE)
            log_p, there = log_p + backoff, found != NOWHERE
            log_p[there] = self.levels[length].log_p[found[there]]
            nodes.append(found)
        return Step(log_p, np.stack(nodes[: self.order - 1], axis=-1) if self.order > 1 else _none(words))

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


def _at(values: Logs, places: Ids) -> Logs:
    """The values at these places, 0 at NOWHERE; of a length longer than every sentence there are none."""
    found, there = np.zeros(places.shape, np.float32), places != NOWHERE
    found[there] = values[places[there]]
    return found


def _none(words: Ids) -> Ids:
    return np.empty((*words.shape, 0), np.int64)
