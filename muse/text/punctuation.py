"""Punctuation: ASCII's marks, and of other scripts what Unicode calls punctuation."""

from __future__ import annotations

import string
import unicodedata


def is_punctuation(character: str) -> bool:
    """Whether a character is a punctuation mark; combining marks and symbols such as € are none.

    >>> [is_punctuation(character) for character in "?«।$€á"]
    [True, True, True, True, False, False]
    """
    return character in string.punctuation or unicodedata.category(character).startswith("P")
