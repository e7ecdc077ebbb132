"""The trained encoder: pools trained rows of the words of a space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from muse.files.space_folder import folder_name
from muse.files.space_manifest import plain
from muse.sentences.encoders.encoder import Encoded, SentenceEncoder, check_trained_for
from muse.sentences.encoders.pooling import Power, check_powers, listed, parsed_power, power_means, sums
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import check_sentences
from muse.sentences.encoders.saving import Saved, checksums, write_encoder
from muse.sentences.encoders.words import Lookup, pooled
from muse.space import Space
from muse.vectors import Matrix

KIND = "trained"


@dataclass(frozen=True, eq=False)
class TrainedEncoder(SentenceEncoder):
    """A sentence encoder that pools trained rows of words.

    `tables` has the trained rows (n, d') of each language that training changed; the other `trained_for`
    languages keep the rows of the space. `powers` other than 1 give power means side by side. `settings`
    record how the encoder was trained.
    """

    label: str
    space: Space
    trained_for: tuple[str, ...]
    tables: Mapping[str, Matrix]
    pooling: str = "mean"
    powers: tuple[Power, ...] = (1.0,)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The label, with the powers if any: projection[hinge:0.5]+power-mean[-inf,1,inf]."""
        return self.label + ("" if self.powers == (1.0,) else f"+power-mean[{listed(self.powers)}]")

    @property
    def languages(self) -> tuple[str, ...]:
        """The language it was trained for, and the pivot."""
        return self.trained_for

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
    def _lookup(self) -> Lookup:
        return Lookup(self.words)

    def fit(self, sentences: Iterable[str], language: str) -> TrainedEncoder:
        """Returns self: a trained encoder learns nothing from text in one language."""
        check_trained_for(self, language)
        check_sentences(sentences)
        return self

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows of the sentences, in order; BadSetting if it was not trained for the language."""
        check_trained_for(self, language)
        return pooled(self._lookup, sentences, language, self._pool)

    def _pool(self, words: Ragged, rows: Tensor) -> Tensor:
        if self.powers == (1.0,) and self.pooling == "sum":
            return sums(words, rows)
        return power_means(words, rows, self.powers)

    def save(self, folder: Path) -> None:
        """Writes the rows that training changed."""
        settings = {
            "pooling": self.pooling,
            "powers": [str(p) for p in self.powers],  # JSON has no infinity
            "training": plain(self.settings),
        }
        arrays = {folder_name(language): rows for language, rows in self.tables.items()}
        spaces = checksums(self.space, self.trained_for)
        write_encoder(folder, Saved(KIND, self.label, spaces, settings, arrays))


def restore_trained(saved: Saved, space: Space, _: Sequence[SentenceEncoder]) -> TrainedEncoder:
    """The saved encoder, for its space; KeyError, TypeError or ValueError if its settings are incomplete."""
    languages, settings = tuple(saved.spaces), saved.settings
    tables = {name: saved.arrays.get(folder_name(name)) for name in languages}
    rows = {name: table for name, table in tables.items() if table is not None}
    powers = check_powers([parsed_power(str(p)) for p in settings["powers"]])
    return TrainedEncoder(
        saved.name, space, languages, rows, settings["pooling"], powers, dict(settings["training"])
    )
