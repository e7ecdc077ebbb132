"""The contract of sentence encoders: sentences of a language go in, one row each comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from muse.vectors import Matrix


@dataclass(frozen=True, eq=False)
class Encoded:
    """One row (s, d') of each of s sentences, and how much of them the encoder knew.

    A sentence without a known word is a zero row and counts as `empty`; of `tokens` in all, `unknown`
    had no vector and were left out.
    """

    matrix: Matrix
    empty: int
    tokens: int
    unknown: int


class SentenceEncoder(Protocol):
    """What every encoder is, trained or not; all its languages share one space of d' dimensions."""

    @property
    def name(self) -> str:
        """What a signature calls it: idf, power-mean[-inf,1,inf], x-cbow[0.25]."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages it encodes."""

    @property
    def dimension(self) -> int:
        """The number of columns d'."""

    def fit(self, sentences: Iterable[str], language: str) -> SentenceEncoder:
        """The encoder with what it learns from text of one language (weights, components), itself unchanged.

        An encoder that has nothing to learn from text returns itself.
        """

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows of the sentences, in order; BadSetting where it has not got the language."""

    def save(self, folder: Path) -> None:
        """Writes it whole or not at all, without a pickle, with the checksum of the space it belongs to."""
