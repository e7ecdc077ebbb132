"""Natural language inference: files of sentence pairs labelled with whether the first entails the second."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile, Mismatch
from muse.files.plain_text import read_lines

log = logging.getLogger(__name__)

LABELS = ("entailment", "neutral", "contradiction")
PARTS = {"train": "train", "trial": "dev", "dev": "dev", "test": "test"}
_NO_CONSENSUS = "-"  # SNLI's label if its annotators did not agree
_COLUMNS = {
    "premise": ("sentence_A", "sentence1", "premise"),
    "hypothesis": ("sentence_B", "sentence2", "hypothesis"),
    "label": ("entailment_judgment", "gold_label", "label"),
}
_PART, _NUMBER = "SemEval_set", ("pair_ID", "pairID")


@dataclass(frozen=True)
class Inference:
    """Pairs of sentences with the index of each label in LABELS, and the part: train, dev or test.

    `undecided` is the number of pairs left out because annotators did not agree on a label.
    """

    premises: tuple[str, ...]
    hypotheses: tuple[str, ...]
    labels: tuple[int, ...]
    parts: tuple[str, ...]
    undecided: int

    def part(self, name: str) -> Inference:
        """The pairs of one part, train, dev or test; Mismatch if there are none."""
        chosen = [part == name for part in self.parts]
        if not any(chosen):
            raise Mismatch(
                f"pairs of the {name} part are needed, found none; name the parts in a column {_PART}, or, "
                "if no two share a sentence, number the pairs: those that end in 8 or 9 are test, in 7 dev"
            )
        return Inference(
            tuple(compress(self.premises, chosen)), tuple(compress(self.hypotheses, chosen)),
            tuple(compress(self.labels, chosen)), tuple(compress(self.parts, chosen)), undecided=0,
        )  # fmt: skip


class _Row(NamedTuple):
    """A pair as it is on a line of a file; its label is None if the annotators did not agree.

    `name` is its id in the file, "" if that has none; `given` says whether the file names its part.
    """

    line: int
    name: str
    premise: str
    hypothesis: str
    label: int | None
    part: str
    given: bool

    @property
    def labelled(self) -> str:
        """The label as text."""
        return _NO_CONSENSUS if self.label is None else LABELS[self.label]


def read_nli(path: Path | str) -> Inference:
    """The pairs of a file of tab-separated columns, SICK's or SNLI's, which its first line names.

    The part of a pair is that in the file, if given; otherwise, by number, one in ten is dev and two in ten
    are test. Raise BadFile, naming the line, for a label that is not in LABELS, and where parts by number
    share a sentence: a test with sentences that were learned is too easy. Parts that the file names are its
    authors' choice: what they share is logged as a warning.
    """
    rows = _rows(path)
    _check_parts(path, rows)
    return _inference(path, rows)


def read_translated_nli(files: Mapping[str, Path]) -> dict[str, Inference]:
    """Pairs of sentences in several languages: row i of each file translates row i of the first one.

    All have the parts of the first file. Raise Mismatch, naming the line, at the first row with another label
    than in the first file, and if a file has more or fewer rows.
    """
    rows = {language: _rows(path) for language, path in files.items()}
    pivot = next(iter(files))
    _check_parts(files[pivot], rows[pivot])
    found = {pivot: _inference(files[pivot], rows[pivot])}
    for language in [name for name in files if name != pivot]:
        _check_same_rows((files[language], rows[language]), (files[pivot], rows[pivot]))
        parts = (row.part for row in rows[pivot])
        own = [row._replace(part=part) for row, part in zip(rows[language], parts, strict=True)]
        found[language] = _inference(files[language], own)
    return found


class _Shared(NamedTuple):
    """Sentences of one part that another has too: how many of how many, and the first with its two lines."""

    part: str
    other: str
    shared: int
    total: int
    sentence: str
    lines: tuple[int, int]

    def __str__(self) -> str:
        """What is shared, for a message."""
        return (
            f"{self.shared} of {self.total} sentences of its {self.part} part are in its {self.other} part "
            f"too ({self.sentence[:60]!r}, lines {self.lines[0]} and {self.lines[1]})"
        )


def _check_parts(path: Path | str, rows: Sequence[_Row]) -> None:
    """Raise BadFile where parts by number share sentences; warn where parts that the file names do."""
    among = (("test", "train"), ("dev", "train"), ("test", "dev"))
    found = next((one for part, other in among if (one := _shared(rows, part, other)) is not None), None)
    if found is None:
        return
    if all(row.given for row in rows):
        log.warning("%s: %s: what is measured on the %s part is too favourable", path, found, found.part)
        return
    raise BadFile(
        f"{path}:{found.lines[0]}: parts must not share sentences, found that, by the last digit of the "
        f"number, {found}; name the file's own parts in a column {_PART}: TRAIN, TRIAL or TEST"
    )


def bare(sentence: str) -> str:
    """A sentence without what does not make it another: case, spaces and a final full stop.

    >>> bare("A dog  runs .")
    'a dog runs'
    """
    found = " ".join(sentence.casefold().split())
    return found.rstrip(" .") or found


def _shared(rows: Sequence[_Row], part: str, other_part: str) -> _Shared | None:
    """What a part shares with another, None if nothing; what `bare` leaves out makes no difference."""
    found: dict[str, dict[str, tuple[int, str]]] = {part: {}, other_part: {}}  # by part and bare sentence
    for row in rows:
        if row.label is not None and row.part in found:
            for sentence in (row.premise, row.hypothesis):
                found[row.part].setdefault(bare(sentence), (row.line, sentence))
    own, other = found[part], found[other_part]
    both = [one for one in own if one in other]
    if not both:
        return None
    line, sentence = own[both[0]]
    return _Shared(part, other_part, len(both), len(own), sentence, (line, other[both[0]][0]))


def _check_same_rows(translation: tuple[Path, list[_Row]], original: tuple[Path, list[_Row]]) -> None:
    (path, rows), (other, originals) = translation, original
    for row, own in zip(rows, originals, strict=False):
        if row.name and own.name and row.name != own.name:
            raise Mismatch(
                f"{path}:{row.line}: expected pair {own.name} as in {other}:{own.line}, got pair {row.name}; "
                f"each row must translate the same row of {other}"
            )
        if row.label != own.label:
            raise Mismatch(
                f"{path}:{row.line}: expected the label of {other}:{own.line}, {own.labelled}, got "
                f"{row.labelled}; each row must translate the same row of {other}"
            )
    if len(rows) != len(originals):
        longer, more = max(translation, original, key=lambda side: len(side[1]))
        first = more[min(len(rows), len(originals))]
        raise Mismatch(
            f"{longer}:{first.line}: a translation must have the same number of rows, got {len(rows)} in "
            f"{path} and {len(originals)} in {other}; this is the first row without a counterpart: each row "
            f"must translate the same row of {other}"
        )


def _inference(path: Path | str, rows: Sequence[_Row]) -> Inference:
    """The pairs of these rows that have a label; BadFile if there are none."""
    kept = [(row.premise, row.hypothesis, row.label, row.part) for row in rows if row.label is not None]
    if not kept:
        raise BadFile(f"{path}: expected pairs of sentences with labels, found none; check the file")
    premises, hypotheses, labels, parts = zip(*kept, strict=True)
    return Inference(premises, hypotheses, labels, parts, len(rows) - len(kept))


def _rows(path: Path | str) -> list[_Row]:
    lines = read_lines(path)
    header = next(iter(lines), "").split("\t")
    places = {name: _place(path, header, names) for name, names in _COLUMNS.items()}
    rows: list[_Row] = []
    for number, line in enumerate(lines, 2):
        fields, where = line.split("\t"), f"{path}:{number}"
        if not line.strip():
            continue
        if len(fields) < len(header):
            raise BadFile(
                f"{where}: expected {len(header)} columns as in line 1, got {len(fields)}; correct the line"
            )
        if not (fields[places["premise"]].strip() or fields[places["hypothesis"]].strip()):
            raise BadFile(f"{where}: expected two sentences, got two empty ones; correct the line")
        given = fields[places["label"]].strip()
        named = _named(header, fields), fields[places["premise"]], fields[places["hypothesis"]]
        label = given.lower()
        if label == _NO_CONSENSUS:
            rows.append(_Row(number, *named, None, "", _PART in header))
            continue
        if label not in LABELS:
            raise BadFile(
                f"{where}: a label must be one of {', '.join(LABELS)}; got {given!r}; correct the line"
            )
        part = _part(header, fields, number - 2, where)
        rows.append(_Row(number, *named, LABELS.index(label), part, _PART in header))
    return rows


def _place(path: Path | str, header: Sequence[str], names: Sequence[str]) -> int:
    for name in names:
        if name in header:
            return header.index(name)
    raise BadFile(
        f"{path}:1: expected a first line of tab-separated names with a column {' or '.join(names)}, got "
        f"{header[:4]}; use SICK.txt or a file like SNLI's"
    )


def _part(header: Sequence[str], fields: Sequence[str], place: int, where: str) -> str:
    if _PART in header:
        given = fields[header.index(_PART)].strip()
        if given.lower() not in PARTS:
            raise BadFile(
                f"{where}: {_PART} must be one of TRAIN, TRIAL, TEST; got {given!r}; correct the line"
            )
        return PARTS[given.lower()]
    named = _named(header, fields)
    tenth = int(named[-1]) if named.isdecimal() else place % 10
    return "dev" if tenth == 7 else "test" if tenth > 7 else "train"


def _named(header: Sequence[str], fields: Sequence[str]) -> str:
    return next((fields[header.index(name)].strip() for name in _NUMBER if name in header), "")
