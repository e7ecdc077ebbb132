"""Encoders that pool the words of a sentence: mean, weighted mean, power means, and trained rows of words.

A Lookup gives the words of sentences and their rows in a space. The weights of words in a weighted mean come
from text, or else from frequency ranks: without text, the word of rank r has the probability 1/r over the sum
of 1/r for all ranks (Zipf's law); the words of a space are sorted by frequency.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.errors import Mismatch, counted
from muse.files.space_folder import folder_name
from muse.files.space_manifest import plain
from muse.progress import Progress
from muse.sentences.encoders import pooling
from muse.sentences.encoders.encoder import Encoded, SentenceEncoder, Trained, check_trained_for
from muse.sentences.encoders.pooling import Power, check_powers, listed
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reading, Vocabulary, blocks, check_sentences
from muse.sentences.encoders.saving import Saved, checksums, write_encoder
from muse.space import Space
from muse.space.new_words import NewWords, own_new_words
from muse.vectors import Matrix, ShortRepr, Vectors

Unknown = Literal["skip", "ngrams"]
Weights = NDArray[np.float32]
TRAINED = "trained"  # the kind of saved encoders
SMOOTHING = 1e-3  # a of SIF, as published
TYPICAL = 10  # words in a sentence, assumed when there is no text
DEFAULT_POWERS = (float("-inf"), 1.0, float("inf"))


@dataclass(frozen=True, eq=False, repr=False)
class PowerMean(ShortRepr, SentenceEncoder):
    """The power means of a sentence's words, k d columns for k powers (Rueckle et al., 2018)."""

    lookup: "Lookup"
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

    def fit(self, sentences: Iterable[str], language: str) -> "PowerMean":
        """Returns self: there is nothing to learn."""
        self.lookup.space.side(language)
        check_sentences(sentences)
        return self

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows (s, k d) of the sentences."""
        return pooled(self.lookup, sentences, language, partial(pooling.power_means, powers=self.powers))

    def save(self, folder: Path) -> None:
        """Writes the name alone, since nothing was learned."""
        write_encoder(folder, Saved("power-mean", self.name, checksums(self.lookup.space)))


@dataclass(frozen=True, eq=False, repr=False)
class WeightedMean(ShortRepr, SentenceEncoder):
    """The weighted mean of a sentence's words, with idf or SIF weights (see weights_from_text).

    idf: sum_i w_i x_i / sum_i w_i. sif: sum_i w_i x_i / t (Arora et al., 2017). `fitted` has the weights
    (n + 1,) of each fitted language; those of other languages come from ranks.
    """

    lookup: "Lookup"
    weighting: str
    fitted: Mapping[str, Weights] = field(default_factory=dict)

    @cached_property
    def weights(self) -> dict[str, Weights]:
        """The weights (n + 1,) of the words of each language."""
        size = {language: len(self.lookup.space.vectors(language)) for language in self.languages}
        return {name: weights_from_rank(self.weighting, n) for name, n in size.items()} | dict(self.fitted)

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

    def fit(self, sentences: Iterable[str], language: str) -> "WeightedMean":
        """A copy with weights learned from the sentences for their language."""
        n = len(self.lookup.space.vectors(language))
        text = (self.lookup.read(block, language)[0].sentences for block in blocks(sentences))
        found = weights_from_text(self.weighting, text, n)
        return replace(self, fitted={**self.fitted, language: found})

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows (s, d) of the sentences."""
        self.lookup.space.side(language)
        weights = self.weights[language]

        def pool(words: Ragged, rows: Tensor) -> Tensor:
            of_words = weights[np.minimum(words.ids.numpy(), len(weights) - 1)]  # (t,)
            if self.weighting == "idf":
                return pooling.mean(words, rows, of_words)
            return pooling.sums(words, rows, of_words) / words.lengths.clamp_min(1)[:, None]

        return pooled(self.lookup, sentences, language, pool)

    def save(self, folder: Path) -> None:
        """Writes the learned weights."""
        saved = Saved("weighted", self.name, checksums(self.lookup.space), arrays=self.fitted)
        write_encoder(folder, saved)


def restored_weighted(saved: Saved, lookup: "Lookup", weighting: str) -> WeightedMean:
    """The saved encoder that reads words by `lookup`; ValueError for weights of other words."""
    for language, weights in saved.arrays.items():
        count = len(lookup.space.vectors(language)) + 1
        if weights.shape != (count,) or weights.dtype != np.float32 or not np.isfinite(weights).all():
            raise ValueError(f"weights of {language} that are not of its words")
    return WeightedMean(lookup, weighting, saved.arrays)


@dataclass(frozen=True, eq=False)
class TrainedEncoder(Trained):
    """A sentence encoder that pools trained rows of words.

    `tables` has the trained rows (n, d') of each language that training changed; the other `trained_for`
    languages keep the rows of the space. `powers` other than 1 give power means side by side. `settings`
    record how the encoder was trained.
    """

    tables: Mapping[str, Matrix]
    pooling: str = "mean"
    powers: tuple[Power, ...] = (1.0,)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The label, with the powers if any: projection[hinge:0.5]+power-mean[-inf,1,inf]."""
        return self.label + ("" if self.powers == (1.0,) else f"+power-mean[{listed(self.powers)}]")

    @property
    def dimension(self) -> int:
        """The number of columns: d' times the number of powers."""
        return len(self.powers) * self._lookup.dimension

    @cached_property
    def words(self) -> Space:
        """A space of the trained rows, before any pooling.

        The rows are not of unit length, since training also learns how much a word counts in a mean.
        """
        sides = {}
        for language in self.trained_for:
            side = self.space.side(language)
            rows = self.tables.get(language, side.vectors.matrix)
            sides[language] = replace(side, vectors=replace(side.vectors, matrix=rows))
        return Space(sides, self.space.pivot, self.space.manifest)

    @cached_property
    def _lookup(self) -> "Lookup":
        return Lookup(self.words)

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows of the sentences, in order; BadSetting if it was not trained for the language."""
        check_trained_for(self, language)
        if self.powers == (1.0,) and self.pooling == "sum":
            return pooled(self._lookup, sentences, language, pooling.sums)
        return pooled(self._lookup, sentences, language, partial(pooling.power_means, powers=self.powers))

    def save(self, folder: Path) -> None:
        """Writes the rows that training changed."""
        settings = {
            "pooling": self.pooling,
            "powers": [str(p) for p in self.powers],  # JSON has no infinity
            "training": plain(self.settings),
        }
        arrays = {folder_name(language): rows for language, rows in self.tables.items()}
        spaces = checksums(self.space, self.trained_for)
        write_encoder(folder, Saved(TRAINED, self.label, spaces, settings, arrays))


def restore_trained(saved: Saved, space: Space, _: Sequence[SentenceEncoder]) -> TrainedEncoder:
    """The saved encoder, for its space; KeyError, TypeError or ValueError if its settings are incomplete."""
    languages, settings = tuple(saved.spaces), saved.settings
    tables = {name: saved.arrays.get(folder_name(name)) for name in languages}
    rows = {name: table for name, table in tables.items() if table is not None}
    powers = check_powers([pooling.parsed_power(str(p)) for p in settings["powers"]])
    widths = {rows.get(name, space.vectors(name).matrix).shape[1:] for name in languages}
    if len(widths) > 1 or any(table.dtype != np.float32 for table in rows.values()):
        raise ValueError("tables of other numbers, or of several dimensions")
    if settings["pooling"] not in ("mean", "sum"):
        raise ValueError("another pooling")
    return TrainedEncoder(
        saved.name, space, languages, rows, settings["pooling"], powers, dict(settings["training"])
    )


def pooled(
    lookup: "Lookup", sentences: Iterable[str], language: str, pool: Callable[[Ragged, Tensor], Tensor]
) -> Encoded:
    """The sentences encoded by `pool`, from the ids of their words and the rows (n, d) of all words."""
    lookup.space.side(language)
    found, counts = list[Matrix](), np.zeros(3, np.int64)
    for block in chain(blocks(sentences), [[]]):  # without sentences there are still rows (0, d')
        reading, of_words = lookup.read(block, language)
        found.append(pool(reading.sentences, of_words).numpy())
        counts += (reading.empty, reading.tokens, reading.unknown)
    return Encoded(np.concatenate(found), *counts.tolist())


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
        if language not in self._ready:
            new = None
            if self.unknown == "ngrams":
                new = own_new_words(self.space, language, by_forms=False, progress=self._progress)
            self._ready[language] = _Language(self.space.vectors(language), language, new)
        return self._ready[language].read(sentences)


class _Language:
    """The vocabulary of a language, and its rows (n, d), to which those of new words are appended as read."""

    _table: Tensor
    _count: int
    _places: dict[str, int | None]

    def __init__(self, vectors: Vectors, language: str, words: NewWords | None) -> None:
        self._words, self._known, self._lock = words, vectors.tensor(), Lock()
        self._forget()
        more = () if words is None else (self._place, self._forget)
        self._vocabulary = Vocabulary(language, vectors.index, *more)

    def read(self, sentences: Iterable[str]) -> tuple[Reading, Tensor]:
        with self._lock:  # another thread's reading may drop the new words
            return self._vocabulary.read(sentences), self._table[: self._count]

    def _place(self, token: str) -> int | None:
        words, word = self._words, token.lower()
        if words is not None and word not in self._places:
            self._places[word] = self._count if words.has(word) else None
            if (place := self._places[word]) is not None:
                if place == len(self._table):
                    more = torch.zeros(max(1024, place // 4), self._table.shape[1])
                    self._table = torch.cat([self._table, more])
                self._table[place] = torch.from_numpy(words.rows([word])[0])
                self._count += 1
        return self._places[word]

    def _forget(self) -> None:
        self._table = self._known  # a new one is made for the next word: the old one may still be read
        self._places = {}
        self._count = len(self._known)


def weights_from_text(weighting: str, text: Iterable[Ragged], n: int) -> Weights:
    """The weights (n + 1,) of n words from the sentences of a text; the last one is for unknown words.

    idf: log((s + 1) / (f + 1/2)) for a word in f of s sentences. sif: a / (a + p), where p is its share of
    all words (Arora et al., 2017). Raises Mismatch if the text has none of the words.
    """
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
        raise Mismatch(
            f"{weighting} needs text with words of the space, got none in {counted(sentences, 'line')}"
        )
    counts[n] = 0  # each unknown word is rare, though together they are not
    if weighting == "sif":
        return (SMOOTHING / (SMOOTHING + counts / total)).astype(np.float32)
    # 1/2, not 1: a word in every sentence still has a positive weight, so that no mean is 0/0.
    return np.log((sentences + 1) / (counts + 0.5)).astype(np.float32)


def weights_from_rank(weighting: str, n: int) -> Weights:
    """The weights (n + 1,) of n words by rank alone; the last one is for unknown words.

    idf: -log of the probability that a sentence of ten words contains the word. sif: a / (a + p).
    """
    p = 1 / np.arange(1, n + 2)  # (n + 1,)
    p /= p.sum()
    if weighting == "sif":
        return (SMOOTHING / (SMOOTHING + p)).astype(np.float32)
    return (-np.log1p(-((1 - p) ** TYPICAL))).astype(np.float32)
