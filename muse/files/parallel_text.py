"""Parallel text: sentence pairs in one file of two columns, or in two files aligned by line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile
from muse.files.plain_text import read_lines
from muse.files.sentence_text import read_aligned

FIRST_TWO, TWO_FILES = "keep the first two with cut -f1,2", "give two files as --source and --target"


class ParallelText(NamedTuple):
    """Sentences by line: `pivot[i]` and `other[i]` translate each other."""

    pivot: Sequence[str]
    other: Sequence[str]


def read_parallel(
    path: Path | str, columns: str = "pivot<TAB>sentence", otherwise: str | None = TWO_FILES
) -> ParallelText:
    """The pairs of a file of lines `pivot<TAB>sentence`, compressed or not; blank lines are skipped.

    Raise BadFile, naming the line, if it has not two columns, and if there are no pairs; `columns` is
    what it says of them, and `otherwise` what else can be given.
    """
    pivot, other = list[str](), list[str]()
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != 2:
            advice = FIRST_TWO if len(fields) > 2 else "put a tab between the two sentences of each line"
            advice += f", or {otherwise}" if otherwise else ""
            raise BadFile(f"{path}:{number}: expected two columns, {columns}, got {len(fields)}; {advice}")
        pivot.append(fields[0])
        other.append(fields[1])
    if not pivot:
        raise BadFile(f"{path}: expected lines {columns}, found none; check the file")
    return ParallelText(pivot, other)


def read_pairs(files: Sequence[Path]) -> ParallelText:
    """The pairs of one file of two columns, or of two files aligned by line, the pivot's first."""
    return read_aligned_files(*files) if len(files) == 2 else read_parallel(files[0])


def read_aligned_files(pivot: Path | str, other: Path | str) -> ParallelText:
    """The pairs of two files aligned by line; Mismatch if one has more lines than the other."""
    sentences, translations = read_aligned(other, pivot)
    return ParallelText(translations, sentences)
