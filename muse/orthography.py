"""Orthography: the ways in which one word may be written, what is added to it, and the case of its letters.

SPELLINGS are the classes of spellings that change no word, such as a curly apostrophe. What a dictionary says
beside a word (a gloss) and what programs write for signs of their own formats are no part of it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from unicodedata import normalize


def _characters(*ranges: str) -> list[int]:
    """The code points of characters, and of ranges of them such as "a-z"."""
    found = list[int]()
    for text in ranges:
        first, last = (text[0], text[-1]) if len(text) == 3 and text[1] == "-" else (text, text)
        found += range(ord(first), ord(last) + 1) if len(first) == 1 else map(ord, text)
    return found


def _each(letters: str, others: str) -> dict[int, str | None]:
    return {ord(letter): other for letter, other in zip(letters, others, strict=True)}


_APOSTROPHES = {
    **dict.fromkeys(
        _characters("\u2018-\u201b", "`\u00b4\u02b9\u02bb\u02bc\u02be\u02bf\u2032\u055a\u05f3\ua78c"), "'"
    ),
    **dict.fromkeys(_characters("\u201c-\u201f", "\u05f4"), '"'),
}
_VOWEL_SIGNS = dict.fromkeys(
    _characters("\u0591-\u05bd", "\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7")  # Hebrew
    + _characters("\u0610-\u061a", "\u064b-\u0652", "\u0656-\u065f", "\u0670")  # Arabic
    + _characters("\u06d6-\u06dc", "\u06df-\u06e4", "\u06e7\u06e8", "\u06ea-\u06ed")  # in the Koran
)
_CEDILLAS = _each("\u015e\u015f\u0162\u0163", "\u0218\u0219\u021a\u021b")
_HAMZA = {
    **_each(
        "\u0622\u0623\u0625\u0671\u0672\u0673\u0624\u0626\u06c0\u06c2\u06d3",
        "\u0627\u0627\u0627\u0627\u0627\u0627\u0648\u064a\u0647\u06c1\u06d2",
    ),
    **dict.fromkeys(_characters("\u0653\u0654\u0655")),
}
# Where the seats of hamzas differ, all are written without one, and final \u0626 as \u064a\u0621 is.
_HAMZA_APART = re.compile("[\u0649\u06cc]\u0654")
_FINAL_HAMZA = re.compile("\u064a\u0621$")
_SEATED = re.compile("[\u0621-\u0626]")
_MAY_HAVE_HAMZA = re.compile("[\u0621-\u0626\u0654\u0655\u0653\ufe80-\ufe8c]")
_SEATS = {**_each("\u0623\u0624\u0625\u0626", "\u0621" * 4), 0x622: "\u0621\u0627"}
_YE_AND_KAF = _each("\u0649\u06cc\u06a9\u06aa", "\u064a\u064a\u0643\u0643")
# Between letters they choose a form of these; in emoji they make one of several. Malayalam and Bengali have
# letters of their own for such forms.
_JOINERS = re.compile("(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]")
_CHILLUS = {
    ord(letter): f"{bare}{virama}"
    for letters, bares, virama in (
        ("\u0d7a\u0d7b\u0d7c\u0d7d\u0d7e\u0d7f", "\u0d23\u0d28\u0d30\u0d32\u0d33\u0d15", "\u0d4d"),
        ("\u09ce", "\u09a4", "\u09cd"),
    )
    for letter, bare in zip(letters, bares, strict=True)
}
_PRESENTATION = re.compile("[\ufb00-\ufdff\ufe70-\ufefc]+")
_FULL_WIDTH = re.compile("[\uff01-\uffee\u3000]+")
_INVISIBLE = dict.fromkeys(
    _characters("\u200b\u200e\u200f\u061c\u2060\ufeff", "\u202a-\u202e", "\u2066-\u2069")
)
_TATWEEL, _SIGMA, _SOFT_HYPHEN = {0x640: None}, _each("\u03c2", "\u03c3"), {0xAD: None}
# The dashes of words, the maqaf and the Armenian hyphen among them.
_HYPHENS = dict.fromkeys(_characters("\u2010-\u2013", "\u2212\u05be\u058a"), "-")
_YO = _each("\u0401\u0451", "\u0415\u0435")
# Of the Arabic hundred, alone and in compounds, whose alif is not spoken.
_ALIF = re.compile("\u0645\u0627\u0626(?=[\u0629\u062a])")
_LIGATURES = {
    ord(one): others
    for one, others in zip("\u0153\u0152\u00e6\u00c6\u0133\u0132", "oe OE ae AE ij IJ".split(), strict=True)
}
_SHARP_S = {0xDF: "ss", 0x1E9E: "SS"}
Fold = Callable[[str], str]


def _translated(table: Mapping[int, str | None]) -> Fold:
    return lambda word: word.translate(table)


def _in_nfkc(pattern: re.Pattern[str]) -> Fold:
    return lambda word: pattern.sub(_nfkc, word)


def _nfkc(match: re.Match[str]) -> str:
    return normalize("NFKC", match[0]).strip()


def _without_seats(word: str) -> str:
    return _FINAL_HAMZA.sub("\u0621", _HAMZA_APART.sub("\u0626", word).translate(_SEATS))


# The classes of spellings that are one word, in the order in which they are tried: how a report names what
# differs, and the spelling without that difference.
SPELLINGS: Mapping[str, Fold] = {
    "apostrophes": _translated(_APOSTROPHES),
    "vowel signs": _translated(_VOWEL_SIGNS),
    "tatweel": _translated(_TATWEEL),
    "presentation forms": _in_nfkc(_PRESENTATION),
    "cedillas": _translated(_CEDILLAS),
    "hamza": _translated(_HAMZA),
    "seats of hamzas": _without_seats,
    "Persian ye and kaf": _translated(_YE_AND_KAF),
    "joiners": lambda word: _JOINERS.sub("", word.translate(_CHILLUS)),
    "final sigma": _translated(_SIGMA),
    "full width": _in_nfkc(_FULL_WIDTH),
    "soft hyphens": _translated(_SOFT_HYPHEN),
    "hyphens": _translated(_HYPHENS),
    "\u0451 and \u0435": _translated(_YO),
    "invisible marks": _translated(_INVISIBLE),
    "\u0645\u0627\u0626\u0629 and \u0645\u0626\u0629": lambda word: _ALIF.sub("\u0645\u0626", word),
    "ligatures": _translated(_LIGATURES),
    "\u00df and ss": _translated(_SHARP_S),
}
# All classes at once: what a presentation form or one of full width becomes may belong to another.
_COMPATIBLE = re.compile("[\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffee\u3000]+")
_PLAIN: dict[int, str | None] = {
    **_APOSTROPHES, **_VOWEL_SIGNS, **_CEDILLAS, **_HAMZA, **_YE_AND_KAF, **_CHILLUS, **_INVISIBLE,
    **_TATWEEL, **_SIGMA, **_SOFT_HYPHEN, **_HYPHENS, **_YO, **_LIGATURES, **_SHARP_S,
}  # fmt: skip
# Hamzas are kept here, without what they sit on.
_WITH_HAMZAS = {**_PLAIN, **_SEATS}
_ANY = re.compile(
    f"{_COMPATIBLE.pattern[:-2]}\u200c\u200d{''.join(re.escape(chr(code)) for code in _PLAIN if code > 127)}]"
)


def plain_spelling(word: str) -> str:
    """The word without what any of SPELLINGS makes no difference of.

    >>> plain_spelling("l\u2019a\u00admi"), plain_spelling("\uff23\uff24")
    ("l'ami", 'CD')
    """
    return _plain(word, _PLAIN)


def _plain(word: str, table: Mapping[int, str | None]) -> str:
    word = normalize("NFC", word)
    if _COMPATIBLE.search(word):
        word = normalize("NFC", SPELLINGS["full width"](SPELLINGS["presentation forms"](word)))
    word = _ALIF.sub("\u0645\u0626", word).translate(table)
    return _JOINERS.sub("", word) if "\u200c" in word or "\u200d" in word else word


def may_be_respelled(word: str) -> bool:
    """Whether a word has a letter of SPELLINGS, so that `plain_spelling` may be another word."""
    return not word.isascii() and bool(_ANY.search(normalize("NFC", word)))


def seatless_spelling(word: str) -> str:
    """The plain spelling of a word with its hamzas, but not with their seats; "" for one without hamzas.

    >>> [seatless_spelling(f"\u0645\u0633{hamza}\u0648\u0644") for hamza in "\u0624\u0626"]  # on waw, on ya
    ['\u0645\u0633\u0621\u0648\u0644', '\u0645\u0633\u0621\u0648\u0644']
    """
    if not _MAY_HAVE_HAMZA.search(word):
        return ""
    word = _HAMZA_APART.sub("\u0626", normalize("NFKC" if _COMPATIBLE.search(word) else "NFC", word))
    return _FINAL_HAMZA.sub("\u0621", _plain(word, _WITH_HAMZAS)) if _SEATED.search(word) else ""


# What a dictionary says about a word beside it: cat (animal), king [masc.], Katze {f}, to trust sb./sth.
BRACKETED = re.compile(
    r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}|<[^<>]*>|\uff08[^\uff08\uff09]*\uff09|\u3010[^\u3010\u3011]*\u3011"
    r"|\uff3b[^\uff3b\uff3d]*\uff3d|\u3014[^\u3014\u3015]*\u3015|\u3008[^\u3008\u3009]*\u3009"
)
_GENDERS = frozenset(
    "m f n mf pl mpl fpl npl masc fem neut sg sing nm nf v vt vi adj adv prep conj pron interj".split()
)
_PLACEHOLDERS = frozenset(
    "sb sth sbs sths smb smth jd jdn jdm jds jmd jmdn jmdm jmds etw qn qc qqn qqc qqch qch algn qlcu qlco "
    "qlcn so sos os".split()
)
_ALSO_WORDS = frozenset("so sos os".split()) | _GENDERS  # but for a point behind them, or a slash
_LINKS = frozenset(
    "to of from for with at on in a \u00e0 de avec pour sur an auf mit von zu f\u00fcr di con per".split()
)
_NUMBER = re.compile(r"\d{1,2}[.)]\s+(?=\S)")  # of a sense
_MAY_HAVE_GLOSS = re.compile("[] (){}<>[.,;:/\uff08\u3010\uff3b\u3014\u3008]")
_MAY_HAVE_MORE = re.compile(_MAY_HAVE_GLOSS.pattern + "|&")  # nearly no word has
_DEEPEST_GLOSS = 4  # brackets in one another


def without_gloss(word: str) -> str:
    """The word without remarks in brackets, abbreviations for somebody and something, of its kind and gender.

    A word that has nothing else stays as it is.

    >>> [without_gloss(word) for word in ("cat (animal)", "king [masc.]", "give sth. to sb.", "(!)")]
    ['cat', 'king', 'give', '(!)']
    """
    if not _MAY_HAVE_GLOSS.search(word):
        return word
    bare = _NUMBER.sub("", word, count=1) if _NUMBER.match(word) else word
    for _ in range(_DEEPEST_GLOSS):
        bare, found = BRACKETED.subn("", bare)
        if not found:
            break
    fields = bare.split()
    for end in (-1, 0):
        while len(fields) > 1 and _abbreviates(fields[end], _GENDERS):
            fields.pop(end)
    holders = [_abbreviates(one, _PLACEHOLDERS) for one in fields]
    linked = sum(holders) > 1  # look for sth. is another word than look
    holders = [holds or (one == "/" and any(holders)) for one, holds in zip(fields, holders, strict=True)]
    kept = (
        one
        for one, holds, before in zip(fields, holders, [*holders, False][1:], strict=True)
        if not holds and not (linked and before and one in _LINKS)
    )
    return " ".join(kept).rstrip(" ,;:") or word


def _without_entities(word: str) -> str:
    return html.unescape(word) if "&" in word and ";" in word else word


def without_additions(word: str) -> Iterator[tuple[str, str]]:
    """The word without what programs and people add to it: how a report names that, and the other word.

    It is left out of a word that is looked up, not of those of a vocabulary. Moses writes &apos; and &#124;
    for signs of its own formats.

    >>> list(without_additions("king (R&amp;D)")), list(without_additions("king"))
    ([('entities', 'king (R&D)'), ('glosses', 'king')], [])
    """
    if not _MAY_HAVE_MORE.search(word):
        return
    bare = _without_entities(word)
    for name, other in (("entities", bare), ("glosses", without_gloss(bare))):
        if other != word:
            yield name, other


def _abbreviates(field: str, known: frozenset[str]) -> bool:
    # With a point, or a slash between two, "so" and "m" are no words; QC is Quebec.
    parts = field.casefold().replace("'", "").replace(".", "").strip(",;").split("/")
    sure = "." in field or len(parts) > 1 or (field.islower() and _ALSO_WORDS.isdisjoint(parts))
    return sure and known.issuperset(parts)


_TURKIC, _LITHUANIAN = frozenset("tr tur az aze azj azb crh".split()), frozenset(("lt", "lit"))
_DOTLESS = str.maketrans({"I": "\u0131", "\u0130": "i"})
_DOTTED = str.maketrans({"i": "\u0130", "\u0131": "I"})
_LITHUANIAN_DOT = re.compile("[IJ\u012e](?=[\u0328\u0323]*[\u0300\u0301\u0303])")


def lowercase(word: str, language: str) -> str:
    r"""The word in lower case by the rules of a language: in Turkish and Azeri I is the capital of dotless i.

    In Lithuanian i keeps its dot below an accent, and a final sigma is one in any language. (Unicode,
    SpecialCasing.txt.)

    >>> [lowercase(word, "tr") for word in ("ISIRMAK", "\u0130STANBUL")], lowercase("\u039f\u03a3", "el")
    (['\u0131s\u0131rmak', 'istanbul'], '\u03bf\u03c2')
    """
    code = language.lower().replace("_", "-").partition("-")[0]
    if code in _TURKIC:
        return word.replace("I\u0307", "i").translate(_DOTLESS).lower()
    if code in _LITHUANIAN and not word.isascii():
        dotted = _LITHUANIAN_DOT.sub(lambda match: f"{match[0]}\u0307", normalize("NFD", word))
        return normalize("NFC", dotted.lower())
    return word.lower()


def uppercase(word: str, language: str) -> str:
    """The word in upper case by the rules of a language.

    >>> uppercase("istanbul", "tr")
    '\u0130STANBUL'
    """
    turkic = language.lower().replace("_", "-").partition("-")[0] in _TURKIC
    return (word.translate(_DOTTED) if turkic else word).upper()
