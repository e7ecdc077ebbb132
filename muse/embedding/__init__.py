"""Embedding: word vectors from text, trained by fastText."""
