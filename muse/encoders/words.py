"""Untrained encoders that pool the words of a sentence: mean, weighted mean, power means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np
from torch import Tensor

from muse.encoders.encoder import Encoded, SentenceEncoder
from muse.encoders.lookup import Lookup
from muse.encoders.pooling import Power, check_powers, listed, mean, power_means, sums
from muse.encoders.ragged import Ragged
from muse.encoders.reading import blocks, check_sentences
from muse.encoders.saving import Saved, checksums, write_encoder
from muse.encoders.weights import WEIGHTINGS, Weights, weights_from_rank, weights_from_text
from muse.errors import BadSetting
from muse.vectors import Matrix

DEFAULT_POWERS = (float("-inf"), 1.0, float("inf"))


@dataclass(frozen=True, eq=False)
class PowerMean(SentenceEncoder):
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
        """Those of the space."""
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


@dataclass(frozen=True, eq=False)
class WeightedMean(SentenceEncoder):
    """The weighted mean of a sentence's words, with idf or SIF weights (see weights).

    idf: sum_i w_i x_i / sum_i w_i. sif: sum_i w_i x_i / t (Arora et al., 2017). `fitted` has the weights
    (n + 1,) of each fitted language; those of other languages come from ranks.
    """

    lookup: Lookup
    weighting: str
    fitted: Mapping[str, Weights] = field(default_factory=dict)
    _weights: dict[str, Weights] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.weighting not in WEIGHTINGS:
            raise BadSetting(f"a weighting must be one of {', '.join(WEIGHTINGS)}; got {self.weighting!r}")
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
        """Those of the space."""
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
