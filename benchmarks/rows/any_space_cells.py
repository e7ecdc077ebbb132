"""The cells of benchmarks/rows/any_space.py: two encoders, or an encoder and rows that match it nowhere."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.rows.any_space_text import EVALUATED
from muse.vectors import Matrix

# What a target is that no rows of the source belong to, by the name that stands for it.
IMPOSSIBLE = ("random", "shuffled", "french", "russian-words")
IMPOSSIBLE_SEED = 1_000


class Cell(NamedTuple):
    """What one row of the results is of; `target` is an encoder, or NAME:KIND with one of IMPOSSIBLE."""

    source: str
    target: str
    rows: int
    tool: str
    seed: int

    @property
    def possible(self) -> bool:
        """Whether the target is an encoder of the same kind of text."""
        return ":" not in self.target


class Data(NamedTuple):
    """The rows of A (n, d) and B (m, d'), of different sentences, and those of sentences that both have."""

    a: Matrix
    b: Matrix
    a_known: Matrix
    b_known: Matrix
    a_pairs: Matrix
    b_pairs: Matrix


def _encoded(folder: Path, name: str) -> Matrix:
    rows: Matrix = np.load(folder / f"{name}.npy", mmap_mode="r")
    return rows


def _half(rows: Matrix, first: int, count: int) -> Matrix:
    half = np.array(rows[EVALUATED + first :: 2][:count], np.float32)
    if len(half) < count:
        raise RuntimeError(f"{count} rows a side need {EVALUATED + 2 * count} sentences, got {len(rows)}")
    return half


def load(cell: Cell, folder: Path, words: Path) -> Data:
    """The rows of a cell; `words` is a file of Russian word vectors, for one of the impossible targets."""
    source = _encoded(folder, cell.source)
    name, _, kind = cell.target.partition(":")
    target = _encoded(folder, name)
    a, b = _half(source, 0, cell.rows), _half(target, 1, cell.rows)
    # For Procrustes: pairs of the sentences of space A, which the target encoder has too.
    a_pairs, b_pairs = a, _half(target, 0, cell.rows)
    if kind:
        b = unmatched(kind, b, folder, words, np.random.default_rng(IMPOSSIBLE_SEED + cell.seed))
    a_known, b_known = (np.array(rows[:EVALUATED], np.float32) for rows in (source, target))
    return Data(a, b, a_known, b_known, a_pairs, b_pairs)


def unmatched(kind: str, rows: Matrix, folder: Path, words: Path, rng: np.random.Generator) -> Matrix:
    """Rows in the place of `rows` (n, d) that match no other space.

    "random" are normal with their mean and covariance, "shuffled" are theirs with every coordinate permuted
    by itself, "french" are French sentences by French vectors, "russian-words" vectors of Russian words.
    """
    if kind == "random":
        return rng.multivariate_normal(rows.mean(axis=0), np.cov(rows.T), len(rows)).astype(np.float32)
    if kind == "shuffled":
        return rng.permuted(rows, axis=0)
    if kind == "french":
        return np.array(_encoded(folder, "french-sif")[: len(rows)], np.float32)
    from muse.files import read_vectors

    return np.asarray(read_vectors(words, language="ru", max_vocab=len(rows)).matrix, np.float32)
