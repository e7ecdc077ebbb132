"""Orthography: when two spellings are one word, what is added to a word, and the case of its letters.

All that compare spellings call this module. From the strictest to the loosest, two are the same

    canonical       in composed characters (NFC), whatever the white space
    casefolded      apart from case
    cases           in one of the cases of a language, or in one of English
    SPELLINGS       in ways that change no word, such as a curly apostrophe; `Respellings` finds such words
    plain           apart from case and the accents of Latin, Greek and Cyrillic
    typed           as people type in a hurry: apart from case, all marks and ligatures
    letters_of      apart from case and all signs

What a dictionary says beside a word (a gloss) and what programs write for signs of their own formats are no
part of it.
"""

import html
import re
import string
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from unicodedata import normalize

# Letters and accents that stand apart, as in names of files on a Mac and in text from a .pdf.
_APART = re.compile("\\w[\u0300-\u036f]+")
_ACCENTS = re.compile("[\u0300-\u036f]")  # marks of other scripts are vowels: they stay
# Letters that differ by more than an accent, and the apostrophe of typewriters.
_TYPED = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "’": "'"})


def composed(text: str) -> str:
    r"""The text with letters and the accents after them composed; other characters stay as they are.

    NFC would also take characters apart that text in Bengali and Hindi has whole.

    >>> composed("e\u0301te\u0301"), composed("\u09df") == "\u09df"
    ('été', True)
    """
    return _APART.sub(lambda match: normalize("NFC", match[0]), text)


def canonical(line: str) -> str:
    r"""The line in composed characters (NFC), with one space for all white space between its words.

    >>> canonical("  Un e\u0301te\u0301\u00a0 chaud\t") == canonical("Un été chaud")
    True
    """
    return " ".join(normalize("NFC", line).split())


def casefolded(text: str) -> str:
    r"""The text without regard to case, its accents composed (NFC).

    >>> casefolded("E\u0301TE\u0301") == casefolded("été")
    True
    """
    return normalize("NFC", text).casefold()


def plain(word: str) -> str:
    """The word in lower case without accents.

    >>> plain("Été"), plain("ёлка")
    ('ete', 'елка')
    """
    return normalize("NFC", _ACCENTS.sub("", normalize("NFD", word.casefold())))


def letters_of(word: str) -> str:
    """The letters and digits of a word, apart from case: of a headword that an article repeats with signs.

    >>> letters_of("Haus·halt, (der)")
    'haushaltder'
    """
    return "".join(filter(str.isalnum, word.casefold()))


def typed(text: str) -> str:
    """The text without capitals, marks and ligatures, as people type it in a hurry.

    >>> typed("Élève"), typed("CŒUR"), typed("Straße")
    ('eleve', 'coeur', 'strasse')
    """
    if text.isascii():
        return text.lower()
    apart = normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign)).casefold().translate(_TYPED)


def is_punctuation(character: str) -> bool:
    """Whether a character is a punctuation mark; combining marks and symbols such as € are none.

    >>> [is_punctuation(character) for character in "?«।$€á"]
    [True, True, True, True, False, False]
    """
    return character in string.punctuation or unicodedata.category(character).startswith("P")


def _characters(*ranges: str) -> list[int]:
    """The code points of characters, and of ranges of them such as "a-z"."""
    found = list[int]()
    for text in ranges:
        first, last = (text[0], text[-1]) if len(text) == 3 and text[1] == "-" else (text, text)
        found += range(ord(first), ord(last) + 1) if len(first) == 1 else map(ord, text)
    return found


def _each(letters: str, others: str) -> dict[int, str | None]:
    return {ord(letter): other for letter, other in zip(letters, others, strict=True)}


Table = Mapping[int, str | None]
Fold = Callable[[str], str]
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
# Of the Arabic hundred, alone and in compounds, whose alif is not spoken.
_ALIF = re.compile("\u0645\u0627\u0626(?=[\u0629\u062a])")


def _in_nfkc(pattern: re.Pattern[str]) -> Fold:
    return lambda word: pattern.sub(lambda match: normalize("NFKC", match[0]).strip(), word)


# The classes of spellings that are one word, in the order in which they are tried: how a report names what
# differs, and the spelling without that difference, by a table of letters or a function.
SPELLINGS: Mapping[str, Table | Fold] = {
    "apostrophes": {
        **dict.fromkeys(
            _characters("\u2018-\u201b", "`\u00b4\u02b9\u02bb\u02bc\u02be\u02bf\u2032\u055a\u05f3\ua78c"), "'"
        ),
        **dict.fromkeys(_characters("\u201c-\u201f", "\u05f4"), '"'),
    },
    "vowel signs": dict.fromkeys(
        _characters("\u0591-\u05bd", "\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7")  # Hebrew
        + _characters("\u0610-\u061a", "\u064b-\u0652", "\u0656-\u065f", "\u0670")  # Arabic
        + _characters("\u06d6-\u06dc", "\u06df-\u06e4", "\u06e7\u06e8", "\u06ea-\u06ed")  # in the Koran
    ),
    "tatweel": {0x640: None},
    "presentation forms": _in_nfkc(_PRESENTATION),
    "cedillas": _each("\u015e\u015f\u0162\u0163", "\u0218\u0219\u021a\u021b"),
    "hamza": _HAMZA,
    "seats of hamzas": lambda word: _FINAL_HAMZA.sub(
        "\u0621", _HAMZA_APART.sub("\u0626", word).translate(_SEATS)
    ),
    "Persian ye and kaf": _each("\u0649\u06cc\u06a9\u06aa", "\u064a\u064a\u0643\u0643"),
    "joiners": lambda word: _JOINERS.sub("", word.translate(_CHILLUS)),
    "final sigma": _each("\u03c2", "\u03c3"),
    "full width": _in_nfkc(_FULL_WIDTH),
    "soft hyphens": {0xAD: None},
    # The dashes of words, the maqaf and the Armenian hyphen among them.
    "hyphens": dict.fromkeys(_characters("\u2010-\u2013", "\u2212\u05be\u058a"), "-"),
    "\u0451 and \u0435": _each("\u0401\u0451", "\u0415\u0435"),
    "invisible marks": dict.fromkeys(
        _characters("\u200b\u200e\u200f\u061c\u2060\ufeff", "\u202a-\u202e", "\u2066-\u2069")
    ),
    "\u0645\u0627\u0626\u0629 and \u0645\u0626\u0629": lambda word: _ALIF.sub("\u0645\u0626", word),
    "ligatures": {
        ord(one): others
        for one, others in zip(
            "\u0153\u0152\u00e6\u00c6\u0133\u0132", "oe OE ae AE ij IJ".split(), strict=True
        )
    },
    "\u00df and ss": {0xDF: "ss", 0x1E9E: "SS"},
}
SEVERAL = "several ways"  # of spelling
# All classes at once: what a presentation form or one of full width becomes may belong to another.
_COMPATIBLE = re.compile("[\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffee\u3000]+")
_PLAIN: dict[int, str | None] = {
    code: letters
    for rule in (*SPELLINGS.values(), _CHILLUS)
    if isinstance(rule, Mapping)
    for code, letters in rule.items()
}
_WITH_HAMZAS = {**_PLAIN, **_SEATS}  # without what they sit on
_ANY = re.compile(
    f"{_COMPATIBLE.pattern[:-2]}\u200c\u200d{''.join(re.escape(chr(code)) for code in _PLAIN if code > 127)}]"
)


def plain_spelling(word: str, table: Table = _PLAIN) -> str:
    """The word without what any of SPELLINGS makes no difference of.

    >>> plain_spelling("l\u2019a\u00admi"), plain_spelling("\uff23\uff24")
    ("l'ami", 'CD')
    """
    word = normalize("NFC", word)
    if _COMPATIBLE.search(word):
        word = normalize("NFC", _in_nfkc(_FULL_WIDTH)(_in_nfkc(_PRESENTATION)(word)))
    word = _ALIF.sub("\u0645\u0626", word).translate(table)
    return _JOINERS.sub("", word) if "\u200c" in word or "\u200d" in word else word


def seatless_spelling(word: str) -> str:
    """The plain spelling of a word with its hamzas, but not with their seats; "" for one without hamzas.

    >>> [seatless_spelling(f"\u0645\u0633{hamza}\u0648\u0644") for hamza in "\u0624\u0626"]  # on waw, on ya
    ['\u0645\u0633\u0621\u0648\u0644', '\u0645\u0633\u0621\u0648\u0644']
    """
    if not _MAY_HAVE_HAMZA.search(word):
        return ""
    word = _HAMZA_APART.sub("\u0626", normalize("NFKC" if _COMPATIBLE.search(word) else "NFC", word))
    seatless = _FINAL_HAMZA.sub("\u0621", plain_spelling(word, _WITH_HAMZAS))
    return seatless if _SEATED.search(word) else ""


def _respelled(word: str, rule: Table | Fold) -> str:
    word = normalize("NFC", word)
    return rule(word) if callable(rule) else word.translate(rule)


@dataclass(frozen=True, eq=False)
class Respellings:
    """Finds words of a vocabulary by other spellings; `row_of` a spelling is its row, or None."""

    words: Sequence[str]

    def find(self, word: str, row_of: Callable[[str], int | None]) -> tuple[int, str] | None:
        """The row of the word that differs from this one by how it is spelled, and in which of SPELLINGS.

        By the first class that has such a word it is the most frequent one; else of those that differ in
        SEVERAL. If there is none, it is the word without what programs or people add to it.
        """
        if (found := self._differing(word, row_of)) is not None:
            return found
        for name, other in without_additions(word):
            if (row := row_of(other)) is not None:
                return row, name
            if (found := self._differing(other, row_of)) is not None:
                return found[0], SEVERAL
        return None

    def _differing(self, word: str, row_of: Callable[[str], int | None]) -> tuple[int, str] | None:
        bare = plain_spelling(word)
        rows = self._by_plain.get(bare, [])
        if bare and (row := row_of(bare)) is not None:
            rows = sorted({row, *rows})
        if seatless := seatless_spelling(word):
            rows = [*rows, *self._by_hamzas.get(seatless, ())]
        if not rows:
            return None
        for name, rule in SPELLINGS.items():
            same = _respelled(word, rule)
            for row in rows:
                if _respelled(self.words[row], rule) == same:
                    return row, name
        return rows[0], SEVERAL

    @cached_property
    def _by_plain(self) -> dict[str, list[int]]:
        # Of words that may have another plain spelling alone. Built when a word is missing.
        return self._rows_by(
            lambda word: (
                plain_spelling(word) if not word.isascii() and _ANY.search(normalize("NFC", word)) else ""
            )
        )

    @cached_property
    def _by_hamzas(self) -> dict[str, list[int]]:
        return self._rows_by(seatless_spelling)

    def _rows_by(self, spelled: Callable[[str], str]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, word in enumerate(self.words):
            if spelling := spelled(word):
                found.setdefault(spelling, []).append(row)
        return found


# What a dictionary says about a word beside it: cat (animal), king [masc.], Katze {f}, to trust sb./sth.
BRACKETED = re.compile(
    r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}|<[^<>]*>|\uff08[^\uff08\uff09]*\uff09|\u3010[^\u3010\u3011]*\u3011"
    r"|\uff3b[^\uff3b\uff3d]*\uff3d|\u3014[^\u3014\u3015]*\u3015|\u3008[^\u3008\u3009]*\u3009"
)
_GENDERS = frozenset(
    "m f n mf pl mpl fpl npl masc fem neut sg sing nm nf v vt vi adj adv prep conj pron interj "
    "noun verb adjective adverb nom verbe adjectif adverbe masculin f\u00e9minin masculine feminine".split()
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
# Signs around a word of a list.
_AROUND = (
    ' \u00ab\u00bb"\u201c\u201d\u201e\u201f\u2018\u2019\u2039\u203a\u2022\u00b7\u2013\u2014*\u00a1!\u00bf?'
    "\u2026,;:|\u25a0\u25a1\u25aa\u25ab\u25b6\u25b8\u25ba\u25cb\u25cf\u25e6\u27a2\u2713\uf0b7\uf0a7\u00b9\u00b2\u00b3"
)
_MAY_HAVE_MORE = re.compile(rf"{_MAY_HAVE_GLOSS.pattern}|&|^[{re.escape(_AROUND)}]|[{re.escape(_AROUND)}]$")
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
    return html.unescape(word).strip() if "&" in word and ";" in word else word


def without_additions(word: str) -> Iterator[tuple[str, str]]:
    """The word without what programs and people add to it: how a report names that, and the other word.

    It is left out of a word that is looked up, not of those of a vocabulary. Moses writes &apos; and &#124;
    for signs of its own formats.

    >>> list(without_additions("king (R&amp;D)")), list(without_additions("king"))
    ([('entities', 'king (R&D)'), ('glosses', 'king')], [])
    >>> list(without_additions("roi nm")), list(without_additions("roi&nbsp;"))
    ([('glosses', 'roi')], [('entities', 'roi')])
    """
    if not _MAY_HAVE_MORE.search(word):
        return
    bare = _without_entities(word)
    gloss = without_gloss(bare)
    fields = gloss.split()
    for end in (-1, 0):  # kind and gender without a point, which could be words elsewhere
        while len(fields) > 1 and fields[end] in _GENDERS:
            fields.pop(end)
    kind = " ".join(fields)
    found = {"entities": bare, "glosses": gloss, "kind": kind, "signs": kind.strip(_AROUND)}
    others = {other: name for name, other in reversed(found.items()) if other not in ("", word)}
    for other, name in reversed(others.items()):
        yield "glosses" if name in ("kind", "signs") else name, other


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


def own_cases(word: str) -> Collection[str]:
    """The word as it is, in lower case, and with a capital: how another language may spell the same name."""
    return word, word.lower(), word.capitalize()


def cases(word: str, language: str) -> Iterator[Collection[str]]:
    """The word in the cases of its language; then, of a vocabulary that ignores them, as in English."""
    lower, upper = lowercase(word, language), uppercase(word, language)
    yield dict.fromkeys((lower, upper[:1] + lower[1:], word.title(), upper))
    yield dict.fromkeys((word.lower(), word.capitalize(), word.title(), word.upper()))
