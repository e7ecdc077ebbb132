"""Files of sentences: one a line, several files aligned by line, and tables.

Tables are documents (paragraphs in order, each with the name of its document), parallel text,
and probe text (sentences with the class and the part of each, as in SentEval's probing tasks).
"""

import logging
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile, Mismatch
from muse.files.columns import Fit, TableColumns, read_columns
from muse.files.corpora import check_lines
from muse.files.plain_text import read_lines
from muse.files.writing import replaced
from muse.languages import Languages
from muse.space import Space
from muse.text.parallel import fits_of, parallel_text

log = logging.getLogger(__name__)

PARTS = ("tr", "va", "te")  # training, model selection, test
_DOCUMENTS = TableColumns(
    {"document": ("document",), "paragraph": ("paragraph", "text")}, rest=True,
    advice="start each line with the name of its document and a tab, in the order of the text",
)  # fmt: skip
_PROBES = TableColumns({"part": ("part",), "class": ("class", "label"), "sentence": ("sentence", "text")})


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


def read_parallel(path: Path, languages: Languages, fits: Sequence[Fit] = ()) -> ParallelText:
    """The pairs of a file in the languages, the pivot's first; those without a side are left out, and told.

    `fits` tell the columns of a table (`muse.text.parallel`). Raise BadFile if there are no pairs.
    """
    pairs, without = list[tuple[str, str]](), list[str]()
    for where, one, two in parallel_text(path, languages, fits):
        if one.strip() and two.strip():
            pairs.append((one, two))
        elif one.strip() or two.strip():
            without.append(where)
    if not pairs:
        raise BadFile(f"{path}: expected rows of two sentences, found none; check the file")
    if without:
        log.warning(
            "%s: left out %d row%s without one of both sentences, the first is %s",
            path, len(without), "s" * (len(without) != 1), without[0],
        )  # fmt: skip
    return ParallelText(*map(list, zip(*pairs, strict=True)))


def read_pairs(files: Sequence[Path], space: Space, language: str) -> ParallelText:
    """The pairs of one file of parallel text, or of two files aligned by line, the pivot's first."""
    if len(files) == 1:
        languages = (space.pivot, language)
        return read_parallel(files[0], languages, fits_of(space.vectors, languages))
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


_ID = re.compile(r"\S*\d\S*")


def split_ids(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    r"""The ids of lines that all begin with one of their own and a tab, as BUCC's do, and the sentences.

    Of other lines there are no ids, and all of a line is the sentence.

    >>> split_ids(["fr-01\tLe roi.", "", "fr-02\tNuit."]), split_ids(["1 2\tx", "1 2\ty"])
    ((['fr-01', '', 'fr-02'], ['Le roi.', '', 'Nuit.']), ([], ['1 2\tx', '1 2\ty']))
    """
    cells = [line.partition("\t") for line in lines]
    ids = [one for one, _, sentence in cells if one.strip() or sentence.strip()]
    if len({*ids}) < len(ids) or not all(map(_ID.fullmatch, ids)):
        return [], [*lines]
    if not all(tab for one, tab, _ in cells if one.strip()):
        return [], [*lines]
    return [one for one, _, _ in cells], [sentence for _, _, sentence in cells]


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
