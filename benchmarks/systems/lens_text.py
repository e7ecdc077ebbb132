"""The text of the benchmarks of lenses: what they learn from and are measured with."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable
from pathlib import Path

from benchmarks.support.sentence_sets import LASER, Aligned, retrieval_sets, training
from muse.files.nli import LABELS, read_nli
from muse.files.sentence_text import RatedSentences

_DIGITS = {"train": "0123456", "test": "89"}  # last ones of a pair's number, as read_nli splits SICK
_COLUMNS = ("sentence_A", "sentence_B", "entailment_judgment", "SemEval_set")
_NAMES = {"train": "TRAIN", "dev": "TRIAL", "test": "TEST"}


def tested(data: Path, language: str) -> Aligned:
    """LASER's set of a language."""
    return next(one for one in retrieval_sets(data, language) if LASER[language] in one.name)


def fresh_pairs(data: Path, language: str, seen: Collection[str]) -> list[tuple[str, str]]:
    """English sentences and their translations from the training text, neither of which is in `seen`."""
    text, seen = training(data, language), set(seen)
    pairs = zip(text.english, text.other, strict=True)
    return [pair for pair in pairs if seen.isdisjoint(pair)]


def write_pairs(pairs: Iterable[tuple[str, str]], path: Path) -> Path:
    """The path, to which the pairs were written as parallel text."""
    path.write_text("".join(f"{one}\t{two}\n" for one, two in pairs), encoding="utf-8")
    return path


def write_inferences(source: Path, most: int, path: Path) -> Path:
    """The path, to which a file of inferences was written with at most so many of its train part."""
    text = read_nli(source)
    left = most
    with path.open("w", encoding="utf-8") as file:
        file.write("\t".join(_COLUMNS) + "\n")
        for first, second, label, part in zip(
            text.premises, text.hypotheses, text.labels, text.parts, strict=True
        ):
            if part == "train":
                left -= 1
            if part != "train" or left >= 0:
                file.write("\t".join((first, second, LABELS[label], _NAMES[part])) + "\n")
    return path


def related(path: Path, part: str) -> RatedSentences:
    """SICK's pairs of a part, train or test, with the ratings of their relatedness, 1 to 5."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [
            (line["sentence_A"], line["sentence_B"], float(line["relatedness_score"]))
            for line in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if line["pair_ID"][-1] in _DIGITS[part]
        ]
    return RatedSentences(*zip(*rows, strict=True))
