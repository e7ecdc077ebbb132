"""Sentences for any_space_rows.py: of translations, captions, similarity pairs and novels."""

import csv
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from muse.files.plain_text import read_lines

WORDS = range(4, 31)  # of a sentence from a novel
SENTENCES = 230_000
EVALUATED = 8_192
_END = re.compile(r"(?<=[.!?])[\"”’']*\s+(?=[“‘\"']?[A-ZÀÉ])")


def _similar(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            yield from row[:2]


def novels(path: Path) -> Iterator[str]:
    """The sentences of 4 to 30 words of a file of novels."""
    for line in read_lines(path):
        for sentence in _END.split(line.split("\t", 1)[1]):
            if len(sentence.split()) in WORDS:
                yield sentence


def _english(data: Path) -> Iterator[str]:
    for language in ("fr", "de"):
        for line in read_lines(data / f"parallel/tatoeba.en-{language}.train.tsv.gz"):
            yield line.split("\t")[0]
    yield from read_lines(data / "parallel/multi30k.train.en.gz")
    yield from _similar(data / "sts/stsb-en-dev.csv")
    yield from _similar(data / "sts/stsb-en-test.csv")
    yield from novels(data / "text/novels.en.tsv.gz")


def _french(data: Path) -> Iterator[str]:
    for line in read_lines(data / "parallel/tatoeba.en-fr.train.tsv.gz"):
        yield line.split("\t")[1]
    yield from novels(data / "text/novels.fr.tsv.gz")


def _drawn(sentences: Iterable[str]) -> list[str]:
    # Each once, whatever its case; shuffled, so that every stretch of them is a sample of all.
    once: dict[str, str] = {}
    for sentence in sentences:
        tidy = " ".join(sentence.split())
        once.setdefault(tidy.lower(), tidy)
    kept = [sentence for sentence in once.values() if sentence]
    random.Random(0).shuffle(kept)
    return kept[:SENTENCES]


def english(shared: Path) -> list[str]:
    """The English sentences: 8,192 for evaluation, then by turns one for space A and one for space B."""
    return _drawn(_english(shared / "data"))


def french(shared: Path) -> list[str]:
    """French sentences of translations and novels."""
    return _drawn(_french(shared / "data"))


def translations(shared: Path) -> tuple[list[str], list[str]]:
    """English sentences and their French translations, each sentence in one pair alone, shuffled."""
    pairs: dict[str, str] = {}
    known: set[str] = set()
    for line in read_lines(shared / "data/parallel/tatoeba.en-fr.train.tsv.gz"):
        one, other = (" ".join(side.split()) for side in line.split("\t")[:2])
        if one.lower() not in pairs and other.lower() not in known:
            pairs[one.lower()] = f"{one}\t{other}"
            known.add(other.lower())
    drawn = [pair.split("\t") for pair in pairs.values()]
    random.Random(0).shuffle(drawn)
    return [one for one, _ in drawn], [other for _, other in drawn]
