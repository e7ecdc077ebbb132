"""Answer tables: the translations of every word, chosen once by all the evidence and kept beside the space.

`muse.answers` learns them; all that answers questions reads them, so that each gives the same answer. A table
is an .npz without pickle in the folder of its source language. Its name has a digest of the vectors that it
was made from, and it has a digest of its own content: one that does not match is not used.
"""

from __future__ import annotations

import hashlib
import json
import logging
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from muse.files.archive import strictly
from muse.files.atomic import atomic_path
from muse.files.source import DAMAGED
from muse.files.space_folder import answers_name, folder_name, remove_outdated

log = logging.getLogger(__name__)

AnswersBy = Literal["all", "csls"]
BYTES, BYTES_OF_WORD = 1 << 16, 1_000  # at most in a table: ten answers to a word take 128
Made = TypeVar("Made")
_ARRAYS = ("pointers", "columns", "csls", "probability")

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class AnswerTable:
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

    def of(self, row: int) -> slice:
        """The places of the answers to a word."""
        return slice(int(self.pointers[row]), int(self.pointers[row + 1]))

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


def keep_answers(home: Path, languages: tuple[str, str], table: AnswerTable, digest: str) -> None:
    """Write the table of the answers from the first language to the second, if the folder is writable."""
    text = json.dumps(dict(table.report), ensure_ascii=False)
    report = np.frombuffer(text.encode(), np.uint8)
    keep_arrays(_path(home, languages, digest), {**table.arrays(), "report": report}, digest)


def keep_arrays(path: Path, parts: Mapping[str, NDArray[Any]], digest: str) -> None:
    """Write named arrays with the digest of their content; `digest`, in the name, is that of the vectors."""
    try:
        with atomic_path(path) as partial, partial.open("wb") as file:
            content: dict[str, Any] = {**parts, "digest": np.array([_digest(parts)])}
            np.savez(file, **content)
    except OSError as error:
        log.debug("%s: not kept, %s", path, error)
        return
    remove_outdated(path, digest)


def read_answers(
    home: Path, languages: tuple[str, str], counts: tuple[int, int], digest: str
) -> AnswerTable | None:
    """The table kept for `counts` words of both languages; None if there is none, or a broken one."""

    def made(parts: Mapping[str, NDArray[Any]]) -> AnswerTable:
        table = AnswerTable.of_arrays(parts, json.loads(parts["report"].tobytes()))
        _check(table, counts)
        return table

    return read_arrays(_path(home, languages, digest), BYTES + counts[0] * BYTES_OF_WORD, made)


def read_arrays(path: Path, most: int, made: Callable[[Mapping[str, NDArray[Any]]], Made]) -> Made | None:
    """What is `made` of the arrays that `keep_arrays` wrote; None without a file.

    None, with a warning, for a file of more than `most` bytes, of other content, or refused by `made`.
    """
    try:
        if not path.exists():
            return None
        _check_size(path, most)
        with strictly(), np.load(path, allow_pickle=False) as kept:
            parts = {name: kept[name] for name in kept.files}
        if str(parts.pop("digest")[0]) != _digest(parts):
            raise ValueError("another content than was written")
        return made(parts)
    except (OSError, *DAMAGED, ValueError, KeyError, IndexError) as error:
        log.warning("%s: not used, %s; align again to choose answers by all evidence", path, error)
        return None


def _check_size(path: Path, most: int) -> None:
    # Before anything is unpacked: a compressed file may be of any size.
    with zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > most:
        raise ValueError(f"{size} bytes where at most {most} were expected")


def _check(table: AnswerTable, counts: tuple[int, int]) -> None:
    pointers, columns = table.pointers, table.columns
    fits = len(table) == counts[0] and pointers[0] == 0 and pointers[-1] == len(columns)
    fits = fits and bool((np.diff(pointers) >= 0).all())
    fits = fits and bool(((columns >= 0) & (columns < counts[1])).all())
    shares = table.probability
    if not fits or not np.isfinite(table.csls).all() or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("no answers to the words of this space")


def _path(home: Path, languages: tuple[str, str], digest: str) -> Path:
    return home / folder_name(languages[0]) / answers_name(languages[1], digest)


def _digest(parts: Mapping[str, NDArray[Any]]) -> str:
    found = hashlib.sha256()
    for name in sorted(parts):
        found.update(name.encode())
        found.update(np.ascontiguousarray(parts[name]).tobytes())
    return found.hexdigest()
