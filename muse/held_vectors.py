"""Held vectors: the rows, and the words if there are any, of the objects in which programs hold them.

An object is known by what it has: no program whose it may be is imported, nor is anything slow to load.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muse.options import NotOfKind

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class HeldVectors:
    """Rows (n, d) in memory, and their n words, most frequent first.

    Without words they are in no order, and row i has the id str(i), as in a file without ids.
    """

    rows: NDArray[Any]
    words: Sequence[str] | None = None


def held_vectors(value: Any) -> HeldVectors:
    """The vectors that an object holds; NotOfKind, which says what there is, for one without."""
    if isinstance(value, HeldVectors):
        return value
    if hasattr(value, "frequency_ordered"):  # our own
        return HeldVectors(value.matrix, value.words if value.frequency_ordered else None)
    if (named := _words_and_rows(value)) is not None:
        return _of_words(*named)
    if not hasattr(value, "__array__"):
        raise NotOfKind(f"{type(value).__name__}; give (words, array), or the rows as an array alone")
    return HeldVectors(_array(value))


def _words_and_rows(value: Any) -> tuple[Iterable[Any], Any] | None:
    keyed = getattr(value, "wv", value)  # a model of gensim has them there
    if hasattr(keyed, "index_to_key"):
        return keyed.index_to_key, keyed.vectors[: len(keyed.index_to_key)]
    vocab = getattr(value, "vocab", value)
    if hasattr(vocab, "strings") and hasattr(vocab, "vectors"):
        return _of_spacy(vocab)
    if isinstance(value, Mapping):
        return value.keys(), [*value.values()]
    if is_words_and_rows(value):
        return value[0], value[1]
    if hasattr(value, "to_numpy") and hasattr(value, "index"):
        index = value.index.tolist()
        if index != [*range(len(index))]:  # which it has if none is given
            return index, value.to_numpy()
    return None


def _of_words(words: Iterable[Any], rows: Any) -> HeldVectors:
    named, found = [*words], _array(rows)
    odd = next((one for one in named if not isinstance(one, str)), None)
    if odd is not None:
        raise NotOfKind(f"{odd!r:.60} among the words; make all of them strings")
    if len(named) != len(found):
        raise NotOfKind(f"{len(named)} words for {len(found)} rows; give each word one row")
    return HeldVectors(found, named)


def _of_spacy(vocab: Any) -> tuple[Iterable[Any], Any]:
    """The first word of each row: pruning keeps rows of frequent words, and gives them to rarer ones too."""
    first: dict[int, int] = {}
    for key, row in vocab.vectors.key2row.items():
        if row >= 0 and key in vocab.strings:
            first.setdefault(row, key)
    if not first:
        raise NotOfKind("a pipeline of spaCy without vectors of words; use one named _md or _lg")
    return [vocab.strings[key] for key in first.values()], _array(vocab.vectors.data)[[*first]]


def _array(value: Any) -> NDArray[Any]:
    try:
        import numpy as np  # not above: help needs none

        rows = np.asarray(value.__array__() if hasattr(value, "__array__") else value)
    except (TypeError, ValueError, RuntimeError) as error:  # on a GPU, of a type numpy lacks, of two lengths
        raise NotOfKind(f"{type(value).__name__} ({error})") from error
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or not rows.size:
        raise NotOfKind(f"an array of {rows.dtype} of shape {rows.shape}")
    return rows


def is_words_and_rows(value: Any) -> bool:
    """Whether this is a pair of words and their rows, and not two objects or paths.

    >>> is_words_and_rows((["a", "b"], [[1.0], [2.0]])), is_words_and_rows(["a.vec", "b.vec"])
    (True, False)
    """
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    words = value[0]
    named = isinstance(words, Sequence) and not isinstance(words, str)
    return (named or hasattr(words, "__array__")) and len(words) > 0 and isinstance(words[0], str)
