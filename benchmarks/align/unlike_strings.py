"""Strings: words that two vocabularies spell alike, over alphabets too.

A letter is transliterated by its name in Unicode, which romanises every alphabet without a table of ours:
CYRILLIC SMALL LETTER ZHE is zh, EL is l. What Latin orthographies spell in several ways is merged (c = k,
ph = f, double letters), so that журнал and journal, метод and method have the same skeleton.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

LEAST_LETTERS = 4  # of a skeleton: shorter ones are alike by chance
VOWELS = frozenset("AEIOU")
MERGED = (
    ("ph", "f"), ("ck", "k"), ("x", "ks"), ("c", "k"), ("q", "k"), ("w", "v"), ("th", "t"), ("y", "i"),
    ("j", "i"), ("z", "s"), ("ts", "t"), ("h", "g"),
)  # fmt: skip


def identical_and_transliterated(source: Sequence[str], target: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of places of words that are identical, or in other scripts and of the same skeleton."""
    places = {word: place for place, word in enumerate(target)}
    skeletons: dict[str, int] = {}
    for place, word in enumerate(target):
        skeletons.setdefault(skeleton(word), place)
    found = [(place, places[word]) for place, word in enumerate(source) if word in places]
    for place, word in enumerate(source):
        key = skeleton(word)
        other = skeletons.get(key)
        if other is not None and len(key) >= LEAST_LETTERS and not scripts(word) & scripts(target[other]):
            found.append((place, other))
    return found


def scripts(word: str) -> frozenset[str]:
    """The scripts of the letters of a word: the first word of their names."""
    return frozenset(unicodedata.name(letter, "?").split()[0] for letter in word if letter.isalpha())


def skeleton(word: str) -> str:
    """The word in Latin letters, with what orthographies spell in several ways merged.

    >>> skeleton("метод"), skeleton("method")
    ('metod', 'metod')
    """
    latin = "".join(_latin(letter) for letter in word.lower())
    for spelling, merged in MERGED:
        latin = latin.replace(spelling, merged)
    return re.sub(r"(.)\1", r"\1", latin)


@lru_cache(maxsize=1 << 16)
def _latin(letter: str) -> str:
    names = unicodedata.name(letter, "").split()
    if not names or names[0] == "LATIN":
        return unicodedata.normalize("NFD", letter)[0]
    if "LETTER" not in names:
        return "" if names[-1] == "SIGN" else letter
    name = names[-1]
    if name == "SIGN":  # the soft sign and the hard sign
        return ""
    if set(name) <= VOWELS:
        return name[-1].lower()
    if name[0] == "Y":
        return "y" if name == "YERU" else name[:2].lower()
    return "".join(sound for sound in name if sound not in VOWELS).lower()
