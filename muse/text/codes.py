"""Codes: the ISO 639-1 code of a language that a user has named otherwise: fra, fr_FR, fra_Latn."""

from __future__ import annotations

import re
from functools import cache

# Other codes of the languages that have rules of their own.
_ISO = {
    "bur": "my", "cat": "ca", "chi": "zh", "cmn": "zh", "deu": "de", "eng": "en", "fra": "fr", "fre": "fr",
    "ger": "de", "ita": "it", "jpn": "ja", "khm": "km", "lao": "lo", "ltz": "lb", "mya": "my", "rus": "ru",
    "spa": "es", "tha": "th", "zho": "zh",
}  # fmt: skip


@cache
def iso_code(language: str) -> str:
    """The two-letter code of a language that has rules here, else what stands before - or _, in lower case.

    >>> iso_code("fra_Latn"), iso_code("de-AT"), iso_code("xx")
    ('fr', 'de', 'xx')
    """
    name = re.split(r"[_-]", language.lower())[0]
    return _ISO.get(name, name)
