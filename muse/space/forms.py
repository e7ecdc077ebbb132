"""Forms: the entry of a vocabulary that a typed word stands for."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator

from muse.orthography import lowercase, uppercase
from muse.text.surface import without_elision
from muse.vectors import Vectors

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u02bc\u2018\u00b4", "'"))
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011", "-"))


def lookup_entry(word: str, vectors: Vectors) -> str | None:
    """The entry of a vocabulary that a typed word stands for, None if there is none.

    It is the word itself if that is there, in whatever Unicode form; otherwise, by the first of these that
    helps, the word with typewriter's apostrophes and hyphens, the most frequent of its cases, the word
    spelled otherwise (`muse.orthography.SPELLINGS`), what follows an elided article or pronoun, and the word
    with its hyphens left out or turned into spaces, or the reverse.

    >>> import numpy as np
    >>> french = Vectors("fr", ["roi", "amour", "Paris", "porte-clés"], np.zeros((4, 1), np.float32))
    >>> [lookup_entry(word, french) for word in ("Roi", "L\u2019amour", "PARIS", "porte clés", "king")]
    ['roi', 'amour', 'Paris', 'porte-clés', None]
    """
    index = vectors.index
    if (entry := index.entry(word)) is not None:
        return entry
    # Composed, since title() begins a new word after an accent that stands apart.
    plain = unicodedata.normalize("NFC", word).translate(_APOSTROPHES).translate(_HYPHENS).strip()
    for spelling in _spellings(plain, vectors.language):
        if (entry := index.entry(spelling)) is not None:
            return entry
        for cases in _cases(spelling, vectors.language):
            if rows := [index[form] for form in cases if form in index]:
                return vectors.words[min(rows)]
        if vectors.frequency_ordered and (row := _respelled(spelling, vectors)) is not None:
            return vectors.words[row]
    return None


def _respelled(spelling: str, vectors: Vectors) -> int | None:
    """The row of a word that is spelled otherwise, in the same case if there is one."""
    if (row := vectors.index.lookup_row(spelling)) is not None:
        return row
    rows = [vectors.index.lookup_row(form) for form in next(_cases(spelling, vectors.language))]
    return min((row for row in rows if row is not None), default=None)


def _spellings(word: str, language: str) -> Iterator[str]:
    yield word
    yield without_elision(word, language)
    yield word.strip("'")
    for old, new in (("-", ""), ("-", " "), (" ", "-"), (" ", "")):
        if old in word:
            yield word.replace(old, new)


def _cases(word: str, language: str) -> Iterator[Collection[str]]:
    """The word in the cases of its language; then, of a vocabulary that ignores them, as in English."""
    lower, upper = lowercase(word, language), uppercase(word, language)
    yield dict.fromkeys((lower, upper[:1] + lower[1:], word.title(), upper))
    yield dict.fromkeys((word.lower(), word.capitalize(), word.title(), word.upper()))
