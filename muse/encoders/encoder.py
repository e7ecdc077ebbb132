"""The contract of sentence encoders: sentences of a language go in, one row each comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from muse.errors import BadSetting
from muse.vectors import Matrix


@dataclass(frozen=True, eq=False)
class Encoded:
    """One row (s, d') of each of s sentences, and how much of them the encoder knew.

    A sentence without a known word is a zero row and counts as `empty`; of `tokens` in all, `unknown`
    had no vector and were left out, and `truncated` sentences lost the end that was too long for it.
    """

    matrix: Matrix
    empty: int
    tokens: int
    unknown: int
    truncated: int = 0


class SentenceEncoder(Protocol):
    """What every encoder is, trained or not; all its languages share one space of d' dimensions.

    An encoder is never changed: `fit` returns another one.
    """

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

        What it had learned of that language before is replaced. An encoder that has nothing to learn from
        text returns itself.
        """

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows of the sentences, in order; BadSetting where it does not encode the language."""

    def save(self, folder: Path) -> None:
        """Writes it whole or not at all, without a pickle, with the checksum of the space it belongs to."""

    def for_language(self, language: str) -> Transformer:
        """The encoder for one language, as a scikit-learn transformer."""
        return Transformer(self, language)


def check_trained_for(encoder: SentenceEncoder, language: str) -> None:
    """Raise BadSetting, with what to do, where a trained encoder does not encode the language."""
    if language not in encoder.languages:
        raise BadSetting(
            f"{encoder.name} encodes {', '.join(encoder.languages)}; got {language!r}: train one for it with "
            "muse train"
        )


@dataclass(frozen=True, eq=False)
class Around(SentenceEncoder):
    """An encoder made of another one, with its languages and its dimension."""

    inner: SentenceEncoder

    @property
    def languages(self) -> tuple[str, ...]:
        """Those of the encoder."""
        return self.inner.languages

    @property
    def dimension(self) -> int:
        """That of the encoder."""
        return self.inner.dimension


class Transformer:
    """A sentence encoder for one language as scikit-learn wants it: sentences to rows, in a Pipeline too.

    `fit` learns from sentences what the encoder learns from text; the encoder given is never changed.
    """

    def __init__(self, encoder: SentenceEncoder, language: str) -> None:
        self.encoder = encoder
        self.language = language

    def fit(self, sentences: Iterable[str], labels: object = None) -> Transformer:
        """Itself, with `encoder_` fitted on the sentences."""
        self.encoder_ = self.encoder.fit(sentences, self.language)
        return self

    def transform(self, sentences: Iterable[str]) -> Matrix:
        """One row (s, d') a sentence."""
        return getattr(self, "encoder_", self.encoder).encode(sentences, self.language).matrix

    def fit_transform(self, sentences: Iterable[str], labels: object = None) -> Matrix:
        """The rows (s, d') of the sentences it was fitted on."""
        sentences = list(sentences)
        return self.fit(sentences).transform(sentences)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its two parameters by name."""
        return {"encoder": self.encoder, "language": self.language}

    def set_params(self, **params: Any) -> Transformer:
        """Itself with other parameters; BadSetting for any other name."""
        for name, value in params.items():
            if name not in self.get_params():
                raise BadSetting(f"a transformer of sentences has an encoder and a language, got {name!r}")
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Transformer:
        # A clone shares the encoder, which never changes: no table of words is copied.
        return Transformer(self.encoder, self.language)

    def __sklearn_is_fitted__(self) -> bool:
        return True  # an encoder that was loaded needs no fit

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn asks for these, and so it is there.
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(string=True, two_d_array=False),
        )
