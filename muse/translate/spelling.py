"""Spelling: the form in which a vocabulary has a word that somebody typed, or words of similar spelling."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Collection, Iterator

from muse.space import AlignedSpace
from muse.translate.surface import without_elision
from muse.vectors import Vectors

SUGGESTIONS = 3
ALIKE = 0.7  # the least difflib ratio of a suggestion: 0.83 for maisno and maison, 0.75 for chta and chat
LENGTH_APART = 2  # letters by which a suggestion may be longer or shorter
CANDIDATES = 20_000  # the most frequent words that difflib compares one by one: about 0.2 s
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u02bc\u2018\u00b4", "'"))
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011", "-"))


def find_form(word: str, vectors: Vectors) -> str | None:
    """The entry of a vocabulary that a typed word stands for, None if there is none.

    It is the word itself if that is there; otherwise, by the first of these that helps, its composed
    characters (NFC), typewriter's apostrophes and hyphens, the most frequent of its cases, what follows an
    elided article or pronoun, and the word with its hyphens left out or turned into spaces, or the reverse.

    >>> import numpy as np
    >>> french = Vectors("fr", ["roi", "amour", "Paris", "porte-clés"], np.zeros((4, 1), np.float32))
    >>> [find_form(word, french) for word in ("Roi", "L\u2019amour", "PARIS", "porte clés", "king")]
    ['roi', 'amour', 'Paris', 'porte-clés', None]
    """
    if word in vectors.index:
        return word
    plain = unicodedata.normalize("NFC", word).translate(_APOSTROPHES).translate(_HYPHENS).strip()
    for spelling in _spellings(plain, vectors.language):
        if spelling in vectors.index:
            return spelling
        if known := [form for form in _cases(spelling) if form in vectors.index]:
            return min(known, key=vectors.index.__getitem__)
    return None


def _spellings(word: str, language: str) -> Iterator[str]:
    yield word
    yield without_elision(word, language)
    yield word.strip("'")
    for old, new in (("-", ""), ("-", " "), (" ", "-"), (" ", "")):
        if old in word:
            yield word.replace(old, new)


def _cases(word: str) -> Collection[str]:
    return dict.fromkeys((word.lower(), word.capitalize(), word.title(), word.upper()))


def spellings(word: str, vectors: Vectors) -> list[str]:
    """Words of `vectors` that may be the intended spelling of `word`, the likeliest first.

    >>> import numpy as np
    >>> spellings("Maisno", Vectors("fr", ["maison", "raison", "eau"], np.zeros((3, 1), "f")))
    ['maison']
    """
    folded = word.casefold()
    forms = [form for form in (word.lower(), word.capitalize(), word.upper()) if form in vectors.index]
    close = difflib.get_close_matches(folded, _candidates(folded, vectors), n=SUGGESTIONS, cutoff=ALIKE)
    return list(dict.fromkeys([*forms, *close]))[:SUGGESTIONS]


def languages_with(space: AlignedSpace, word: str, *, besides: str, before: int | None = None) -> list[str]:
    """The languages of a space, besides one, that have the word, `before` a rank if that is given.

    Rows in no order have no rank.
    """
    found = []
    for language in space.languages:
        vectors = space.vectors(language)
        if before is not None and not vectors.ranked:
            continue
        form = None if language == besides else find_form(word, vectors)
        if form is not None and (before is None or vectors.index[form] < before):
            found.append(language)
    return found


def not_found(space: AlignedSpace, language: str, word: str) -> str:
    """The message for a word that a language of a space does not have, with advice."""
    vectors = space.vectors(language)
    if others := languages_with(space, word, besides=language):
        advice = f"it is a {vectors.noun[:-1]} of {' and '.join(others)}; check --src and --tgt"
    elif close := spellings(word, vectors):
        advice = f"did you mean {', '.join(close)}?"
    else:
        advice = f"check its {'spelling' if vectors.ranked else 'id'} and its language"
    return f"{word!r} is not among the {len(vectors)} {vectors.noun} of {language}; {advice}"


def _candidates(word: str, vectors: Vectors) -> list[str]:
    # difflib takes 10 us a word: compare only words of similar length with the same first or last letter.
    first, last = word[:1], word[-1:]
    near = range(len(word) - LENGTH_APART, len(word) + LENGTH_APART + 1)
    found = []
    for candidate in vectors.words:
        if len(candidate) in near and (candidate[:1] == first or candidate[-1:] == last):
            found.append(candidate)
            if len(found) == CANDIDATES:
                break
    return found
