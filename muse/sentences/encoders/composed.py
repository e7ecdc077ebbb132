"""Encoders built from encoders: rotated, corrected, or several side by side.

* Rotated        rotations of the rows of each language, learned from translations (Procrustes)
* Corrected      a correction of the rows, learned from text
* Concatenated   the rows of several encoders, one beside the other
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import normalize

from muse.errors import BadSetting, Mismatch
from muse.procrustes import procrustes
from muse.sentences.encoders.corrections import Correction, Moments, joint_moments, moments_of
from muse.sentences.encoders.encoder import Encoded, SentenceEncoder, Wrapped, check_encodes
from muse.sentences.encoders.reading import all_sentences, blocks, check_sentences
from muse.sentences.encoders.saving import Arrays, Saved, write_encoder
from muse.vectors import Matrix, ShortRepr

ROTATED, OLD_ROTATED = "rotated", "turned"  # kinds of saved encoders; both are read
CORRECTED, CONCATENATED = "corrected", "concatenated"
_ROTATION, _OLD_ROTATION = "rotation.", "turn."  # before the language, in the names of arrays
SUFFIX = "+procrustes"
SIF = Correction("pcr", components=1)


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


@dataclass(frozen=True, eq=False)
class Rotated(Wrapped):
    """An encoder whose rows x become x W^T, with W (d', d') orthogonal, in the languages of `rotations`."""

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
        arrays = {f"{_ROTATION}{language}": rotation for language, rotation in self.rotations.items()}
        write_encoder(folder, Saved(ROTATED, self.name, {}, {}, arrays), [self.inner])


def restored_rotated(saved: Saved, inner: SentenceEncoder) -> Rotated:
    """The saved encoder around the restored inner one; its arrays may have their old names."""
    prefix = _ROTATION if saved.kind == ROTATED else _OLD_ROTATION
    return Rotated(inner, {name.removeprefix(prefix): array for name, array in saved.arrays.items()})


@dataclass(frozen=True, eq=False, repr=False)
class Corrected(ShortRepr, Wrapped):
    """An encoder whose rows are corrected by the moments of each language's text, in `seen`.

    With `sif` it is SIF: it has the name of the encoder, and without text in any language the rows are left
    uncorrected, which is no error.
    """

    correction: Correction
    seen: Mapping[str, Moments] = field(default_factory=dict)
    sif: bool = False

    @property
    def name(self) -> str:
        """The names of the encoder and the correction, such as mean+pcr."""
        return self.inner.name if self.sif else f"{self.inner.name}+{self.correction}"

    def fit(self, sentences: Iterable[str], language: str) -> Corrected:
        """A copy fitted on the sentences: first the encoder, then the correction on the encoder's rows.

        BadSetting if another language was fitted before and this text would change its rows, because a
        correction below this one is shared by all languages.
        """
        sentences = all_sentences(sentences)
        if self.inner_is_shared and set(self.seen) - {language}:
            raise BadSetting(
                f"{self.name}: a correction after one that is [global] can be fitted to one language, got "
                f"{', '.join([*self.seen, language])}; use one [global] correction at most, as the last"
            )
        inner = self.inner.fit(sentences, language)
        if self._fixed is not None:
            return self if inner is self.inner else replace(self, inner=inner)
        rows = (inner.encode(block, language).matrix for block in blocks(sentences))
        return replace(self, inner=inner, seen={**self.seen, language: moments_of(rows, self.correction)})

    @property
    def inner_is_shared(self) -> bool:
        """Whether a correction below this one is shared by all languages."""
        inner: SentenceEncoder = self.inner
        while isinstance(inner, Wrapped):
            if isinstance(inner, Corrected) and inner.correction.everywhere:
                return True
            inner = inner.inner
        return False

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The corrected rows (s, d'); BadSetting if the correction has not been fitted."""
        self._check(language)
        encoded = self.inner.encode(sentences, language)
        if self.sif and language not in self.seen:
            return encoded
        return replace(encoded, matrix=self.correction.apply(encoded.matrix, self._moments(language)))

    @property
    def _fixed(self) -> Moments | None:
        return self.correction.fixed(self.dimension)

    def _moments(self, language: str) -> Moments:
        if self._fixed is not None:
            return self._fixed
        return joint_moments(list(self.seen.values())) if self.correction.everywhere else self.seen[language]

    def _check(self, language: str) -> None:
        check_encodes(self, language)
        if self.sif and self.seen and language not in self.seen:
            raise BadSetting(
                f"{self.name} must be fitted on text in {language} too before it encodes it, got text in "
                f"{', '.join(self.seen)} alone; give some with --fit, or fit it on none"
            )
        learned = language in self.seen or (self.correction.everywhere and self.seen)
        if not (self.sif or learned or self._fixed is not None):
            raise BadSetting(
                f"{self.correction} must be fitted on text in {language} before it encodes, got none; "
                "give some with --fit FILE or encoder.fit(sentences, language)"
            )

    def save(self, folder: Path) -> None:
        """Writes the encoder and the moments that its correction learned."""
        arrays = {
            f"{key}.{language}": np.asarray(getattr(seen, key))
            for language, seen in self.seen.items()
            for key in ("count", "mean", "variance", "components")
        }
        settings = {"correction": str(self.correction), "sif": self.sif}
        write_encoder(folder, Saved(CORRECTED, self.name, {}, settings, arrays), [self.inner])


def restored_moments(arrays: Arrays, dimension: int) -> dict[str, Moments]:
    """The saved moments of each language's text; ValueError if none of dimension d' can have them."""
    names = [name.removeprefix("count.") for name in arrays if name.startswith("count.")]
    found = {
        name: Moments(
            int(arrays[f"count.{name}"]),
            *(np.asarray(arrays[f"{key}.{name}"], np.float32) for key in ("mean", "variance", "components")),
        )
        for name in names
    }
    for name, moments in found.items():
        if not moments.fits(dimension):
            raise ValueError(f"moments of {name} that no rows of dimension {dimension} have")
    return found


@dataclass(frozen=True, eq=False)
class Concatenated(SentenceEncoder):
    """Encoders side by side; its languages are those that they share.

    With `shared` all of them read one space, otherwise each reads its own.
    """

    parts: Sequence[SentenceEncoder]
    shared: bool = False

    def __post_init__(self) -> None:
        if not self.languages:
            found = "; ".join(", ".join(part.languages) for part in self.parts) or "no encoder"
            raise Mismatch(f"encoders side by side must share a language, got {found}")

    @property
    def name(self) -> str:
        """The names of the parts, such as mean&mean."""
        return "&".join(part.name for part in self.parts)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that all parts share."""
        others = [set(part.languages) for part in self.parts]
        return tuple(
            one for one in (self.parts[0].languages if others else ()) if all(one in o for o in others)
        )

    @property
    def dimension(self) -> int:
        """The sum of the parts' dimensions."""
        return sum(part.dimension for part in self.parts)

    def fit(self, sentences: Iterable[str], language: str) -> Concatenated:
        """A copy with every part fitted; self if none of them learns anything from text."""
        sentences = all_sentences(sentences)
        fitted = [part.fit(sentences, language) for part in self.parts]
        same = all(new is part for new, part in zip(fitted, self.parts, strict=True))
        return self if same else replace(self, parts=fitted)

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows (s, d') of the parts side by side; `unknown` is the smallest count of any part."""
        sentences = all_sentences(sentences)
        check_encodes(self, language)
        found = [part.encode(sentences, language) for part in self.parts]
        matrix = np.concatenate([one.matrix for one in found], axis=1)
        empty = int(np.count_nonzero(~matrix.any(axis=1)))
        unknown, truncated = min(one.unknown for one in found), max(one.truncated for one in found)
        return Encoded(matrix, empty, found[0].tokens, unknown, truncated)

    def save(self, folder: Path) -> None:
        """Writes all parts."""
        write_encoder(folder, Saved(CONCATENATED, self.name, {}, {"shared": self.shared}), self.parts)
