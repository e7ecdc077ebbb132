"""A sentence encoder for one language as a step of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin

from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.reading import all_sentences
from muse.vectors import Matrix


class Transformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A sentence encoder for one language as a scikit-learn transformer, from sentences to rows.

    `fit` fits a copy of the encoder, `encoder_`; the given encoder never changes.
    """

    def __init__(self, encoder: SentenceEncoder, language: str) -> None:
        self.encoder = encoder
        self.language = language

    def fit(self, sentences: Iterable[str], labels: object = None) -> Self:
        """Returns self, with `encoder_` fitted on the sentences."""
        self.encoder_ = self.encoder.fit(sentences, self.language)
        return self

    def transform(self, sentences: Iterable[str]) -> Matrix:
        """The rows (s, d') of the sentences."""
        return getattr(self, "encoder_", self.encoder).encode(sentences, self.language).matrix

    def fit_transform(self, sentences: Iterable[str], labels: object = None) -> Matrix:
        """The rows (s, d') of the sentences after fitting on them."""
        sentences = all_sentences(sentences)
        return self.fit(sentences).transform(sentences)

    def __sklearn_clone__(self) -> Transformer:
        # A clone shares the immutable encoder, so that no table of words is copied.
        return Transformer(self.encoder, self.language)

    def __sklearn_is_fitted__(self) -> bool:
        return True  # a loaded encoder needs no fit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.transformer_tags.preserves_dtype = []
        return tags
