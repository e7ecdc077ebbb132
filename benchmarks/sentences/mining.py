"""How well and how fast `muse mine` finds planted pairs: precision, recall, F1 and seconds.

    python -m benchmarks.sentences.mining --space FOLDER --out FILE.csv [--lang fr] [--size 50000]
        [--planted 2000] [--encoders "mean;idf;NAME=FOLDER"] [--scores margin,csls,cosine] [--threads N]
        [--shared ../shared]

Two texts of --size different sentences each, of which --planted translate each other, by Tatoeba's list; all
others are halves of pairs whose other half is not in the text. There are two such pairs of texts, without a
sentence in common: the threshold with the best F1 on the first, the development split, is carried to the
second, whose figures are the row's; `oracle` is the best F1 there, with a threshold of its own. In the second
is planted Tatoeba's test list, which no encoder was trained on. F1 has an interval, of the source sentences
drawn again. Weights are learned from pairs in neither.
Tatoeba's list is incomplete: some of what counts as wrong may well be right, so precision is a lower bound.
Every run is one `muse mine` in a process of its own; rows that the file has are not made again.
"""

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.support.kept_rows import append, interval_columns, read_rows, shown, with_interval
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_sets import PIVOT, retrieval_sets, training
from benchmarks.support.tables import commit, muse, today
from muse.evaluation.score import Interval
from muse.sentences.evaluation.retrieval import Judged

Pair = tuple[str, str]
COLUMNS = (
    "encoder", "score", "threshold", "precision", "recall", *interval_columns("f1"), "development_f1",
    "oracle_f1", "mined", "seconds", "commit", "date",
)  # fmt: skip


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


class Mined(NamedTuple):
    """Mined pairs, best first, with their scores (p,), and the pairs that were planted."""

    scores: np.ndarray
    pairs: list[Pair]
    planted: set[Pair]

    @classmethod
    def read(cls, path: Path, planted: set[Pair]) -> "Mined":
        """The pairs of a file that `muse mine` wrote."""
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        return cls(
            np.array([float(line[0]) for line in lines]), [(one, two) for _, one, two in lines], planted
        )

    def judged(self) -> Judged:
        """Which of them are right."""
        return Judged(self.scores, np.array([pair in self.planted for pair in self.pairs]), len(self.planted))

    def f1_interval(self, threshold: float, size: int) -> Interval:
        """The 95 % interval of F1 at a threshold; a source sentence, of `size`, is in one pair at most."""
        kept = self.pairs[: int((self.scores >= threshold).sum())]
        found, known = ({one for one, _ in pairs} for pairs in (kept, self.planted))
        right = {one for one, two in kept if (one, two) in self.planted}
        # Right, planted but mined with another, mined without a translation, not mined, and all others.
        kinds = [len(right), len((found & known) - right), len(found - known), len(known - found)]
        shares = np.array([*kinds, size - sum(kinds)]) / size
        drawn = np.random.default_rng(0).multinomial(size, shares, 2_000)  # (2000, 5)
        f1 = 200 * drawn[:, 0] / (drawn @ [2, 2, 1, 1, 0])
        low, high = np.percentile(f1, [2.5, 97.5]).tolist()
        return low, high


def measure(options: argparse.Namespace, splits: list[Split], folder: Path) -> None:
    """Makes the row of each encoder and score that the file lacks, and prints it."""
    done = {(one["encoder"], one["score"]) for one in read_rows(options.out)}
    fit = [part for name in (options.lang, PIVOT) for part in ("--fit", f"{name}={folder / name}.txt")]
    limits = [] if options.threads is None else ["--threads", str(options.threads)]
    languages = ["--src-lang", options.lang, "--tgt-lang", PIVOT]
    for encoder in options.encoders.split(";"):
        name, _, path = encoder.partition("=")
        for score in options.scores.split(","):
            if (name, score) in done:
                continue
            mined, seconds = [], 0.0
            for split in splits:
                out = folder / "out.tsv"
                run = muse(
                    "mine", options.space, *languages, "--source", split.source, "--target", split.target,
                    "--out", out, "--encoder", path or name, "--score", score, *fit, *limits,
                )  # fmt: skip
                mined.append(Mined.read(out, split.planted))
                seconds = run.seconds
            one = figures(mined, options.size)
            one |= {"encoder": name, "score": score, "seconds": seconds, "commit": commit(), "date": today()}
            append(options.out, [one], COLUMNS)
            print(*(shown(one[column], 1) for column in COLUMNS), flush=True)


def figures(mined: Sequence[Mined], size: int) -> dict[str, object]:
    """The figures of what was mined in the test split, by the best threshold of the development split."""
    (development, oracle), test = (one.judged().best() for one in mined), mined[1]
    found = test.judged().at(development.threshold)
    return {
        "threshold": f"{found.threshold:.3f}", "precision": found.precision, "recall": found.recall,
        **with_interval("f1", found.f1, test.f1_interval(found.threshold, size)),
        "development_f1": development.f1, "oracle_f1": oracle.f1, "mined": len(test.pairs),
    }  # fmt: skip


def main() -> None:
    """Makes the rows that are missing."""
    options = command_line(
        __doc__, space=NEEDED, out=NEEDED, lang="fr", size=50_000, planted=2_000, threads=int,
        encoders=("mean;idf", "with ; between; NAME=FOLDER of a trained one"), scores="margin,csls,cosine",
        shared=SHARED,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        measure(options, make_splits(options, Path(folder)), Path(folder))


if __name__ == "__main__":
    main()
