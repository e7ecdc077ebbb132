"""Inflections: vectors of words that a vocabulary lacks, from other forms of them that it has.

A suffix rule replaces the end of a word: -er by -erions, nothing by -s. Rules are learned from the vocabulary
alone (Soricut & Och, 2015): pairs of words that are alike but for their ends, of which there are enough, with
rows that differ by much the same offset. The row of an unknown word is the mean of what the rules make of its
known forms. Pairs that are alike by chance (mais, maison) make no rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
import scipy
from numpy.typing import NDArray

from muse.normalise import unit
from muse.space.aligned import Space
from muse.vectors import Flags, Matrix, Numbers, WordIndex

STEM = 3  # letters at least that both words of a pair begin with
SUFFIX = 5  # letters at most that they end with
SUPPORT = 10  # pairs of a rule
LEAST_COSINE = 0.5  # that a rule reaches: below, most pairs are alike by chance
LEARNED_FROM = 50_000  # the most frequent words
FORMS = 30  # known forms of a word at most
POWER = 4  # of the cosine that a rule reaches, which is how much it counts
BASE = 0x9E3779B97F4A7C15  # of hashes: odd, so that it has an inverse


class KnownForms(NamedTuple):
    """The known forms of w words: what each counts, as matrices (w, n) of words and (w, r) of rules."""

    words: scipy.sparse.csr_matrix
    rules: scipy.sparse.csr_matrix

    @property
    def any(self) -> Flags:
        """Whether each word has known forms (w,)."""
        return np.asarray(np.diff(self.words.indptr) > 0)


@dataclass(frozen=True, eq=False)
class SuffixRules:
    """Replacing a suffix by another, `names` (r,): it adds `offsets` (r, d), and reaches `cosines` (r,)."""

    names: Sequence[tuple[str, str]]
    offsets: Matrix
    cosines: Matrix

    @classmethod
    def none(cls, d: int) -> SuffixRules:
        """No rules, for rows of d numbers."""
        return cls((), np.zeros((0, d), np.float32), np.zeros(0, np.float32))

    @cached_property
    def _by_suffix(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        found = defaultdict[str, list[tuple[str, int]]](list)
        for number, (known, new) in enumerate(self.names):
            found[new].append((known, number))
        return found

    def forms(self, words: Sequence[str], index: WordIndex) -> KnownForms:
        """The forms of words that are in the vocabulary, those of the best rules; never a word itself."""
        pointers, found = [0], list[tuple[int, int]]()
        for word in words:
            word = normalize("NFC", word)
            own = [
                (row, rule)
                for stem, suffix in _parts(word)
                for known, rule in self._by_suffix.get(suffix, ())
                if (row := dict.get(index, stem + known)) is not None  # composed, as one of its keys is
            ]
            found += sorted(own, key=lambda one: -self.cosines[one[1]])[:FORMS]
            pointers.append(len(found))
        rows, rules = np.array(found, np.int64).reshape(-1, 2).T
        counts = self.cosines[rules] ** POWER
        sides = (rows, len(index.words)), (rules, len(self.names))
        return KnownForms(
            *(scipy.sparse.csr_matrix((counts, side, pointers), (len(words), n)) for side, n in sides)
        )

    def rows(self, forms: KnownForms, known: Matrix) -> Matrix:
        """The rows (w, d) of words with these forms among rows (n, d), of unit length; zeros without any."""
        return unit(forms.words @ known + forms.rules @ self.offsets)


def find_rules(space: Space, language: str) -> SuffixRules:
    """The rules of a language of a space, learned when they are first asked for: it takes a second."""
    vectors = space.single_words(language)
    return space.once(
        SuffixRules, (language,), lambda: learn_suffix_rules(vectors.words, np.asarray(vectors.matrix))
    )


def learn_suffix_rules(words: Sequence[str], rows: Matrix, left_out: Flags | None = None) -> SuffixRules:
    """The rules of a vocabulary, most frequent words first, with rows (n, d); not of words `left_out` (n,).

    The cosine is the mean between a row and what the rule, learned without it, makes of its known form.
    """
    names, offsets, cosines = list[tuple[str, str]](), list[Matrix](), list[float]()
    some = dict[str, int]()
    for row, word in enumerate(words[:LEARNED_FROM]):
        if left_out is None or not left_out[row]:
            some.setdefault(normalize("NFC", word), row)
    places = np.array([*some.values()], np.int64)
    for suffixes, pairs in _rules([*some]):
        sides = [(suffixes[side], rows[places[pairs[:, side]]]) for side in (0, 1)]
        for (known, x), (new, y) in (sides, sides[::-1]):
            count, offset = len(pairs), (y - x).mean(axis=0)
            made = unit(x + (count * offset - (y - x)) / (count - 1))
            if (cosine := float((made * y).sum(axis=1).mean())) >= LEAST_COSINE:
                names.append((known, new))
                offsets.append(offset)
                cosines.append(cosine)
    d = rows.shape[1]
    return SuffixRules(names, np.array(offsets, np.float32).reshape(-1, d), np.array(cosines, np.float32))


def _rules(words: Sequence[str]) -> Iterator[tuple[tuple[str, str], Numbers]]:
    """Both suffixes of each rule with its pairs (p, 2) of words, all different, by their places."""
    own, lengths, stems, ends = _hashed_parts(words)
    _, of_suffix, counts = np.unique(ends, return_inverse=True, return_counts=True)
    often = counts[of_suffix] >= SUPPORT
    own, lengths = own[often], lengths[often]
    _, of_stem = np.unique(stems[often], return_inverse=True)
    _, firsts, of_suffix = np.unique(ends[often], return_index=True, return_inverse=True)
    named = [
        words[place][len(words[place]) - length :]
        for place, length in zip(own[firsts].tolist(), lengths[firsts].tolist(), strict=True)
    ]
    table = scipy.sparse.csc_matrix((own + 1, (of_stem, of_suffix)), (len(own), len(named)))
    table.sort_indices()
    has = table.astype(bool).astype(np.int32)
    common = (has.T @ has).tocoo()
    enough = (common.data >= SUPPORT) & (common.row < common.col)
    for first, second in zip(common.row[enough], common.col[enough], strict=True):
        known, new = named[first], named[second]
        if known[:1] != new[:1]:  # otherwise the stem is longer
            x, y = (slice(*table.indptr[one : one + 2]) for one in (first, second))
            both = table.indices[x], table.indices[y]
            _, left, right = np.intersect1d(*both, assume_unique=True, return_indices=True)
            yield (known, new), np.stack([table.data[x][left], table.data[y][right]], 1) - 1


def _parts(word: str) -> Iterator[tuple[str, str]]:
    """Every stem and suffix of a word."""
    for cut in range(max(STEM, len(word) - SUFFIX), len(word) + 1):
        yield word[:cut], word[cut:]


def _hashed_parts(words: Sequence[str]) -> tuple[NDArray[Any], ...]:
    """Each stem and suffix (o,) of words: the word, the letters of the suffix, and hashes of both."""
    text = np.array([f"{''.join(words)} "]).view(np.uint32)
    lengths = np.array([*map(len, words)], np.int64)
    ends = np.cumsum(lengths)
    # The hash of letters a to b, a polynomial modulo 2 ** 64, is the difference of two sums, shifted by a.
    powers, shifts = (
        np.multiply.accumulate(np.full(len(text), base, np.uint64)) for base in (BASE, pow(BASE, -1, 2**64))
    )
    sums: NDArray[np.uint64] = np.append(np.uint64(0), np.cumsum(text * powers))
    found = []
    for length in range(SUFFIX + 1):
        own = np.flatnonzero(lengths >= STEM + length)
        begin, cut, end = (ends - lengths)[own], ends[own] - length, ends[own]
        stem, suffix = ((sums[y] - sums[x]) * shifts[x] for x, y in ((begin, cut), (cut, end)))
        found.append((own, np.full(len(own), length), stem, suffix))
    return tuple(map(np.concatenate, zip(*found, strict=True)))
