r"""Units: the entries of another system's vocabulary, words or pieces of words, and where they occur.

Four ways of marking pieces are recognised, by the first of these markers that occurs in the vocabulary:

* ca@@ t      subword-nmt, fastBPE: a piece with @@ is not the end of a word, one without is
* ca t</w>    older BPE: a piece with </w> is the end of a word, one without is not
* \u2581ca t   sentencepiece: a piece with U+2581 is the start of a word, one without is not
* ca ##t      WordPiece: a piece with ## is not the start of a word, one without is

A vocabulary without any of them is one of words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto


class Place(Enum):
    """The positions in a word at which a unit may occur."""

    ANYWHERE = auto()
    BEGINNING = auto()
    NOT_BEGINNING = auto()
    END = auto()
    NOT_END = auto()

    def has(self, begin: int, end: int, length: int) -> bool:
        """Whether the letters from `begin` to `end` of a word of this length are at such a position."""
        return {
            Place.ANYWHERE: True,
            Place.BEGINNING: begin == 0,
            Place.NOT_BEGINNING: begin > 0,
            Place.END: end == length,
            Place.NOT_END: end < length,
        }[self]


@dataclass(frozen=True)
class Unit:
    """The letters of a unit, without its marker, and the positions in a word where they may occur."""

    letters: str
    place: Place = Place.ANYWHERE

    @property
    def may_be_word(self) -> bool:
        """Whether this unit can be a whole word."""
        return self.place.has(0, len(self.letters), len(self.letters))


def parse_units(names: Sequence[str]) -> list[Unit]:
    """The units denoted by the entries of a vocabulary.

    >>> [unit.letters for unit in parse_units(["ca@@", "t"])]
    ['ca', 't']
    """
    if any(name.endswith("@@") for name in names):
        return [_by_suffix(name, "@@", Place.NOT_END, Place.END) for name in names]
    if any(name.endswith("</w>") for name in names):
        return [_by_suffix(name, "</w>", Place.END, Place.NOT_END) for name in names]
    if any(name.startswith("\u2581") for name in names):
        return [_by_prefix(name, "\u2581", Place.BEGINNING, Place.NOT_BEGINNING) for name in names]
    if any(name.startswith("##") and len(name) > 2 for name in names):
        return [_by_prefix(name, "##", Place.NOT_BEGINNING, Place.BEGINNING) for name in names]
    return [Unit(name) for name in names]


def _by_suffix(name: str, marker: str, marked: Place, other: Place) -> Unit:
    return Unit(name.removesuffix(marker), marked) if name.endswith(marker) else Unit(name, other)


def _by_prefix(name: str, marker: str, marked: Place, other: Place) -> Unit:
    return Unit(name.removeprefix(marker), marked) if name.startswith(marker) else Unit(name, other)


def occurrences(words: Sequence[str], units: Collection[Unit]) -> Iterator[tuple[int, Unit]]:
    """Yields the row of a word and a unit that occurs in it, once for every such pair.

    Every piece of a word is looked up among the units: the time does not depend on their number.
    """
    places = _by_letters(units)
    longest = max(map(len, places), default=0)
    for row, word in enumerate(words):
        length, found = len(word), set()
        for begin in range(length):
            for end in range(begin + 1, min(begin + longest, length) + 1):
                for unit in places.get(word[begin:end], ()):
                    if unit.place.has(begin, end, length):
                        found.add(unit)
        yield from ((row, unit) for unit in sorted(found, key=lambda unit: (unit.letters, unit.place.name)))


def _by_letters(units: Collection[Unit]) -> Mapping[str, list[Unit]]:
    found: dict[str, list[Unit]] = {}
    for unit in units:
        if unit.letters:
            found.setdefault(unit.letters, []).append(unit)
    return found
