"""Files of sentences.

* one sentence a line, several files aligned by line, or rated pairs
* documents: paragraphs in order, each with the name of its document
* parallel text: sentence pairs in one file of two columns, or in two files aligned by line
* probe text: sentences with the class and the part of each, in the columns of SentEval's probing tasks
* slices of large texts: where each begins and ends, so that several machines can read them independently
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from muse.errors import BadFile, Mismatch
from muse.files.parquet import is_parquet, read_rows, row_groups
from muse.files.plain_text import BOM, lines_of, read_lines
from muse.files.source import is_packed
from muse.files.writing import replaced

FIRST_TWO, TWO_FILES = "keep the first two with cut -f1,2", "give two files as --source and --target"
PARTS = ("tr", "va", "te")  # training, model selection, test
_COLUMNS = 3
SLICE = 16_384  # sentences
_BLOCK = 1 << 24  # bytes


def read_documents(path: Path | str) -> dict[str, list[str]]:
    """The paragraphs of each document by name, from lines `document<TAB>paragraph`, compressed or not.

    Blank lines and empty paragraphs are skipped. Raise BadFile, naming the line, if a line names no
    document, or if no document has two paragraphs, since no paragraph has a neighbour then.
    """
    documents: dict[str, list[str]] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        name, tab, paragraph = line.partition("\t")
        if not tab or not name.strip():
            raise BadFile(
                f"{path}:{number}: expected document<TAB>paragraph, got a line without document boundaries "
                f"({line[:40]!r}); start each line with the name of its document and a tab, in the order "
                "of the text"
            )
        if paragraph.strip():
            documents.setdefault(name, []).append(paragraph)
    if not any(len(paragraphs) > 1 for paragraphs in documents.values()):
        raise BadFile(
            f"{path}: expected documents of two or more paragraphs, got {len(documents)} with at most one; "
            "start each line with the name of the document that its paragraph belongs to"
        )
    return documents


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


@dataclass(frozen=True)
class ProbeText:
    """Sentences (n,), the class of each, and its part: one of PARTS."""

    parts: tuple[str, ...]
    labels: tuple[str, ...]
    sentences: tuple[str, ...]


def read_probe_text(path: Path | str) -> ProbeText:
    """The lines `part<TAB>class<TAB>sentence` of a file.

    Raise BadFile, naming the line, for a line of other columns or parts, and for a part without sentences.
    """
    rows: list[tuple[str, str, str]] = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != _COLUMNS or fields[0] not in PARTS or not fields[1].strip():
            raise BadFile(
                f"{path}:{number}: expected part, class and sentence, separated by tabs, and "
                f"{', '.join(PARTS)} as part; got {line[:60]!r}; correct the line"
            )
        rows.append((fields[0], fields[1].strip(), fields[2]))
    missing = [part for part in PARTS if part not in {row[0] for row in rows}]
    if missing:
        raise BadFile(
            f"{path}: expected sentences of the parts {', '.join(PARTS)}, found none of "
            f"{', '.join(missing)}; check the file"
        )
    if len({row[1] for row in rows}) < 2:
        raise BadFile(f"{path}: expected two classes or more, got {rows[0][1]!r} alone; check the file")
    parts, labels, sentences = zip(*rows, strict=True)
    return ProbeText(parts, labels, sentences)


@dataclass(frozen=True)
class RatedSentences:
    """Pairs of sentences with human ratings of their similarity."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    ratings: tuple[float, ...]


def read_sentences(path: Path | str) -> list[str]:
    """The lines of a file, including empty ones; BadFile if all are empty."""
    lines = list(read_lines(path))
    if not any(map(str.strip, lines)):
        raise BadFile(f"{path}: expected sentences, one a line, got {len(lines)} empty lines; check its name")
    return lines


def read_aligned(*paths: Path | str) -> list[list[str]]:
    """The lines of several files aligned by line; Mismatch if their numbers of lines differ."""
    texts = [read_sentences(path) for path in paths]
    counts = [len(text) for text in texts]
    if len(set(counts)) > 1:
        found = ", ".join(f"{count} in {path}" for count, path in zip(counts, paths, strict=True))
        raise Mismatch(
            f"files aligned by line must have the same number of lines, got {found}; use the files as they "
            "were aligned"
        )
    return texts


def read_rated_sentences(
    path: Path | str, ratings: tuple[float, float] = (-math.inf, math.inf)
) -> RatedSentences:
    """The rows `sentence,sentence,rating` of a .csv or .tsv file without a header.

    Raise BadFile, naming the line, for one of other columns, and for a rating that is no number from the
    first to the second of `ratings`.
    """
    path = Path(path)
    tabs = ".tsv" in path.suffixes
    style = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if tabs else {"delimiter": ",", "strict": True}
    rows = csv.reader((f"{line}\n" for line in read_lines(path)), **style)  # type: ignore[arg-type]
    first, second, found = [], [], []
    try:
        for fields in rows:
            if fields:
                where = f"{path}:{rows.line_num}"
                found.append(_rating(fields, where, ratings))
                first.append(fields[0])
                second.append(fields[1])
    except csv.Error as error:
        raise BadFile(f"{path}:{rows.line_num}: expected comma-separated values, got {error}") from error
    if not found:
        raise BadFile(f"{path}: expected sentence, sentence and rating, got empty lines; check its name")
    return RatedSentences(tuple(first), tuple(second), tuple(found))


def _rating(fields: list[str], where: str, ratings: tuple[float, float]) -> float:
    if len(fields) != 3:
        raise BadFile(
            f"{where}: expected three columns, sentence, sentence and rating, got {len(fields)} "
            f"({','.join(fields)[:60]!r}); put commas between them (.tsv: tabs), quote a sentence with one"
        )
    rating = rating_in(fields[2], ratings)
    if rating is None:
        least, most = ratings
        bounds = "" if math.isinf(least) else f" from {least:g} to {most:g}"
        raise BadFile(
            f"{where}: expected a number{bounds} as the third column, got {fields[2]!r}; "
            "correct the line, or remove it if it is a header"
        )
    return rating


def rating_in(text: str, ratings: tuple[float, float]) -> float | None:
    """The finite number in a cell, from the first to the second of `ratings`; None if it is none."""
    try:
        rating = float(text)
    except ValueError:
        return None
    return rating if math.isfinite(rating) and ratings[0] <= rating <= ratings[1] else None


def write_scored_pairs(path: Path | str, pairs: Iterable[tuple[float, str, str]]) -> int:
    """The number of lines `score<TAB>source<TAB>target` written, atomically, compressed for .gz.

    A tab or a carriage return in a sentence becomes a space.
    """
    count = 0
    with replaced(Path(path)) as stream:
        for score, source, target in pairs:
            stream.write(f"{score:.4f}\t{_field(source)}\t{_field(target)}\n".encode())
            count += 1
    return count


def _field(sentence: str) -> str:
    return sentence.replace("\t", " ").replace("\r", " ")


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
        found = self._read()
        if len(found) != self.rows:
            raise BadFile(
                f"{self.path}: expected {self.rows} sentences in a part of it, got {len(found)}; "
                "do not change a file while it is read"
            )
        return found

    def _read(self) -> list[str]:
        if self.column is not None and self.end is not None:
            return read_rows(self.path, self.column, self.group, self.begin, self.end)
        if self.end is None:
            return list(read_lines(self.path))
        with self.path.open("rb") as file:
            file.seek(self.begin)
            return lines_of(file.read(self.end - self.begin), str(self.path), self.line)


def slices(path: Path, column: str | None = None, size: int = SLICE) -> list[TextSlice]:
    """The slices of a text, of a Parquet file, or of all files of a folder in the order of their names.

    A compressed text is one slice, since it can only be read from its start. Raise BadFile if there is
    nothing to read.
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
    if is_packed(path):
        rows = sum(1 for _ in read_lines(path))
        return [TextSlice(path, first, rows)] if rows else []
    with path.open("rb") as file:
        begin = len(BOM) if file.read(len(BOM)) == BOM else 0
    found, done = [], 0
    for end, line in _ends(path, begin, size):
        found.append(TextSlice(path, first + done, line - done, begin, end, done + 1))
        begin, done = end, line
    return found


def _ends(path: Path, begin: int, size: int) -> Iterator[tuple[int, int]]:
    """Yields where a slice ends, in bytes and in lines."""
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
