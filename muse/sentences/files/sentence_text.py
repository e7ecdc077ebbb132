"""Files of sentences: one a line, several files aligned by line, and tables.

Tables are documents (paragraphs in order, each with the name of its document), parallel text, rated pairs,
and probe text (sentences with the class and the part of each, as in SentEval's probing tasks).
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile, Mismatch
from muse.files.corpora import check_lines
from muse.files.plain_text import read_lines
from muse.files.tables import TableColumns, read_columns
from muse.files.writing import replaced

PARTS = ("tr", "va", "te")  # training, model selection, test
_DOCUMENTS = TableColumns(
    {"document": ("document",), "paragraph": ("paragraph", "text")}, rest=True,
    advice="start each line with the name of its document and a tab, in the order of the text",
)  # fmt: skip
_PARALLEL = TableColumns(
    {"pivot": ("pivot", "source", "src"), "sentence": ("sentence", "target", "tgt", "translation")},
    advice="put a tab between two sentences, keep two columns with cut -f1,2, or give two files",
)
_PROBES = TableColumns({"part": ("part",), "class": ("class", "label"), "sentence": ("sentence", "text")})
RATED = TableColumns(
    {
        "sentence": ("sentence1", "sentence_a", "first", "sentence"),
        "second sentence": ("sentence2", "sentence_b", "second"),
        "rating": ("rating", "score", "similarity", "relatedness_score", "gold"),
    },
    form="csv", advice="put commas between them (.tsv: tabs), quote a sentence with one",
)  # fmt: skip


def read_documents(path: Path | str) -> dict[str, list[str]]:
    """The paragraphs of each document by name, from rows of a document and a paragraph.

    Empty paragraphs are skipped. Raise BadFile, naming the line, if a row names no document, or if no
    document has two paragraphs, since no paragraph has a neighbour then.
    """
    documents: dict[str, list[str]] = {}
    for where, (name, paragraph) in read_columns(path, _DOCUMENTS):
        if not name.strip():
            raise BadFile(f"{where}: expected the name of a document, got {name!r}; {_DOCUMENTS.advice}")
        if paragraph.strip():
            documents.setdefault(name, []).append(paragraph)
    if not any(len(paragraphs) > 1 for paragraphs in documents.values()):
        raise BadFile(
            f"{path}: expected documents of two or more paragraphs, got {len(documents)} with at most one; "
            f"{_DOCUMENTS.advice}"
        )
    return documents


class ParallelText(NamedTuple):
    """Sentences by line: `pivot[i]` and `other[i]` translate each other."""

    pivot: Sequence[str]
    other: Sequence[str]


def read_parallel(path: Path | str) -> ParallelText:
    """The pairs of rows of a sentence of the pivot and its translation; BadFile if there are none."""
    pivot, other = list[str](), list[str]()
    for _, (one, two) in read_columns(path, _PARALLEL):
        pivot.append(one)
        other.append(two)
    if not pivot:
        raise BadFile(f"{path}: expected rows of two sentences, found none; check the file")
    return ParallelText(pivot, other)


def read_pairs(files: Sequence[Path]) -> ParallelText:
    """The pairs of one file of two columns, or of two files aligned by line, the pivot's first."""
    if len(files) == 1:
        return read_parallel(files[0])
    pivot, other = files
    sentences, translations = read_aligned(other, pivot)
    return ParallelText(translations, sentences)


class ProbeText(NamedTuple):
    """Sentences (n,), the class of each, and its part: one of PARTS."""

    parts: tuple[str, ...]
    labels: tuple[str, ...]
    sentences: tuple[str, ...]


def read_probe_text(path: Path | str) -> ProbeText:
    """The rows of part, class and sentence of a file.

    Raise BadFile, naming the line, for a row of other columns or parts, and for a part without sentences.
    """
    rows = list[tuple[str, str, str]]()
    for where, (part, label, sentence) in read_columns(path, _PROBES):
        if part not in PARTS or not label.strip():
            raise BadFile(
                f"{where}: expected one of {', '.join(PARTS)} as part, and a class, got {part!r} and "
                f"{label!r}; correct the line"
            )
        rows.append((part, label.strip(), sentence))
    parts, labels, sentences = zip(*rows, strict=True) if rows else ((), (), ())
    if missing := [part for part in PARTS if part not in parts]:
        raise BadFile(
            f"{path}: expected sentences of the parts {', '.join(PARTS)}, found none of "
            f"{', '.join(missing)}; check the file"
        )
    if len(set(labels)) < 2:
        raise BadFile(f"{path}: expected two classes or more, got {labels[0]!r} alone; check the file")
    return ProbeText(parts, labels, sentences)


def read_sentences(path: Path | str) -> list[str]:
    """The lines of a file, including empty ones; BadFile if all are empty, or those of a program."""
    check_lines(Path(path))
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


class RatedSentences(NamedTuple):
    """Pairs of sentences with human ratings of their similarity."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    ratings: tuple[float, ...]


def read_rated_sentences(path: Path | str) -> RatedSentences:
    """The rows of two sentences and a rating; BadFile, naming the line, for one that is no number."""
    rows = [(one, two, rating_in(cell, where)) for where, (one, two, cell) in read_columns(path, RATED)]
    if not rows:
        raise BadFile(f"{path}: expected sentence, sentence and rating, got empty lines; check its name")
    return RatedSentences(*zip(*rows, strict=True))


def rating_in(text: str, where: str, bounds: tuple[float, float] = (-math.inf, math.inf)) -> float:
    """The finite number in a cell, within bounds; BadFile, with the place of its row, if it is none."""
    try:
        rating = float(text)
    except ValueError:
        rating = math.nan
    if not (math.isfinite(rating) and bounds[0] <= rating <= bounds[1]):
        within = "" if math.isinf(bounds[0]) else f" from {bounds[0]:g} to {bounds[1]:g}"
        raise BadFile(
            f"{where}: expected a number{within} as the rating, got {text[:60]!r}; correct the line, or "
            "remove it if it is a header"
        )
    return rating


def write_scored_pairs(path: Path | str, pairs: Iterable[tuple[float, str, str]]) -> int:
    """The number of lines `score<TAB>source<TAB>target` written, atomically, compressed for .gz.

    A tab or a carriage return in a sentence becomes a space.
    """
    count = 0
    with replaced(Path(path)) as stream:
        for score, source, target in pairs:
            plain = (sentence.replace("\t", " ").replace("\r", " ") for sentence in (source, target))
            stream.write("\t".join((f"{score:.4f}", *plain)).encode() + b"\n")
            count += 1
    return count
