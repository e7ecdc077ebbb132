"""Lookup: the words of sentences and their rows in a space."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

import torch
from torch import Tensor

from muse.encoders.reading import Reading, Vocabulary
from muse.progress import Progress
from muse.space import AlignedSpace
from muse.space.new_words import NewWords, own_new_words

Unknown = Literal["skip", "ngrams"]


class Lookup:
    """The words of a space and their rows; each language is prepared on first use.

    A word that the space does not contain is left out ("skip") or gets a row from its n-grams ("ngrams", see
    new_words).
    """

    def __init__(
        self, space: AlignedSpace, unknown: Unknown = "skip", *, progress: Progress | None = None
    ) -> None:
        self.space, self.unknown, self._progress = space, unknown, progress
        self._ready: dict[str, _Language] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but what is prepared: its locks cannot be copied."""
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
