"""Tokens: a line of text as words, numbers and signs, and a line again of such tokens.

Moses' rules, from sacremoses, which only this module uses. In English and French, contractions are written
out first and words that hyphens tie to a verb are parted (isn't: is not, viens-tu: viens tu), since vectors
have the single words. The language models are trained on these tokens too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

Rules = tuple[tuple[re.Pattern[str], str], ...]

# Names that people give a language whose rules Moses has under another one.
_ISO = {
    "eng": "en",
    "fra": "fr",
    "fre": "fr",
    "ita": "it",
    "deu": "de",
    "ger": "de",
    "rus": "ru",
    "spa": "es",
}

_FRENCH_PRONOUNS = "je|tu|ils?|elles?|on|nous|vous|ce|moi|toi|lui|leur|les?|la|y|en|là|ci"


def _rules(*pairs: tuple[str, str]) -> Rules:
    return tuple((re.compile(pattern, re.IGNORECASE), put) for pattern, put in pairs)


_WRITTEN_OUT: dict[str, Rules] = {
    "en": _rules(
        (r"\b(wo)n't\b", "will not"),
        (r"\b(sha)n't\b", "shall not"),
        (r"\bcan't\b", "can not"),
        (r"(?<=\w)n't\b", " not"),
        (r"(?<=\w)'m\b", " am"),
        (r"(?<=\w)'re\b", " are"),
        (r"(?<=\w)'ve\b", " have"),
        (r"(?<=\w)'ll\b", " will"),
        (r"\b(it|he|she|that|what|there|here|who|where|how)'s\b", r"\1 is"),
    ),
    "fr": _rules(
        (rf"(?<=\w)-(?:t-)?({_FRENCH_PRONOUNS})\b(?!-?\w)", r" \1"),
    ),
}
# What must stay in one piece beside Moses' own: 12:45, 1/2, addresses.
_WHOLE = [r"\d+(?:[:/.,]\d+)+", r"[\w.+-]+@[\w-]+(?:\.\w+)+", r"(?:https?|ftp)://\S*[\w/]", r"www\.\S*[\w/]"]
_APOSTROPHE = re.compile(r"(?<=\w)\u2019(?=\w)")
# Moses knows what an apostrophe does in these; elsewhere a word with one stays whole.
_APOSTROPHES = ("en", "fr", "it")


class Tokeniser:
    """Parts and joins the text of one language; one that Moses has no rules for gets the general ones.

    >>> french = Tokeniser("fr")
    >>> french.tokens("Viens-tu à l'heure, 12:45 ?")
    ['Viens', 'tu', 'à', "l'", 'heure', ',', '12:45', '?']
    >>> french.text(["L'", "eau", "est", "froide", "."])
    "L'eau est froide."
    """

    def __init__(self, language: str) -> None:
        name = re.split(r"[_-]", language.lower())[0]
        self.language = _ISO.get(name, name)
        self._rules = _WRITTEN_OUT.get(self.language, ())
        self._whole = _WHOLE if self.language in _APOSTROPHES else [*_WHOLE, r"\w+(?:'\w+)+"]
        self._parts: dict[str, list[str]] = {}

    def tokens(self, line: str) -> list[str]:
        """The tokens of a line."""
        line = _APOSTROPHE.sub("'", line)
        if "'" in line or "-" in line:
            for pattern, put in self._rules:
                line = pattern.sub(put, line)
        found: list[str] = []
        chunks = line.split()
        if any(chunk.endswith(".") for chunk in chunks[:-1]):
            return self._moses(" ".join(chunks))  # a full stop or an abbreviation: what follows decides
        for chunk in chunks:
            if chunk not in self._parts:
                self._parts[chunk] = self._moses(chunk)
            found += self._parts[chunk]
        return found

    def text(self, tokens: Sequence[str]) -> str:
        """The line of these tokens, with the spaces that the language has around its signs."""
        return str(self._joiner.detokenize(list(tokens), unescape=False))

    def _moses(self, text: str) -> list[str]:
        return list(self._splitter.tokenize(text, escape=False, protected_patterns=self._whole))

    @cached_property
    def _splitter(self) -> Any:
        from sacremoses import MosesTokenizer

        return MosesTokenizer(self.language)

    @cached_property
    def _joiner(self) -> Any:
        from sacremoses import MosesDetokenizer

        return MosesDetokenizer(self.language)
