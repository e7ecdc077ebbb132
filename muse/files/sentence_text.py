"""Files of sentences: one a line, several files aligned by line, or rated pairs."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from muse.errors import BadFile, Mismatch
from muse.files.plain_text import read_lines
from muse.files.writing import replaced


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


def read_rated_sentences(path: Path | str) -> RatedSentences:
    """The rows `sentence,sentence,rating` of a .csv or .tsv file without a header."""
    path = Path(path)
    tabs = ".tsv" in path.suffixes
    style = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if tabs else {"delimiter": ",", "strict": True}
    rows = csv.reader((f"{line}\n" for line in read_lines(path)), **style)  # type: ignore[arg-type]
    first, second, ratings = [], [], []
    try:
        for fields in rows:
            if fields:
                where = f"{path}:{rows.line_num}"
                ratings.append(_rating(fields, where))
                first.append(fields[0])
                second.append(fields[1])
    except csv.Error as error:
        raise BadFile(f"{path}:{rows.line_num}: expected comma-separated values, got {error}") from error
    if not ratings:
        raise BadFile(f"{path}: expected sentence, sentence and rating, got empty lines; check its name")
    return RatedSentences(tuple(first), tuple(second), tuple(ratings))


def _rating(fields: list[str], where: str) -> float:
    if len(fields) != 3:
        raise BadFile(
            f"{where}: expected three columns, sentence, sentence and rating, got {len(fields)} "
            f"({','.join(fields)[:60]!r}); put commas between them (.tsv: tabs), quote a sentence with one"
        )
    try:
        rating = float(fields[2])
    except ValueError:
        rating = math.nan
    if not math.isfinite(rating):
        raise BadFile(
            f"{where}: expected a number as the third column, got {fields[2]!r}; "
            "correct the line, or remove it if it is a header"
        )
    return rating


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
