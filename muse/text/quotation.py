"""Quotation marks: the spaces that detokenising leaves inside typographic ones are taken away."""

from __future__ import annotations

import re

_CLOSES = {
    "“": "”", "”": "”", "„": "“”", "‘": "’", "‚": "‘’", "«": "»", "»": "«»", "‹": "›", "›": "‹›",
}  # fmt: skip
_MARK = re.compile("([“”„‘’‚«»‹›])")
_SPACED = {"fr": "«»‹›"}  # marks with a space inside, by language
# The languages in which marks that close elsewhere may open: ”so”, »so«, »so».
_POINTING = frozenset("cs da de fi hr hu no pl sk sl sr sv".split())
_OPENING = {"”": frozenset(("sv", "fi")), "»": _POINTING, "›": _POINTING}


def closed_up(text: str, language: str) -> str:
    """The text with no space after an opening mark and before the one that closes it.

    A mark without a counterpart, as of a sentence whose quotation goes on in the next, stays as it is, and so
    does an apostrophe.

    >>> closed_up("Er sagte: „ Ja “, sie: » ‚ Nein ‘ «.", "de")
    'Er sagte: „Ja“, sie: »‚Nein‘«.'
    """
    parts, opened = _MARK.split(text), list[int]()  # text and marks in turn
    for place in range(1, len(parts), 2):
        mark = parts[place]
        if mark in _SPACED.get(language, ""):
            continue
        before = [begin for begin in opened if mark in _CLOSES[parts[begin]]]
        if before:
            del opened[opened.index(before[-1]) :]
            parts[before[-1] + 1] = parts[before[-1] + 1].removeprefix(" ")
            parts[place - 1] = parts[place - 1].removesuffix(" ")
        elif mark != "’" and language in _OPENING.get(mark, {language}):
            opened.append(place)
    return "".join(parts)
