"""Exchange: vectors, dictionaries and spaces as objects of gensim, pandas and scikit-learn, and back."""

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import Mismatch
from muse.files import read_lexicon
from muse.lexicon import Entry, Lexicon, held_lexicon, lexicon_of
from muse.optional import library
from muse.vectors import Vectors

__all__ = [
    "SpaceTransformer", "dictionary_frame", "keyed_vectors", "lexicon_from", "lexicon_of", "table_frame",
    "vectors_frame", "vectors_of",
]  # fmt: skip

COLUMNS = list(Entry._fields[:5])  # without other forms


def dictionary_frame(entries: Iterable[Entry] | Lexicon) -> Any:
    """A pandas.DataFrame with a row for each entry: source, target, score, rank, probability.

    >>> dictionary_frame(Lexicon((("cat", "chat"), ("cat", "matou")))).target.tolist()
    ['chat', 'matou']
    """
    found = _entries(entries) if isinstance(entries, Lexicon) else entries
    frame = table_frame((one[: len(COLUMNS)] for one in found), COLUMNS)
    # Unknown values are NaN in a column of numbers, not None in one of objects.
    return frame.astype({"score": "float64", "rank": "int64", "probability": "float64"})


def table_frame(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> Any:
    """A pandas.DataFrame of these rows; MissingExtra, with the command that installs it, without pandas."""
    frames = library("pandas", "a DataFrame", "exchange")
    return frames.DataFrame(list(rows), columns=list(columns))


def vectors_frame(sides: Sequence[Vectors]) -> Any:
    """A pandas.DataFrame with a row for each word; of several languages, by language and word.

    >>> vectors_frame([Vectors("en", ["the", "cat"], np.eye(2, dtype=np.float32))]).loc["cat"].tolist()
    [0.0, 1.0]
    """
    frames = library("pandas", "a DataFrame", "exchange")
    made = {one.language: frames.DataFrame(one.matrix, index=list(one.words)) for one in sides}
    return frames.concat(made) if len(made) > 1 else made[sides[0].language]


def lexicon_from(given: Any, languages: tuple[str, str] | None = None, form: str | None = None) -> Lexicon:
    """The pairs of a file, a Lexicon, a DataFrame, or pairs of words; BadSetting for anything else.

    `languages`, of the source and of the target, are wanted of a file that names its own. `form` is the
    format of a file.

    >>> lexicon_from([("roi", "king"), ("reine", "queen")])
    Lexicon(2 pairs: roi king, reine queen)
    """
    if isinstance(given, str | PathLike):
        return read_lexicon(Path(given), languages=languages, form=form)
    return held_lexicon(given)


def _entries(lexicon: Lexicon) -> list[Entry]:
    ranks: Counter[str] = Counter()
    nothing = (None,) * len(lexicon)
    scores, probabilities = lexicon.scores or nothing, lexicon.probabilities or nothing
    found = []
    for (source, target), score, probability in zip(lexicon.pairs, scores, probabilities, strict=True):
        ranks[source] += 1
        found.append(Entry(source, target, score, ranks[source], probability))
    return found


def keyed_vectors(vectors: Vectors) -> Any:
    """The words and rows (n, d) as gensim.models.KeyedVectors, in the same order, as a copy.

    >>> found = keyed_vectors(Vectors("en", ["the", "cat"], np.eye(2, dtype=np.float32)))
    >>> found.index_to_key, found["cat"].tolist()
    (['the', 'cat'], [0.0, 1.0])
    """
    found = library("gensim.models", "KeyedVectors", "exchange").KeyedVectors(vectors.dimension)
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


def __getattr__(name: str) -> Any:
    # On first use, not on import: its class derives from those of scikit-learn, which is slow to import.
    if name != "SpaceTransformer":
        raise AttributeError(f"module 'muse.exchange' has no attribute {name!r}")
    return import_module("muse.exchange.space_transformer").SpaceTransformer
