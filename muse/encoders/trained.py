"""The trained encoder: the words of a space with rows that training gave them, pooled as any others are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from muse.encoders.encoder import Encoded, SentenceEncoder, check_trained_for
from muse.encoders.lookup import Lookup
from muse.encoders.pooling import check_powers, power_means, sums
from muse.encoders.ragged import Ragged
from muse.encoders.saving import Saved, checksums, write_encoder
from muse.encoders.words import pooled
from muse.files.space_folder import folder_name
from muse.files.space_manifest import plain
from muse.space import AlignedSpace
from muse.vectors import Matrix

KIND = "trained"


@dataclass(frozen=True, eq=False)
class TrainedEncoder(SentenceEncoder):
    """What training leaves: rows for the words of the languages it moved, and how sentences are made of them.

    `tables` has those rows (n, d'); of the other `trained_for` languages they are the space's. `powers` other
    than 1 are power means side by side, as of any words. `settings` say how it was trained.
    """

    label: str
    space: AlignedSpace
    trained_for: tuple[str, ...]
    tables: Mapping[str, Matrix]
    pooling: str = "mean"
    powers: tuple[float, ...] = (1.0,)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """x-cbow[align:0.25], projection[hinge:0.5]+power-mean[-inf,1,inf]."""
        listed = ",".join(f"{p:g}" for p in self.powers)
        return self.label + ("" if self.powers == (1.0,) else f"+power-mean[{listed}]")

    @property
    def languages(self) -> tuple[str, ...]:
        """The language it was trained for, and the pivot."""
        return self.trained_for

    @property
    def dimension(self) -> int:
        """The number of columns, d' for each power."""
        return len(self.powers) * self._lookup.dimension

    @cached_property
    def words(self) -> AlignedSpace:
        """The languages with the rows that training gave their words, whatever is then made of them.

        The rows are not of unit length: what a word weighs in a mean is learned too.
        """
        sides = {}
        for language in self.trained_for:
            side = self.space.side(language)
            rows = self.tables.get(language, side.vectors.matrix)
            sides[language] = replace(side, vectors=replace(side.vectors, matrix=rows), hubness={})
        return AlignedSpace(sides, self.space.pivot, self.space.manifest)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.words)

    def fit(self, sentences: Iterable[str], language: str) -> TrainedEncoder:
        """Itself: it learned from pairs, and learns nothing from text of one language."""
        check_trained_for(self, language)
        return self

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows of the sentences, in order; BadSetting where it was not trained for the language."""
        check_trained_for(self, language)
        return pooled(self._lookup, sentences, language, self._pool)

    def _pool(self, words: Ragged, rows: Tensor) -> Tensor:
        if self.powers == (1.0,) and self.pooling == "sum":
            return sums(words, rows)
        return power_means(words, rows, self.powers)

    def save(self, folder: Path) -> None:
        """Writes the rows that training moved."""
        sums_of = checksums(self.space)
        settings = {
            "pooling": self.pooling,
            "powers": [str(p) for p in self.powers],  # JSON has no infinity
            "training": plain(self.settings),
        }
        arrays = {folder_name(language): rows for language, rows in self.tables.items()}
        spaces = {language: sums_of[language] for language in self.trained_for}
        write_encoder(folder, Saved(KIND, self.label, spaces, settings, arrays))


def restore_trained(saved: Saved, space: AlignedSpace, _: Sequence[SentenceEncoder]) -> TrainedEncoder:
    """The encoder as it was saved, for its space; KeyError and the like where its settings are not whole."""
    languages, settings = tuple(saved.spaces), saved.settings
    tables = {name: saved.arrays.get(folder_name(name)) for name in languages}
    rows = {name: table for name, table in tables.items() if table is not None}
    powers = check_powers([float(p) for p in settings["powers"]])
    return TrainedEncoder(
        saved.name, space, languages, rows, settings["pooling"], powers, dict(settings["training"])
    )
