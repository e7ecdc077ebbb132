"""Pieces: what a text is translated by: words, fixed expressions and, copied, numbers, units and signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from muse.answers.lookup import with_entries
from muse.space.new_words import NewWords
from muse.text.markup import is_markup
from muse.text.surface import forms, has_name_capital
from muse.vectors import Vectors

HYPHEN = "@-@"  # Moses' token for a hyphen between two tokens
_ENDS = frozenset(".!?…")  # tokens after which a sentence begins, as after several dots
# What follows a number and is written alike in every language.
UNITS = frozenset(
    "nm mm cm dm m km ha mg g kg t ml cl dl l ms s min h Hz kHz MHz GHz W kW MW GW kWh V kV mA Ah J kJ kcal "
    "cal N Pa hPa bar dB b B kb kB Mb MB Gb GB TB ko Mo Go To px dpi ft yd mi mph kph lb lbs oz C F K".split()
)
_OF_QUANTITIES = UNITS | frozenset("/°²³")  # km/h, 20 °C


class Piece(NamedTuple):
    """A token of a line, or part of one, or an expression, and the entry to look up; None if it is copied.

    `first` is true at the start of a sentence, `name` for a capital that neither place nor language requires.
    """

    token: str
    entry: str | None
    first: bool = False
    name: bool = False

    @property
    def is_word(self) -> bool:
        """Whether it has a letter and is neither a unit nor markup."""
        return self.token not in UNITS and any(map(str.isalpha, self.token)) and not is_markup(self.token)


class TextReader:
    """Reads the tokens of lines as pieces, with the vocabulary of their language and new words."""

    def __init__(self, vectors: Vectors, new_words: NewWords | None = None) -> None:
        self._vectors, self._new_words = vectors, new_words

    def pieces(self, tokens: Sequence[str]) -> list[Piece]:
        """The pieces of a line; a name of several words, each of them capitalised, is copied whole."""
        found: list[Piece] = []
        first, quantity = True, False
        for token, entry in with_entries(tokens, self._vectors):
            has_letters = any(map(str.isalpha, token)) and not is_markup(token)
            if entry is not None:
                found.append(Piece(token, entry, first))
            elif not has_letters or (quantity and token in UNITS):
                found.append(Piece(token, None))
            else:
                found += self._word(token, first)
            quantity = any(map(str.isdecimal, token)) or (quantity and token in _OF_QUANTITIES)
            first = token in _ENDS or not token.strip(".") or (first and not has_letters)
        return list(_long_names_copied(found))

    def _word(self, token: str, first: bool) -> list[Piece]:
        # The token as one word or, if it is unknown, as the words between its hyphens.
        language = self._vectors.language
        entry, name = self._known(token, first), not first and has_name_capital(token, language)
        if entry is None and "-" in token:
            parts = [Piece(part, self._known(part, first), first, name) for part in token.split("-")]
            if all(part.entry is not None for part in parts):
                return [piece for part in parts for piece in (Piece(HYPHEN, None), part)][1:]
        return [Piece(token, self._new(token, first) if entry is None else entry, first, name)]

    def _known(self, token: str, first: bool) -> str | None:
        index = self._vectors.index
        found = [form for form in forms(token, self._vectors.language) if form in index]
        # Capitals that the place requires are no evidence: take the more frequent form.
        if first or token.isupper():
            found.sort(key=lambda form: index[form])
        return found[0] if found else None

    def _new(self, token: str, first: bool) -> str | None:
        # A capital inside a sentence marks a name, which n-grams would turn into a word.
        if self._new_words is None or (token[0].isupper() and not first):
            return None
        known = reversed(forms(token, self._vectors.language))
        return next((form for form in known if self._new_words.has(form)), None)


def _long_names_copied(pieces: Sequence[Piece]) -> Iterator[Piece]:
    # Red Bull, Star Wars: capitals side by side, whose words are not meant.
    for name, run in groupby(pieces, key=lambda piece: piece.name):
        several = list(run)
        yield from (piece._replace(entry=None) if name and len(several) > 1 else piece for piece in several)
