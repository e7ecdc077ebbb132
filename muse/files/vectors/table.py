"""Table: words and rows as a format yields them, block by block, and gathering them into Vectors."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files.vectors.broken import Dropped, as_text, keep_whole
from muse.vectors import Matrix, Vectors, lowercase

log = logging.getLogger(__name__)

Block = tuple[list[str], Matrix]  # p words and their rows (p, d)
_ROWS = 1000  # rows looked up at once
_NAMED, _SURE = 8, 20  # languages in a message; words that must all look like keys
_COMPARED = 4  # numbers of a row by which rows that may be equal are found
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64)
_ONE_IN_DUPLICATES = 100  # words may share the vector of another one without a warning, of most files
_FEW_DUPLICATES = 10
# Keys of files with the words of several languages: ConceptNet's /c/fr/roi, and fr:roi.
_KEY = re.compile(r"(/c/[^/\s]+/|[a-z]{2,3}:(?=\S))")


@dataclass(frozen=True)
class Table:
    """A file being read: its dimension, an estimate of its rows, and its blocks, read lazily.

    `max_rows` is an estimate of the number of rows that is bounded even if the header of the file is wrong;
    an error in a block is raised when that block is requested, so errors after `max_vocab` are ignored.
    `ranked` is whether it holds words, most frequent first, or rows in no order, which may have `texts`; of
    these, `max_rows` is exact. `dropped` counts the broken words that the blocks have left out so far.
    """

    path: Path
    dimension: int
    max_rows: int
    blocks: Iterator[Block]
    ranked: bool = True
    texts: Iterable[str] | None = None
    dropped: Dropped = field(default_factory=Dropped)


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
    path: Path, dimension: int, words: Sequence[str | bytes], rows: Callable[[Sequence[str]], Matrix]
) -> Table:
    """The table of words whose rows (p, d) a function looks up or composes, a block at a time."""
    dropped = Dropped()

    def block(begin: int) -> Block:
        own = words[begin : begin + _ROWS]
        texts = [as_text(word) for word in own]
        found = np.zeros((len(own), dimension), np.float32)
        found[[place for place, text in enumerate(texts) if text]] = rows([text for text in texts if text])
        return keep_whole(path, own, found, dropped)

    blocks = (block(begin) for begin in range(0, len(words), _ROWS))
    return Table(path, dimension, len(words), blocks, dropped=dropped)


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
    chosen = _Chosen(wanted, by_key=table.ranked)
    matrix = np.empty((0, table.dimension), np.float32)
    rows_read, beyond_ascii, any_value = 0, 0, False
    for words, rows in table.blocks:
        if words:  # else only blank lines: rows of width 0
            beyond_ascii += sum(not word.isascii() for word in words)
            keep = chosen.keep(words)
            fresh = rows if len(keep) == len(rows) else rows[keep]  # (p, d)
            matrix = _with_room(matrix, rows_read + len(fresh), chosen.max_rows(table.max_rows))
            matrix[rows_read : rows_read + len(fresh)] = fresh
            rows_read += len(fresh)
            any_value = any_value or bool(fresh.any())
        if chosen.enough:  # what follows is not wanted, broken or not
            break
        table.dropped.check_hope()
    table.dropped.settle(table.path, beyond_ascii=beyond_ascii, read=chosen.end if chosen.enough else None)
    chosen.check_keys(table.path)
    _check(table.path, rows_read, any_value)
    matrix.resize((rows_read, table.dimension), refcheck=False)
    if table.ranked:
        _warn_of_shared(table.path, list(chosen.words), matrix)
    return Vectors(
        wanted.language, tuple(chosen.words), matrix, repeated=len(chosen.repeated), ranked=table.ranked,
        texts=None if table.texts is None else chosen.of(table.texts),
    )  # fmt: skip


class _Chosen:
    """The words kept so far: each once, in order, up to the number wanted.

    With `by_key`, words that are keys of several languages are those of the wanted one, without their prefix.
    """

    def __init__(self, wanted: ReadOptions, *, by_key: bool) -> None:
        # A dict keeps order: it is both the list of words and the set of those seen.
        self.words: dict[str, None] = {}
        self.repeated = set[int]()  # the places in the file of those that are repeated
        self.end = 0  # the place after the last one kept
        self._wanted = wanted
        self._read = 0  # before the block being read
        self._prefixes = set[str]()  # of the languages whose keys were read
        self._may_be_keys, self._by_key = by_key, False

    @property
    def enough(self) -> bool:
        return self._wanted.max_vocab is not None and len(self.words) >= self._wanted.max_vocab

    def max_rows(self, guess: int) -> int:
        return guess if self._wanted.max_vocab is None else min(guess, self._wanted.max_vocab)

    def keep(self, words: list[str]) -> list[int]:
        kept = []
        if not self._read:
            self._by_key = self._may_be_keys and are_keys(words)
        for place, word in enumerate(self._of_language(words) if self._by_key else words):
            if self.enough:
                break
            form = lowercase(word, self._wanted.language) if self._wanted.lowercase else word
            if form in self.words:
                self.repeated.add(self._read + place)
            elif form:
                self.words[form] = None
                kept.append(place)
        if kept:
            self.end = self._read + kept[-1] + 1
        self._read += len(words)
        return kept

    def _of_language(self, words: list[str]) -> list[str]:
        """The words without their prefixes; in place of those of other languages, the empty string."""
        found = [_KEY.match(word) for word in words]
        prefixes = [match[1] if match else "" for match in found]
        self._prefixes.update(prefixes)
        own = {f"/c/{self._wanted.language}/", f"{self._wanted.language}:"}
        return [
            word[len(prefix) :] if prefix in own else "" for word, prefix in zip(words, prefixes, strict=True)
        ]

    def check_keys(self, path: Path) -> None:
        """Log that the words were keys; raise Mismatch if none is of the wanted language."""
        if not self._by_key:
            return
        names = sorted({prefix.removeprefix("/c/").rstrip("/:") for prefix in self._prefixes} - {""})
        language, some = (
            self._wanted.language,
            ", ".join(names[:_NAMED]) + (", ..." if names[_NAMED:] else ""),
        )
        if not self.words:
            raise Mismatch(
                f"{path}: expected words of {language}, got keys of other languages ({some}); call the "
                "language what the file calls it"
            )
        # ConceptNet's own files are sorted.
        in_order = list(self.words) == sorted(self.words) and len(self.words) > 1
        log.log(
            logging.WARNING if in_order else logging.INFO,
            "%s: the words are keys of languages (%s), of which those of %s are read%s", path, some, language,
            ", in alphabetical order; the most frequent first is better" if in_order else "",
        )  # fmt: skip

    def of(self, texts: Iterable[str]) -> list[str]:
        """The texts of the rows kept, from those of the whole file."""
        kept = (text for place, text in enumerate(texts) if place not in self.repeated)
        return list(islice(kept, len(self.words)))


def are_keys(words: Sequence[str]) -> bool:
    """Whether all words are keys that begin with a language.

    >>> are_keys(["/c/fr/roi", "/c/en/king"]), are_keys(["/c/fr/roi", "king"]), are_keys(["c:drive"] * 20)
    (True, False, False)
    """
    first = words[0] if words else ""
    return (first.startswith("/c/") or len(words) >= _SURE) and all(map(_KEY.match, words))


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


def _warn_of_shared(path: Path, words: Sequence[str], matrix: Matrix) -> None:
    """Warns if many words have the vector of another one, as unknown words of some models have."""
    groups = shared_rows(matrix)
    shared = sum(map(len, groups)) - len(groups)
    if shared < 2 or (shared < _FEW_DUPLICATES and shared * _ONE_IN_DUPLICATES < len(words)):
        return
    largest = max(groups, key=len)
    log.warning(
        "%s: %d of %d words share the vector of another word, %d of them that of %r; as translations they "
        "cannot be told apart",
        path, shared, len(words), len(largest) - 1, words[largest[0]],
    )  # fmt: skip


def shared_rows(matrix: Matrix) -> list[list[int]]:
    """The places of the rows that are equal, each group in order, but for rows of zeros.

    >>> shared_rows(np.float32([[1, 2], [0, 0], [3, 4], [1, 2], [0, 0]]))
    [[0, 3]]
    """
    # Few rows of real vectors agree in the first numbers: only those are compared whole.
    few = np.ascontiguousarray(matrix[:, :_COMPARED]).view(np.uint32).astype(np.uint64)  # (n, 4)
    keys = (few * _MIX[: few.shape[1]]).sum(axis=1, dtype=np.uint64)  # (n,), modulo 2^64
    in_order = np.sort(keys)
    twice = in_order[1:][in_order[1:] == in_order[:-1]]
    if not len(twice):
        return []
    groups: dict[bytes, list[int]] = {}
    for place in np.flatnonzero(np.isin(keys, twice)).tolist():
        groups.setdefault(matrix[place].tobytes(), []).append(place)
    return [places for places in groups.values() if len(places) > 1 and matrix[places[0]].any()]


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
