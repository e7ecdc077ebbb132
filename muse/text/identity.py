"""Identity: words and lines that are the same, however their accents are encoded."""

from __future__ import annotations

import re
import unicodedata

# Letters and accents that stand apart, as in names of files on a Mac and in text from a .pdf.
_APART = re.compile("\\w[\u0300-\u036f]+")


def composed(text: str) -> str:
    r"""The text with letters and the accents after them composed; other characters stay as they are.

    NFC would also take characters apart that text in Bengali and Hindi has whole.

    >>> composed("e\u0301te\u0301"), composed("\u09df") == "\u09df"
    ('été', True)
    """
    return _APART.sub(_in_nfc, text)


def _in_nfc(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", match[0])


def casefolded(text: str) -> str:
    r"""The text without regard to case, its accents composed (NFC).

    >>> casefolded("E\u0301TE\u0301") == casefolded("été")
    True
    """
    return unicodedata.normalize("NFC", text).casefold()


def canonical(line: str) -> str:
    r"""The line in composed characters (NFC), with one space for all white space between its words.

    Two lines are the same sentence if this is the same of both.

    >>> canonical("  Un e\u0301te\u0301\u00a0 chaud\t") == canonical("Un été chaud")
    True
    """
    return " ".join(unicodedata.normalize("NFC", line).split())
