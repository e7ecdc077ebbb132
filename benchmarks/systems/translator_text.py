"""The text that benchmarks/systems/translator.py trains on: two languages that share no sentence pair.

Multi30k's captions and as many pairs of Tatoeba's training text (alone, twice as many), cut into two halves,
of which English has one side of the first and the other language the other side of the second; and sentences
of novels of each language, which are not translations. Sentences have at most 30 words. None is in a test
set, and none of one language has a translation in the other's text, by any pair.
"""

import gzip
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.systems.inference_text import PIVOT, Pairs, bare, one_line
from muse.files.plain_text import read_lines
from muse.sentences.files.sentence_text import read_parallel

LONGEST = 30  # words
HELD_OUT = 500  # pairs of a kind to choose settings by
TESTS = {"tatoeba": "tatoeba.{pair}.test.tsv.gz", "multi30k": "multi30k.test_2016_flickr.{language}.gz"}
_SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=\w)")
_FEWEST = 4  # words of a sentence of a novel


class Text(NamedTuple):
    """The files of English and of the other language, and pairs of neither: to learn from where some are."""

    english: Path
    other: Path
    pairs: Path


def written(
    data: Path,
    folder: Path,
    language: str,
    *,
    kinds: Sequence[str] = tuple(TESTS),
    novels: int,
    seed: int = 0,
) -> Text:
    """The files of the training text, of pairs of these kinds, written if they are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    text = Text(*(folder / f"{language}.{name}" for name in ("text.en", "text.other", "pairs.tsv")))
    if all(path.exists() for path in text):
        return text
    drawn = random.Random(seed)
    tests = [pair for name in TESTS for pair in test_pairs(data, language, name)]
    known = [{bare(pair[side]) for pair in tests} for side in (0, 1)]
    pairs = [pair for pair in _pairs(data, language, kinds, drawn) if not any(map(_in, pair, known))]
    half = len(pairs) // 2
    english = {one for one, _ in pairs[:half]}
    there = {bare(one) for one in english}
    banned = {bare(other) for one, other in pairs if bare(one) in there}
    other = {other for _, other in pairs[half:] if bare(other) not in banned}
    for path, name, side in ((text.english, PIVOT, english), (text.other, language, other)):
        lines = sorted(side) + _novels(data, name, novels, drawn)
        drawn.shuffle(lines)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    drawn.shuffle(pairs)
    text.pairs.write_text("".join(f"{one}\t{other}\n" for one, other in pairs[:10_000]), encoding="utf-8")
    return text


def test_pairs(data: Path, language: str, name: str) -> Pairs:
    """The pairs of a test set, English first."""
    path = data / "parallel" / TESTS[name]
    if name == "tatoeba":
        text = read_parallel(Path(str(path).format(pair=f"{PIVOT}-{language}")), (PIVOT, language))
        return list(zip(text.pivot, text.other, strict=True))
    sides = [list(read_lines(str(path).format(language=one))) for one in (PIVOT, language)]
    return list(zip(*sides, strict=True))


def held_out_pairs(data: Path, text: Text, language: str, name: str) -> Pairs:
    """Pairs to choose settings by, English first: neither side is in the text, and none is in a test set."""
    known = [{bare(line) for line in read_lines(path)} for path in text[:2]]
    known = [
        side | {bare(pair[place]) for test in TESTS for pair in test_pairs(data, language, test)}
        for place, side in enumerate(known)
    ]
    if name == "tatoeba":
        found = read_parallel(
            data / "parallel" / f"tatoeba.{PIVOT}-{language}.train.tsv.gz", (PIVOT, language)
        )
        pairs = list(zip(found.pivot, found.other, strict=True))
        random.Random(1).shuffle(pairs)
    else:
        sides = [read_lines(data / "parallel" / f"multi30k.val.{one}.gz") for one in (PIVOT, language)]
        pairs = list(zip(*sides, strict=True))
    return [pair for pair in pairs if not any(map(_in, pair, known))][:HELD_OUT]


def _pairs(data: Path, language: str, kinds: Sequence[str], drawn: random.Random) -> Pairs:
    captions = [read_lines(data / "parallel" / f"multi30k.train.{name}.gz") for name in (PIVOT, language)]
    text = read_parallel(data / "parallel" / f"tatoeba.{PIVOT}-{language}.train.tsv.gz", (PIVOT, language))
    described = list(zip(*captions, strict=True))
    count = len(described) * len(TESTS) // len(kinds)
    said = drawn.sample(list(zip(text.pivot, text.other, strict=True)), count)
    chosen = {"tatoeba": said, "multi30k": described}
    pairs = [(one_line(one), one_line(other)) for kind in reversed(kinds) for one, other in chosen[kind]]
    pairs = [pair for pair in dict.fromkeys(pairs) if all(0 < len(side.split()) <= LONGEST for side in pair)]
    drawn.shuffle(pairs)
    return pairs


def _novels(data: Path, language: str, count: int, drawn: random.Random) -> list[str]:
    found = list(dict.fromkeys(_sentences(data / "text" / f"novels.{language}.tsv.gz")))
    return drawn.sample(found, min(count, len(found)))


def _sentences(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            for sentence in _SENTENCE.split(line.partition("\t")[2]):
                words = sentence.split()
                if _FEWEST <= len(words) <= LONGEST:
                    yield " ".join(words)


def _in(sentence: str, known: set[str]) -> bool:
    return bare(sentence) in known
