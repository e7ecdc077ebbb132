"""Sequences: how often words stand in text, and sequences of them, counted in memory that text does not fill.

Words are numbered, most frequent first, and the text becomes a file of their numbers, with BREAK for what no
unit contains, signs, figures and rare words, and LINE for the end of a line. A sequence that stands `least`
times consists of two overlapping shorter ones that do (Agrawal & Srikant, 1994), so those of n words are
counted where two frequent ones of n - 1 words overlap. Blocks of text are merged into one sorted table; if it
is full, its rarest entries go (lossy counting; Manku & Motwani, 2002).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.plain_text import read_lines
from muse.vectors import Numbers, ShortRepr

BREAK, LINE = -1, -2
MOST_WORDS = 1 << 20  # that are counted at a time
TABLE = 1 << 23  # sequences that are counted at a time: 128 MB
BLOCK = 1 << 20  # tokens at a time
_BITS = 32  # of a number in a key of two

Ids = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class NumberedText(ShortRepr):
    """A text as the numbers (t,) of its tokens in a file; word i of `words` stands `counts[i]` (v,) times."""

    words: Sequence[str]
    counts: Numbers
    ids: Ids
    tokens: int


@dataclass(frozen=True, eq=False, repr=False)
class Sequences(ShortRepr):
    """The s sequences of n words that stand often enough, by the numbers of their `words` (s, n).

    `first` and `rest` (s,) are what they are without their last word and without their first one: numbers of
    the sequences of n - 1 words.
    """

    words: Ids
    counts: Numbers
    first: Numbers
    rest: Numbers

    def __len__(self) -> int:
        return len(self.counts)


def number_text(path: Path, out: Path, *, least: int = 5) -> NumberedText:
    """The tokens of a file, a line of text on each, as numbers in the file `out`; BadFile if it has no word.

    Words that stand fewer than `least` times, and tokens without a letter, are BREAK.
    """
    counts = Counter[str]()
    for line in read_lines(path):
        counts.update(line.split(" "))
        if len(counts) > MOST_WORDS:
            counts = Counter(dict(counts.most_common(MOST_WORDS // 2)))
    known = [(w, c) for w, c in counts.most_common() if c >= least and any(map(str.isalpha, w))]
    if not known:
        raise BadFile(f"{path}: expected words that stand at least {least} times, got none; give more text")
    number = {word: place for place, (word, _) in enumerate(known)}
    tokens = 0
    with out.open("wb") as file:
        for line in read_lines(path):
            found = [number.get(token, BREAK) for token in line.split(" ")]
            tokens += len(found)
            np.array([*found, LINE], np.int32).tofile(file)
    ids = np.memmap(out, np.int32, "r")
    words, values = zip(*known, strict=True)
    return NumberedText(words, np.array(values, np.int64), ids, tokens)


def count_sequences(text: NumberedText, folder: Path, *, longest: int = 4, least: int = 5) -> list[Sequences]:
    """The sequences of 1 to `longest` words that stand `least` times; files for them are made in `folder`."""
    singles = np.arange(len(text.words))
    found = [Sequences(singles[:, None].astype(np.int32), text.counts, singles, singles)]
    shorter: Ids = text.ids
    for length in range(2, longest + 1):
        keys, counts = _counted(shorter, least)
        first, rest = keys >> _BITS, keys & ((1 << _BITS) - 1)
        words = np.concatenate([found[-1].words[first], found[-1].words[rest, -1:]], axis=1)
        found.append(Sequences(words, counts, first, rest))
        if length < longest:
            shorter = _numbered(shorter, keys, folder / f"sequences.{length}")
    return found


def _keys(shorter: Ids) -> Iterator[tuple[int, Numbers, NDArray[np.bool_]]]:
    """Yields the place of each block, a key for every place, and where there is one."""
    for begin in range(0, len(shorter), BLOCK):
        some = np.asarray(shorter[begin : begin + BLOCK + 1], np.int64)
        some = np.append(some, BREAK) if begin + BLOCK >= len(shorter) else some
        yield begin, some[:-1] << _BITS | some[1:], (some[:-1] >= 0) & (some[1:] >= 0)


def _counted(shorter: Ids, least: int) -> tuple[Numbers, Numbers]:
    """The keys of two neighbouring sequences, sorted, and how often each stands, at least `least` times."""
    table, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for _, keys, known in _keys(shorter):
        new, times = np.unique(keys[known], return_counts=True)
        joined, places = np.unique(np.concatenate([table, new]), return_inverse=True)
        totals = np.bincount(places, np.concatenate([counts, times]), len(joined)).astype(np.int64)
        table, counts = joined, totals
        if len(table) > TABLE:
            kept = totals > np.partition(totals, -TABLE // 2)[-TABLE // 2]
            table, counts = joined[kept], totals[kept]
    kept = counts >= least
    return table[kept], counts[kept]


def _numbered(shorter: Ids, keys: Numbers, out: Path) -> Ids:
    """The number of the sequence that begins at each place, BREAK for none, in a file."""
    with out.open("wb") as file:
        for _, own, known in _keys(shorter):
            places = np.minimum(np.searchsorted(keys, own), max(0, len(keys) - 1))
            same = known & (keys[places] == own) if len(keys) else np.zeros(len(own), bool)
            np.where(same, places, BREAK).astype(np.int32).tofile(file)
    return np.memmap(out, np.int32, "r")
