"""Quotation marks: the spaces that detokenising leaves inside typographic ones are taken away."""

from __future__ import annotations

import re

_CLOSES = {
    "“": "”", "”": "”", "„": "“”", "‘": "’", "‚": "‘’", "«": "»", "»": "«»", "‹": "›", "›": "‹›",
}  # fmt: skip
_MARK = re.compile("([“”„‘’‚«»‹›])")
_SPACED = {"fr": "«»‹›"}  # marks with a space inside, by language


def closed_up(text: str, language: str) -> str:
    """The text with no space after an opening mark and before a closing one.

    A mark closes the last open one if it can (German: „so“, »so«; Swedish: ”so”), and opens otherwise.
    An apostrophe that closes nothing stays as it is.

    >>> closed_up("Er sagte: „ Ja “, sie: » ‚ Nein ‘ «.", "de")
    'Er sagte: „Ja“, sie: »‚Nein‘«.'
    """
    spaced, opened = _SPACED.get(language, ""), list[str]()
    found, just_opened = list[str](), False
    for part in _MARK.split(text):
        if just_opened:
            part = part.removeprefix(" ")
        just_opened = False
        if _MARK.fullmatch(part) and part not in spaced:
            if opened and part in _CLOSES[opened[-1]]:
                opened.pop()
                found[-1] = found[-1].removesuffix(" ")
            elif part != "’":
                opened.append(part)
                just_opened = True
        found.append(part)
    return "".join(found)
