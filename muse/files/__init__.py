"""File formats: vectors, dictionaries and text, read and written, one format a module."""

from muse.files.lexicons import read_lexicon
from muse.files.vectors.arrays import write_npz
from muse.files.vectors.fasttext import subword_vectors
from muse.files.vectors.formats import read_vectors
from muse.files.vectors.word2vec import write_word2vec
from muse.files.writing import write_vectors_text

__all__ = [
    "read_lexicon",
    "read_vectors",
    "subword_vectors",
    "write_npz",
    "write_vectors_text",
    "write_word2vec",
]
