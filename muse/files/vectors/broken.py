"""Broken words: what every reader of word vectors leaves out, counts, and refuses where it is too much.

A word is broken if it is empty or not UTF-8, or if its numbers are not d finite ones. Widely used files have
a few: words that word2vec cut inside a character, surrogates that were written as UTF-8, lines without a
word. Those after the words that are wanted are not counted.
"""

from __future__ import annotations

import codecs
import logging
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.vectors import Matrix

log = logging.getLogger(__name__)

FEW = 5  # broken words of a small file
ONE_IN = 10  # words of any other may be broken
ONE_IN_ENCODING = 100  # words may be no UTF-8 where more are no UTF-8 than are beyond ASCII
GIVE_UP_AFTER = 1_000  # words after which a file is refused of which more than half are broken
_UNCUT = 58  # bytes of a long word that word2phrase keeps; word2vec keeps 98
_SHOWN = 40  # characters of a word in a message
_TOLD = 25  # words, for a message of which file is meant


class WordFault(Enum):
    """What may be wrong with a word, as one and as many have it."""

    CUT = (
        "word that ends inside a character, as word2vec cuts long ones",
        "words that end inside a character, as word2vec cuts long ones",
    )
    BYTES = "word that is not UTF-8", "words that are not UTF-8"
    EMPTY = "empty word", "empty words"
    NUMBERS = "word whose numbers are broken", "words whose numbers are broken"


class BrokenWord(BadFile):
    """The error of one word: its kind, the word as it is shown, and its place, such as "line 7"."""

    def __init__(self, message: str, kind: WordFault, word: bytes | str, where: str) -> None:
        super().__init__(message)
        self.kind, self.word, self.where = kind, shown(word), where
        self.uncut = len(word) < _UNCUT

    def __reduce__(self) -> tuple[type[BadFile], tuple[str]]:
        """What another process gets of it: the error without the rest."""
        return BadFile, (str(self),)


def shown(word: bytes | str) -> str:
    """A word as a message has it: on one line, with what is no text escaped, and not too long."""
    word = word[: 4 * _SHOWN]  # a line may be megabytes long
    text = word.decode(errors="backslashreplace") if isinstance(word, bytes) else word
    return (text if text.isprintable() else repr(text)[1:-1])[:_SHOWN]


class Dropped:
    """The broken words of a file so far, in its order, among the `whole` ones that have been yielded."""

    def __init__(self) -> None:
        self.whole = 0
        self.first: list[BrokenWord] = []  # one of each kind
        self._before: dict[WordFault, array[int]] = {}  # the number of whole words before each, rising
        self._uncut = array("q")  # of those which are no UTF-8, though neither program would have cut them

    def __len__(self) -> int:
        return sum(map(len, self._before.values()))

    def add(self, broken: BrokenWord, before: int) -> None:
        """Count one more, which has so many whole words before it."""
        if broken.kind not in self._before:
            self.first.append(broken)
            self._before[broken.kind] = array("q")
        self._before[broken.kind].append(before)
        if broken.kind in (WordFault.CUT, WordFault.BYTES) and broken.uncut:
            self._uncut.append(before)

    def check_hope(self) -> None:
        """Raise the first error where more than half of a thousand words and more are broken."""
        if len(self) > max(self.whole, GIVE_UP_AFTER // 2):
            raise self._too_many(len(self), len(self) + self.whole)

    def settle(self, path: Path, *, beyond_ascii: int, read: int | None = None) -> None:
        """Warn of the broken words, or raise the first error where they are many.

        Of a file that was read no further than the first `read` whole words, those before the last of them
        count. `beyond_ascii` is the number of whole words that are not ASCII: in another encoding, such as
        Latin-1, few are.
        """
        counts = {kind: _up_to(before, read) for kind, before in self._before.items()}
        uncut, whole = _up_to(self._uncut, read), self.whole if read is None else read
        total, cut = whole + sum(counts.values()), counts.get(WordFault.CUT, 0)
        if uncut > beyond_ascii and not few(uncut, total, ONE_IN_ENCODING):
            error = next(broken for broken in self.first if broken.kind in (WordFault.CUT, WordFault.BYTES))
            raise _with_counts(
                error, total, f"{uncut:,} words are not UTF-8, {beyond_ascii:,} others not ASCII"
            )
        if not few(total - whole - cut, total, ONE_IN):
            raise self._too_many(total - whole, total)
        if total > whole:
            told = [_counted(broken, counts[broken.kind]) for broken in self.first if counts[broken.kind]]
            log.warning("%s: dropped %s", path, "; ".join(told))

    def _too_many(self, count: int, total: int) -> BadFile:
        return _with_counts(
            self.first[0], total,
            f"{count:,} of {total:,} words are broken, and at most one in {ONE_IN} is left out",
        )  # fmt: skip


def _with_counts(error: BadFile, total: int, counts: str) -> BadFile:
    # Of a handful of words, the first error says it all.
    return BadFile(f"{error} ({counts})" if total > _TOLD else str(error))


def few(count: int, total: int, one_in: int) -> bool:
    """Whether so many of all words are few: one in `one_in`, or a handful that is less than half.

    >>> few(0, 1, 10), few(1, 2, 10), few(1, 3, 10), few(9, 90, 10), few(10, 90, 10)
    (True, False, True, True, False)
    """
    return not count or (2 * count < total and count <= max(FEW, total // one_in))


def _up_to(before: array[int], end: int | None) -> int:
    return len(before) if end is None else bisect_left(before, end)


def _counted(broken: BrokenWord, count: int) -> str:
    one, many = broken.kind.value
    if count == 1:
        return f"1 {one}{', ' if broken.word else ''}{broken.word} ({broken.where})"
    first = f"{broken.word} ({broken.where})" if broken.word else broken.where
    return f"{count:,} {many}, the first is {first}"


def is_cut(word: bytes) -> bool:
    """Whether a word is UTF-8 but for its last character, which is not complete.

    >>> is_cut("été".encode()[:-1]), is_cut("été".encode("latin-1"))
    (True, False)
    """
    try:
        return codecs.utf_8_decode(word, "strict", False)[1] < len(word)
    except UnicodeDecodeError:
        return False


def keep_whole(
    path: Path, words: Sequence[bytes | str], rows: NDArray[Any], dropped: Dropped
) -> tuple[list[str], Matrix]:
    """The whole words of a block, and their rows (p, d) of its rows (b, d); the others are `dropped`.

    Words are UTF-8 or text, which is broken if it has half a surrogate pair.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is dropped
        rows = np.asarray(rows, np.float32)
    finite = np.isfinite(rows).all(axis=1)  # (b,)
    all_finite = bool(finite.all())
    if all_finite and (all_whole := _decoded(words)):
        dropped.whole += len(all_whole)
        return all_whole, rows
    kept, places, first = list[str](), list[int](), dropped.whole + len(dropped) + 1
    for place, word in enumerate(words):
        text = as_text(word)
        if text and (all_finite or finite[place]):
            kept.append(text)
            places.append(place)
        else:
            dropped.add(_broken(path, word, text, first + place), dropped.whole + len(kept))
    dropped.whole += len(kept)
    return kept, rows if len(kept) == len(words) else rows[places]


def _decoded(words: Sequence[bytes | str]) -> list[str] | None:
    # All words as text, in one step; None if one is broken, or if that does not show whether one is.
    try:
        if words and isinstance(words[0], bytes):
            texts = b"\0".join(words).decode().split("\0")  # type: ignore[arg-type]
        else:
            texts = "\0".join(words).encode().decode().split("\0")  # type: ignore[arg-type]
    except (UnicodeError, TypeError):  # the latter: some are bytes, some are text
        return None
    return texts if len(texts) == len(words) and all(texts) else None


def as_text(word: bytes | str) -> str | None:
    """The word as text, None if it is not UTF-8 or has half a surrogate pair."""
    try:
        if isinstance(word, bytes):
            return word.decode()
        if not word.isascii():
            word.encode()
    except UnicodeError:
        return None
    return word


def _broken(path: Path, word: bytes | str, text: str | None, number: int) -> BrokenWord:
    where, found = f"word {number}", repr(word[:_SHOWN])
    if text is None:
        kind = WordFault.CUT if isinstance(word, bytes) and is_cut(word) else WordFault.BYTES
        message = (
            f"{path}: expected UTF-8 in {where}, got {found}; the file is damaged or in another encoding: "
            "download it again"
        )
    elif not text:
        kind, message = WordFault.EMPTY, f"{path}: expected text in {where}, got an empty word; remove it"
    else:
        kind = WordFault.NUMBERS
        message = (
            f"{path}: expected finite numbers, got nan or inf in {where} ({found}); the file is damaged: "
            "download it again"
        )
    return BrokenWord(message, kind, word, where)
