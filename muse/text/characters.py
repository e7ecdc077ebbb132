"""Characters: when two strings are the same, what is punctuation, and whether words stand without spaces.

Accents may be encoded in two ways, and both are the same word. Punctuation is ASCII's marks, and in other
scripts what Unicode calls punctuation. Chinese and Thai are usually written without spaces between words.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence

# Runs of letters by script, with an average length that words of it do not have.
_SCRIPTS = (
    (re.compile("[\u3040-\u30ff\u3400-\u9fff]+"), 5),  # kana and Han
    (re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]+"), 10),  # Thai, Lao, Tibetan, Burmese, Khmer
)
# Letters and accents that stand apart, as in names of files on a Mac and in text from a .pdf.
_APART = re.compile("\\w[\u0300-\u036f]+")


def is_punctuation(character: str) -> bool:
    """Whether a character is a punctuation mark; combining marks and symbols such as € are none.

    >>> [is_punctuation(character) for character in "?«।$€á"]
    [True, True, True, True, False, False]
    """
    return character in string.punctuation or unicodedata.category(character).startswith("P")


def unspaced_letters(lines: Sequence[str]) -> float | None:
    """The average number of letters between spaces, if it is too high for words; None otherwise.

    Only of text in a script that is usually written without spaces.
    """
    for script, too_long in _SCRIPTS:
        runs = [run for line in lines for run in script.findall(line)]
        mean = sum(map(len, runs)) / max(1, len(runs))
        if len(runs) >= len(lines) / 2 and mean >= too_long:  # not of a few quotations
            return mean
    return None


def composed(text: str) -> str:
    r"""The text with letters and the accents after them composed; other characters stay as they are.

    NFC would also take characters apart that text in Bengali and Hindi has whole.

    >>> composed("e\u0301te\u0301"), composed("\u09df") == "\u09df"
    ('été', True)
    """
    return _APART.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)


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
