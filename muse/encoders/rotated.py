"""Procrustes on sentences: an encoder with rotations of its languages, learned from translations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch.nn.functional import normalize

from muse.encoders.encoder import Encoded, SentenceEncoder, Wrapped
from muse.encoders.reading import check_sentences
from muse.encoders.saving import Saved, write_encoder
from muse.errors import Mismatch
from muse.procrustes import procrustes
from muse.vectors import Matrix

KIND = "turned"  # in saved files, as are the names of arrays, turn.LANG
SUFFIX = "+procrustes"


@dataclass(frozen=True, eq=False)
class Rotated(Wrapped):
    """An encoder whose rows x become x W^T, with W (d', d') orthogonal, in languages with `rotations`."""

    rotations: Mapping[str, Matrix]

    @property
    def name(self) -> str:
        """The name of the inner encoder with a suffix, such as mean+procrustes."""
        return f"{self.inner.name}{SUFFIX}"

    def fit(self, sentences: Iterable[str], language: str) -> Rotated:
        """Returns self: the rotations belong to the encoder as it was, so it must not be fitted again."""
        check_sentences(sentences)
        return self

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rotated rows (s, d'), in order; BadSetting if the encoder lacks the language."""
        found = self.inner.encode(sentences, language)
        rotation = self.rotations.get(language)
        return found if rotation is None else replace(found, matrix=found.matrix @ rotation.T)

    def save(self, folder: Path) -> None:
        """Writes the encoder and its rotations, completely or not at all."""
        arrays = {f"turn.{language}": rotation for language, rotation in self.rotations.items()}
        write_encoder(folder, Saved(KIND, self.name, {}, {}, arrays), [self.inner])


def restored(saved: Saved, inner: SentenceEncoder) -> Rotated:
    """The saved encoder, around the restored inner one."""
    return Rotated(inner, {name.removeprefix("turn."): array for name, array in saved.arrays.items()})


def rotated(
    encoder: SentenceEncoder,
    sentences: Sequence[str],
    translations: Sequence[str],
    direction: tuple[str, str],
) -> Rotated:
    """The encoder with a rotation of the first language of `direction` that brings translations together.

    W minimises sum |W x_i - y_i|^2 over the unit-length rows of `sentences` and of their `translations` into
    the second language, so that all pairs count equally (Schoenemann, 1966; as a baseline for sentence
    encoders, Conneau et al., 2018). Pairs with an empty side are left out.
    """
    if len(sentences) != len(translations):
        raise Mismatch(
            f"each sentence must have a translation, got {len(sentences)} sentences and "
            f"{len(translations)} translations; align the texts"
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
    return Rotated(encoder, {direction[0]: procrustes(x, y).numpy()})
