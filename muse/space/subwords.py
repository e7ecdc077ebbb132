"""Subwords: vectors of character n-grams, learned from the words of a space alone, that compose new words.

A word is the sum of the vectors of its n-grams divided by the square root of their number; the n-grams'
vectors are fitted to the rows of the known words by ridge regression: bag of subwords, after Zhao, Mudgal
and Liang, 2018. It needs no text and no model, and works best for inflections and compounds of known words.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
import torch
from torch import Tensor

from muse.errors import Mismatch
from muse.normalise import normalise
from muse.progress import Progress
from muse.vectors import Matrix

LENGTHS = range(3, 7)
SEEN = 2  # words that an n-gram must occur in: an n-gram of a single word does not generalise
KNOWN = 0.3  # the share of a word's n-grams that must be known
RIDGE = 1.0
ROUNDS = 20  # of conjugate gradients; the residual is then about 10 %, and held-out words improve no more


@dataclass(frozen=True, eq=False)
class Subwords:
    """The vectors (g, d) of g n-grams, with their rows in `index`, and the mean (d,) of all words."""

    index: Mapping[str, int]
    vectors: Matrix
    mean: Matrix

    def has(self, word: str) -> bool:
        """Whether enough of the word's n-grams are known."""
        found = [gram in self.index for gram in ngrams(word)]
        return bool(found) and sum(found) >= KNOWN * len(found)

    def rows(self, words: Sequence[str]) -> Matrix:
        """The rows (n, d) of any words, of unit length."""
        bags = _Bags.of(words, self.index)
        return normalise(bags.sums(torch.from_numpy(self.vectors)).numpy() + self.mean, ["unit"])[0]


def ngrams(word: str) -> Iterator[str]:
    """The n-grams of a word with markers at both ends, the same in whatever Unicode form the word is.

    >>> list(ngrams("eau"))
    ['<ea', 'eau', 'au>', '<eau', 'eau>', '<eau>']
    """
    marked = f"<{normalize('NFC', word)}>"
    for length in LENGTHS:
        for begin in range(len(marked) - length + 1):
            yield marked[begin : begin + length]


def learn_subwords(words: Sequence[str], rows: Matrix, *, progress: Progress | None = None) -> Subwords:
    """The n-gram vectors V that minimise |X V - Y|^2 + a |V|^2 for the centred rows Y (n, d).

    X (n, g) has the n-grams of each word. V = X^T A with (X X^T + a I) A = Y, which conjugate gradients
    solve for all columns at once (Hestenes & Stiefel, 1952).
    """
    counts = Counter(gram for word in words for gram in set(ngrams(word)))
    index = {gram: row for row, gram in enumerate(gram for gram, n in counts.items() if n >= SEEN)}
    if not index:
        raise Mismatch(
            f"n-grams need words that share some n-gram of {LENGTHS[0]} letters, got none among {len(words)}"
        )
    bags = _Bags.of(words, index)
    mean = rows.mean(axis=0)
    residual = torch.from_numpy(rows - mean)  # (n, d)
    solution, direction = torch.zeros_like(residual), residual.clone()
    length = residual.square().sum(dim=0)  # (d,)
    with (progress or Progress(quiet=True)).stage("n-grams", ROUNDS, "rounds") as tick:
        for done in range(1, ROUNDS + 1):
            image = bags.sums(bags.spread(direction)) + RIDGE * direction
            step = length / (direction * image).sum(dim=0).clamp_min(1e-12)
            solution += step * direction
            residual = residual - step * image
            shorter = residual.square().sum(dim=0)
            direction = residual + shorter / length.clamp_min(1e-12) * direction
            length = shorter
            tick(done)
    return Subwords(index, bags.spread(solution).numpy(), mean)


@dataclass(frozen=True, eq=False)
class _Bags:
    # The sparse matrix X (n, g), as the n-grams of each word and as the words of each n-gram.
    grams: Tensor
    grams_from: Tensor
    words: Tensor
    words_from: Tensor
    scale: Tensor  # (n, 1)

    @staticmethod
    def of(words: Sequence[str], index: Mapping[str, int]) -> "_Bags":
        bags = [[index[gram] for gram in ngrams(word) if gram in index] for word in words]
        sizes = np.array([len(bag) for bag in bags], dtype=np.int64)
        grams = np.fromiter((gram for bag in bags for gram in bag), np.int64)
        by_gram = np.argsort(grams, kind="stable")
        uses = np.bincount(grams, minlength=len(index))
        return _Bags(
            torch.from_numpy(grams),
            torch.from_numpy(np.cumsum(sizes) - sizes),
            torch.from_numpy(np.repeat(np.arange(len(words)), sizes)[by_gram]),
            torch.from_numpy(np.cumsum(uses) - uses),
            torch.from_numpy(np.maximum(sizes, 1)[:, None] ** -0.5).float(),
        )

    def sums(self, vectors: Tensor) -> Tensor:
        # X V (n, d).
        return self.scale * torch.nn.functional.embedding_bag(
            self.grams, vectors, self.grams_from, mode="sum"
        )

    def spread(self, rows: Tensor) -> Tensor:
        # X^T A (g, d).
        return torch.nn.functional.embedding_bag(self.words, self.scale * rows, self.words_from, mode="sum")
