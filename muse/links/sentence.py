"""Sentences: their words, as they are looked up and as they are written, and where each word is."""

import re
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from muse.links.labels import Place, Span
from muse.text.segmentation import unspaced_language
from muse.text.tokens import Tokeniser
from muse.text.written import written_tokens

LONGEST, MOST_WORDS = 20_000, 1_000  # characters and words of a sentence
PART = re.compile(r"\S+")  # of a text, between spaces
_GLUED, _ALONE = re.compile(r"\w[,;:!?]$"), re.compile(r"[,;:!?]$")
_LONG_WORD = 6  # letters on average, of text whose words have no spaces between them


class Sentence(NamedTuple):
    """A sentence, its words as they are looked up, and as they are written, which contractions are not.

    `spans` are those that are labelled in it.
    """

    text: str
    tokens: tuple[str, ...]
    written: tuple[str, ...]
    spans: tuple[Span, ...] = ()

    @property
    def places(self) -> list[Place]:
        """From which character to which each word is."""
        return places_of(self.written, self.text)


class Tokenised:
    """Splits the sentences of a language as muse translate does, with contractions written out; or at spaces.

    >>> Tokenised("fr")("L'eau, là.").places
    [(0, 2), (2, 5), (5, 6), (7, 9), (9, 10)]
    """

    def __init__(self, language: str, known: Container[str] | None = None, *, spaced: bool = False) -> None:
        self._tokeniser, self._spaced = Tokeniser(language, known), spaced

    def __call__(self, text: str) -> Sentence:
        """The sentence with its words; ValueError if it is too long."""
        _check_length(len(text), LONGEST, "characters")
        if self._spaced:
            tokens = written = tuple(text.split())
        else:
            found = written_tokens(self._tokeniser, text)
            tokens, written = tuple(one.text for one in found), tuple(one.written for one in found)
        _check_length(len(tokens), MOST_WORDS, "words")
        return Sentence(text, tokens, written)


def _check_length(got: int, most: int, unit: str) -> None:
    if got > most:
        raise ValueError(f"expected a sentence of at most {most:,} {unit}, got {got:,}; give one sentence")


def is_tokenised(lines: Sequence[str], language: str) -> bool:
    """Whether signs stand apart from words; without signs, it is taken to be so where words have spaces.

    >>> is_tokenised(["Yes , sir ."], "en"), is_tokenised(["Yes, sir."], "en")
    (True, False)
    """
    parts = [part for line in lines for part in line.split()]
    if unspaced_language(language) and sum(map(len, parts)) > _LONG_WORD * len(parts):
        return False
    glued = sum(_GLUED.search(part) is not None for part in parts)
    last = sum(len(line.split()[-1]) > 1 and line.rstrip()[-1] in ".。।" for line in lines if line.strip())
    alone = sum(_ALONE.fullmatch(part) is not None for part in parts)
    return 10 * glued <= alone and 2 * last <= len(lines)


def places_of(words: Iterable[str], text: str) -> list[Place]:
    """Where each of the words is in a text that has them in this order.

    Those that the text spells otherwise, as contractions are, have together what is between the words around
    them, or the place of the word before.

    >>> places_of(["l'", "eau", "!"], "l'eau !"), places_of(["it", "will", "not", "do"], "it won't do")
    ([(0, 2), (2, 5), (6, 7)], [(0, 2), (3, 8), (3, 8), (9, 11)])
    """
    parts, part = [match.span() for match in PART.finditer(text)], 0
    found, end, missing = list[Place](), 0, 0
    for word in [*words, None]:
        while part < len(parts) and parts[part][1] <= end:
            part += 1
        begin = len(text) if word is None else _begin(word, text, end, parts[part : part + 2 + missing // 2])
        if begin < 0:
            missing += 1
            continue
        between, last = text[end:begin].strip(), (begin, begin + len(word or ""))
        first = text.find(between, end)
        found += [(first, first + len(between)) if between else found[-1] if found else last] * missing
        found.append(last)
        end, missing = last[1], 0
    return found[:-1]


def _begin(word: str, text: str, end: int, parts: Sequence[Place]) -> int:
    """Where a word begins behind `end`: in the first of the parts between spaces, or with another; or -1."""
    begins = [max(end, begin) for begin, _ in parts]
    if (
        parts
        and not text.startswith(word, begins[0])
        and (inside := text.find(word, begins[0], parts[0][1])) >= 0
    ):
        return inside
    return next((begin for begin in begins if text.startswith(word, begin)), -1)
