"""Procrustes on sentences: an encoder, and for some of its languages a rotation learned from translations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch.nn.functional import normalize

from muse.encoders.encoder import Around, Encoded, SentenceEncoder
from muse.encoders.saving import Saved, write_encoder
from muse.errors import Mismatch
from muse.procrustes import procrustes
from muse.vectors import Matrix

KIND = "turned"
SUFFIX = "+procrustes"


@dataclass(frozen=True, eq=False)
class Turned(Around):
    """An encoder whose rows x of a language become x W^T, W (d', d') orthogonal, where `turns` has one."""

    turns: Mapping[str, Matrix]

    @property
    def name(self) -> str:
        """mean+procrustes."""
        return f"{self.inner.name}{SUFFIX}"

    def fit(self, sentences: Iterable[str], language: str) -> Turned:
        """Itself: it learned from pairs of what the encoder gave, which must stay as it was then."""
        return self

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rotated rows (s, d'), in order; BadSetting where the encoder lacks the language."""
        found = self.inner.encode(sentences, language)
        turn = self.turns.get(language)
        return found if turn is None else replace(found, matrix=found.matrix @ turn.T)

    def save(self, folder: Path) -> None:
        """Writes the encoder and the rotations, whole or not at all."""
        arrays = {f"turn.{language}": turn for language, turn in self.turns.items()}
        write_encoder(folder, Saved(KIND, self.name, {}, {}, arrays), [self.inner])


def restored(saved: Saved, inner: SentenceEncoder) -> Turned:
    """The encoder that was saved, around the one that it turns."""
    return Turned(inner, {name.removeprefix("turn."): turn for name, turn in saved.arrays.items()})


def turned(
    encoder: SentenceEncoder,
    sentences: Sequence[str],
    translations: Sequence[str],
    direction: tuple[str, str],
) -> Turned:
    """The encoder with the rotation of the first language of `direction` that brings pairs closest.

    W minimises sum |W x_i - y_i|^2 over the rows of unit length of `sentences` and their `translations`
    into the second language, so that all pairs count alike. (Schoenemann, 1966; as a baseline of sentence
    encoders, Conneau et al., 2018.) Pairs with an empty side are left out.
    """
    if len(sentences) != len(translations):
        raise Mismatch(
            f"each sentence needs its translation, got {len(sentences)} sentences and {len(translations)} "
            "translations; align the texts"
        )
    rows = [
        encoder.encode(text, language).matrix
        for text, language in zip((sentences, translations), direction, strict=True)
    ]
    full = rows[0].any(axis=1) & rows[1].any(axis=1)
    if not full.any():
        raise Mismatch(
            f"a rotation needs pairs with known words on both sides, got none of {len(sentences)}; check "
            f"that they are from {direction[0]} to {direction[1]}"
        )
    x, y = (normalize(torch.from_numpy(side[full])) for side in rows)
    return Turned(encoder, {direction[0]: procrustes(x, y).numpy()})
