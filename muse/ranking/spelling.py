"""Spelling: how alike two words of two languages are written, whatever their scripts.

Correspondences are learned from pairs of words that translate each other, mostly. A word is a row of TF-IDF
weights of its character 1-4-grams, reduced to its first principal components, which canonical correlation
(`muse.ranking.canonical`) maps to coordinates in which the words of the pairs correspond, such as -tion and
-zione, or k and к. The similarity of two words is the cosine of these. Correspondences of endings alone
distinguish inflected forms: -ly and -mente.

Edit distance and common prefix and suffix, without accents, complement it where the script is the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import scipy
import torch
from numpy.typing import NDArray

from muse.orthography import plain
from muse.ranking.candidates import TwoWay
from muse.ranking.canonical import Correspondences
from muse.vectors import Doubles, Matrix, Numbers

COMPONENTS = 200  # of the n-grams' weights
LEARNED_FROM = 60_000  # most frequent words, which have all n-grams that recur
OVERSAMPLED, POWERS = 20, 1  # of the randomised singular value decomposition
RARE = 3  # an n-gram of fewer words corresponds to nothing that could be learned
LONGEST = 4


def all_grams(word: str) -> Sequence[str]:
    """The 1- to 4-grams of a word between spaces, which mark its beginning and end."""
    marked = f" {word} "
    longer = [
        marked[start : start + length]
        for length in range(2, LONGEST + 1)
        for start in range(max(0, len(marked) - length) + 1)
    ]
    return [*word.replace(" ", ""), *longer]


def endings(word: str) -> Sequence[str]:
    """The last 1 to 4 letters of a longer word."""
    return [word[-length:] for length in range(1, min(LONGEST + 1, len(word)))]


@dataclass(frozen=True, eq=False)
class Grams:
    """The n-grams of a vocabulary, or with `ends` its endings, and the directions in which words differ most.

    `weights` (g,) are inverse document frequencies, `basis` (g, c) the first principal components.
    """

    names: Sequence[str]
    weights: Matrix
    basis: Matrix
    ends: bool

    @classmethod
    def of(cls, words: Sequence[str], *, ends: bool, rng: np.random.Generator) -> tuple[Grams, Matrix]:
        """The n-grams that at least RARE of the words contain, and the components (n, c) of the words.

        A word without such n-grams is zeros.
        """
        numbers = defaultdict[str, int]()
        numbers.default_factory = numbers.__len__  # a new n-gram gets the next number
        counts = _counts(words, ends, numbers)
        frequency = np.bincount(counts.indices, minlength=len(numbers))
        kept = frequency >= RARE
        weights = (np.log((1 + len(words)) / (1 + frequency[kept])) + 1).astype(np.float32)
        table = _weighted(counts[:, kept], weights)
        basis, components = _components(table[:LEARNED_FROM], COMPONENTS, rng)
        if len(words) > LEARNED_FROM:
            components = np.asarray(table @ basis, np.float32)
        names = [name for name, known in zip(numbers, kept.tolist(), strict=True) if known]
        return cls(names, weights, basis, ends), components

    def components(self, words: Sequence[str]) -> Matrix:
        """The components (q, c) of other words."""
        numbers = {name: number for number, name in enumerate(self.names)}
        table = _weighted(_counts(words, self.ends, numbers), self.weights)
        return np.asarray(table @ self.basis, np.float32)


def _counts(words: Sequence[str], ends: bool, numbers: dict[str, int]) -> scipy.sparse.csr_matrix:
    """How often each word has each n-gram (n, g) of `numbers`; a defaultdict gets those that it lacks."""
    pointers, columns, grams_of = [0], list[int](), endings if ends else all_grams
    for word in words:
        found = grams_of(word)
        if not isinstance(numbers, defaultdict):
            found = [gram for gram in found if gram in numbers]
        columns += map(numbers.__getitem__, found)
        pointers.append(len(columns))
    data = np.ones(len(columns), np.float32), np.array(columns, np.int32), pointers
    counts = scipy.sparse.csr_matrix(data, (len(words), len(numbers)))
    counts.sum_duplicates()
    return counts


def _weighted(counts: scipy.sparse.csr_matrix, weights: Matrix) -> scipy.sparse.csr_matrix:
    """The TF-IDF weights (n, g), rows of unit length."""
    counts.data = (1 + np.log(counts.data)) * weights[counts.indices]
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(np.maximum(lengths, 1e-9), np.diff(counts.indptr)).astype(np.float32)
    return counts


def _components(
    table: scipy.sparse.csr_matrix, count: int, rng: np.random.Generator
) -> tuple[Matrix, Matrix]:
    """V (g, c) and U S (n, c) of the largest singular values, by subspace iteration (Halko et al., 2011)."""
    count = min(count, *table.shape)
    if not count:
        return np.zeros((table.shape[1], 1), np.float32), np.zeros((table.shape[0], 1), np.float32)
    found = table @ rng.standard_normal((table.shape[1], count + OVERSAMPLED), np.float32)
    for _ in range(POWERS):
        basis = torch.linalg.qr(torch.from_numpy(table.T @ found))[0].numpy()  # numpy takes thrice as long
        found = table @ basis
    values, vectors = np.linalg.eigh(found.T.astype(np.float64) @ found)
    kept = np.flatnonzero(values > 1e-9 * values[-1])[::-1][:count]
    turned = vectors[:, kept].astype(np.float32)
    return basis @ turned, found @ turned


@dataclass(frozen=True, eq=False)
class Spellings(TwoWay):
    """How the words of both languages are written: themselves, plain, and as components of their n-grams.

    `grams` and `ends` are the components of each side, (n, c) and (m, e); `lengths` (n,) and (m,) the letters
    of plain words; `same` (n,) and (m,) the word of the other side that is the same string, or -1; `known`
    has the n-grams of the source, and its endings, and those of the target.
    """

    words: tuple[Sequence[str], Sequence[str]]
    plain: tuple[NDArray[np.object_], NDArray[np.object_]]
    grams: tuple[Matrix, Matrix]
    ends: tuple[Matrix, Matrix]
    lengths: tuple[Matrix, Matrix]
    same: tuple[Numbers, Numbers]
    known: tuple[tuple[Grams, Grams], ...] = ()

    @classmethod
    def of(cls, source: Sequence[str], target: Sequence[str], rng: np.random.Generator) -> Spellings:
        """The spellings of the words of two languages."""
        bare = np.array([*map(plain, source)], object), np.array([*map(plain, target)], object)
        kinds = [(side.tolist(), only) for only in (False, True) for side in bare]
        with ThreadPoolExecutor(min(2, torch.get_num_threads())) as pool:
            first, second, first_ends, second_ends = pool.map(
                lambda kind, own: Grams.of(kind[0], ends=kind[1], rng=own), kinds, rng.spawn(len(kinds))
            )
        known = (first[0], first_ends[0]), (second[0], second_ends[0])
        grams, ends = (first[1], second[1]), (first_ends[1], second_ends[1])
        lengths = letters(bare[0]), letters(bare[1])
        same = same_strings(source, target), same_strings(target, source)
        return cls((source, target), bare, grams, ends, lengths, same, known)

    def correspondences(
        self, pairs: Numbers, weights: Doubles | None = None
    ) -> tuple[Correspondences, Correspondences]:
        """The correspondences of whole words, and of endings, learned from pairs (p, 2)."""
        whole, ends = (Correspondences.learned(*side, pairs, weights) for side in (self.grams, self.ends))
        return whole, ends


def letters(words: NDArray[np.object_]) -> Matrix:
    """The number of letters of each word (n,)."""
    return np.array([*map(len, words.tolist())], np.float32)


def same_strings(source: Sequence[str], target: Sequence[str]) -> Numbers:
    """The target (n,) that is the same string as each source, or -1."""
    index = {word: number for number, word in enumerate(target)}
    return np.array([index.get(word, -1) for word in source], np.int64)


@dataclass(frozen=True, eq=False)
class LetterSimilarity:
    """The similarity of the words of pairs, letter by letter, each (c,)."""

    edit: Matrix
    """1 - insertions and deletions / letters of both."""
    prefix: Matrix
    suffix: Matrix

    @classmethod
    def of(cls, left: NDArray[np.object_], right: NDArray[np.object_]) -> LetterSimilarity:
        """The similarities of words (c,) and words (c,); an empty word has none."""
        from rapidfuzz.distance import Indel, Postfix, Prefix
        from rapidfuzz.process import cpdist

        scorers = Indel.normalized_similarity, Prefix.similarity, Postfix.similarity
        sides = left.tolist(), right.tolist()
        return cls(*(cpdist(*sides, scorer=scorer, dtype=np.float32, workers=1) for scorer in scorers))
