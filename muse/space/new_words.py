"""New words: words that a space was not learned from, mapped into it from their own vectors.

Vectors of the model that the space was learned from go the way its words went: the stored normalisation, then
the mapping. Vectors of another model go a way that is fitted on the words that it and the space have.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from muse.errors import BadSetting, Mismatch
from muse.files import read_vectors
from muse.files.fasttext_model import is_fasttext_file, load_fasttext
from muse.files.npz import is_npz
from muse.normalise import normalise
from muse.progress import Progress
from muse.space.aligned import AlignedSpace
from muse.space.subwords import learn_subwords
from muse.vectors import Matrix, Vectors

log = logging.getLogger(__name__)

COMPARED = 1_000  # common words that tell whether two sets of vectors are of one model
SAME_MODEL = 0.9  # their mean cosine if they are: 0.999 with three decimals, near 0 if they are not
FITTED = 50_000  # the most frequent common words, on which another model's way is fitted
RIDGE = 0.01  # times the mean square of a dimension: keeps rare directions from being blown up


@dataclass(frozen=True, eq=False)
class WordVectors:
    """The vectors of a file: of `words`, most frequent first, and of other strings as `of_other` says.

    `raw` gives the rows (n, d) of words that it has.
    """

    path: Path
    words: Sequence[str]
    of_other: Callable[[str], bool]
    raw: Callable[[Sequence[str]], Matrix]

    @cached_property
    def known(self) -> frozenset[str]:
        """The words as a set."""
        return frozenset(self.words)


@dataclass(frozen=True, eq=False)
class NewWords:
    """Vectors of one language that can be mapped into a space, by `into_space`: (n, e) to (n, d)."""

    language: str
    vectors: WordVectors
    into_space: Callable[[Matrix], Matrix]

    def has(self, word: str) -> bool:
        """Whether there is a vector for the word."""
        return bool(word) and (word in self.vectors.known or self.vectors.of_other(word))

    def rows(self, words: Sequence[str]) -> Matrix:
        """The rows (n, d) of words that it has, of unit length in the shared space."""
        return self.into_space(self.vectors.raw(words))


def load_new_words(space: AlignedSpace, language: str, path: Path | str, *, fit: bool = False) -> NewWords:
    """The vectors in a file, a fastText .bin or any other that muse reads, as words new to the space.

    Raise Mismatch if they are not of the model that the space was learned from, which the words that both
    have tell. With `fit` they may be of any model, and a linear map is fitted on those words.
    """
    space.side(language)
    vectors = _opened(Path(path), language)
    common = [word for word in space.vectors(language).words if word in vectors.known]
    if fit:
        return NewWords(language, vectors, _fitted(space, language, vectors, common[:FITTED]))
    _check_model(space, language, vectors, common)
    return NewWords(language, vectors, lambda matrix: space.map_words(language, matrix))


def own_new_words(space: AlignedSpace, language: str, *, progress: Progress | None = None) -> NewWords:
    """New words made of the n-grams of the words that the space has, with no file at all."""
    side = space.vectors(language)
    subwords = learn_subwords(side.words, np.asarray(side.matrix), progress=progress)
    vectors = WordVectors(Path(f"n-grams of {language}"), side.words, subwords.has, subwords.rows)
    return NewWords(language, vectors, lambda matrix: matrix)


def map_new_words(space: AlignedSpace, new_words: NewWords, words: Sequence[str] | None = None) -> Vectors:
    """The words and their rows (n, d) in the shared space: those asked for, or all that it has not got."""
    language, index = new_words.language, space.vectors(new_words.language).index
    if words is None:
        chosen = [word for word in new_words.vectors.words if word not in index]
    else:
        chosen = list(dict.fromkeys(word for word in words if word.strip()))
    if not chosen:
        raise BadSetting(
            f"{new_words.vectors.path}: expected words of {language} to map that the space has not got, "
            f"got {'none' if words is not None else 'only words that it has'}; name them with --words"
        )
    if missing := [word for word in chosen if not new_words.has(word)]:
        raise BadSetting(
            f"{new_words.vectors.path}: expected a vector for every word, got none for {missing[0]!r} and "
            f"{len(missing) - 1} more; a fastText .bin has them for any word"
        )
    return Vectors(language, chosen, new_words.rows(chosen))


def _opened(path: Path, language: str) -> WordVectors:
    if not is_npz(path) and is_fasttext_file(path):
        model = load_fasttext(path)
        words = [word for word in model.words() if word != "</s>"]  # its end of a line, no word
        return WordVectors(path, words, lambda _: model.has_ngrams, model.rows)
    read = read_vectors(path, language=language)
    return WordVectors(
        path, read.words, lambda _: False, lambda words: read.matrix[[read.index[word] for word in words]]
    )


def _check_model(space: AlignedSpace, language: str, vectors: WordVectors, common: Sequence[str]) -> None:
    advice = "take them from the model the space was learned from, or fit another model's with --fit"
    d, found = len(space.side(language).mapping), vectors.raw(vectors.words[:1]).shape[1]
    if found != d:
        raise Mismatch(
            f"{vectors.path}: new words of {language} need {d} numbers each, got {found}; {advice}"
        )
    if not common:
        log.warning(
            "%s: no word is also in the space: nothing tells whether the vectors fit it", vectors.path
        )
        return
    sample = common[:: max(1, len(common) // COMPARED)]
    rows = space.map_words(language, vectors.raw(sample))
    cosine = float((rows * _rows(space, language, sample)).sum(axis=1).mean())
    if cosine < SAME_MODEL:
        raise Mismatch(
            f"{vectors.path}: new words of {language} need vectors of the model the space was learned "
            f"from, got others (mean cosine {cosine:.2f} for {len(sample)} words of both); {advice}"
        )


def _fitted(
    space: AlignedSpace, language: str, vectors: WordVectors, common: Sequence[str]
) -> Callable[[Matrix], Matrix]:
    # Ridge regression from normalised rows x (c, e) to the rows y (c, d) of the same words in the space:
    # W = (X^T X + a I)^-1 X^T Y (Hoerl & Kennard, 1970).
    e = vectors.raw(vectors.words[:1]).shape[1]
    if len(common) < 2 * e:
        raise Mismatch(
            f"{vectors.path}: --fit needs at least {2 * e} words that are in the space too, got "
            f"{len(common)}; use vectors of more words"
        )
    x, steps = normalise(vectors.raw(common))
    y = _rows(space, language, common)
    gram = x.T @ x
    weights = np.linalg.solve(gram + RIDGE * np.trace(gram) / e * np.eye(e, dtype=np.float32), x.T @ y)
    return lambda matrix: normalise(steps.apply(matrix) @ weights, ["unit"])[0]


def _rows(space: AlignedSpace, language: str, words: Sequence[str]) -> Matrix:
    vectors = space.vectors(language)
    return vectors.matrix[[vectors.index[word] for word in words]]
