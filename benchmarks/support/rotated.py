"""The baseline of Procrustes on sentences: rows of one language rotated onto those of their translations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch.nn.functional import normalize

from muse.procrustes import procrustes
from muse.sentences.encoders.encoder import Encoded, SentenceEncoder, Wrapped
from muse.vectors import Matrix

SUFFIX = "+procrustes"


def rotated(
    encoder: SentenceEncoder,
    sentences: Sequence[str],
    translations: Sequence[str],
    direction: tuple[str, str],
) -> "Rotated":
    """The encoder with a rotation of the first language of `direction` that brings translations together.

    W minimises sum |W x_i - y_i|^2 over the unit-length rows of `sentences` and of their `translations` into
    the second language, so that all pairs count equally (Schoenemann, 1966; as a baseline for sentence
    encoders, Conneau et al., 2018). Pairs with an empty side are left out.
    """
    texts = zip((sentences, translations), direction, strict=True)
    rows = [encoder.encode(text, language).matrix for text, language in texts]
    full = rows[0].any(axis=1) & rows[1].any(axis=1)
    x, y = (normalize(torch.from_numpy(side[full])) for side in rows)
    return Rotated(encoder, direction[0], procrustes(x, y).numpy())


@dataclass(frozen=True, eq=False)
class Rotated(Wrapped):
    """An encoder whose rows x of one language become x W^T, with W (d', d') orthogonal."""

    language: str
    rotation: Matrix

    @property
    def name(self) -> str:
        """The name of the inner encoder with a suffix, such as mean+procrustes."""
        return f"{self.inner.name}{SUFFIX}"

    def fit(self, sentences: Iterable[str], language: str) -> "Rotated":
        """Returns self: the rotation belongs to the encoder as it was."""
        return self

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rotated rows (s, d'), in order."""
        found = self.inner.encode(sentences, language)
        return replace(found, matrix=found.matrix @ self.rotation.T) if language == self.language else found

    def save(self, folder: Path) -> None:
        """A baseline is not saved."""
        raise NotImplementedError
