"""Table: words and rows as a format yields them, block by block, and gathering them into Vectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting
from muse.vectors import Matrix, Vectors

log = logging.getLogger(__name__)

Block = tuple[list[str], Matrix]  # p words and their rows (p, d)
_ROWS = 1000  # rows looked up at once
_KEPT = 58  # bytes of a long word that word2phrase keeps; word2vec keeps 98


@dataclass
class CutWords:
    """Words left out because they end inside a character: their number, the first, and how it is refused.

    `short` are those that neither word2vec nor word2phrase would have cut.
    """

    count: int = 0
    short: int = 0
    first: bytes = b""
    fault: BadFile | None = None

    def add(self, word: bytes, fault: BadFile) -> None:
        """Count one more; `fault` is the error of a file without words that may be cut."""
        if self.fault is None:
            self.first, self.fault = word, fault
        self.count += 1
        self.short += len(word) < _KEPT


@dataclass(frozen=True)
class Table:
    """A file being read: its dimension, an estimate of its rows, and its blocks, read lazily.

    `max_rows` is an estimate of the number of rows that is bounded even if the header of the file is wrong;
    an error in a block is raised when that block is requested, so errors after `max_vocab` are ignored.
    `ranked` is whether it holds words, most frequent first, or rows in no order, which may have `texts`; of
    these, `max_rows` is exact. `cut` counts what the blocks have left out so far.
    """

    path: Path
    dimension: int
    max_rows: int
    blocks: Iterator[Block]
    ranked: bool = True
    texts: Iterable[str] | None = None
    cut: CutWords | None = None


@dataclass(frozen=True)
class ReadOptions:
    """The words to read from a file."""

    language: str
    max_vocab: int | None = None
    lowercase: bool = False

    def __post_init__(self) -> None:
        if self.max_vocab is not None and self.max_vocab < 1:
            raise BadSetting(f"max_vocab must be at least 1 or None for every word, got {self.max_vocab}")


def table_of(
    path: Path, dimension: int, words: Sequence[str], rows: Callable[[Sequence[str]], Matrix]
) -> Table:
    """The table of words whose rows (p, d) a function looks up or composes, a block at a time."""
    blocks = (list(words[begin : begin + _ROWS]) for begin in range(0, len(words), _ROWS))
    return Table(path, dimension, len(words), ((block, rows(block)) for block in blocks))


def no_ngrams_error(path: Path) -> BadSetting:
    """The error to raise where vectors of given words are wanted from a file that cannot compose them."""
    return BadSetting(
        f"{path}: a list of words is for vectors composed of n-grams (a fastText .bin, a spaCy pipeline in "
        "mode floret), got vectors of words; leave the list out"
    )


def gather(table: Table, wanted: ReadOptions) -> Vectors:
    """The wanted words with their rows in one matrix, allocated once if the table's estimate is right."""
    if wanted.lowercase and not table.ranked:
        raise BadSetting(f"{table.path}: --lower is for words, got unlabelled vectors; leave it out")
    chosen = _Chosen(wanted)
    matrix = np.empty((0, table.dimension), np.float32)
    rows_read, beyond_ascii, any_value = 0, 0, False
    cut = CutWords()  # in the blocks that are read to their ends: what follows the last word is not wanted
    for words, rows in table.blocks:
        if words:  # else only blank lines: rows of width 0
            beyond_ascii += sum(not word.isascii() for word in words)
            keep = chosen.keep(words)
            fresh = rows if len(keep) == len(rows) else rows[keep]  # (p, d)
            matrix = _with_room(matrix, rows_read + len(fresh), chosen.max_rows(table.max_rows))
            matrix[rows_read : rows_read + len(fresh)] = fresh
            rows_read += len(fresh)
            any_value = any_value or bool(fresh.any())
        if chosen.enough:
            break
        cut = cut if table.cut is None else replace(table.cut)
    _check_cut(table.path, cut, beyond_ascii)
    _check(table.path, rows_read, any_value)
    matrix.resize((rows_read, table.dimension), refcheck=False)
    return Vectors(
        wanted.language, tuple(chosen.words), matrix, repeated=len(chosen.dropped), ranked=table.ranked,
        texts=None if table.texts is None else chosen.of(table.texts),
    )  # fmt: skip


class _Chosen:
    """The words kept so far: each once, in order, up to the number wanted."""

    def __init__(self, wanted: ReadOptions) -> None:
        # A dict keeps order: it is both the list of words and the set of those seen.
        self.words: dict[str, None] = {}
        self.dropped = set[int]()  # the places in the file of those that are repeated
        self._wanted = wanted
        self._read = 0  # before the block being read

    @property
    def enough(self) -> bool:
        return self._wanted.max_vocab is not None and len(self.words) >= self._wanted.max_vocab

    def max_rows(self, guess: int) -> int:
        return guess if self._wanted.max_vocab is None else min(guess, self._wanted.max_vocab)

    def keep(self, words: list[str]) -> list[int]:
        kept = []
        for place, word in enumerate(map(str.lower, words) if self._wanted.lowercase else words):
            if self.enough:
                break
            if word in self.words:
                self.dropped.add(self._read + place)
            else:
                self.words[word] = None
                kept.append(place)
        self._read += len(words)
        return kept

    def of(self, texts: Iterable[str]) -> list[str]:
        """The texts of the rows kept, from those of the whole file."""
        kept = (text for place, text in enumerate(texts) if place not in self.dropped)
        return list(islice(kept, len(self.words)))


def _with_room(matrix: Matrix, needed: int, guess: int) -> Matrix:
    # np.empty takes memory only as rows are written, so too high an estimate costs address space alone.
    if needed <= len(matrix):
        return matrix
    if not len(matrix):
        return np.empty((max(needed, guess), matrix.shape[1]), np.float32)
    matrix.resize((max(needed, len(matrix) * 3 // 2), matrix.shape[1]), refcheck=False)
    return matrix


def _check(path: Path, rows_read: int, any_value: bool) -> None:
    if not rows_read:
        raise BadFile(f"{path}: expected at least one word, got none; download it again")
    if not any_value:
        raise BadFile(f"{path}: expected vectors, got only zeros; check the program that wrote the file")


def _check_cut(path: Path, cut: CutWords, beyond_ascii: int) -> None:
    # In another encoding, such as Latin-1, many words seem to end inside a character, and few are UTF-8.
    if cut.fault is None:
        return
    if cut.short > beyond_ascii:
        raise cut.fault
    log.warning(
        "%s: dropped %d words that end inside a character, as word2vec cuts long ones, the first is %s",
        path, cut.count, cut.first.decode(errors="backslashreplace"),
    )  # fmt: skip


def finite(path: Path, rows: NDArray[Any], begin: int) -> Matrix:
    """The rows (b, d) as float32; BadFile names the first one that has nan or inf, counted from `begin`."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is reported below
        block = np.asarray(rows, np.float32)
    good = np.isfinite(block).all(axis=1)  # (b,)
    if not good.all():
        raise BadFile(
            f"{path}: expected finite numbers, got nan or inf in row {begin + int(np.argmin(good))}; remove "
            "that row"
        )
    return block
