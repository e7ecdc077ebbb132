"""Exchange: vectors and dictionaries converted to objects of other libraries, and back."""

from muse.exchange.frames import dictionary_frame, lexicon_of
from muse.exchange.gensim_vectors import keyed_vectors, vectors_of

__all__ = ["dictionary_frame", "keyed_vectors", "lexicon_of", "vectors_of"]
