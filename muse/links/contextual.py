"""Contextual similarities: how much more probable two words are beside each other, by an encoder's vectors.

A word is the mean of its pieces in a middle layer, from which each language's mean is subtracted (the layers
and pieces are those of SimAlign, Jalili Sabet et al., 2020; the softmax in both directions is that of
awesome-align, Dou and Neubig, 2021). The softmax of cosine / T is over the words of other sentences, so that
it is against chance, as that of a space (`muse.links.similarity`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from muse.links.links import TokenPair
from muse.normalise import unit
from muse.optional import load
from muse.space import Space
from muse.vectors import Matrix

Odds = tuple[list[Matrix], list[Matrix]]
DEPTH = 0.58  # of the layers: the seventh of twelve
TEMPERATURE = 0.05
OTHERS = 500  # words of other sentences that a softmax is over
AT_ONCE = 256  # sentences
TOGETHER = 32  # of like length, in a batch of the encoder


class TokenEncoder:
    """An encoder in a folder, an xlm of muse or a Hugging Face one, that reads both languages.

    `means` (2, k) are those of the words of both languages, known after the first sentences.
    """

    def __init__(self, space: Space, direction: tuple[str, str], folder: Path) -> None:
        systems = load("sentences.systems.backbone")
        self._backbone = systems.open_backbone(space, folder, space.device, DEPTH)
        self._readers = [self._backbone.reader(language) for language in direction]
        self._ragged, self._direction = load("sentences.encoders.ragged").Ragged, direction
        self.name: str = self._backbone.name
        self._references: list[Matrix] | None = None
        self._means: list[Matrix] = []

    def log_odds(self, pairs: Sequence[TokenPair]) -> Odds:
        """For each pair of sentences, the log odds (s, t) of its pairs of words in both directions."""
        found: Odds = ([], [])
        for begin in range(0, len(pairs), AT_ONCE):
            for side, odds in enumerate(self._log_odds(pairs[begin : begin + AT_ONCE])):
                found[side].extend(odds)
        return found

    def _log_odds(self, pairs: Sequence[TokenPair]) -> Odds:
        rows = [self._rows([pair[side] for pair in pairs], side) for side in (0, 1)]
        if self._references is None:
            every = [np.concatenate(side) for side in rows]
            if not all(map(len, every)):  # there is an empty sentence in each pair
                empty = [np.zeros((len(one), len(two)), np.float32) for one, two in zip(*rows, strict=True)]
                return empty, empty
            self._means = [unit(side).mean(axis=0) for side in every]
            steps = [max(1, len(side) // OTHERS) for side in every]
            known = zip(every, self._means, steps, strict=True)
            self._references = [unit(unit(side[::step]) - mean) for side, mean, step in known]
        own = [[unit(unit(one) - self._means[side]) for one in rows[side]] for side in (0, 1)]
        found: Odds = ([], [])
        for one, two in zip(*own, strict=True):
            near: Matrix = one @ two.T / TEMPERATURE
            found[0].append(near - _log_mean(one, self._references[1])[:, None])
            found[1].append(near - _log_mean(two, self._references[0]))
        return found

    def _rows(self, sentences: Sequence[Sequence[str]], side: int) -> list[Matrix]:
        """The rows (s, k) of the words of each sentence, zeros for words without pieces."""
        read = self._readers[side].read([token for sentence in sentences for token in sentence]).sentences
        counts, ids = read.lengths.tolist(), read.ids.tolist()
        lines, begin, at = list[list[int]](), 0, 0
        for sentence in sentences:
            pieces = sum(counts[at : at + len(sentence)])
            lines.append(ids[begin : begin + pieces])
            begin, at = begin + pieces, at + len(sentence)
        states = self._states(lines, self._direction[side])
        found, at = list[Matrix](), 0
        for sentence, of_pieces in zip(sentences, states, strict=True):
            lengths = np.array(counts[at : at + len(sentence)], np.int64)
            words = np.repeat(np.arange(len(sentence)), lengths)
            rows = np.zeros((len(sentence), self._backbone.dimension), np.float32)
            np.add.at(rows, words, of_pieces)
            found.append(np.asarray(rows / np.maximum(lengths, 1)[:, None], np.float32))
            at += len(sentence)
        return found

    def _states(self, lines: Sequence[Sequence[int]], language: str) -> list[Matrix]:
        """The states (p, k) of the pieces of each sentence; sentences too long for the encoder in parts."""
        room = self._backbone.longest
        parts = [
            (place, at, line[at : at + room])
            for place, line in enumerate(lines) for at in range(0, len(line), room)
        ]  # fmt: skip
        parts.sort(key=lambda part: len(part[2]))
        found: list[list[tuple[int, Matrix]]] = [
            [(-1, np.zeros((0, self._backbone.dimension), np.float32))] for _ in lines
        ]
        for begin in range(0, len(parts), TOGETHER):
            some = parts[begin : begin + TOGETHER]
            batch = self._ragged.of([line for *_, line in some])
            states = self._backbone.matrices(batch, language).rows.cpu().numpy()
            for (place, at, line), rows in zip(some, states, strict=True):
                found[place].append((at, rows[: len(line)]))
        return [np.concatenate([rows for _, rows in sorted(one, key=lambda part: part[0])]) for one in found]


def _log_mean(rows: Matrix, others: Matrix) -> Matrix:
    """The log of the mean of exp(cosine / T) of rows (s, k) with others (r, k): (s,)."""
    return np.asarray(np.log(np.exp(rows @ others.T / TEMPERATURE).mean(axis=1)), np.float32)
