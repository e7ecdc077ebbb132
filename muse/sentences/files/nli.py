"""Natural language inference: files of sentence pairs labelled with whether the first entails the second."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile, Mismatch
from muse.files.columns import TableColumns, read_columns

log = logging.getLogger(__name__)

LABELS = ("entailment", "neutral", "contradiction")
_NUMBERS = {str(number): label for number, label in enumerate(LABELS)}  # as in datasets of Hugging Face
PARTS = {"train": "train", "trial": "dev", "dev": "dev", "test": "test"}
_NO_CONSENSUS = "-"  # SNLI's label if its annotators did not agree
_KNOWN = {
    **{label: label for label in (*LABELS, _NO_CONSENSUS)}, "": _NO_CONSENSUS, "-1": _NO_CONSENSUS,
    "contradictory": "contradiction", **_NUMBERS,
}  # fmt: skip
_COLUMNS = TableColumns(
    {
        "premise": ("sentence_A", "sentence1", "premise"),
        "hypothesis": ("sentence_B", "sentence2", "hypothesis"),
        "label": ("entailment_judgment", "gold_label", "entailment_label", "label"),
        "part": ("SemEval_set",),
        "number": ("pair_ID", "pairID"),
        "language": ("language",),
    },
    optional=("part", "number", "language"),
    looks={
        "label": lambda cell: cell.casefold() in _KNOWN and cell not in _NUMBERS,
        **dict.fromkeys(("part", "number", "language"), lambda cell: False),
    },
    advice="name the columns in a first row as SICK or SNLI does: gold_label, sentence1 and sentence2",
)  # fmt: skip


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

    def part(self, name: str) -> "Inference":
        """The pairs of one part, train, dev or test; Mismatch if there are none."""
        rows = zip(self.premises, self.hypotheses, self.labels, self.parts, strict=True)
        chosen = [row for row in rows if row[-1] == name]
        if not chosen:
            raise Mismatch(
                f"pairs of the {name} part are needed, found none; name the parts in a column SemEval_set, "
                "or, if no two share a sentence, number them: those that end in 8 or 9 are test, in 7 dev"
            )
        premises, hypotheses, labels, parts = zip(*chosen, strict=True)
        return Inference(premises, hypotheses, labels, parts, undecided=0)


class _Row(NamedTuple):
    """A pair as it is on a line of a file; its label is None if the annotators did not agree.

    `name` is its id in the file, "" if that has none; `given` says whether the file names its part.
    """

    where: str
    name: str
    premise: str
    hypothesis: str
    label: int | None
    part: str
    given: bool


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
        _check_same_rows(rows[language], rows[pivot])
        parts = (row.part for row in rows[pivot])
        own = [row._replace(part=part) for row, part in zip(rows[language], parts, strict=True)]
        found[language] = _inference(files[language], own)
    return found


def _check_parts(path: Path | str, rows: Sequence[_Row]) -> None:
    """Raise BadFile where parts by number share sentences; warn where parts that the file names do."""
    places: dict[str, dict[str, str]] = {part: {} for part in set(PARTS.values())}  # by bare sentence
    for row in (row for row in rows if row.label is not None):
        for sentence in (row.premise, row.hypothesis):
            places[row.part].setdefault(bare(sentence), row.where)
    for part, other in (("test", "train"), ("dev", "train"), ("test", "dev")):
        own, others = places[part], places[other]
        shared = [sentence for sentence in own if sentence in others]
        if not shared:
            continue
        found = (
            f"{len(shared)} of {len(own)} sentences of its {part} part are in its {other} part too "
            f"({shared[0][:60]!r}, {own[shared[0]]} and {others[shared[0]]})"
        )
        if all(row.given for row in rows):
            log.warning("%s: %s: what is measured on the %s part is too favourable", path, found, part)
            return
        raise BadFile(
            f"{own[shared[0]]}: parts must not share sentences, found that, by the last digit of the number, "
            f"{found}; name the file's own parts in a column SemEval_set: TRAIN, TRIAL or TEST"
        )


def bare(sentence: str) -> str:
    """A sentence without what does not make it another: case, spaces and a final full stop.

    >>> bare("A dog  runs .")
    'a dog runs'
    """
    found = " ".join(sentence.casefold().split())
    return found.rstrip(" .") or found


def _check_same_rows(rows: Sequence[_Row], originals: Sequence[_Row]) -> None:
    for row, own in zip(rows, originals, strict=False):
        labels = [_NO_CONSENSUS if one.label is None else LABELS[one.label] for one in (row, own)]
        for what, found, expected in (("pair", row.name, own.name), ("label", *labels)):
            if found != expected and found and expected:
                raise Mismatch(
                    f"{row.where}: expected the {what} {expected} as in {own.where}, got {found}; each row "
                    "must translate the same row"
                )
    if len(rows) != len(originals):
        first = max(rows, originals, key=len)[min(len(rows), len(originals))]
        raise Mismatch(
            f"{first.where}: expected as many rows in a translation, got {len(rows)} for {len(originals)}; "
            "this is the first without a counterpart: each row must translate the same row"
        )


def _inference(path: Path | str, rows: Sequence[_Row]) -> Inference:
    """The pairs of these rows that have a label; BadFile if there are none."""
    kept = [(row.premise, row.hypothesis, row.label, row.part) for row in rows if row.label is not None]
    if not kept:
        raise BadFile(f"{path}: expected pairs of sentences with labels, found none; check the file")
    premises, hypotheses, labels, parts = zip(*kept, strict=True)
    return Inference(premises, hypotheses, labels, parts, len(rows) - len(kept))


def _rows(path: Path | str) -> list[_Row]:
    rows, given, languages = list[_Row](), set[str](), set[str]()
    for place, (where, cells) in enumerate(read_columns(path, _COLUMNS)):
        *cells, language = map(str.strip, cells)
        languages.add(language)
        if len(languages) > 1:
            raise BadFile(
                f"{where}: expected pairs in one language, got {' and '.join(sorted(languages))}; put those "
                "of each language into a file of its own, with the first line"
            )
        given.add(cells[2])
        rows.append(_row(where, place, cells))
    if given & {*_NUMBERS}:
        log.warning("%s: its labels 0, 1 and 2 are read as %s", path, ", ".join(LABELS))
    if "" in given:
        log.warning("%s: the pairs without a label are left out", path)
    return rows


def _row(where: str, place: int, cells: Sequence[str]) -> _Row:
    premise, hypothesis, given, part, name = cells
    if not (premise or hypothesis):
        raise BadFile(f"{where}: expected two sentences, got two empty ones; correct the line")
    label = _KNOWN.get(given.casefold())
    if label is None:
        raise BadFile(f"{where}: a label must be one of {', '.join(LABELS)}; got {given!r}; correct the line")
    if part and part.casefold() not in PARTS:
        raise BadFile(
            f"{where}: SemEval_set must be one of TRAIN, TRIAL, TEST; got {part!r}; correct the line"
        )
    known = None if label == _NO_CONSENSUS else LABELS.index(label)
    tenth = int(name[-1]) if name.isdecimal() else place % 10
    made = PARTS[part.casefold()] if part else "dev" if tenth == 7 else "test" if tenth > 7 else "train"
    return _Row(where, name, premise, hypothesis, known, made, bool(part))
