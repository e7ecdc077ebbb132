"""Encoding on a cluster: a vector for each sentence, in parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from muse.cluster.run import Make, Run
from muse.files.parquet import SENTENCE, VECTOR
from muse.files.parts import PartFolder
from muse.files.text_slices import TextSlice, slices
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.reading import blocks
from muse.sentences.loading import load_encoder
from muse.space import load_space
from muse.vectors import Matrix

ROW = "row"
COUNTS = ("empty", "tokens", "unknown", "truncated")


@dataclass(frozen=True)
class Text:
    """A text in a language: a file of lines, Parquet with a `column` of text, or a folder of such files."""

    path: Path
    language: str
    column: str | None = None


@dataclass(frozen=True)
class SavedEncoder:
    """A saved encoder, and the spaces that it was made for, on a disk that all machines share."""

    folder: Path
    spaces: tuple[Path, ...]

    @classmethod
    def of(cls, encoder: SentenceEncoder, folder: Path, spaces: tuple[Path, ...]) -> SavedEncoder:
        """The encoder, saved now, in place of one that an interrupted run has saved."""
        encoder.save(folder)
        return cls(folder.resolve(), tuple(space.resolve() for space in spaces))

    def load(self) -> SentenceEncoder:
        """The encoder; its spaces are not checked again, as they were when it was saved."""
        return load_encoder(self.folder, *(load_space(space, check=False) for space in self.spaces))


@dataclass(frozen=True)
class Encoding:
    """The job of encoding the slices of a text, each to one part, with the numbers of the sentences.

    With `only`, a file of a bool for each sentence, the others are left out, and those without a vector too.
    """

    encoder: SavedEncoder
    language: str
    slices: tuple[TextSlice, ...]
    parts: PartFolder
    only: Path | None = None

    def begin(self) -> Make:
        """A function that encodes a part."""
        encoder = self.encoder.load()
        return lambda number: self._encode(encoder, number)

    def _encode(self, encoder: SentenceEncoder, number: int) -> None:
        part = self.slices[number]
        sentences, rows = part.sentences(), np.arange(part.first, part.first + part.rows)
        if self.only is not None:
            kept = np.load(self.only, mmap_mode="r")[part.first : part.first + part.rows]
            sentences, rows = [sentences[place] for place in np.flatnonzero(kept)], rows[kept]
        matrix, counts = _encoded(encoder, sentences, self.language)
        if self.only is not None:
            known = matrix.any(axis=1)
            sentences = [sentences[place] for place in np.flatnonzero(known)]
            rows, matrix = rows[known], matrix[known]
        self.parts.write(number, {ROW: rows, SENTENCE: sentences, VECTOR: matrix}, counts)


def _encoded(encoder: SentenceEncoder, sentences: list[str], language: str) -> tuple[Matrix, dict[str, int]]:
    """The rows (s, d) of the sentences, and the counts."""
    encoded = [encoder.encode(block, language) for block in blocks(sentences)]
    empty = np.empty((0, encoder.dimension), np.float32)
    matrix = np.concatenate([empty, *(one.matrix for one in encoded)])
    return matrix, {name: sum(getattr(one, name) for one in encoded) for name in COUNTS}


def encode(encoder: SentenceEncoder, spaces: tuple[Path, ...], text: Text, run: Run) -> dict[str, Any]:
    """The counts of encoding a text in parts with the columns row, sentence and vector.

    `spaces` are those that the encoder was made for.
    """
    if (done := run.result()) is not None:
        return done
    found = tuple(slices(text.path, text.column))
    with run.begun(len(found)) as site:
        if site.parts.missing():
            saved = SavedEncoder.of(encoder, site.encoder, spaces)
            site.make("parts of the text", site.parts, Encoding(saved, text.language, found, site.parts))
        counts = site.parts.counts()
        return site.finish(sentences=counts.pop("rows"), **counts, parts=len(found))
