"""The text that systems are trained on: captions and everyday sentences of three languages.

Multi30k's training captions and as many pairs of Tatoeba's training text, drawn by a seed, as parallel text
of English with each language; and the same sentences of each language, in an order of their own, as plain
text.
No sentence of either is one of SICK's, whatever its case and punctuation.
"""

import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks.support.sick import official
from muse.files.plain_text import read_lines
from muse.sentences.files.nli import read_nli
from muse.sentences.files.sentence_text import read_parallel

PIVOT, OTHERS = "en", ("fr", "de")
Pairs = list[tuple[str, str]]


class Text(NamedTuple):
    """The files of plain and of parallel text by language."""

    plain: dict[str, Path]
    parallel: dict[str, Path]


def written(data: Path, folder: Path, tatoeba: int, seed: int = 0) -> Text:
    """The files of the training text, written if they are not there yet."""
    plain = {name: folder / f"text.{name}.txt" for name in (PIVOT, *OTHERS)}
    parallel = {name: folder / f"parallel.{PIVOT}-{name}.tsv" for name in OTHERS}
    if all(path.exists() for path in (*plain.values(), *parallel.values())):
        return Text(plain, parallel)
    sick = read_nli(official(data))
    known = {bare(sentence) for sentence in (*sick.premises, *sick.hypotheses)}
    drawn = random.Random(seed)
    sentences: dict[str, set[str]] = {name: set() for name in plain}
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in parallel.items():
        pairs = [pair for pair in _pairs(data, name, tatoeba, drawn) if bare(pair[0]) not in known]
        drawn.shuffle(pairs)
        _write(path, ("\t".join(pair) for pair in pairs))
        for language, side in zip((PIVOT, name), zip(*pairs, strict=True), strict=True):
            sentences[language].update(side)
    for language, path in plain.items():
        shuffled = sorted(sentences[language])
        drawn.shuffle(shuffled)
        _write(path, shuffled)
    return Text(plain, parallel)


def _pairs(data: Path, language: str, tatoeba: int, drawn: random.Random) -> Pairs:
    captions = [read_lines(data / "parallel" / f"multi30k.train.{name}.gz") for name in (PIVOT, language)]
    text = read_parallel(data / "parallel" / f"tatoeba.{PIVOT}-{language}.train.tsv.gz", (PIVOT, language))
    pairs = list(zip(text.pivot, text.other, strict=True))
    chosen = [*zip(*captions, strict=True), *drawn.sample(pairs, min(tatoeba, len(pairs)))]
    return [(one_line(first), one_line(second)) for first, second in chosen]


def bare(sentence: str) -> str:
    """The words of a sentence, in lower case."""
    return " ".join(re.findall(r"\w+", sentence.lower()))


def one_line(sentence: str) -> str:
    """A sentence without line ends and repeated spaces."""
    return " ".join(sentence.split())


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
