"""Answer tables: the translations of every word, chosen once by all the evidence and kept beside the space.

`muse.ranking` learns them; all that answers questions reads them, so that each gives the same answer. A table
is an .npz without pickle in the folder of its source language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from muse.files.derived import DerivedFiles, arrays_of, write_arrays
from muse.files.space_folder import derived_name
from muse.vectors import ShortRepr

AnswersBy = Literal["all", "csls"]
ANSWERS = "answers.{}.npz"
ALIGN = "align again to choose answers by all evidence"
LIMIT = 4.01  # CSLS lies between -4 and 4, but for rounding
_ARRAYS = ("pointers", "columns", "csls", "probability")

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


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
        columns, csls, probability = self.padded(rows)
        out = (columns < 0) | (columns >= most)
        order = np.argsort(out, axis=1, kind="stable")
        out = np.take_along_axis(out, order, 1)
        return (
            np.where(out, -1, np.take_along_axis(columns, order, 1)),
            np.where(out, -np.inf, np.take_along_axis(csls, order, 1)),
            np.where(out, 0, np.take_along_axis(probability, order, 1)),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The answers as named arrays, for an .npz."""
        return {name: getattr(self, name) for name in _ARRAYS} | {"columns": self.columns.astype(np.int32)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], report: Mapping[str, Any]) -> AnswerTable:
        """The answers from named arrays."""
        own = {name: arrays[name] for name in _ARRAYS} | {"columns": arrays["columns"].astype(np.int64)}
        return cls(**own, report=report)


def write_answers(folder: Path, languages: tuple[str, str], table: AnswerTable) -> None:
    """Write the table of the answers from the first language to the second to the folder of a space."""
    text = json.dumps(dict(table.report), ensure_ascii=False)
    report = np.frombuffer(text.encode(), np.uint8)
    write_arrays(folder / derived_name(ANSWERS, *languages), {**table.arrays(), "report": report})


def read_answers(
    derived: DerivedFiles, languages: tuple[str, str], counts: tuple[int, int]
) -> AnswerTable | None:
    """The table of a space for `counts` words of both languages; None if there is none, or a broken one."""

    def made(content: bytes) -> AnswerTable:
        parts = arrays_of(content)
        table = AnswerTable.of_arrays(parts, json.loads(parts["report"].tobytes()))
        _check(table, counts)
        return table

    return derived.read(derived_name(ANSWERS, *languages), made, ALIGN)


def _check(table: AnswerTable, counts: tuple[int, int]) -> None:
    pointers, columns = table.pointers, table.columns
    fits = pointers.shape == (counts[0] + 1,) and pointers[0] == 0 and pointers[-1] == len(columns)
    fits = fits and all(one.shape == (len(columns),) for one in (columns, table.csls, table.probability))
    fits = fits and pointers.dtype.kind == "i" and bool((np.diff(pointers) >= 0).all())
    fits = fits and bool(((columns >= 0) & (columns < counts[1])).all())
    shares = table.probability
    fits = fits and bool((np.abs(table.csls) <= LIMIT).all())  # which nan is not
    if not fits or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("no answers to the words of this space")
