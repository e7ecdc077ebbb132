"""Encoders built from encoders: corrected, or several side by side.

* Corrected      a correction of the rows, learned from text: z-norm, removal of components, ...
* Concatenated   the rows of several encoders, one beside the other

A correction computes z = (x - m) * a and returns z - (z C^T) C, with a shift m (d'), a scale a (d') and
components C (k, d'); binary codes are the signs of z, or where z is above 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from muse.errors import BadSetting, Mismatch
from muse.sentences.encoders.encoder import Encoded, SentenceEncoder, Wrapped, check_encodes
from muse.sentences.encoders.reading import all_sentences, blocks
from muse.sentences.encoders.saving import Saved, write_encoder
from muse.vectors import Matrix, ShortRepr

Kind = Literal["znorm", "pcr", "centre", "binary"]

OPTIONS = {"znorm": "global", "pcr": "centred", "centre": "global", "binary": "global"}
CONSTANT = 1e-6  # a column whose deviation, relative to its mean, is below this is treated as constant
LARGEST = 1e9  # of a moment: its square, and sums of such, are finite in float32
CORRECTED, CONCATENATED = "corrected", "concatenated"  # kinds of saved encoders
_MOMENTS = ("count", "mean", "variance", "components")


@dataclass(frozen=True)
class Correction:
    """A correction of sentence vectors, learned for each language or, with `everywhere`, for all together.

    * znorm: subtracts the mean of each column and divides by its standard deviation (Rueckle et al., 2018,
      4.2); znorm[global] uses the moments of all languages together.
    * pcr: removes the first principal component c of the uncentred rows, x - (x c) c (Yang et al., 2021);
      pcr[centred] subtracts the mean first; pcr[3] removes the first three components.
    * centre: subtracts the mean; centre[global] that of all languages together.
    * binary: 1 where a column is above its mean, -1 elsewhere: a bit a column, whose cosine is
      1 - 2 h / d' for h bits that differ; binary[global] has the means of all languages.
    * binary[0.05]: 1 where a column is above this threshold, 0 elsewhere, learned from no text. Of a lens,
      whose columns are mostly 0, few bits are on (Kiros, 2020, section 4.3, with the threshold 1).
    """

    kind: Kind
    everywhere: bool = False
    centred: bool = False
    components: int = 0
    threshold: float | None = None

    @staticmethod
    def parse(kind: str, options: str = "") -> "Correction":
        """The correction with this name, such as pcr, and these options, such as centred,3."""
        if kind == "binary":
            with suppress(ValueError):
                if abs(threshold := float(options)) < LARGEST:
                    return Correction("binary", threshold=threshold)
        chosen = [option.strip() for option in options.split(",") if option.strip()]
        counts = [option for option in chosen if kind == "pcr" and option.isdecimal() and int(option)]
        rest = [option for option in chosen if option not in counts]
        if kind not in OPTIONS or len(counts) > 1 or any(option != OPTIONS[kind] for option in rest):
            raise BadSetting(
                "a correction is one of znorm, znorm[global], pcr, pcr[centred], pcr[3], pcr[centred,3], "
                "centre, centre[global], binary, binary[global], binary[0.05]; +ngrams is for unknown words, "
                "and +language comes directly after the folder of a bgt; "
                f"got {kind}{f'[{options}]' if options else ''}"
            )
        count = int((counts or ["1"])[0]) if kind == "pcr" else 0
        return Correction(kind, "global" in rest, "centred" in rest, count)  # type: ignore[arg-type]

    def __str__(self) -> str:
        options = ["global"] * self.everywhere + ["centred"] * self.centred
        options += [str(self.components)] * (self.components > 1)
        options += [] if self.threshold is None else [str(self.threshold).removesuffix(".0")]
        return self.kind + (f"[{','.join(options)}]" if options else "")

    def fixed(self, dimension: int) -> "Moments | None":
        """The moments of d' columns, if these do not depend on text."""
        if self.threshold is None:
            return None
        mean = np.full(dimension, self.threshold, np.float32)
        return Moments(1, mean, np.zeros_like(mean), np.zeros((0, dimension), np.float32))

    def apply(self, rows: Matrix, seen: "Moments") -> Matrix:
        """The corrected rows (s, d'); rows of zeros, from empty sentences, stay zero."""
        shifted = rows.astype(np.float32) if self.kind == "pcr" and not self.centred else rows - seen.mean
        if self.kind == "znorm":
            shifted *= seen.scale
        if self.kind == "binary":
            shifted = np.where(shifted > 0, 1, -1 if self.threshold is None else 0).astype(np.float32)
        if self.components:
            shifted -= (shifted @ seen.components.T) @ seen.components
        shifted[~rows.any(axis=1)] = 0
        return shifted


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of `count` rows of a text: `mean` (d'), `variance` (d'), `components` (k, d')."""

    count: int
    mean: Matrix
    variance: Matrix
    components: Matrix

    def fits(self, dimension: int) -> bool:
        """Whether these can be the moments of rows (s, d'): finite, as are squares; no variance below 0."""
        shapes = {self.mean.shape, self.variance.shape, self.components.shape[1:]}
        numbers = np.concatenate([array.ravel() for array in (self.mean, self.variance, self.components)])
        good = bool((np.abs(numbers) < LARGEST).all() and (self.variance >= 0).all())
        return shapes == {(dimension,)} and self.count > 0 and good

    @property
    def scale(self) -> Matrix:
        """The inverse standard deviation (d'); 1 for a constant column."""
        constant = self.variance <= (CONSTANT * np.abs(self.mean)) ** 2 + np.finfo(np.float32).tiny
        return (1 / np.sqrt(np.where(constant, 1, self.variance))).astype(np.float32)


def moments_of(rows: Iterable[Matrix], correction: Correction) -> Moments:
    """The moments of rows (s, d') given in blocks, without empty sentences, as a correction needs them."""
    count, total, products = 0, None, None
    for matrix in rows:
        x = matrix[matrix.any(axis=1)].astype(np.float64)
        if not len(x):
            continue
        more = x.T @ x if correction.components else np.square(x).sum(axis=0)
        total = x.sum(axis=0) if total is None else total + x.sum(axis=0)
        products = more if products is None else products + more
        count += len(x)
    if total is None or products is None or count < 2:
        raise Mismatch(
            f"{correction} needs at least two sentences with words of the space, got {count}; "
            "give it more text"
        )
    mean = total / count  # (d',)
    components = np.zeros((0, len(mean)))
    if correction.components:
        if correction.components >= len(mean):
            raise BadSetting(
                f"pcr can remove at most {len(mean) - 1} components here, got {correction.components}"
            )
        # The principal components of the rows about their mean, or else about the origin.
        spread = products / count - (np.outer(mean, mean) if correction.centred else 0)
        _, directions = np.linalg.eigh(spread)  # (d', d'), by rising eigenvalue
        components = directions[:, : -correction.components - 1 : -1].T  # (k, d')
        products = np.diagonal(products)
    variance = np.maximum(products / count - mean**2, 0)
    return Moments(count, *(one.astype(np.float32) for one in (mean, variance, components)))


def joint_moments(seen: Sequence[Moments]) -> Moments:
    """The moments of several texts as if they were one."""
    counts = np.array([one.count for one in seen], np.float64)
    shares = (counts / counts.sum())[:, None]
    means = np.array([one.mean for one in seen], np.float64)
    mean = (shares * means).sum(axis=0)
    variance = (shares * (np.array([one.variance for one in seen]) + (means - mean) ** 2)).sum(axis=0)
    return Moments(
        int(counts.sum()), mean.astype(np.float32), variance.astype(np.float32), seen[0].components
    )


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

    def fit(self, sentences: Iterable[str], language: str) -> "Corrected":
        """A copy fitted on the sentences: first the encoder, then the correction on the encoder's rows.

        BadSetting if another language was fitted before and this text would change its rows, because a
        correction below this one is shared by all languages.
        """
        sentences = all_sentences(sentences)
        below: SentenceEncoder = self.inner
        shared = False  # by all languages: a correction below this one
        while isinstance(below, Wrapped):
            shared = shared or (isinstance(below, Corrected) and below.correction.everywhere)
            below = below.inner
        if shared and set(self.seen) - {language}:
            raise BadSetting(
                f"{self.name}: a correction after one that is [global] can be fitted to one language, got "
                f"{', '.join([*self.seen, language])}; use one [global] correction at most, as the last"
            )
        inner = self.inner.fit(sentences, language)
        if self.correction.threshold is not None:  # nothing is learned from text
            return self if inner is self.inner else replace(self, inner=inner)
        rows = (inner.encode(block, language).matrix for block in blocks(sentences))
        return replace(self, inner=inner, seen={**self.seen, language: moments_of(rows, self.correction)})

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The corrected rows (s, d'); BadSetting if the correction has not been fitted."""
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
        encoded = self.inner.encode(sentences, language)
        if self.sif and language not in self.seen:
            return encoded
        moments = self.correction.fixed(self.dimension)
        if moments is None and self.correction.everywhere:
            moments = joint_moments(list(self.seen.values()))
        matrix = self.correction.apply(encoded.matrix, moments or self.seen[language])
        return replace(encoded, matrix=matrix)

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
            found = "; ".join(", ".join(part.languages) for part in self.parts)
            raise Mismatch(f"encoders side by side must share a language, got {found}")

    @property
    def name(self) -> str:
        """The names of the parts, such as mean&mean."""
        return "&".join(part.name for part in self.parts)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that all parts share."""
        first, *others = (part.languages for part in self.parts)
        return tuple(one for one in first if all(one in other for other in others))

    @property
    def dimension(self) -> int:
        """The sum of the parts' dimensions."""
        return sum(part.dimension for part in self.parts)

    def fit(self, sentences: Iterable[str], language: str) -> "Concatenated":
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
