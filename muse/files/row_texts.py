"""Row texts: what the rows of a file or a space stand for, a text a line, shown beside their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files.plain_text import read_lines
from muse.files.space_folder import AGAIN, unreadable
from muse.files.vectors.table import Table


def one_line(text: str) -> str:
    r"""The text on one line, each run of white space a space, as UTF-8 can write it.

    >>> one_line("A dog\n runs. ")
    'A dog runs.'
    """
    return " ".join(text.split()).encode(errors="replace").decode()


def with_texts(table: Table, path: Path | None) -> Table:
    """The table with the texts of its rows in a file, if one is given.

    Raise BadSetting if the table has words, Mismatch unless each row has one text.
    """
    if path is None:
        return table
    if table.frequency_ordered:
        raise BadSetting(
            f"{path}: texts are for items without a vocabulary, got words in {table.path}; leave it out"
        )
    texts = [one_line(line) for line in read_lines(path)]
    if table.counted and len(texts) != table.max_rows:  # else `gather` checks it
        raise Mismatch(
            f"{path}: expected a line for each of {table.max_rows} rows of {table.path}, got "
            f"{len(texts)}; give one text a line, in the order of the rows"
        )
    return replace(table, texts=texts)


def write_texts(path: Path, texts: Sequence[str]) -> None:
    r"""Write one text a line, each ended by \n."""
    with path.open("wb") as file:
        for text in texts:
            file.write(one_line(text).encode() + b"\n")


class KeptTexts(Sequence[str]):
    """The `count` texts of a file written by `write_texts`, read as they are asked for.

    The file is opened at once and mapped, so that one that replaces it is never mixed with it; or else its
    `content` is in memory.
    """

    def __init__(self, path: Path, count: int, content: NDArray[np.uint8] | None = None) -> None:
        self._path, self._count = path, count
        try:
            self._bytes = np.memmap(path, np.uint8, mode="r") if content is None else content
        except OSError as error:
            raise unreadable(path, error) from error
        except ValueError as error:  # an empty file
            raise BadFile(f"{path}: expected {count} texts, got an empty file; {AGAIN}") from error

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[row] for row in range(*place.indices(self._count))]
        row = range(self._count)[place]
        begin, end = self._bounds[row : row + 2].tolist()
        return self._bytes[begin : end - 1].tobytes().decode(errors="replace")

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """Where each line begins, and where the last one ends (count + 1,)."""
        ends = np.flatnonzero(self._bytes == ord("\n")) + 1
        if len(ends) != self._count or ends[-1] != len(self._bytes):
            raise BadFile(f"{self._path}: expected {self._count} texts, got {len(ends)}; {AGAIN}")
        return np.concatenate([[0], ends])
