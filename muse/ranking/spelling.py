"""Spelling: how alike two words of two languages are written, whatever their scripts.

Correspondences are learned from pairs of words that translate each other, mostly. A word is a row of TF-IDF
weights of its character 1-4-grams, reduced to its first principal components, which canonical correlation
(`muse.ranking.canonical`) maps to coordinates in which the words of the pairs correspond, such as -tion and
-zione, or k and к. The similarity of two words is the cosine of these. Correspondences of endings alone
distinguish inflected forms: -ly and -mente.

Edit distance and common prefix and suffix, without accents, complement it where the script is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
import torch
from numpy.typing import NDArray

from muse.orthography import plain
from muse.ranking.candidates import TwoWay
from muse.ranking.canonical import Correspondences
from muse.search.exact import at_once
from muse.vectors import Doubles, Matrix, Numbers

COMPONENTS = 200  # of the n-grams' weights
LEARNED_FROM = 60_000  # most frequent words, which have all n-grams that recur
OVERSAMPLED, POWERS = 20, 1  # of the randomised singular value decomposition
RARE = 3  # an n-gram of fewer words corresponds to nothing that could be learned
LONGEST = 4
_SHIFTS = 16 * np.arange(LONGEST - 1, -1, -1, dtype=np.uint64)  # of the letters of an n-gram in its code
Codes = NDArray[np.uint64]


def _code_points(words: Sequence[str]) -> NDArray[np.uint32]:
    """The characters (t,) of all words, each between spaces, which mark its beginning and end."""
    return np.array([f" {'  '.join(words)} "]).view(np.uint32)


def _numbers(characters: NDArray[np.uint32], letters: NDArray[np.uint32]) -> Codes:
    """The number of each of the characters, from 1, among some letters (k,), ascending; 0 for others."""
    places = np.searchsorted(letters, characters)
    return np.where(np.append(letters, 0)[places] == characters, places + 1, 0).astype(np.uint64)


def _grams(words: Sequence[str], letters: NDArray[np.uint32], *, ends: bool) -> tuple[Numbers, Codes]:
    """The words (o,) in which 1- to 4-grams of some letters (k,) occur, and the codes (o,) of these.

    With `ends` those are the last letters of longer words. In a code, each letter is its number in 16 bits.
    """
    text, lengths = _code_points(words), np.array([*map(len, words)], np.int64) + 2
    own = np.repeat(np.arange(len(words)), lengths)
    left = np.cumsum(lengths)[own] - np.arange(len(own))  # characters of the word, and its space
    numbers = np.append(_numbers(text, letters), np.zeros(LONGEST, np.uint64))
    codes, known, found = np.zeros(len(text), np.uint64), np.ones(len(text), bool), []
    for length, shift in enumerate(_SHIFTS, start=1):
        number = numbers[length - 1 : length - 1 + len(text)]
        codes, known = codes | number << shift, known & (number > 0)
        if ends:
            chosen = known & (left == length + 1) & (lengths[own] > length + 2)
        else:
            chosen = known & (left >= length if length > 1 else text != ord(" "))
        found.append((own[chosen], codes[chosen]))
    rows, every = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(rows, kind="stable")
    return rows[order], every[order]


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
        letters = np.unique(_code_points(words))
        rows, codes = _grams(words, letters, ends=ends)
        kinds, columns = np.unique(codes, return_inverse=True)
        first = np.empty(len(kinds), np.int64)
        first[columns[::-1]] = np.arange(len(columns))[::-1]
        order = np.argsort(first)  # n-grams of frequent words come first
        kinds, columns = kinds[order], np.argsort(order)[columns]
        counts = _counts(rows, columns, (len(words), len(kinds)))
        frequency = np.bincount(counts.indices, minlength=len(kinds))
        kept = frequency >= RARE
        weights = (np.log((1 + len(words)) / (1 + frequency[kept])) + 1).astype(np.float32)
        table = _weighted(counts[:, kept], weights)
        basis, components = _components(table[:LEARNED_FROM], COMPONENTS, rng)
        if len(words) > LEARNED_FROM:
            components = np.asarray(table @ basis, np.float32)
        of_names = (kinds[kept, None] >> _SHIFTS & np.uint64(0xFFFF)).astype(np.int64)
        names = np.append(np.uint32(0), letters)[of_names].view(f"U{LONGEST}").ravel().tolist()
        return cls(names, weights, basis, ends), components

    def check(self) -> None:
        """Raise ValueError unless each n-gram, none of them twice, has a weight and a row of the basis."""
        count = len(self.names)
        if self.weights.shape != (count,) or self.basis.ndim != 2 or len(self.basis) != count:
            raise ValueError("expected a weight and coordinates for each n-gram")
        if len({*self.names}) != count or not all(0 < len(one) <= LONGEST for one in self.names):
            raise ValueError(f"expected different n-grams of at most {LONGEST} letters")
        if len({*"".join(self.names)}) >= 1 << 16:  # the bits of a letter in a code
            raise ValueError("expected fewer letters")

    def components(self, words: Sequence[str]) -> Matrix:
        """The components (q, c) of other words."""
        of_names = np.array([*self.names], f"U{LONGEST}").view(np.uint32).reshape(-1, LONGEST)
        letters = np.unique(of_names[of_names > 0])
        codes = (_numbers(of_names, letters) << _SHIFTS).sum(axis=1, dtype=np.uint64)
        rows, asked = _grams(words, letters, ends=self.ends)
        order = np.argsort(codes)
        columns = np.append(order, 0)[np.searchsorted(codes, asked, sorter=order)]
        known = codes[columns] == asked if len(codes) else np.zeros(len(asked), bool)
        rows, columns = rows[known], columns[known]
        table = _weighted(_counts(rows, columns, (len(words), len(codes))), self.weights)
        return np.asarray(table @ self.basis, np.float32)


def _counts(rows: Numbers, columns: Numbers, shape: tuple[int, int]) -> scipy.sparse.csr_matrix:
    """How often each word has each n-gram (n, g), by the row and the column (o,) of each time."""
    return scipy.sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape)


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
        first, second, first_ends, second_ends = at_once(
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
        whole, ends = at_once(
            lambda side: Correspondences.learned(side[0], side[1], pairs, weights), (self.grams, self.ends)
        )
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
