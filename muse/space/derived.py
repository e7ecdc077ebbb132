"""Derived: what is computed of a space once, and written beside its vectors by who writes the space.

That is the hubness of each word, the bias of CSLS, and the answers to all words, chosen by all the evidence,
as `muse.ranking` learns them. The manifest has the checksums of these files, as of all. One that is damaged,
or whose values cannot be, is not used: what can be computed again then is, in memory. Using a space writes
nothing.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from muse.errors import BadFile
from muse.files.archive import Arrays, array_in, arrays_of, write_arrays
from muse.files.source import DAMAGED
from muse.files.space_folder import (
    WORDS,
    derived_name,
    folder_name,
    read_content,
    write_array,
)
from muse.progress import Progress
from muse.search.approximate import Approximation
from muse.search.bidirectional_search import BidirectionalSearch
from muse.search.retrieval import Retrieval
from muse.vectors import Flags, Matrix, ShortRepr

log = logging.getLogger(__name__)

Made = TypeVar("Made")
AnswersBy = Literal["all", "csls"]
Words = tuple[Sequence[str], Sequence[str]]
Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]
COMPUTED, ALIGN = "it is computed again", "align again to choose answers by all evidence"
ANSWERS = "answers.{}.npz"
HUBNESS_K = 10  # the neighbourhood of the hubness on disk: k of the default retrieval
HIGHEST = 1.001  # a mean cosine, of rows whose length is 1 but for rounding
MOST = 100  # answers to a word: ten are written
LIMIT = 4.01  # CSLS lies between -4 and 4, but for rounding
SOME = 100  # words of either language that are kept beside what was derived of them
_NO_WORDS = np.zeros(0, np.uint8)
_ARRAYS = ("pointers", "columns", "csls", "probability")


@dataclass(frozen=True)
class DerivedFiles:
    """The derived files in the folder of a space, by the checksums of its manifest, or their `contents`."""

    folder: Path | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def read(self, name: str, made: Callable[[bytes], Made], remedy: str = COMPUTED) -> Made | None:
        """What is `made` of the content of a file; None if the space was saved without it.

        None, with a warning, for one with another checksum, or that `made` refuses with a ValueError.
        """
        if self.folder is None or name not in self.checksums:
            return None
        try:
            content = self.contents.get(name) or read_content(self.folder / name).tobytes()
            if hashlib.sha256(content).hexdigest() != self.checksums[name]:
                raise ValueError("another content than was written")
            return made(content)
        except (*DAMAGED, MemoryError, BadFile) as error:  # a damaged header may ask for any amount
            found = f"a part is missing: {error}" if isinstance(error, KeyError) else str(error)
            log.warning("%s: not used, %s; %s", self.folder / name, found or type(error).__name__, remedy)
            return None


# Hubness


def uses_cached_hubness(retrieval: Retrieval) -> bool:
    """Whether a retrieval needs the hubness that a space keeps, and nothing else."""
    return (retrieval.method, retrieval.k) == ("csls", HUBNESS_K)


def hubness_of_both(
    languages: tuple[str, str], rows: tuple[Tensor, Tensor], progress: Progress,
    approximation: Approximation | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The mean cosine (n,) and (m,) of each row (n, d) and (m, d) to its HUBNESS_K nearest of the other.

    These are the nearest that an approximate search finds, if an `approximation` is given.
    """
    if approximation is None:
        with progress.stage(f"hubs of {' and '.join(languages)}", len(rows[0]), "words") as tick:
            return BidirectionalSearch(*rows).hubness(HUBNESS_K, step=tick)
    found = []
    for own, other in ((0, 1), (1, 0)):
        with progress.stage(f"hubs of {languages[own]}", len(rows[own]), "words") as tick:
            found.append(approximation.nearest(rows[own], rows[other], HUBNESS_K, tick).scores.mean(dim=1))
    return found[0], found[1]


def hubness_file(languages: tuple[str, str], *, approximate: bool) -> str:
    """The path in a space of the hubness of the first language against the second."""
    return derived_name(f"hubness.{{}}{'.approximate' if approximate else ''}.npy", *languages)


def read_hubness(
    derived: DerivedFiles, languages: tuple[str, str], count: int, *, approximate: bool = False
) -> Matrix | None:
    """The hubness (n,) of the `count` words of the first language against the second, from a space's file.

    None if there is none, a damaged one, or one with a value that is no mean cosine.
    """

    def made(content: bytes) -> Matrix:
        found = array_in(np.frombuffer(bytearray(content), np.uint8))  # writable, as torch wants its arrays
        if found.dtype != np.float32 or found.shape != (count,) or not (np.abs(found) <= HIGHEST).all():
            raise ValueError(f"impossible values, or {found.dtype} of shape {found.shape}")
        return found

    return derived.read(hubness_file(languages, approximate=approximate), made)


def write_hubness(
    folder: Path, languages: tuple[str, str], found: tuple[Tensor, Tensor], *, approximate: bool = False
) -> None:
    """Write the hubness of both languages to the folder of a space."""
    for way, one in zip((languages, languages[::-1]), found, strict=True):
        path = folder / hubness_file(way, approximate=approximate)
        write_array(path, tuple(one.shape), [one.cpu().numpy()])


# Answers


@dataclass(frozen=True, eq=False, repr=False)
class AnswerTable(ShortRepr):
    """The answers to n words, best first: word i has `columns[pointers[i]:pointers[i + 1]]`.

    `columns` (c,) are rows of the target with their `csls` (c,), and `probability` (c,) that each is a
    translation; several may be, and they do not sum to 1. A word without candidates has no answer. `report`
    says how they were chosen.
    """

    pointers: Numbers
    columns: Numbers
    csls: Floats
    probability: Floats
    report: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.pointers) - 1

    def first(self) -> Numbers:
        """The best answer of each word (n,), -1 for a word without one."""
        found = np.full(len(self), -1)
        some = np.diff(self.pointers) > 0
        found[some] = self.columns[self.pointers[:-1][some]]
        return found

    def padded(self, rows: Numbers) -> tuple[Numbers, Floats, Floats]:
        """The columns, CSLS and probabilities of some words (q,), each (q, k); -1, -inf and 0 fill up."""
        counts = self.pointers[rows + 1] - self.pointers[rows]
        width = int(counts.max(initial=0))
        places = np.minimum(self.pointers[rows][:, None] + np.arange(width), max(0, len(self.columns) - 1))
        some = np.arange(width) < counts[:, None]
        columns, csls, probability = (side[places] for side in (self.columns, self.csls, self.probability))
        return np.where(some, columns, -1), np.where(some, csls, -np.inf), np.where(some, probability, 0)

    def within(self, rows: Numbers, most: int) -> tuple[Numbers, Floats, Floats]:
        """`padded`, with only the first `most` targets: others come forward."""
        padded = self.padded(rows)
        out = (padded[0] < 0) | (padded[0] >= most)
        order = np.argsort(out, axis=1, kind="stable")
        out = np.take_along_axis(out, order, 1)
        columns, csls, probability = (np.take_along_axis(one, order, 1) for one in padded)
        return np.where(out, -1, columns), np.where(out, -np.inf, csls), np.where(out, 0, probability)

    def only(self, words: int, targets: int) -> "AnswerTable":
        """The answers to the first `words`, none to those that there are not, among the first `targets`."""
        ends = self.pointers[np.minimum(np.arange(words + 1), len(self))]
        return self._kept(np.flatnonzero(self.columns[: ends[-1]] < targets), ends)

    def best(self, most: int) -> "AnswerTable":
        """At most so many answers to each word."""
        ranks = np.arange(len(self.columns)) - np.repeat(self.pointers[:-1], np.diff(self.pointers))
        return self._kept(np.flatnonzero(ranks < most), self.pointers)

    def _kept(self, places: Numbers, ends: Numbers) -> "AnswerTable":
        sides = self.columns[places], self.csls[places], self.probability[places]
        return AnswerTable(np.searchsorted(places, ends), *sides, self.report)

    def followed_by(self, more: "AnswerTable") -> "AnswerTable":
        """These answers, and behind them those to further words."""
        pointers = np.append(self.pointers, self.pointers[-1] + more.pointers[1:])
        columns, csls, shares = (
            np.concatenate([getattr(one, name) for one in (self, more)]) for name in _ARRAYS[1:]
        )
        return AnswerTable(pointers, columns, csls, shares, self.report)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The answers as named arrays, for an .npz."""
        text = json.dumps(dict(self.report), ensure_ascii=False)
        own = {name: getattr(self, name) for name in _ARRAYS} | {"columns": self.columns.astype(np.int32)}
        return own | {"report": np.frombuffer(text.encode(), np.uint8)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "AnswerTable":
        """The answers from named arrays."""
        own = {name: arrays[name] for name in _ARRAYS} | {"columns": arrays["columns"].astype(np.int64)}
        return cls(**own, report=json.loads(arrays["report"].tobytes()))


def write_of_words(folder: Path, kind: str, languages: tuple[str, str], arrays: Arrays) -> None:
    """Write arrays that are derived of two languages of a space, with the first of their words."""
    own = dict[str, NDArray[np.uint8]]()
    for place, language in enumerate(languages):
        path = folder / folder_name(language) / WORDS
        if path.exists():
            with path.open("rb") as lines:
                own[f"{WORDS}.{place}"] = np.frombuffer(b"".join(islice(lines, SOME)), np.uint8)
    write_arrays(folder / derived_name(kind, *languages), {**arrays, **own})


def arrays_of_words(content: bytes, words: Words) -> Arrays:
    """The arrays in a file; ValueError if they were derived of other words than those of both languages."""
    arrays = arrays_of(content)
    for place, own in enumerate(words):
        *first, _ = arrays.get(f"{WORDS}.{place}", _NO_WORDS).tobytes().decode().split("\n")
        if first != [*own[: len(first)]]:
            raise ValueError("derived of other words")
    return arrays


def write_answers(folder: Path, languages: tuple[str, str], table: AnswerTable) -> None:
    """Write the table of the answers from the first language to the second to the folder of a space."""
    write_of_words(folder, ANSWERS, languages, table.arrays())


def read_answers(derived: DerivedFiles, languages: tuple[str, str], words: Words) -> AnswerTable | None:
    """The table of a space for the words of both languages; None if there is none, or a broken one."""

    def made(content: bytes) -> AnswerTable:
        table = AnswerTable.of_arrays(arrays_of_words(content, words))
        _check(table, (len(words[0]), len(words[1])))
        return table

    return derived.read(derived_name(ANSWERS, *languages), made, ALIGN)


def _check(table: AnswerTable, counts: tuple[int, int]) -> None:
    """Raise ValueError unless words have answers among the targets, each once, the most probable first."""
    pointers, columns, shares = table.pointers, table.columns, table.probability
    fits = pointers.shape == (counts[0] + 1,) and pointers[0] == 0 and pointers[-1] == len(columns)
    fits = fits and all(one.shape == (len(columns),) for one in (columns, table.csls, shares))
    fits = fits and pointers.dtype.kind == "i" and bool((np.diff(pointers) >= 0).all())
    fits = fits and bool(((columns >= 0) & (columns < counts[1])).all())
    fits = fits and bool((np.abs(table.csls) <= LIMIT).all())  # which nan is not
    fits = fits and bool(((shares >= 0) & (shares <= 1)).all())
    if not fits or not isinstance(table.report, dict):
        raise ValueError("no answers to the words of this space")
    width = int(np.diff(pointers).max(initial=0))
    again = [
        _both_of_a_word(pointers, columns[by:] == columns[:-by], by) for by in range(1, min(width, MOST))
    ]
    if width > MOST or any(again) or _both_of_a_word(pointers, np.diff(shares) > 0, 1):
        raise ValueError("a word with an answer twice, or with a less probable one before others")


def _both_of_a_word(pointers: Numbers, alike: Flags, by: int) -> bool:
    """Whether any answer and the one so far behind it, marked where they are `alike`, are of one word."""
    first = np.flatnonzero(alike)  # few: no array of all words is made
    word = np.searchsorted(pointers, first, side="right")
    return bool((first + by < pointers[word]).any())
