"""Word index: the row of a word, whatever Unicode form the word and the vocabulary are in.

An accented letter is one character in composed form (NFC), and a letter and an accent in decomposed form
(NFD), in which macOS writes. Words of equal composed form are one word (canonical equivalence: Unicode
Standard Annex 15).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload
from unicodedata import is_normalized, normalize

T = TypeVar("T")


class WordIndex(dict[str, int]):
    r"""The row of each of `words`, and of a word that equals one of them but for its Unicode form.

    The word itself comes first, then the one in composed form, then the most frequent of the others. The keys
    are the words and, of those in another form, the composed ones too. `[]`, `in`, `get` and `entry` find a
    word in any form; a copy is a plain dict, which does not.

    >>> index = WordIndex(["cafe\u0301", "the\u0301", "th\u00e9"])  # the last in composed form
    >>> [index.get(word) for word in ("caf\u00e9", "the\u0301", "th\u00e9", "chat")]
    [0, 1, 2, None]
    """

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(zip(words, range(len(words)), strict=True))
        self.words = words
        for word in [word for word in words if not (word.isascii() or is_normalized("NFC", word))]:
            self.setdefault(normalize("NFC", word), self[word])

    # Millions of words are looked up: most are in the dict itself or ASCII, which has one form, and naming
    # dict takes half the time of super().

    def __missing__(self, word: str) -> int:
        row = self.get(word)
        if row is None:
            raise KeyError(word)
        return row

    def __contains__(self, word: object) -> bool:
        return dict.__contains__(self, word) or (
            isinstance(word, str) and not word.isascii() and dict.__contains__(self, normalize("NFC", word))
        )

    @overload
    def get(self, word: str, default: None = None, /) -> int | None: ...
    @overload
    def get(self, word: str, default: int, /) -> int: ...
    @overload
    def get(self, word: str, default: T, /) -> int | T: ...
    def get(self, word: str, default: object = None, /) -> object:
        """The row of a word, or `default`."""
        row = dict.get(self, word)
        if row is None and not word.isascii():
            row = dict.get(self, normalize("NFC", word))
        return default if row is None else row

    def entry(self, word: str) -> str | None:
        """The word of the vocabulary that a word is, in the form it has there; None if it is not there."""
        row = self.get(word)
        return None if row is None else self.words[row]
