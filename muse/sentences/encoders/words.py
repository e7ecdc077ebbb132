"""Untrained encoders that pool the words of a sentence: mean, weighted mean, power means.

A Lookup gives the words of sentences and their rows in a space. The weights of words in a weighted mean come
from text, or else from frequency ranks: without text, the word of rank r has the probability 1/r over the sum
of 1/r for all ranks (Zipf's law); the words of a space are sorted by frequency.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.errors import BadSetting, Mismatch
from muse.progress import Progress
from muse.sentences.encoders.encoder import Encoded, SentenceEncoder
from muse.sentences.encoders.pooling import Power, check_powers, listed, mean, power_means, sums
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reading, Vocabulary, blocks, check_sentences
from muse.sentences.encoders.saving import Saved, checksums, write_encoder
from muse.space import Space
from muse.space.new_words import NewWords, own_new_words
from muse.vectors import Matrix, ShortRepr

Unknown = Literal["skip", "ngrams"]
Weights = NDArray[np.float32]
Numbers = NDArray[np.float64]
WEIGHTINGS = ("idf", "sif")
SMOOTHING = 1e-3  # a of SIF, as published
TYPICAL = 10  # words in a sentence, assumed when there is no text
DEFAULT_POWERS = (float("-inf"), 1.0, float("inf"))


@dataclass(frozen=True, eq=False, repr=False)
class PowerMean(ShortRepr, SentenceEncoder):
    """The power means of a sentence's words, k d columns for k powers (Rueckle et al., 2018)."""

    lookup: Lookup
    powers: tuple[Power, ...] = (1.0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "powers", check_powers(self.powers))

    @property
    def name(self) -> str:
        """The name: mean, or for example power-mean[-inf,1,inf]."""
        name = "mean" if self.powers == (1.0,) else f"power-mean[{listed(self.powers)}]"
        return name + self.lookup.suffix

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the space."""
        return self.lookup.space.languages

    @property
    def dimension(self) -> int:
        """The number of columns k d."""
        return len(self.powers) * self.lookup.dimension

    def fit(self, sentences: Iterable[str], language: str) -> PowerMean:
        """Returns self: there is nothing to learn."""
        self.lookup.space.side(language)
        check_sentences(sentences)
        return self

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows (s, k d) of the sentences."""
        return pooled(
            self.lookup, sentences, language, lambda words, rows: power_means(words, rows, self.powers)
        )

    def save(self, folder: Path) -> None:
        """Writes the name alone, since nothing was learned."""
        write_encoder(folder, Saved("power-mean", self.name, checksums(self.lookup.space)))


@dataclass(frozen=True, eq=False, repr=False)
class WeightedMean(ShortRepr, SentenceEncoder):
    """The weighted mean of a sentence's words, with idf or SIF weights (see weights_from_text).

    idf: sum_i w_i x_i / sum_i w_i. sif: sum_i w_i x_i / t (Arora et al., 2017). `fitted` has the weights
    (n + 1,) of each fitted language; those of other languages come from ranks.
    """

    lookup: Lookup
    weighting: str
    fitted: Mapping[str, Weights] = field(default_factory=dict)
    _weights: dict[str, Weights] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        _check_weighting(self.weighting)
        for language in self.languages:
            if language in self.fitted:
                self._weights[language] = self.fitted[language]
            else:
                n = len(self.lookup.space.vectors(language))
                self._weights[language] = weights_from_rank(self.weighting, n)

    @property
    def name(self) -> str:
        """The name: idf, or idf[rank] before it is fitted."""
        return self.weighting + ("" if self.fitted else "[rank]") + self.lookup.suffix

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the space."""
        return self.lookup.space.languages

    @property
    def dimension(self) -> int:
        """The number of columns d."""
        return self.lookup.dimension

    def fit(self, sentences: Iterable[str], language: str) -> WeightedMean:
        """A copy with weights learned from the sentences for their language."""
        n = len(self.lookup.space.vectors(language))
        text = (self.lookup.read(block, language)[0].sentences for block in blocks(sentences))
        found = weights_from_text(self.weighting, text, n)
        return replace(self, fitted={**self.fitted, language: found})

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows (s, d) of the sentences."""
        self.lookup.space.side(language)
        weights = self._weights[language]

        def pool(words: Ragged, rows: Tensor) -> Tensor:
            of_words = weights[np.minimum(words.ids.numpy(), len(weights) - 1)]  # (t,)
            if self.weighting == "idf":
                return mean(words, rows, of_words)
            return sums(words, rows, of_words) / words.lengths.clamp_min(1)[:, None]

        return pooled(self.lookup, sentences, language, pool)

    def save(self, folder: Path) -> None:
        """Writes the learned weights."""
        saved = Saved("weighted", self.name, checksums(self.lookup.space), arrays=self.fitted)
        write_encoder(folder, saved)


def pooled(
    lookup: Lookup, sentences: Iterable[str], language: str, pool: Callable[[Ragged, Tensor], Tensor]
) -> Encoded:
    """The sentences encoded by `pool`, from the ids of their words and the rows (n, d) of all words."""
    lookup.space.side(language)
    rows = _Rows(len(sentences) if isinstance(sentences, Sized) else None)
    empty = tokens = unknown = 0
    for block in chain(blocks(sentences), [[]]):  # without sentences there are still rows (0, d')
        reading, of_words = lookup.read(block, language)
        rows.add(pool(reading.sentences, of_words).numpy())
        empty += reading.empty
        tokens += reading.tokens
        unknown += reading.unknown
    return Encoded(rows.all(), empty, tokens, unknown)


class _Rows:
    # Collects rows in blocks, directly into one array if their number is known.

    def __init__(self, count: int | None) -> None:
        self._count, self._done = count, 0
        self._blocks: list[Matrix] = []

    def add(self, rows: Matrix) -> None:
        if self._count is None:
            self._blocks.append(rows)
            return
        if not self._blocks:
            self._blocks = [np.empty((self._count, rows.shape[1]), np.float32)]
        self._blocks[0][self._done : self._done + len(rows)] = rows
        self._done += len(rows)

    def all(self) -> Matrix:
        return self._blocks[0] if len(self._blocks) == 1 else np.concatenate(self._blocks)


class Lookup:
    """The words of a space and their rows; each language is prepared on first use.

    A word that the space does not contain is left out ("skip") or gets a row from its n-grams ("ngrams", see
    muse.space.new_words).
    """

    def __init__(self, space: Space, unknown: Unknown = "skip", *, progress: Progress | None = None) -> None:
        self.space, self.unknown, self._progress = space, unknown, progress
        self._ready: dict[str, _Language] = {}

    def __getstate__(self) -> dict[str, Any]:
        """The attributes without the prepared languages, whose locks cannot be copied."""
        return {**vars(self), "_ready": {}}

    @property
    def dimension(self) -> int:
        """The number of columns d."""
        return self.space.vectors(self.space.pivot).dimension

    @property
    def suffix(self) -> str:
        """The suffix of an encoder's name for the treatment of unknown words."""
        return "+ngrams" if self.unknown == "ngrams" else ""

    def read(self, sentences: Iterable[str], language: str) -> tuple[Reading, Tensor]:
        """The words of the sentences, as indices into the rows (n, d) of the space and of new words."""
        ready = self._language(language)
        with ready.lock:  # another thread's reading may drop the new words
            reading = ready.vocabulary.read(sentences)
            return reading, ready.rows if ready.new is None else ready.new.rows

    def forget(self) -> None:
        """Drops all prepared languages and new words."""
        self._ready.clear()

    def _language(self, language: str) -> _Language:
        if language not in self._ready:
            vectors = self.space.vectors(language)
            new = None
            if self.unknown == "ngrams":
                new = _NewRows(own_new_words(self.space, language, progress=self._progress), vectors.tensor())
            vocabulary = Vocabulary(language, vectors.index, new, new.forget if new else None)
            self._ready[language] = _Language(vocabulary, vectors.tensor(), new)
        return self._ready[language]


@dataclass(frozen=True, eq=False)
class _Language:
    vocabulary: Vocabulary
    rows: Tensor
    new: _NewRows | None
    lock: Lock = field(default_factory=Lock)


class _NewRows:
    """Appends the rows of new words to the rows (n, d) of the space as they are first read."""

    def __init__(self, words: NewWords, rows: Tensor) -> None:
        self._words, self._known = words, rows
        self._table, self._count = rows, len(rows)
        self._places: dict[str, int | None] = {}

    def __call__(self, token: str) -> int | None:
        word = token.lower()
        if word not in self._places:
            self._places[word] = self._add(word) if self._words.has(word) else None
        return self._places[word]

    def _add(self, word: str) -> int:
        place = self._count
        if place == len(self._table):
            more = torch.zeros(max(1024, place // 4), self._table.shape[1])
            self._table = torch.cat([self._table, more])
        self._table[place] = torch.from_numpy(self._words.rows([word])[0])
        self._count += 1
        return place

    @property
    def rows(self) -> Tensor:
        return self._table[: self._count]

    def forget(self) -> None:
        self._table = self._known  # a new one is made for the next word: the old one may still be read
        self._places = {}
        self._count = len(self._known)


def weights_from_text(weighting: str, text: Iterable[Ragged], n: int) -> Weights:
    """The weights (n + 1,) of n words from the sentences of a text; the last one is for unknown words.

    idf: log((s + 1) / (f + 1/2)) for a word in f of s sentences. sif: a / (a + p), where p is its share of
    all words (Arora et al., 2017). Raises Mismatch if the text has none of the words.
    """
    _check_weighting(weighting)
    sentences, counts, total = 0, np.zeros(n + 1), 0
    for block in text:
        words = np.minimum(block.ids.numpy(), n)
        if weighting == "idf":
            of = np.repeat(np.arange(len(block)), block.lengths.numpy())
            words = np.unique(of * (n + 1) + words) % (n + 1)
        counts += np.bincount(words, minlength=n + 1)
        sentences += len(block)
        total += len(words)
    if not total:
        raise Mismatch(f"{weighting} needs text with words of the space, got none in {sentences} lines")
    counts[n] = 0  # each unknown word is rare, though together they are not
    return _sif(counts / total) if weighting == "sif" else _idf(counts, sentences)


def weights_from_rank(weighting: str, n: int) -> Weights:
    """The weights (n + 1,) of n words by rank alone; the last one is for unknown words.

    idf: -log of the probability that a sentence of ten words contains the word. sif: a / (a + p).
    """
    _check_weighting(weighting)
    p = 1 / np.arange(1, n + 2)  # (n + 1,)
    p /= p.sum()
    if weighting == "sif":
        return _sif(p)
    return (-np.log1p(-((1 - p) ** TYPICAL))).astype(np.float32)


def _check_weighting(weighting: str) -> None:
    if weighting not in WEIGHTINGS:
        raise BadSetting(f"a weighting must be one of {', '.join(WEIGHTINGS)}; got {weighting!r}")


def _sif(p: Numbers) -> Weights:
    return (SMOOTHING / (SMOOTHING + p)).astype(np.float32)


def _idf(counts: Numbers, sentences: int) -> Weights:
    # 1/2, not 1: a word in every sentence still has a positive weight, so that no mean is 0/0.
    return np.log((sentences + 1) / (counts + 0.5)).astype(np.float32)
