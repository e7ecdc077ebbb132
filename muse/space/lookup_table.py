"""Lookup tables: a row for every unit of another system's vocabulary, from the space if possible.

Units are words or pieces of words. Four ways of marking pieces are recognised, by the first of these markers
that occurs in the vocabulary:

* ca@@ t      subword-nmt, fastBPE: a piece with @@ is not the end of a word, one without is
* ca t</w>    older BPE: a piece with </w> is the end of a word, one without is not
* \u2581ca t   sentencepiece: a piece with U+2581 is the start of a word, one without is not
* ca ##t      WordPiece: a piece with ## is not the start of a word, one without is

A vocabulary without any of them is one of words.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

import numpy as np
import torch
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch
from muse.normalise import normalise
from muse.vectors import Matrix, ShortRepr, Vectors

ORIGINS = ("special", "word", "lower", "mean", "normal")  # the possible origins of a row, by number
SPECIAL, WORD, LOWER, MEAN, NORMAL = range(len(ORIGINS))
FALLBACKS = ("mean", "normal")
SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")
PADDING = ("<pad>", "[PAD]", "<blank>")  # names of the padding token: its row is zero
BATCH = 10_000  # words at once
Show = Callable[[int], None]


@dataclass(frozen=True)
class Unit:
    """The letters of a unit, without its marker, and where in a word they may occur.

    It `begins` words, never does (False), or either (None); so for `ends`.
    """

    letters: str
    begins: bool | None = None
    ends: bool | None = None

    def fits(self, begin: int, end: int, length: int) -> bool:
        """Whether the letters from `begin` to `end` of a word of this length are at such a position."""
        return self.begins in (None, begin == 0) and self.ends in (None, end == length)

    @property
    def may_be_word(self) -> bool:
        """Whether this unit can be a whole word."""
        return self.fits(0, len(self.letters), len(self.letters))


def parse_units(names: Sequence[str]) -> list[Unit]:
    """The units denoted by the entries of a vocabulary.

    >>> [unit.letters for unit in parse_units(["ca@@", "t"])]
    ['ca', 't']
    """
    for marker, marked in (("@@", False), ("</w>", True)):
        if any(name.endswith(marker) for name in names):
            return [Unit(name.removesuffix(marker), ends=name.endswith(marker) == marked) for name in names]
    for marker, marked in (("\u2581", True), ("##", False)):
        if any(name.startswith(marker) and (marked or len(name) > 2) for name in names):
            return [
                Unit(name.removeprefix(marker), begins=name.startswith(marker) == marked) for name in names
            ]
    return [Unit(name) for name in names]


def occurrences(words: Sequence[str], units: Collection[Unit]) -> Iterator[tuple[int, Unit]]:
    """Yields the row of a word and a unit that occurs in it, once for every such pair.

    Every piece of a word is looked up among the units: the time does not depend on their number.
    """
    places: dict[str, list[Unit]] = {}
    for unit in units:
        if unit.letters:
            places.setdefault(unit.letters, []).append(unit)
    longest = max(map(len, places), default=0)
    for row, word in enumerate(words):
        length, found = len(word), set()
        for begin in range(length):
            for end in range(begin + 1, min(begin + longest, length) + 1):
                for unit in places.get(word[begin:end], ()):
                    if unit.fits(begin, end, length):
                        found.add(unit)
        yield from (
            (row, unit)
            for unit in sorted(found, key=lambda unit: (unit.letters, unit.begins is True, unit.ends is True))
        )


@dataclass(frozen=True, eq=False, repr=False)
class LookupTable(ShortRepr):
    """The names of v units and their rows: `weight` (v, d), `origin` (v,) numbers of ORIGINS."""

    names: Sequence[str]
    weight: Matrix
    origin: NDArray[np.uint8]

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows by origin."""
        found = np.bincount(self.origin, minlength=len(ORIGINS)).tolist()
        return dict(zip(ORIGINS, found, strict=True))

    @property
    def padding(self) -> int | None:
        """The row of the padding token, if there is one."""
        special = np.flatnonzero(self.origin == SPECIAL).tolist()
        return next((row for row in special if self.names[row] in PADDING), None)


def words_of(languages: Sequence[Vectors], max_vocab: int | None, *, but: Collection[str] = ()) -> list[str]:
    """The words of the languages, interleaved, most frequent first, without duplicates.

    `but` are the special tokens to leave out: fastText has </s> among its words.
    """
    turns = chain.from_iterable(zip_longest(*(islice(side.words, max_vocab) for side in languages)))
    return list(dict.fromkeys(word for word in turns if word is not None and word not in but))


def lookup_table(
    languages: Sequence[Vectors], names: Sequence[str], *, specials: Sequence[str], fallback: str,
    rng: np.random.Generator, show: Show = lambda _: None,
) -> LookupTable:  # fmt: skip
    """The table of the units `names`, in order, after the `specials` that are not among them.

    The row of a unit is the first of these that is available:

    * word    the row of the unit as a word, or the mean of its rows in several `languages`
    * lower   the same for the word in lower case
    * mean    the mean of all words that the unit is a piece of, if its marker allows (`fallback` mean)
    * normal  random numbers from N(0, s^2), s the root mean square of the rows found

    Means are normalised to unit length, like all rows of a space. The row of padding is zero, that of
    every other special token is normal. Raise Mismatch if no unit is a word of the languages.
    """
    if fallback not in FALLBACKS:
        raise BadSetting(f"--fallback must be one of {', '.join(FALLBACKS)}; got {fallback!r}")
    if len(set(specials)) < len(specials):
        raise BadSetting(f"special tokens must differ, got {', '.join(specials)}")
    named = set(names)
    names = [*(special for special in specials if special not in named), *names]
    special = set(specials)
    # Markers are recognised without special tokens: </s> is not the end of a word.
    rows = [row for row, name in enumerate(names) if name not in special]
    units = dict(zip(rows, parse_units([names[row] for row in rows]), strict=True))
    weight = np.zeros((len(names), languages[0].dimension), np.float32)  # (v, d)
    origin = np.full(len(names), NORMAL, np.uint8)  # (v,)
    origin[[row for row in range(len(names)) if row not in units]] = SPECIAL
    for source in (WORD, LOWER):
        _add_words_(weight, origin, languages, units, source)
    found = int(np.isin(origin, (WORD, LOWER)).sum())
    if not found:
        where = " and ".join(f"the {len(side)} words of {side.language}" for side in languages)
        shown = ", ".join(repr(name) for name in names[-3:])
        raise Mismatch(
            f"a vocabulary must contain words of the space, found none of its {len(names)} units ({shown} "
            f"...) among {where}; check its language, its case and its markers"
        )
    parts = (weight[begin : begin + BATCH] for begin in range(0, len(weight), BATCH))  # others are zero yet
    total = sum(float(np.square(part, dtype=np.float64).sum()) for part in parts)
    scale = float(np.sqrt(total / (found * weight.shape[1])))
    if fallback == "mean":
        _add_means_(weight, origin, languages, units, show)
    random = origin == NORMAL
    random |= [name in special and name not in PADDING for name in names]
    drawn = rng.standard_normal((int(random.sum()), weight.shape[1]), dtype=np.float32)
    weight[random] = scale * drawn
    return LookupTable(names, weight, origin)


def _add_words_(
    weight: Matrix, origin: NDArray[np.uint8], languages: Sequence[Vectors], units: Mapping[int, Unit],
    source: int,
) -> None:  # fmt: skip
    # Fills the rows of units that are words.
    missing = [row for row in units if origin[row] == NORMAL and units[row].may_be_word]
    letters = [units[row].letters if source == WORD else units[row].letters.lower() for row in missing]
    found = np.zeros(len(weight), np.int64)  # (v,)
    for side in languages:
        pairs = [(row, side.index[w]) for row, w in zip(missing, letters, strict=True) if w in side.index]
        _sum_(weight, pairs, side)
        found[[row for row, _ in pairs]] += 1
    origin[found > 0] = source
    weight[found > 1] = normalise(weight[found > 1], ["unit"])[0]


def _sum_(weight: Matrix, pairs: Sequence[tuple[int, int]], side: Vectors) -> None:
    # Adds to the row of the table that each pair begins with a row of the language.
    table = torch.from_numpy(weight)
    for begin in range(0, len(pairs), BATCH):
        to, of = zip(*pairs[begin : begin + BATCH], strict=True)
        table.index_add_(0, torch.tensor(to), torch.from_numpy(side.matrix[list(of)]))


def _add_means_(
    weight: Matrix, origin: NDArray[np.uint8], languages: Sequence[Vectors], units: Mapping[int, Unit],
    show: Show,
) -> None:  # fmt: skip
    # Fills the missing rows with the means of the words that have the unit as a piece.
    rows = {unit: row for row, unit in units.items() if origin[row] == NORMAL}
    done = 0
    for side in languages if rows else ():
        for begin in range(0, len(side), BATCH):
            words = side.words[begin : begin + BATCH]
            pairs = [(rows[unit], begin + word) for word, unit in occurrences(words, rows)]
            _sum_(weight, pairs, side)
            done += len(words)
            show(done)
    found = np.zeros(len(weight), bool)  # (v,)
    found[list(rows.values())] = weight[list(rows.values())].any(axis=1)
    origin[found] = MEAN
    weight[found] = normalise(weight[found], ["unit"])[0]
