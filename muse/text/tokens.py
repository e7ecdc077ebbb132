"""Tokens: tokenising a line of text into words, numbers and punctuation, and detokenising it.

Moses' rules, from sacremoses, which only this module uses. English contractions are expanded first (isn't: is
not) and French pronouns separated from their verb (viens-tu: viens tu), since embedding tables have the
single words. The language models are trained on these tokens too. The spaces that detokenising leaves inside
typographic quotation marks are removed.
"""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cache, cached_property, partial
from typing import Any

from muse.languages import language_code
from muse.orthography import composed, lowercase
from muse.text.markup import URL, WEB_SITE, split_at_markup, split_at_spans, unescaped
from muse.text.segmentation import Segmenter, unspaced_language
from muse.text.surface import is_elided

_CLOSES = {
    "“": "”", "”": "”", "„": "“”", "‘": "’", "‚": "‘’", "«": "»", "»": "«»", "‹": "›", "›": "‹›",
}  # fmt: skip
_OPENS = {mark: [one for one, closing in _CLOSES.items() if mark in closing] for mark in "“”„‘’‚«»‹›"}
_MARK = re.compile("([“”„‘’‚«»‹›])")
_SPACED = {"fr": "«»‹›"}  # marks with a space inside, by language
# The languages in which marks that close elsewhere may open: ”so”, »so«, »so».
_POINTING = frozenset("cs da de fi hr hu no pl sk sl sr sv".split())
_OPENING = {"”": frozenset(("sv", "fi")), "»": _POINTING, "›": _POINTING}
Rules = tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]
_FRENCH_PRONOUNS = "je|tu|ils?|elles?|on|nous|vous|ce|moi|toi|lui|leur|les?|la|y|en|là|ci"


def closed_up(pieces: Iterable[tuple[str, str]], language: str, source: str | None = None) -> str:
    """The text of `split_at_spans` with no space after an opening mark and before the one that closes it.

    The marks are those of the language that it was translated from, its `source`.

    A mark without a counterpart, as of a sentence whose quotation continues in the next, stays as it is; so
    does an apostrophe, and so do the spans.

    >>> closed_up([("Er sagte: „ Ja “, sie: » ‚ Nein ‘ «.", "")], "de")
    'Er sagte: „Ja“, sie: »‚Nein‘«.'
    """
    # Text in turn with marks and spans.
    parts = [part for between, span in pieces for part in (*_MARK.split(between), span)]
    opened: dict[str, list[int]] = {mark: [] for mark in _CLOSES}  # the places of each, the last one last
    for place in range(1, len(parts), 2):
        mark = parts[place]
        if mark not in _OPENS or mark in _SPACED.get(language, ""):
            continue
        begin = max((opened[one][-1] for one in _OPENS[mark] if opened[one]), default=None)
        if begin is not None:
            # Every place is added once and taken once: the time grows with the marks, however many stay open.
            for places in opened.values():
                while places and places[-1] >= begin:
                    places.pop()
            parts[begin + 1] = parts[begin + 1].removeprefix(" ")
            parts[place - 1] = parts[place - 1].removesuffix(" ")
        elif mark != "’" and (source or language) in _OPENING.get(mark, {source or language}):
            opened[mark].append(place)
    return "".join(parts)


def _rules(*pairs: tuple[str, str]) -> Rules:
    return tuple((re.compile(pattern, re.IGNORECASE), partial(_written_out, put)) for pattern, put in pairs)


def _written_out(put: str, match: re.Match[str]) -> str:
    """The replacement of a match, with its capitals: will not, Will not, WILL NOT."""
    found, letters = match.expand(put), [letter for letter in match[0] if letter.isalpha()]
    if all(map(str.isupper, letters)):
        return found.upper()
    return found[:1].upper() + found[1:] if letters[0].isupper() else found


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
    "fr": _rules((rf"(?<=\w)-(?:t-)?({_FRENCH_PRONOUNS})\b(?!-?\w)", r" \1")),
}
# What must stay one token, besides Moses' own patterns: 12:45, 1/2, addresses.
_WHOLE = [r"\d+(?:[:/.,]\d+)+", r"[\w.+-]+@[\w-]+(?:\.\w+)+", URL, WEB_SITE]
_INCLUSIVE = [r"\w+(?:·\w+)+", r"(?<!\w)[^\W\d_]{2,}\([^\W\d_]{1,3}\)(?!\w)"]  # étudiant·e·s, ami(e)
_HEBREW_ACRONYM = "[\u05d0-\u05ea]+[\"'\u05f3\u05f4][\u05d0-\u05ea]+"
_APOSTROPHE = re.compile(r"(?<=\w)\u2019(?=\w)")
# Moses has rules for apostrophes in these languages; in others a word with one stays one token.
_APOSTROPHES = ("en", "fr", "it")


# A word of letters and at most one punctuation mark: Moses' rules would not change it.
_PLAIN = re.compile("([A-Za-zÀ-ÖØ-öø-ʯΑ-ΡΣ-Ωα-ωА-яЁё]+)([,;:?!.]?)")
# Commas and ends of sentences that Moses does not know: of Arabic, Indic, Ethiopic, Armenian, Burmese, Khmer.
_CLOSING = re.compile(" (?=[،؛؟۔।॥።፣։၊။។])")
_LATIN = re.compile("[\\x00-\u02ff\u2010-\u206f]*")  # without marks and joiners
# Of no language: control characters, which Moses' rules drop, and the byte order mark of a file amid others.
_SOFT_HYPHEN = re.compile("(?<=\\w)\u00ad+(?=\\w)")
_INVISIBLE = re.compile("[\x00-\x1f\x7f\ufeff]")
_TSHEG, _MOST_SYLLABLES = "\u0f0b", 16  # tokens of a Tibetan word, half of them the signs between
LONGEST_PART = 1_000  # characters
_REMEMBERED = 1 << 19  # parts of lines whose tokens are cached: about 200 MB
_SENTENCE = 40  # characters of a part that will hardly come again, where words have no spaces between them


@cache
def _marked_word() -> str:
    """The pattern of a word with combining marks or joiners in it, as Persian, Sinhala and Yoruba have.

    By Unicode's rules of word boundaries (UAX 29, WB4) neither ends a word; Moses' rules would part it there.
    """
    marks = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code)).startswith("M")]
    joining = "".join(map(chr, marks)) + "\u200c\u200d"
    return rf"(?<!\w)\w+(?:[{joining}]+\w*)+"


def next_part_kind(part: str, following: str) -> str:
    """A stand-in for the next part, as far as Moses' rules for a full stop depend on it; "" if they do not.

    "etc." before a lower-case letter does not end a sentence, and "No." belongs to a number that follows.
    """
    if not (following and part.endswith(".")):
        return ""
    return "a" if following[0].islower() else "1" if following[0] in "0123456789" else "A"


class Tokeniser:
    """Tokenises and detokenises one language; languages unknown to Moses get its general rules.

    Words without spaces between them are segmented (`muse.text.segmentation`), with the words of a vocabulary
    as the judge if they are `known`; with `spaced`, words are taken to have spaces between them.

    >>> french = Tokeniser("fr")
    >>> french.tokens("Viens-tu à l'heure, 12:45 ?")
    ['Viens', 'tu', 'à', "l'", 'heure', ',', '12:45', '?']
    >>> french.text(["L'", "eau", "est", "froide", "."])
    "L'eau est froide."
    """

    def __init__(self, language: str, known: Container[str] | None = None, *, spaced: bool = False) -> None:
        self.language = language_code(language)
        unspaced = unspaced_language(language)
        self._known = known or ()
        self._segmenter = None if unspaced is None else Segmenter(unspaced, known, whole=spaced)
        self._rules = _WRITTEN_OUT.get(self.language, ())
        self._whole = _WHOLE if self.language in _APOSTROPHES else [*_WHOLE, r"\w+(?:'\w+)+"]
        self._parts: dict[str, list[str]] = {}

    def tokens(self, line: str, then: str = "") -> list[str]:
        """The tokens of a line, which is split at white space into parts first; `then` is what follows it."""
        parts = line.split()
        found: list[str] = []
        for part, following in zip(parts, [*parts[1:], then], strict=False):
            found += self.part_tokens(part, next_part_kind(part, following))
        return found

    def part_tokens(self, part: str, follows: str = "") -> list[str]:
        """The tokens of a part of a line between spaces; `follows` comes from `next_part_kind`."""
        if self._segmenter is not None and len(part) > _SENTENCE:
            return self._tokenised(part, follows)
        key = f"{part} {follows}"
        if key not in self._parts:
            if len(self._parts) >= _REMEMBERED:
                self._parts.clear()
            self._parts[key] = self._tokenised(part, follows)
        return self._parts[key]

    def _tokenised(self, part: str, follows: str) -> list[str]:
        part = _INVISIBLE.sub("", unescaped(part))
        if not part:
            return []
        if self._segmenter is None:
            return self._between_spaces(part, follows)
        found, pieces = list[str](), list(self._segmenter.split(part))
        for place, (piece, letters) in enumerate(pieces, 1):
            if letters:
                found += self._segmenter.words(piece)
            else:
                found += self._between_spaces(piece, follows if place == len(pieces) else "")
        return found

    def _between_spaces(self, part: str, follows: str) -> list[str]:
        if len(part) > LONGEST_PART:  # no word, and the rules take quadratic time
            return [part]
        found, pieces = list[str](), split_at_markup(part)
        for place, (piece, whole) in enumerate(pieces, 1):
            found += [piece] if whole else self._of_text(piece, follows if place == len(pieces) else "")
        return found

    def _of_text(self, part: str, follows: str) -> list[str]:
        part = _SOFT_HYPHEN.sub("", _APOSTROPHE.sub("'", composed(part)))
        for pattern, put in self._rules if "'" in part or "-" in part else ():
            part = pattern.sub(put, part)
        *first, last = part.split() or [""]
        found = [token for piece in first for token in self._moses(piece)]
        ends = self._moses(f"{last} {follows}")[:-1] if follows else self._moses(last)
        if follows == "a" and self._is_unknown(ends[-1]):
            ends = self._moses(last)
        found += ends
        if _TSHEG in part and self._known:
            found = self._of_syllables(found)
        if "'" not in found and "\u2019" not in found:
            return found
        # Moses' rules need a letter behind an apostrophe: l'« eau ».
        joined = list[str]()
        for token in found:
            if token in ("'", "\u2019") and joined and is_elided(joined[-1], self.language):
                joined[-1] += "'"
            else:
                joined.append(token)
        return joined

    def _of_syllables(self, tokens: Sequence[str]) -> list[str]:
        """The longest known words of syllables with tshegs between; those that are unknown stay together."""
        found, place, unknown = list[str](), 0, False
        while place < len(tokens):
            ends = range(min(len(tokens), place + _MOST_SYLLABLES), place, -1)
            end = next((end for end in ends if "".join(tokens[place:end]) in self._known), None)
            piece = "".join(tokens[place : end or place + 1])
            if piece != _TSHEG:
                letters = end is None and any(map(str.isalpha, piece))
                if unknown and letters and tokens[place - 1] == _TSHEG:
                    found[-1] += _TSHEG + piece
                else:
                    found.append(piece)
                unknown = letters
            place = end or place + 1
        return found

    def _is_unknown(self, token: str) -> bool:
        # Moses takes any word with a point before a small letter for an abbreviation.
        abbreviated = len(token) > 2 and token[-2].isalpha() and token[-1] == "."
        return abbreviated and not any(one in self._known for one in (token, lowercase(token, self.language)))

    def text(self, tokens: Sequence[str]) -> str:
        """The line of these tokens, with spaces around punctuation as usual in the language."""
        text = str(self._joiner.detokenize(list(tokens), unescape=False))
        return closed_up(split_at_spans(_CLOSING.sub("", text)), self.language)

    def _moses(self, text: str) -> list[str]:
        if plain := _PLAIN.fullmatch(text):
            word, sign = plain.groups()
            if sign != "." or word not in self._splitter.NONBREAKING_PREFIXES:
                return [word, sign] if sign else [word]
        # Compiling the long pattern and searching for it costs time, and most text needs neither.
        whole = [*self._whole, *_INCLUSIVE] if "·" in text or "(" in text[2:] else self._whole
        whole = whole if _LATIN.fullmatch(text) else [*whole, _marked_word(), _HEBREW_ACRONYM]
        return list(self._splitter.tokenize(text, escape=False, protected_patterns=whole))

    @cached_property
    def _splitter(self) -> Any:
        from sacremoses import MosesTokenizer

        # Its rules for Chinese and Japanese are about letters, which are segmented before. They are lists of
        # 90,000 characters, with which a sign takes 150 us.
        return MosesTokenizer("general" if self._segmenter is not None else self.language)

    @cached_property
    def _joiner(self) -> Any:
        from sacremoses import MosesDetokenizer

        return MosesDetokenizer(self.language)
