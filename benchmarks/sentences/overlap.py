"""Test sentences that stand in training text, as they are or nearly.

    python -m benchmarks.sentences.overlap --out FILE.csv [--least 0.7] [--show N] [--shared ../shared]
    python -m benchmarks.sentences.overlap --out FILE.csv --table

Every test set under ../shared/data against every training text of the same language there: parallel text,
captions, novels, and the training parts of the tasks. A test sentence is found `exact` if a training sentence
has the same words in the same order, whatever the case and punctuation; it is found `near` if the sets of
words of the two have an overlap (intersection over union) of at least --least. `exact` ones are `near` too.
Sentences of fewer than three different words are left out of both: phrases such as "very good" are no leak.

Nothing is compared in vain: two sets with an overlap of t share one of the |x| - ceil(t |x|) + 1 rarest words
of each (prefix filtering: Chaudhuri et al., 2006; Bayardo et al., 2007), so these alone are indexed. The test
sets of a language are in one index, through which each training text goes once, on one core. --show prints
examples; the file has numbers alone, since the data are not ours.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, header, row, today
from muse.files.plain_text import read_lines

LEAST, FEWEST = 0.7, 3  # overlap; different words of a sentence
COLUMNS = (
    "test", "lang", "sentences", "training", "trained", "exact", "near", "near_percent", "least",
    "commit", "date",
)  # fmt: skip
_WORD, _END = re.compile(r"\w+"), re.compile(r"(?<=[.!?;:…»\"”])\s+")
_LASER = {"fr": "fra", "de": "deu", "it": "ita", "ru": "rus"}
_ORDERED = ("2012", "2013", "2014", "2015", "2016")
Words = tuple[str, ...]


class Source(NamedTuple):
    """A named text: its language, and how its sentences are read."""

    name: str
    lang: str
    read: Callable[[], Iterable[str]]


def tests(data: Path) -> Iterator[Source]:
    """All test sets, and those of cross-validation, which have no part of their own."""
    yield from _english_tests(data)
    for lang in ("en", "fr", "de", "it", "ru"):
        yield _rated(data / "sts" / f"stsb-{lang}-test.csv", lang)
    yield from _translated_tests(data)
    for lang in ("en", "fr", "de"):
        path = data / "parallel" / f"multi30k.test_2016_flickr.{lang}.gz"
        yield Source("multi30k.test", lang, _lines_of(path))
        for task in ("AM", "AC"):
            yield Source(task, lang, _lines_of(data / "transfer" / task / f"{lang}.txt"))


def _english_tests(data: Path) -> Iterator[Source]:
    for name in ("MR", "CR", "SUBJ", "MPQA", "SST2.test", "TREC.test", "MRPC.test"):
        yield _columns(data / "senteval" / f"{name}.tsv.gz", "en", [2, 1] if name[:4] == "MRPC" else [1])
    yield _columns(data / "nli" / "SICK.test.tsv.gz", "en", [1, 2])
    for year in _ORDERED:
        for path in sorted((data / "sts" / "semeval").glob(f"{year}.*.tsv.gz")):
            yield _columns(path, "en", [1, 2], f"STS {path.name.removesuffix('.tsv.gz')}")


def _translated_tests(data: Path) -> Iterator[Source]:
    for lang, name in _LASER.items():
        for side, language in (("eng", "en"), (name, lang)):
            path = data / "retrieval" / f"tatoeba.{name}-eng.{side}"
            yield Source(f"LASER {lang}-en", language, _lines_of(path))
    for lang in ("fr", "de"):
        path = data / "parallel" / f"tatoeba.en-{lang}.test.tsv.gz"
        for place, language in enumerate(("en", lang)):
            yield _columns(path, language, [place], f"tatoeba.en-{lang}.test")


def trainings(data: Path) -> Iterator[Source]:
    """All text that something is trained on."""
    for lang in ("fr", "de"):
        path = data / "parallel" / f"tatoeba.en-{lang}.train.tsv.gz"
        for place, language in enumerate(("en", lang)):
            yield _columns(path, language, [place], f"tatoeba.en-{lang}.train")
    for lang in ("en", "fr", "de"):
        yield Source("multi30k.train", lang, _lines_of(data / "parallel" / f"multi30k.train.{lang}.gz"))
        yield Source("novels", lang, _novels(data / "text" / f"novels.{lang}.tsv.gz"))
        yield _rated(data / "sts" / f"stsb-{lang}-train.csv.gz", lang)
    for part in ("train", "dev"):
        yield _columns(data / "nli" / f"SICK.{part}.tsv.gz", "en", [1, 2])
    for name in ("SST2.train", "TREC.train", "MRPC.train"):
        yield _columns(data / "senteval" / f"{name}.tsv.gz", "en", [2, 1] if name[:4] == "MRPC" else [1])


def _columns(path: Path, lang: str, places: Sequence[int], name: str = "") -> Source:
    def read() -> Iterator[str]:
        for line in read_lines(path):
            cells = line.split("\t")
            yield from (cells[place] for place in places if place < len(cells))

    return Source(name or path.name.removesuffix(".tsv.gz"), lang, read)


def _rated(path: Path, lang: str) -> Source:
    def read() -> Iterator[str]:
        for cells in csv.reader(f"{line}\n" for line in read_lines(path)):
            yield from cells[:2]

    return Source(path.name.partition(".")[0], lang, read)


def _lines_of(path: Path) -> Callable[[], Iterable[str]]:
    return lambda: read_lines(path)


def _novels(path: Path) -> Callable[[], Iterable[str]]:
    def read() -> Iterator[str]:
        for line in read_lines(path):
            yield from _END.split(line.partition("\t")[2])

    return read


def words(sentence: str) -> Words:
    """The words of a sentence, lower case, without punctuation.

    >>> words("The dog's -- BIG!")
    ('the', 'dog', 's', 'big')
    """
    return tuple(_WORD.findall(sentence.lower()))


class Index:
    """The sets of words of test sentences, by their rarest words."""

    def __init__(self, sentences: Iterable[Words], least: float) -> None:
        self.least = least
        self.sentences = sorted({one for one in sentences if len(set(one)) >= FEWEST})
        self.sets = [frozenset(one) for one in self.sentences]
        self.places = {one: place for place, one in enumerate(self.sentences)}
        self._often = Counter(word for one in self.sets for word in one)
        self._by_word = defaultdict[str, list[int]](list)
        for place, one in enumerate(self.sets):
            for word in self._rarest(one):
                self._by_word[word].append(place)

    def near(self, sentence: Words) -> Iterator[int]:
        """The places of those whose overlap with a sentence is large enough."""
        own = frozenset(sentence)
        if len(own) < FEWEST:
            return
        size, least = len(own), self.least
        for place in {place for word in self._rarest(own) for place in self._by_word.get(word, ())}:
            other = self.sets[place]
            if least * size <= len(other) <= size / least:
                both = len(own & other)
                if both >= least * (size + len(other) - both):
                    yield place

    def _rarest(self, own: frozenset[str]) -> list[str]:
        # Words that no test sentence has come first: as rare as can be, they index nothing.
        ordered = sorted(own, key=lambda word: (self._often.get(word, 0), word))
        return ordered[: len(own) - math.ceil(self.least * len(own) - 1e-9) + 1]


class Found(NamedTuple):
    """Of one training text, the places of test sentences found, each with a training sentence."""

    trained: int
    exact: set[int]
    near: dict[int, Words]


def search(index: Index, text: Iterable[str]) -> Found:
    """What of an index a training text has; equal training sentences are looked up once."""
    different = {words(sentence) for sentence in text}
    exact = {index.places[one] for one in different if one in index.places}
    near: dict[int, Words] = {}
    for one in different:
        for place in index.near(one):
            near.setdefault(place, one)
    return Found(len(different), exact, near)


def measured(asked: argparse.Namespace) -> Iterator[dict[str, object]]:
    """A row for each test set and each training text of its language."""
    data = asked.shared / "data"
    texts, sets = list(trainings(data)), list(tests(data))
    for lang in dict.fromkeys(text.lang for text in texts):
        members = {one.name: {words(line) for line in one.read()} for one in sets if one.lang == lang}
        index = Index((one for member in members.values() for one in member), asked.least)
        places = {
            name: {index.places[one] for one in member if one in index.places}
            for name, member in members.items()
        }
        for text in (text for text in texts if text.lang == lang):
            began, found = time.perf_counter(), search(index, text.read())
            print(f"{text.name} ({lang}): {time.perf_counter() - began:.1f} s", flush=True)
            for name, own in places.items():
                near = own & found.near.keys()
                yield {
                    "test": name, "lang": lang, "sentences": len(own), "training": text.name,
                    "trained": found.trained, "exact": len(own & found.exact), "near": len(near),
                    "near_percent": 100 * len(near) / max(len(own), 1), "least": f"{asked.least:g}",
                    "commit": commit(), "date": today(),
                }  # fmt: skip
                for place in sorted(near - found.exact)[: asked.show]:
                    print(f"  {name}: {' '.join(index.sentences[place])} | {' '.join(found.near[place])}")


def show(rows: Sequence[dict[str, str]]) -> None:
    """Prints a line a test set: in each training text, how many sentences are there exactly, and nearly."""
    texts = list(dict.fromkeys(one["training"] for one in rows))
    header(["test", "lang", "sentences", *texts])
    for name, lang in dict.fromkeys((one["test"], one["lang"]) for one in rows):
        mine = {one["training"]: one for one in rows if (one["test"], one["lang"]) == (name, lang)}
        row([name, lang, next(iter(mine.values()))["sentences"], *(_cell(mine.get(text)) for text in texts)])


def _cell(found: dict[str, str] | None) -> str:
    return "" if found is None else f"{found['exact']} / {found['near']}" if int(found["near"]) else "0"


def main() -> None:
    """Makes the file, or prints its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--least", type=float, default=LEAST, help="overlap of near-duplicates")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="examples of a pair of files")
    parser.add_argument("--table", action="store_true", help="print the table of the rows there are")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    if not asked.table:
        asked.out.unlink(missing_ok=True)
        append(asked.out, measured(asked), COLUMNS)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
