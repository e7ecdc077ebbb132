"""Encoders built from encoders: corrected, or several side by side.

* Corrected      a correction of the rows, learned from text
* Concatenated   the rows of several encoders, one beside the other
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from muse.errors import BadSetting, Mismatch
from muse.sentences.encoders.corrections import OPTIONS, Correction, Moments, joint_moments, moments_of
from muse.sentences.encoders.encoder import Encoded, SentenceEncoder, Wrapped, check_encodes
from muse.sentences.encoders.reading import all_sentences, blocks
from muse.sentences.encoders.saving import Saved, write_encoder
from muse.vectors import ShortRepr

CORRECTED, CONCATENATED = "corrected", "concatenated"  # kinds of saved encoders
_MOMENTS = ("count", "mean", "variance", "components")
SIF = Correction("pcr", components=1)


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
        if self.correction.threshold is not None:  # nothing is learned from text
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
        moments = self.correction.fixed(self.dimension)
        if moments is None and self.correction.everywhere:
            moments = joint_moments(list(self.seen.values()))
        matrix = self.correction.apply(encoded.matrix, moments or self.seen[language])
        return replace(encoded, matrix=matrix)

    def _check(self, language: str) -> None:
        check_encodes(self, language)
        if self.sif and self.seen and language not in self.seen:
            raise BadSetting(
                f"{self.name} must be fitted on text in {language} too before it encodes it, got text in "
                f"{', '.join(self.seen)} alone; give some with --fit, or fit it on none"
            )
        learned = language in self.seen or (self.correction.everywhere and self.seen)
        if not (self.sif or learned or self.correction.threshold is not None):
            raise BadSetting(
                f"{self.correction} must be fitted on text in {language} before it encodes, got none; "
                "give some with --fit FILE or encoder.fit(sentences, language)"
            )

    def save(self, folder: Path) -> None:
        """Writes the encoder and the moments that its correction learned."""
        arrays = {
            f"{key}.{language}": np.asarray(getattr(seen, key))
            for language, seen in self.seen.items()
            for key in _MOMENTS
        }
        settings = {"correction": str(self.correction), "sif": self.sif}
        write_encoder(folder, Saved(CORRECTED, self.name, {}, settings, arrays), [self.inner])


def restored_corrected(saved: Saved, inner: SentenceEncoder) -> Corrected:
    """The saved encoder around the restored inner one; ValueError for what it cannot have learned."""
    kind, _, options = str(saved.settings["correction"]).rstrip("]").partition("[")
    if kind not in OPTIONS:
        raise ValueError(f"a correction {kind!r}")
    correction = Correction.parse(kind, options)
    seen = {}
    for language in (name.removeprefix("count.") for name in saved.arrays if name.startswith("count.")):
        count, *moments = (saved.arrays[f"{key}.{language}"] for key in _MOMENTS)
        seen[language] = Moments(int(count), *(np.asarray(one, np.float32) for one in moments))
        if not seen[language].fits(inner.dimension):
            raise ValueError(f"moments of {language} that no rows of dimension {inner.dimension} have")
    return Corrected(inner, correction, seen, bool(saved.settings["sif"]))


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
