"""Contextual similarities: how much more probable two words are beside each other, by an encoder's vectors.

A word has the same vector everywhere by an encoder of words alone. By others it is the mean of its pieces in
a middle layer (layers and pieces are those of SimAlign, Jalili Sabet et al., 2020). Each language's mean is
subtracted. The softmax in both directions, that of awesome-align (Dou and Neubig, 2021), is of cosine / T
over words of other sentences, so that it is against chance, as that of a space (`muse.links.similarity`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from muse.links.links import TokenPair
from muse.normalise import unit
from muse.optional import load
from muse.ranking.lookup import lookup_entry
from muse.space import Space
from muse.vectors import Matrix, Vectors

Odds = tuple[list[Matrix], list[Matrix]]
DEPTH = 0.58  # of the layers: the seventh of twelve
TEMPERATURE = 0.05
OTHERS = 500  # words of other sentences that a softmax is over
AT_ONCE = 256  # sentences
TOGETHER = 32  # of like length, in a batch of the encoder


class TokenEncoder:
    """An encoder in a folder that reads both languages: of Hugging Face, of words alone, or of muse train."""

    def __init__(self, space: Space, direction: tuple[str, str], folder: Path) -> None:
        self._vectors = _opened(space, direction, folder)
        self.name = self._vectors.name
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
        rows = [self._vectors.rows([pair[side] for pair in pairs], side) for side in (0, 1)]
        if self._references is None:
            every = [np.concatenate(side) for side in rows]
            if not all(map(len, every)):  # there is an empty sentence in each pair
                empty = [np.zeros((len(one), len(two)), np.float32) for one, two in zip(*rows, strict=True)]
                return empty, empty
            self._means = [unit(side).mean(axis=0) for side in every]
            steps = [max(1, len(side) // OTHERS) for side in every]
            known = zip(every, self._means, steps, strict=True)
            self._references = [unit(unit(side[::step]) - mean) for side, mean, step in known]
        found: Odds = ([], [])
        for both in zip(*rows, strict=True):
            one, two = (unit(unit(own) - mean) for own, mean in zip(both, self._means, strict=True))
            near: Matrix = one @ two.T / TEMPERATURE
            known = both[0].any(axis=1)[:, None] & both[1].any(axis=1)  # of other words nothing is said
            found[0].append(np.where(known, near - _log_mean(one, self._references[1])[:, None], 0))
            found[1].append(np.where(known, near - _log_mean(two, self._references[0]), 0))
        return found


def _opened(space: Space, direction: tuple[str, str], folder: Path) -> _ContextVectors | _StaticVectors:
    """What gives the vectors of an encoder's words; BadSetting for one that has none."""
    saving, path = load("sentences.encoders.saving"), folder
    if saving.is_encoder(folder):
        settings = saving.read_encoder(folder).settings
        if backbone := settings.get("backbone"):
            path = Path(backbone["folder"])
        elif settings.get("system") != "xlm":
            learned = load("sentences.loading").learned_words(folder, space)
            sides = [learned.vectors(language) for language in direction]
            return _StaticVectors(folder.name, [partial(_of_vocabulary, side) for side in sides])
    elif (kind := load("embedding.pretrained").module_of(folder)) is not None:
        if kind.is_static:
            read = load("embedding.pretrained").PretrainedEncoder(folder).opened(space.device)
            return _StaticVectors(folder.name, [read, read])
        path = folder / kind.path
    backbone = load("sentences.systems.backbone").open_backbone(space, path, space.device, DEPTH)
    return _ContextVectors(backbone, direction)


def _of_vocabulary(vectors: Vectors, words: Sequence[str]) -> Matrix:
    """The rows (n, d) of words, zeros for those that the vocabulary lacks."""
    names = [lookup_entry(word, vectors) for word in words]
    entries = np.array([-1 if name is None else vectors.index[name] for name in names], np.int64)
    return np.where(entries[:, None] >= 0, vectors.matrix[entries], 0)


class _StaticVectors:
    """Words with the same vector everywhere; `read` gives the rows (n, k) of words of either side."""

    def __init__(self, name: str, read: Sequence[Callable[[Sequence[str]], Matrix]]) -> None:
        self.name, self._read = name, read
        self._known: tuple[dict[str, Matrix], dict[str, Matrix]] = ({}, {})

    def rows(self, sentences: Sequence[Sequence[str]], side: int) -> list[Matrix]:
        """The rows (s, k) of the words of each sentence, zeros for unknown ones."""
        known = self._known[side]
        if new := [*dict.fromkeys(word for one in sentences for word in one if word not in known)]:
            known |= zip(new, self._read[side](new), strict=True)
        width = len(next(iter(known.values()), ()))
        return [np.array([known[word] for word in one], np.float32).reshape(-1, width) for one in sentences]


class _ContextVectors:
    """Words in their sentences, by the pieces of an encoder, the `backbone`."""

    def __init__(self, backbone: Any, direction: tuple[str, str]) -> None:
        self._backbone, self._direction, self.name = backbone, direction, str(backbone.name)
        self._readers = [backbone.reader(language) for language in direction]
        self._ragged = load("sentences.encoders.ragged").Ragged

    def rows(self, sentences: Sequence[Sequence[str]], side: int) -> list[Matrix]:
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
