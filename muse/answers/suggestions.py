"""Spelling: words of a vocabulary, and other languages, that may be meant by a word that it lacks."""

from __future__ import annotations

import difflib
from unicodedata import normalize

from muse.space import AlignedSpace
from muse.space.forms import find_form
from muse.text.characters import casefolded
from muse.vectors import Vectors

SUGGESTIONS = 3
ALIKE = 0.7  # the least difflib ratio of a suggestion: 0.83 for maisno and maison, 0.75 for chta and chat
LENGTH_APART = 2  # letters by which a suggestion may be longer or shorter
CANDIDATES = 20_000  # the most frequent words that difflib compares one by one: about 0.2 s


def spellings(word: str, vectors: Vectors) -> list[str]:
    """Words of `vectors` that may be the intended spelling of `word`, the likeliest first.

    >>> import numpy as np
    >>> spellings("Maisno", Vectors("fr", ["maison", "raison", "eau"], np.zeros((3, 1), "f")))
    ['maison']
    """
    folded = casefolded(word)
    entries = map(vectors.index.entry, (word.lower(), word.capitalize(), word.upper()))
    forms = [entry for entry in entries if entry is not None]
    near = _candidates(folded, vectors)
    close = difflib.get_close_matches(folded, near, n=SUGGESTIONS, cutoff=ALIKE)
    return list(dict.fromkeys([*forms, *(near[spelling] for spelling in close)]))[:SUGGESTIONS]


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


def _candidates(word: str, vectors: Vectors) -> dict[str, str]:
    # The entries of the vocabulary by their composed forms: apart, an accent would count as a letter.
    # difflib takes 10 us a word: compare only words of similar length with the same first or last letter.
    first, last = word[:1], word[-1:]
    near = range(len(word) - LENGTH_APART, len(word) + LENGTH_APART + 1)
    found = dict[str, str]()
    for candidate in vectors.words:
        spelling = normalize("NFC", candidate)
        if len(spelling) in near and (spelling[:1] == first or spelling[-1:] == last):
            found.setdefault(spelling, candidate)
            if len(found) == CANDIDATES:
                break
    return found
