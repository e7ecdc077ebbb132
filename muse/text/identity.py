"""Identity: whether two lines are the same sentence, and two spellings the same word, however encoded."""

from __future__ import annotations

import unicodedata


def canonical(line: str) -> str:
    r"""The line in composed characters (NFC), with one space for all white space between its words.

    Two lines are the same sentence if this is the same of both.

    >>> canonical("  Un e\u0301te\u0301\u00a0 chaud\t") == canonical("Un été chaud")
    True
    """
    return " ".join(unicodedata.normalize("NFC", line).split())
