"""Slices of large texts: where each begins and ends, so that several machines can read them independently."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from muse.errors import BadFile, BadSetting
from muse.files.corpora import text_of_lines
from muse.files.detect import SENTENCES, kind_of
from muse.files.parquet import is_parquet, read_rows, row_groups
from muse.files.plain_text import BLOCK, BOM, decoded_line, read_lines
from muse.files.source import first_bytes, is_packed
from muse.files.space_folder import MANIFEST

SLICE = 16_384  # sentences
DOCUMENTS = frozenset(f".{one}" for one in "doc docx odt rtf pdf ppt pptx odp xls xlsx ods epub".split())
log = logging.getLogger(__name__)
_BLOCK = 1 << 24  # bytes


@dataclass(frozen=True)
class TextSlice:
    """Consecutive sentences of a file, `rows` of them; `first` is the number of the first among all files.

    Of a text these are the bytes from `begin` to `end` and the lines from `line` on, or without an `end` all
    of it; of Parquet, the rows from `begin` to `end` of a `group` of its `column`.
    """

    path: Path
    first: int
    rows: int
    begin: int = 0
    end: int | None = None
    line: int = 1
    column: str | None = None
    group: int = 0

    def sentences(self) -> list[str]:
        """The sentences; BadFile if the file has changed since."""
        if self.end is None:
            found = list(read_lines(self.path))
        elif self.column is not None:
            found = read_rows(self.path, self.column, self.group, self.begin, self.end)
        else:
            with self.path.open("rb") as file:
                file.seek(self.begin)
                lines = file.read(self.end - self.begin).removesuffix(b"\n").split(b"\n")
            found = [decoded_line(line, self.path, place) for place, line in enumerate(lines, self.line)]
        if len(found) != self.rows:
            raise BadFile(
                f"{self.path}: expected {self.rows} sentences in a part of it, got {len(found)}; "
                "do not change a file while it is read"
            )
        return found


def slices(path: Path, column: str | None = None, size: int = SLICE) -> list[TextSlice]:
    """The slices of a text, of a Parquet file, or of all files of a folder in the order of their names.

    A compressed text, which can only be read from its start, is one slice, and so is one whose lines end in
    CR alone. Raise BadFile if there is nothing to read.
    """
    found: list[TextSlice] = []
    for file in files_of(path):
        first = found[-1].first + found[-1].rows if found else 0
        found += _of_parquet(file, first, column, size) if is_parquet(file) else _of_text(file, first, size)
    if not found:
        raise BadFile(f"{path}: expected sentences, one on each line, got nothing; check its name")
    return found


def files_of(path: Path) -> list[Path]:
    """The file itself, or the files of a folder in the order of their names, without hidden or empty ones."""
    if not path.is_dir():
        return [path]
    files = (file for file in path.iterdir() if file.is_file() and file.name[0] not in "._")
    return sorted(file for file in files if file.stat().st_size)


def text_files(texts: Sequence[Path], column: str | None = None) -> list[Path]:
    """The files of all texts, before any is read; BadFile if one of them is not there or is saved by muse.

    BadSetting for a `column` of no Parquet file.
    """
    for text in texts:
        if not text.exists():
            raise BadFile(f"{text}: expected text, or a folder of it, found no such file; check its name")
        if (text / MANIFEST).exists():
            raise BadFile(f"{text}: expected text, got a folder with {MANIFEST} of muse; check its name")
    files = [file for text in texts for file in files_of(text)]
    left_out = [one for one in files if one not in texts and one.suffix.lower() in DOCUMENTS]
    if len(left_out) < len(files):
        for one in left_out:
            log.warning("%s: left out, it is no text; save it as .txt to have it read", one)
        files = [one for one in files if one not in left_out]
    if column is not None and not any(
        is_parquet(file) or kind_of(file, SENTENCES).name == "jsonl" for file in files
    ):
        raise BadSetting(
            "--column needs Parquet or JSON lines, got no such file among the texts; leave it out"
        )
    return files


def text_lines(
    files: Sequence[Path], column: str | None = None, language: str | None = None
) -> Iterator[str]:
    """The lines of texts: of plain files, of a `column` of Parquet, of what `muse.files.corpora` reads."""
    for file in files:
        if is_parquet(file):
            for part in slices(file, column):
                yield from part.sentences()
        else:
            yield from text_of_lines(file, column, language)


def _of_parquet(path: Path, first: int, column: str | None, size: int) -> list[TextSlice]:
    found = []
    name, groups = row_groups(path, column)
    for group, rows in enumerate(groups):
        for begin in range(0, rows, size):
            end = min(begin + size, rows)
            found.append(TextSlice(path, first, end - begin, begin, end, column=name, group=group))
            first += end - begin
    return found


def _of_text(path: Path, first: int, size: int) -> list[TextSlice]:
    head = first_bytes(path, BLOCK)
    if is_packed(path) or (b"\r" in head and b"\n" not in head):  # of old Macs
        rows = sum(1 for _ in read_lines(path))
        return [TextSlice(path, first, rows)] if rows else []
    begin = len(BOM) if head.startswith(BOM) else 0
    found, done = [], 0
    for end, line in _ends(path, begin, size):
        found.append(TextSlice(path, first + done, line - done, begin, end, done + 1))
        begin, done = end, line
    return found


def _ends(path: Path, begin: int, size: int) -> Iterator[tuple[int, int]]:
    read = ended = begin
    lines = counted = 0
    with path.open("rb") as file:
        file.seek(begin)
        while data := file.read(_BLOCK):
            breaks = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
            for place in range(size - 1 - (lines - counted), len(breaks), size):
                ended = read + int(breaks[place]) + 1
                counted = lines + place + 1
                yield ended, counted
            lines, read = lines + len(breaks), read + len(data)
            last = data[-1:]
    if ended < read:
        yield read, lines + (last != b"\n")
