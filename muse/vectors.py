"""Vectors: the words of one language, most frequent first, with one row each, or unlabelled rows in no order.

A word is found whatever Unicode form it and the vocabulary are in (`WordIndex`). An accented letter is one
character in composed form (NFC), and a letter and an accent in decomposed form (NFD), in which macOS writes.
Words of equal composed form are one word (canonical equivalence: Unicode Standard Annex 15). A word that is
not there may be spelled otherwise in ways that change no word (`muse.orthography`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING, TypeVar, overload
from unicodedata import is_normalized, normalize

import numpy as np
from numpy.typing import NDArray

from muse.errors import Mismatch, UnknownWord
from muse.orthography import Respellings

T = TypeVar("T")
Matrix = NDArray[np.float32]
Numbers = NDArray[np.int64]
Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]
FEW, SHORT = 5, 80  # items, and letters, of a value that is shown
MANY = 50  # words: more are not all shown


class ShortRepr:
    """A dataclass with large values, shown in a line: arrays by their shape, long collections by their size.

    >>> @dataclass(repr=False)
    ... class Example(ShortRepr):
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
        repr(value) if isinstance(value, ShortRepr) else shorten(repr(value), SHORT)
    )


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

    def lookup_row(self, word: str) -> int | None:
        """The row of a word or, if it is not there, of the word that differs in one of SPELLINGS, or several.

        >>> index = WordIndex(["l\u2019ami", "roi"])
        >>> [index.lookup_row(word) for word in ("l'ami", "ro\u00adi", "reine")]
        [0, 1, None]
        """
        row = self.get(word)
        if row is None and (found := self.respelled(word)) is not None:
            row = found[0]
        return row

    def respelled(self, word: str) -> tuple[int, str] | None:
        """The row of the word that differs from this one by how it is spelled, and in which of SPELLINGS."""
        return self._respellings.find(word, self.get)

    @cached_property
    def _respellings(self) -> Respellings:
        return Respellings(self.words)


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
    to (`fitted`), and None where it does not. Rows that are not of words, such as the vectors of texts, are
    not `frequency_ordered`: their order means nothing, and `words` are their ids. `texts` are what they stand
    for, in the same order, None if it is not known.

    >>> v = Vectors("en", ["the", "cat"], np.eye(2, dtype=np.float32))
    >>> len(v), v.dimension, v.index["cat"]
    (2, 2, 1)
    """

    language: str
    words: Sequence[str]
    matrix: Matrix
    repeated: int = 0
    lengths: Matrix | None = None
    frequency_ordered: bool = True
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
                f"{self.language}: every row needs one text, got {len(self.texts)} for {len(self.words)}"
            )

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        """The words, in order, as those of a dict."""
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __getitem__(self, word: str) -> Matrix:
        """The row (d,) of a word, as a copy; UnknownWord, which is a KeyError, without it."""
        if not isinstance(word, str) or word not in self:
            raise UnknownWord(f"{word!r} must be among the {len(self)} {self.noun} of {self.language}")
        return np.array(self.matrix[self.index[word]])

    def __repr__(self) -> str:
        return f"Vectors({self.summary}, {self.dimension} dimensions)"

    @property
    def summary(self) -> str:
        """The language and the number of its words or rows: "fr: 8887 words"."""
        return f"{self.language}: {len(self)} {self.noun}"

    @property
    def noun(self) -> str:
        """What the rows are called: words, or rows if they are not ranked."""
        return "words" if self.frequency_ordered else "rows"

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

    def frequency_rank(self, row: int | None) -> int | None:
        """The place of a row by frequency, from 1; None of no row, and of rows in no order."""
        return None if row is None or not self.frequency_ordered else row + 1

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
        return self._of(slice(k), self.words[:k], None if self.texts is None else self.texts[:k])

    def chosen(self, rows: NDArray[np.int64]) -> Vectors:
        """The rows with these numbers (c,), in their order, as a copy."""
        words, texts = (
            None if one is None else [one[row] for row in rows.tolist()] for one in (self.words, self.texts)
        )
        return self._of(rows, words or [], texts)

    def _of(
        self, rows: slice | NDArray[np.int64], words: Sequence[str], texts: Sequence[str] | None
    ) -> Vectors:
        lengths, scales = (None if one is None else one[rows] for one in (self.lengths, self.scales))
        return replace(
            self, words=words, matrix=self.matrix[rows], lengths=lengths, texts=texts, scales=scales
        )
