"""The sentence data under ../shared, for the benchmarks: what to learn from, and what to measure with."""

import argparse
import gzip
import random
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.files.plain_text import read_lines
from muse.sentences.files.sentence_text import read_parallel
from muse.space import Space

LASER = {"fr": "fra", "de": "deu", "it": "ita", "ru": "rus"}  # the names of Tatoeba
PIVOT = "en"


class Aligned(NamedTuple):
    """Sentences of a language and their translations into English, by line."""

    name: str
    other: list[str]
    english: list[str]

    def unseen(self, seen: "Aligned") -> NDArray[np.bool_]:
        """Whether each pair (p,) has no side that stands in `seen`, on its side."""
        other, english = set(seen.other), set(seen.english)
        pairs = zip(self.other, self.english, strict=True)
        return np.array([one not in other and two not in english for one, two in pairs], bool)


def beside_english(space: Space) -> str:
    """The language of a space that is not English, the first where there are several."""
    return next(name for name in space.languages if name != PIVOT)


class SpaceOf(NamedTuple):
    """One space, its two languages, and what is asked of it."""

    name: str
    space: Space
    asked: argparse.Namespace

    @property
    def other(self) -> str:
        """The language beside English."""
        return beside_english(self.space)


def training(data: Path, language: str) -> Aligned:
    """Tatoeba's training pairs, in random order, since the file has the short ones first; none without."""
    path = data / "parallel" / f"tatoeba.en-{language}.train.tsv.gz"
    if not path.exists():
        return Aligned("none", [], [])
    text = read_parallel(path, (PIVOT, language))
    order = np.random.default_rng(0).permutation(len(text.pivot)).tolist()
    sides = ([side[place] for place in order] for side in (text.other, text.pivot))
    return Aligned("tatoeba train", *sides)


def retrieval_sets(data: Path, language: str) -> list[Aligned]:
    """The test sets of a language and English that are there."""
    found = []
    name = LASER.get(language, language)
    sides = [data / "retrieval" / f"tatoeba.{name}-eng.{side}" for side in (name, "eng")]
    if sides[0].exists():
        found.append(Aligned(f"tatoeba.{name}-eng", *(list(read_lines(side)) for side in sides)))
    path = data / "parallel" / f"tatoeba.en-{language}.test.tsv.gz"
    if path.exists():
        text = read_parallel(path, (PIVOT, language))
        found.append(Aligned("tatoeba test", list(text.other), list(text.pivot)))
    sides = [data / "parallel" / f"multi30k.test_2016_flickr.{side}.gz" for side in (language, PIVOT)]
    if sides[0].exists():
        found.append(Aligned("multi30k test", *(list(read_lines(side)) for side in sides)))
    return found


def sample(path: Path, count: int, folder: Path) -> Path:
    """A file of so many lines of a compressed one, drawn at random."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        lines = stream.readlines()
    chosen = folder / f"{path.name}.{count}.tsv"
    chosen.write_text("".join(random.Random(0).sample(lines, min(count, len(lines)))), encoding="utf-8")
    return chosen
