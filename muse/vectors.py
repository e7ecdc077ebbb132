"""Vectors: the words of one language, most frequent first, with one row each, or unlabelled rows in no order.

A word is found whatever Unicode form it and the vocabulary are in (`WordIndex`). An accented letter is one
character in composed form (NFC), and a letter and an accent in decomposed form (NFD), in which macOS writes.
Words of equal composed form are one word (canonical equivalence: Unicode Standard Annex 15). A word that is
not there may be spelled otherwise in ways that change no word (SPELLINGS), such as a curly apostrophe.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING, TypeVar, overload
from unicodedata import is_normalized, normalize

import numpy as np
from numpy.typing import NDArray

from muse.errors import Mismatch

T = TypeVar("T")
Matrix = NDArray[np.float32]
FEW, SHORT = 5, 80  # items, and letters, of a value that is shown
MANY = 50  # words: more are not all shown


class Brief:
    """A dataclass with large values, shown in a line: arrays by their shape, long collections by their size.

    >>> @dataclass(repr=False)
    ... class Example(Brief):
    ...     rows: Matrix
    ...     words: list[str]
    ...     kind: str = "mean"
    >>> Example(np.zeros((20_000, 3), np.float32), ["a"] * 20_000)
    Example(rows=20,000 x 3, words=20,000 items, kind='mean')
    """

    def __repr__(self) -> str:
        names: list[str] = [field.name for field in fields(self) if field.repr] if is_dataclass(self) else []
        values = ", ".join(f"{name}={brief(getattr(self, name))}" for name in names)
        return f"{type(self).__name__}({values})"


def brief(value: object) -> str:
    """The value in a few letters."""
    if isinstance(shape := getattr(value, "shape", None), tuple):
        return " x ".join(f"{length:,}" for length in shape) or repr(value)
    if isinstance(value, Collection) and not isinstance(value, str | bytes) and len(value) > FEW:
        return f"{len(value):,} items"
    if isinstance(value, tuple | list) and any(hasattr(one, "shape") for one in value):
        return f"({', '.join(map(brief, value))})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{brief(key)}: {brief(one)}' for key, one in value.items())}}}"
    return getattr(value, "__name__", "") or (
        repr(value) if isinstance(value, Brief) else shorten(repr(value), SHORT)
    )


# Spellings


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
_HYPHENS = _each("\u2010\u2011", "--")
_YO = _each("\u0401\u0451", "\u0415\u0435")
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
}
SEVERAL = "several ways"  # of spelling
# All of them at once: what a presentation form or one of full width becomes may belong to another class.
_COMPATIBLE = re.compile("[\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffee\u3000]+")
_PLAIN: dict[int, str | None] = {
    **_APOSTROPHES, **_VOWEL_SIGNS, **_CEDILLAS, **_HAMZA, **_YE_AND_KAF, **_CHILLUS, **_INVISIBLE,
    **_TATWEEL, **_SIGMA, **_SOFT_HYPHEN, **_HYPHENS, **_YO,
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
    word = word.translate(table)
    return _JOINERS.sub("", word) if "\u200c" in word or "\u200d" in word else word


def _seatless(word: str) -> str:
    """The plain spelling of a word with its hamzas, but not with their seats; "" for one without hamzas."""
    word = _HAMZA_APART.sub("\u0626", normalize("NFKC" if _COMPATIBLE.search(word) else "NFC", word))
    return _FINAL_HAMZA.sub("\u0621", _plain(word, _WITH_HAMZAS)) if _SEATED.search(word) else ""


# What a dictionary says about a word beside it: cat (animal), king [masc.], Katze {f}, to trust sb./sth.
BRACKETED = re.compile(
    r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}|<[^<>]*>|\uff08[^\uff08\uff09]*\uff09|\u3010[^\u3010\u3011]*\u3011"
    r"|\uff3b[^\uff3b\uff3d]*\uff3d|\u3014[^\u3014\u3015]*\u3015|\u3008[^\u3008\u3009]*\u3009"
)
_PLACEHOLDERS = frozenset(
    "sb sth so sbs sths sos os smb smth jd jdn jdm jds jmd jmdn jmdm jmds etw qn qc qqn qqc qqch algn qlcu "
    "qlco qlcn".split()
)
_GENDERS = frozenset("m f n mf pl mpl fpl npl masc fem neut sg sing".split())
_NUMBER = re.compile(r"\d{1,2}[.)]\s+(?=\S)")  # of a sense
_MAY_HAVE_GLOSS = re.compile("[](){}<>[.,;:/\uff08\u3010\uff3b\u3014\u3008]")
_MAY_HAVE_MORE = re.compile(_MAY_HAVE_GLOSS.pattern + "|&")  # nearly no word has
_DEEPEST_GLOSS = 4  # brackets in one another


def without_gloss(word: str) -> str:
    """The word without remarks in brackets, abbreviations for somebody and something, and of its gender.

    A word that has nothing else stays as it is.

    >>> [without_gloss(word) for word in ("cat (animal)", "king [masc.]", "trust sb./sth.", "(!)")]
    ['cat', 'king', 'trust', '(!)']
    """
    if not _MAY_HAVE_GLOSS.search(word):
        return word
    bare = _NUMBER.sub("", word, count=1) if _NUMBER.match(word) else word
    for _ in range(_DEEPEST_GLOSS):
        bare, found = BRACKETED.subn("", bare)
        if not found:
            break
    fields = bare.split()
    while len(fields) > 1 and _abbreviates(fields[-1], _GENDERS):
        fields.pop()
    fields = [one for one in fields if not _abbreviates(one, _PLACEHOLDERS)]
    return " ".join(fields).rstrip(" ,;:") or word


def _without_entities(word: str) -> str:
    return html.unescape(word) if "&" in word and ";" in word else word


# What is left out of a word that is looked up, not of those of a vocabulary: how a report names it, and the
# word without it. Moses writes &apos; and &#124; for signs of its own formats.
_REMADE: Mapping[str, Fold] = {
    "entities": _without_entities,
    "glosses": lambda word: without_gloss(_without_entities(word)),
}


def _abbreviates(field: str, known: frozenset[str]) -> bool:
    # With a point, or a slash between two, "so" and "m" are no words.
    parts = field.casefold().replace("'", "").replace(".", "").strip(",;").split("/")
    return ("." in field or len(parts) > 1) and known.issuperset(parts)


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


class WordList(list[str]):
    """A list of words that shows its first ones and their number, if they are many.

    >>> WordList(["de", "la"]), WordList(["de"] * 200_000)
    (['de', 'la'], ['de', 'de', 'de', 'de', 'de', ...: 200,000 words])
    """

    def __repr__(self) -> str:
        if len(self) <= MANY:
            return super().__repr__()
        return f"{list(self[:FEW])!r}"[:-1] + f", ...: {len(self):,} words]"


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
        for begin in range(0, len(words), _TOGETHER):
            some = words[begin : begin + _TOGETHER]
            # A new line composes with nothing: hardly ever need the words be asked one by one.
            if not is_normalized("NFC", "\n".join(some)):
                for word in [word for word in some if not is_normalized("NFC", word)]:
                    self.setdefault(normalize("NFC", word), self[word])

    def __repr__(self) -> str:
        return f"WordIndex({len(self.words):,} words)"

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

    def locate(self, word: str) -> int | None:
        """The row of a word or, if it is not there, of the word that differs in one of SPELLINGS, or several.

        >>> index = WordIndex(["l\u2019ami", "roi"])
        >>> [index.locate(word) for word in ("l'ami", "ro\u00adi", "reine")]
        [0, 1, None]
        """
        row = self.get(word)
        if row is None and (found := self.respelled(word)) is not None:
            row = found[0]
        return row

    def respelled(self, word: str) -> tuple[int, str] | None:
        """The row of the word that differs from this one by how it is spelled, and in which of SPELLINGS.

        By the first class that has such a word it is the most frequent one; else of those that differ in
        SEVERAL. If there is none, it is the word without what programs or people add to it (_REMADE).
        """
        if (found := self._respelled(word)) is not None or not _MAY_HAVE_MORE.search(word):
            return found
        for name, remade in _REMADE.items():
            if (other := remade(word)) != word:
                if (row := self.get(other)) is not None:
                    return row, name
                if (found := self._respelled(other)) is not None:
                    return found[0], SEVERAL
        return None

    def _respelled(self, word: str) -> tuple[int, str] | None:
        plain = plain_spelling(word)
        rows = self._respellings.get(plain, [])
        if plain and (row := dict.get(self, plain)) is not None:
            rows = sorted({row, *rows})
        if _MAY_HAVE_HAMZA.search(word) and (seatless := _seatless(word)):
            rows = [*rows, *self._by_hamzas.get(seatless, ())]
        if not rows:
            return None
        word = normalize("NFC", word)
        for name, fold in SPELLINGS.items():
            same = fold(word)
            for row in rows:
                if fold(normalize("NFC", self.words[row])) == same:
                    return row, name
        return rows[0], SEVERAL

    @cached_property
    def _respellings(self) -> dict[str, list[int]]:
        # The rows of words by their plain spelling, where it is another one. Built when a word is missing.
        found: dict[str, list[int]] = {}
        for row, word in enumerate(self.words):
            differs = not word.isascii() and _ANY.search(normalize("NFC", word))
            if differs and (plain := plain_spelling(word)):
                found.setdefault(plain, []).append(row)
        return found

    @cached_property
    def _by_hamzas(self) -> dict[str, list[int]]:
        # The rows of words with hamzas, whatever their seats.
        found: dict[str, list[int]] = {}
        for row, word in enumerate(self.words):
            if _MAY_HAVE_HAMZA.search(word) and (plain := _seatless(word)):
                found.setdefault(plain, []).append(row)
        return found


_TOGETHER = 10_000  # words whose forms are looked at together
_REPEATED = re.compile(r"(.*) #([2-9]|[1-9][0-9]+)", re.DOTALL)


def name_of_repeated(one: str, number: int) -> str:
    """What the second and later rows of an id are called, so that each row has a name of its own.

    >>> name_of_repeated("report.pdf", 2)
    'report.pdf #2'
    """
    return f"{one} #{number}"


def rows_of_repeated(index: WordIndex) -> dict[str, list[int]]:
    """The rows of each id that several rows have, by `name_of_repeated`, in the order of their numbers.

    >>> rows_of_repeated(WordIndex(["a", "b", "a #2", "c #2"]))
    {'a': [0, 2]}
    """
    numbered: dict[str, list[tuple[int, int]]] = {}
    for row, word in enumerate(index.words):
        found = _REPEATED.fullmatch(word) if " #" in word else None
        if found and found[1] in index:
            numbered.setdefault(found[1], [(1, index[found[1]])]).append((int(found[2]), row))
    return {one: [row for _, row in sorted(rows)] for one, rows in numbered.items()}


if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class Vectors:
    """The words of one language and their vectors, most frequent first.

    `matrix` is (n, d) float32, row i belongs to `words[i]`; no word occurs twice.
    `repeated` counts the lines dropped on reading because their word was a duplicate; rows with one id are
    all kept, with names of their own (`name_of_repeated`).
    `lengths` (n,) are the lengths of the rows before normalisation. Rows are compared at unit length; where
    the normalisation leaves them another one, `scales` (n,) are those lengths, for the mapping to be fitted
    to (`fitted`), and None where it does not. Rows that are not of words, such as the
    vectors of texts, are not `ranked`: their order means nothing, and `words` are their ids. `texts` are what
    they stand for, in the same order, None if it is not known.

    >>> v = Vectors("en", ["the", "cat"], np.eye(2, dtype=np.float32))
    >>> len(v), v.dimension, v.index["cat"]
    (2, 2, 1)
    """

    language: str
    words: Sequence[str]
    matrix: Matrix
    repeated: int = 0
    lengths: Matrix | None = None
    ranked: bool = True
    texts: Sequence[str] | None = None
    scales: Matrix | None = None

    def __post_init__(self) -> None:
        if type(self.words) is list:
            object.__setattr__(self, "words", WordList(self.words))
        if self.matrix.ndim != 2 or len(self.words) != len(self.matrix):
            raise Mismatch(
                f"{self.language}: every word needs one row, got {len(self.words)} words "
                f"for an array of shape {self.matrix.shape}"
            )
        if self.texts is not None and len(self.texts) != len(self.words):
            raise Mismatch(
                f"{self.language}: every row needs one text, got {len(self.texts)} for {len(self.words)} rows"
            )

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Vectors({self.summary}, {self.dimension} dimensions)"

    @property
    def summary(self) -> str:
        """The language and the number of its words or rows: "fr: 8887 words"."""
        return f"{self.language}: {len(self)} {self.noun}"

    @property
    def noun(self) -> str:
        """What the rows are called: words, or rows if they are not ranked."""
        return "words" if self.ranked else "rows"

    @property
    def dimension(self) -> int:
        """The number of columns d."""
        return int(self.matrix.shape[1])

    @cached_property
    def index(self) -> WordIndex:
        """The row of each word, looked up in whatever Unicode form."""
        return WordIndex(self.words)

    def text_of(self, word: str) -> str | None:
        """The text of the row with this id; None without texts, or if there is no such row."""
        return None if self.texts is None or word not in self.index else self.texts[self.index[word]]

    def tensor(self, device: str = "cpu") -> torch.Tensor:
        """The matrix (n, d) as a tensor on `device`, on the CPU without a copy if possible."""
        import torch  # not above: files are read, and completed on the command line, without it

        return torch.from_numpy(np.require(self.matrix, requirements=["C", "W"])).to(device)

    def fitted(self) -> Matrix:
        """The rows (n, d) that mappings are fitted to: of the lengths that the normalisation leaves them.

        >>> rows, lengths = np.eye(2, dtype=np.float32), np.float32([3, 1])
        >>> Vectors("en", ["the", "cat"], rows, scales=lengths).fitted().tolist()
        [[3.0, 0.0], [0.0, 1.0]]
        """
        return self.matrix if self.scales is None else self.matrix * self.scales[:, None]

    def fitted_tensor(self, device: str = "cpu") -> torch.Tensor:
        """`fitted` as a tensor on `device`; the same as `tensor` where rows are of unit length."""
        return replace(self, matrix=self.fitted(), scales=None).tensor(device)

    def nonzero(self) -> Vectors:
        """The words whose vectors are not all zeros; itself if these are all.

        >>> Vectors("en", ["the", "cat"], np.float32([[0, 0], [0, 1]])).nonzero().words
        ['cat']
        """
        perhaps = np.flatnonzero(self.matrix[:, 0] == 0)  # one column is looked through much faster than all
        zeros = perhaps[~self.matrix[perhaps].any(axis=1)]
        return self.chosen(np.delete(np.arange(len(self)), zeros)) if len(zeros) else self

    def most_frequent(self, k: int | None) -> Vectors:
        """The first k words, or all, and their rows (a view, no copy); of rows that are not ranked, any k."""
        lengths, scales = (None if one is None else one[:k] for one in (self.lengths, self.scales))
        texts = None if self.texts is None else self.texts[:k]
        return replace(
            self, words=self.words[:k], matrix=self.matrix[:k], lengths=lengths, texts=texts, scales=scales
        )

    def chosen(self, rows: NDArray[np.int64]) -> Vectors:
        """The rows with these numbers (c,), in their order, as a copy."""
        lengths, scales = (None if one is None else one[rows] for one in (self.lengths, self.scales))
        words = [self.words[row] for row in rows.tolist()]
        texts = None if self.texts is None else [self.texts[row] for row in rows.tolist()]
        return replace(
            self, words=words, matrix=self.matrix[rows], lengths=lengths, texts=texts, scales=scales
        )
