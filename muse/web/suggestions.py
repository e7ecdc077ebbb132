"""Suggestions: the most frequent words of a language that start with some letters, as one types; or rows."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import numpy as np

from muse.text.identity import casefolded

LONGEST = 300  # characters of a text that are indexed
WORDS = 500_000  # the most frequent, which are indexed; a word takes about 150 bytes
# Letters that differ by more than an accent, and the apostrophe of typewriters.
_LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "’": "'"})


def folded(text: str) -> str:
    """The text without capitals and accents, as people type it in a hurry.

    >>> folded("Élève"), folded("CŒUR"), folded("Straße")
    ('eleve', 'coeur', 'strasse')
    """
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return bare.casefold().translate(_LETTERS)


class Prefixes:
    """The words of a language, most frequent first, sorted by their folded spelling."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        spelled = sorted((folded(words[row]), row) for row in range(min(len(words), WORDS)))
        self._spellings = [spelling for spelling, _ in spelled]
        self._rows = np.array([row for _, row in spelled], dtype=np.int64)  # (n,)

    def starting_with(self, prefix: str, top: int) -> list[tuple[str, int]]:
        """The `top` most frequent words with this prefix and their frequency ranks, which start at 1.

        Words that have its accents, if it has any, come first.

        >>> prefixes = Prefixes(["de", "etc", "été", "Etna", "eau"])
        >>> prefixes.starting_with("et", 2), prefixes.starting_with("ét", 2)
        ([('etc', 2), ('été', 3)], [('été', 3), ('etc', 2)])
        """
        start = folded(prefix)
        if not start.strip():
            return []
        low = bisect_left(self._spellings, start)
        high = bisect_right(self._spellings, start, low, key=lambda spelling: spelling[: len(start)])
        rows = self._rows[low:high]
        if not prefix.isascii():
            return self._ranked(sorted(rows.tolist(), key=self._by_accents(prefix)), top)
        if len(rows) > top:
            rows = np.partition(rows, top - 1)[:top]
        return self._ranked(sorted(rows.tolist()), top)

    def _by_accents(self, prefix: str) -> Callable[[int], tuple[bool, int]]:
        exactly = casefolded(prefix)
        return lambda row: (not casefolded(self._words[row]).startswith(exactly), row)

    def _ranked(self, rows: Sequence[int], top: int) -> list[tuple[str, int]]:
        return [(self._words[row], row + 1) for row in rows[:top]]


class Texts:
    """The texts of the rows of a language, searched for the beginnings of their words.

    They are one long string, since a search of it takes milliseconds, an index of all words gigabytes.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        lines = [f"\n{_spaced(text[:LONGEST])}" for text in islice(texts, WORDS)]
        self._all = "".join(lines)
        self._ends = np.cumsum([len(line) for line in lines], dtype=np.int64)  # (n,)

    def having(self, words: str, top: int) -> list[int]:
        """The first `top` rows in which these words follow one another, the last of them perhaps begun.

        >>> Texts(["A dog runs.", "Two dogs", "Hotdog"]).having("DOG", 5)
        [0, 1]
        """
        wanted, found = _spaced(words), list[int]()
        at = self._all.find(wanted) if wanted.strip() else -1
        while at >= 0 and len(found) < top:
            found.append(int(np.searchsorted(self._ends, at, side="right")))
            at = self._all.find(wanted, int(self._ends[found[-1]]))
        return found


def _spaced(text: str) -> str:
    """The folded words of a text, with a space before each."""
    return "".join(f" {word}" for word in re.findall(r"\w+", folded(text)))
