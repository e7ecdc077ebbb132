"""Embedding: word vectors from text, trained by fastText."""

from muse.embedding.corpus import Corpus, write_corpus
from muse.embedding.training import EmbedConfig, Embedded, embed

__all__ = ["Corpus", "EmbedConfig", "Embedded", "embed", "write_corpus"]
