"""FastText models (.bin): vectors of known words, and of any string from its n-grams.

Only this module uses fasttext, and only for the n-grams of a string: packages of that name return different
vectors (fasttext-community scales them to unit length). The mean computed here agrees with .vec files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile, Mismatch, MissingExtra
from muse.files.fasttext_layout import MAGIC, Layout, check_layout
from muse.files.source import Source, open_source, refuse_stream, unpacked_path
from muse.files.table import Table, table_of
from muse.installation import install_packages
from muse.vectors import Matrix


def is_fasttext(head: bytes) -> bool:
    """Whether a file that starts with these bytes is a fastText model."""
    return head.startswith(MAGIC)


def is_fasttext_file(path: Path | str) -> bool:
    """Whether a file, compressed or not, is a fastText model."""
    refuse_stream(Path(path), "since it is looked at first")
    with open_source(Path(path)) as source:
        return is_fasttext(source.peek(len(MAGIC)))


def fasttext_table(source: Source, words: Sequence[str] | None = None) -> Table:
    """The table of the known words of a fastText model, or of the given ones, known or not."""
    model = _load(source)
    return table_of(
        source.path, model.layout.dimension, model.words() if words is None else words, model.rows
    )


def subword_vectors(path: Path | str, words: Sequence[str]) -> Matrix:
    """The vectors (n, d) of any n strings by a fastText model, known or not.

    The mean of the vectors of a word's character n-grams, and of its own if it has one (Bojanowski et al.
    2017, section 3.2; the paper has a sum, the program computes the mean).
    """
    return load_fasttext(path).rows(words)


def load_fasttext(path: Path | str) -> FastTextModel:
    """The fastText model in a file; BadFile if it is another kind of file."""
    path = Path(path)
    with open_source(path) as source:
        if not is_fasttext(source.peek(len(MAGIC))):
            raise BadFile(
                f"{path}: expected a fastText model (.bin), got another kind of file; only .bin has n-grams"
            )
        return _load(source)


@dataclass(frozen=True, eq=False)
class FastTextModel:
    """A model of the library; `inputs` (rows of words, then of n-grams) is a view of its memory."""

    path: Path
    layout: Layout
    library: Any
    inputs: Matrix

    @property
    def has_ngrams(self) -> bool:
        """Whether it has vectors for unknown words."""
        return self.layout.longest_ngram > 0

    def words(self) -> list[str]:
        """The known words, most frequent first."""
        try:
            words: list[str] = self.library.get_words()
        except UnicodeDecodeError as error:
            raise BadFile(
                f"{self.path}: expected words in UTF-8, got {error.object[:40]!r}; train the model on UTF-8"
            ) from None
        return words

    def rows(self, words: Sequence[str]) -> Matrix:
        """The vectors (n, d) of any n strings; see `subword_vectors`."""
        rows = np.zeros((len(words), self.layout.dimension), np.float32)
        for place, word in enumerate(words):
            if parts := self._parts(word):
                with np.errstate(over="ignore", invalid="ignore"):  # reported below
                    rows[place] = self.inputs[parts].mean(axis=0)
        finite = np.isfinite(rows).all(axis=1)  # (n,)
        if not finite.all():
            word = words[int(np.argmin(finite))]
            raise BadFile(
                f"{self.path}: expected finite numbers, got nan or inf for {word!r}; download it again"
            )
        return rows

    def _parts(self, word: str) -> list[int]:
        # The rows of the word's n-grams, and of the word itself if it is known.
        try:
            parts = [int(row) for row in self.library.get_subwords(word)[1]]
        except TypeError:  # what the binding raises for half a surrogate pair
            raise Mismatch(
                f"{self.path}: expected words that UTF-8 can encode, got {word!r}; correct it"
            ) from None
        if not parts and not self.has_ngrams:
            raise BadFile(
                f"{self.path}: expected a model with n-grams for the unknown word {word!r}, got one without; "
                "train it with maxn above 0"
            )
        # A label of a classifier counts as known but has no row here.
        return [row for row in parts if row < len(self.inputs)]


def _load(source: Source) -> FastTextModel:
    with unpacked_path(source) as path:
        layout = check_layout(path, named=source.path)
        try:
            library = _fasttext().load_model(str(path))
        except (ValueError, RuntimeError, MemoryError, IndexError, OverflowError) as error:
            raise BadFile(
                f"{source.path}: expected a fastText model, got one that fasttext cannot load ({error}); "
                "download it again"
            ) from error
    # The public get_input_matrix() would copy what may be gigabytes.
    return FastTextModel(source.path, layout, library, np.asarray(library.f.getInputMatrix()))


def _fasttext() -> Any:
    try:
        import fasttext
    except ImportError as error:
        raise MissingExtra(
            "fastText models (.bin) need the package fasttext-community, which is missing; "
            f"run {install_packages('fasttext-community')}, or use the .vec file"
        ) from error
    return fasttext
