"""File formats: vectors, dictionaries and text, read and written, one format a module."""

from muse.files.fasttext_model import subword_vectors
from muse.files.formats import read_vectors
from muse.files.lexicon_text import read_lexicon, write_lexicon
from muse.files.npz import write_npz
from muse.files.word2vec import write_word2vec
from muse.files.writing import write_vectors_text

__all__ = [
    "read_lexicon",
    "read_vectors",
    "subword_vectors",
    "write_lexicon",
    "write_npz",
    "write_vectors_text",
    "write_word2vec",
]
