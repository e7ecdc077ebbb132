"""How well and how fast `muse mine` finds planted pairs: precision, recall, F1 and seconds.

    python -m benchmarks.sentences.mining --space fr-en=FOLDER [--lang fr] [--size 50000] [--planted 2000]
        [--encoders "mean;idf"] [--scores margin,csls,cosine] [--threads N] [--shared ../shared]

Two texts of --size different sentences each, of which --planted translate each other, by Tatoeba's list; all
others are halves of pairs whose other half is not in the text. There are two such pairs of texts, without a
sentence in common: the threshold with the best F1 on the first, the development split, is carried to the
second, whose figures are the row's; `oracle` is the best F1 there, with a threshold of its own. In the second
is planted Tatoeba's test list, which no encoder was trained on. Weights are learned from pairs in neither.
Tatoeba's list is incomplete: some of what counts as wrong may well be right, so precision is a lower bound.
Every run is one `muse mine` in a process of its own.
"""

import argparse
import random
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_sets import PIVOT, retrieval_sets, training
from benchmarks.support.tables import header, heading, muse, row
from muse.sentences.evaluation.retrieval import Judged

Pair = tuple[str, str]


class Split(NamedTuple):
    """A text of each language, and the pairs that were planted in them."""

    source: Path
    target: Path
    planted: set[Pair]


def distinct_pairs(pairs: list[Pair], rng: random.Random) -> list[Pair]:
    """The pairs in random order, less those with a side that came before."""
    rng.shuffle(pairs)
    seen: tuple[set[str], set[str]] = (set(), set())
    found = []
    for pair in pairs:
        if all(text.strip() and text not in side for text, side in zip(pair, seen, strict=True)):
            found.append(pair)
        for text, side in zip(pair, seen, strict=True):
            side.add(text)
    return found


def write_text(path: Path, sentences: list[str]) -> Path:
    """The file, a sentence a line."""
    path.write_text("".join(f"{line}\n" for line in sentences), encoding="utf-8")
    return path


def make_split(
    planted: list[Pair], lonely: tuple[list[Pair], list[Pair]], folder: Path, rng: random.Random
) -> Split:
    """The texts of the planted pairs, the first halves of some lonely pairs and the second of others."""
    folder.mkdir()
    source = [one for one, _ in (*planted, *lonely[0])]
    target = [two for _, two in (*planted, *lonely[1])]
    rng.shuffle(source)
    rng.shuffle(target)
    paths = (write_text(folder / "source.txt", source), write_text(folder / "target.txt", target))
    return Split(*paths, set(planted))


def make_splits(options: argparse.Namespace, folder: Path) -> list[Split]:
    """The development split and the test split; and, in the folder, text to learn weights from."""
    rng = random.Random(0)
    data = options.shared / "data"
    tests = [one for one in retrieval_sets(data, options.lang) if one.name == "tatoeba test"]
    test = distinct_pairs([pair for one in tests for pair in zip(one.other, one.english, strict=True)], rng)
    test = test[: options.planted]
    text = training(data, options.lang)
    banned = tuple({pair[side] for pair in test} for side in (0, 1))
    pairs = distinct_pairs(
        [
            pair
            for pair in zip(text.other, text.english, strict=True)
            if pair[0] not in banned[0] and pair[1] not in banned[1]
        ],
        rng,
    )
    lonely = options.size - options.planted
    ends = (options.planted, options.planted + lonely, options.planted + 2 * lonely)
    if len(pairs) < ends[2]:
        raise SystemExit(f"{ends[2]} different pairs are needed, {len(pairs)} are there: lower --size")
    planted, some, others = pairs[: ends[0]], pairs[ends[0] : ends[1]], pairs[ends[1] : ends[2]]
    for side, name in enumerate((options.lang, PIVOT)):
        write_text(folder / f"{name}.txt", [pair[side] for pair in pairs[ends[2] :]])
    # What a lonely half lacks in one split is in the other: neither has both halves of its pair.
    return [
        make_split(planted, (some, others), folder / "development", rng),
        make_split(test, (others, some), folder / "test", rng),
    ]


def read_mined(path: Path, planted: set[Pair]) -> Judged:
    """What a file of mined pairs has of the planted ones."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    scores = np.array([float(score) for score, _, _ in lines])
    return Judged(scores, np.array([(one, two) in planted for _, one, two in lines], bool), len(planted))


def measure(options: argparse.Namespace, space: Path, splits: list[Split], folder: Path) -> None:
    """Prints a row for each encoder and score."""
    fit = [part for name in (options.lang, PIVOT) for part in ("--fit", f"{name}={folder / name}.txt")]
    limits = [] if options.threads is None else ["--threads", str(options.threads)]
    languages = ["--src-lang", options.lang, "--tgt-lang", PIVOT]
    for encoder in options.encoders.split(";"):
        for score in options.scores.split(","):
            mined, seconds = [], 0.0
            for split in splits:
                out = folder / "out.tsv"
                done = muse(
                    "mine", space, *languages, "--source", split.source, "--target", split.target,
                    "--out", out, "--encoder", encoder, "--score", score, *fit, *limits,
                )  # fmt: skip
                mined.append(read_mined(out, split.planted))
                seconds = done.seconds
            development, oracle = (one.best() for one in mined)
            found = mined[1].at(development.threshold)
            row([encoder, score, f"{found.threshold:.3f}", found.precision, found.recall, found.f1,
                 development.f1, oracle.f1, len(mined[1].scores), seconds])  # fmt: skip


def main() -> None:
    """Prints the table."""
    options = command_line(
        __doc__, space=(NEEDED, "fr-en=FOLDER"), lang="fr", size=50_000, planted=2_000, threads=int,
        encoders=("mean;idf", "with ; between; folders too"), scores="margin,csls,cosine", shared=SHARED,
    )  # fmt: skip
    name, _, space = str(options.space).partition("=")
    heading(f"Mining, {name}: {options.planted} pairs planted in 2 x {options.size} sentences")
    header(("encoder", "score", "threshold", "precision", "recall", "F1", "development F1", "oracle F1",
            "mined", "seconds"))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        splits = make_splits(options, Path(folder))
        measure(options, Path(space), splits, Path(folder))


if __name__ == "__main__":
    main()
