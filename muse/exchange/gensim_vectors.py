"""Keyed vectors: Vectors as gensim's KeyedVectors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from muse.errors import Mismatch, MissingExtra
from muse.installation import install_extra
from muse.vectors import Vectors


def keyed_vectors(vectors: Vectors) -> Any:
    """The words and rows (n, d) as gensim.models.KeyedVectors, in the same order, as a copy.

    >>> found = keyed_vectors(Vectors("en", ["the", "cat"], np.eye(2, dtype=np.float32)))
    >>> found.index_to_key, found["cat"].tolist()
    (['the', 'cat'], [0.0, 1.0])
    """
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise MissingExtra(f"KeyedVectors need gensim; run {install_extra('exchange')}") from None
    found = KeyedVectors(vectors.dimension)
    found.add_vectors(list(vectors.words), np.array(vectors.matrix))
    return found


def vectors_of(keyed: Any, language: str) -> Vectors:
    """The Vectors of `language` from gensim's KeyedVectors, in the same order, which should be by frequency.

    >>> words = Vectors("en", ["the", "cat"], np.eye(2, dtype=np.float32))
    >>> vectors_of(keyed_vectors(words), "en").words
    ['the', 'cat']
    """
    words, matrix = list(keyed.index_to_key), np.asarray(keyed.vectors, dtype=np.float32)
    if not all(isinstance(word, str) for word in words):
        raise Mismatch(f"{language}: the keys of KeyedVectors must be words, got others; rename them")
    return Vectors(language, words, matrix[: len(words)])
