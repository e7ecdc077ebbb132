"""The text of the benchmarks of lenses: what they learn from and are measured with."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from benchmarks.support.sentence_sets import LASER, Aligned, retrieval_sets, training
from muse.files.nli import LABELS, read_nli

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
