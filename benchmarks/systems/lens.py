"""Contextual lensing: match error by the number of training pairs, and a mining threshold carried over.

    python -m benchmarks.systems.lens --space fr-en=FOLDER [--space de-en=FOLDER] [--table match,threshold]
        [--pairs 3000,10000,30000,100000] [--seeds 0-2] [--kinds simple,gated] [--systems x-cbow,sp]
        [--shared ../shared]

match: of Tatoeba's test pairs, the percentage of sentences whose best match in the other language does not
translate them (Kiros, 2020, 4.5), both ways, by cosine and by ratio margin. All rows of a number of pairs
learn from the same ones, which have no sentence in common with the test; what chooses an epoch is held out of
them. Each cell is the mean over the seeds, and in brackets the figure of each.

threshold: mining, as in mining.py, among sentences that no lens was trained on. The threshold with
the best F1 on a development split of the first space serves the test split of the second, where `own` is that
of a development split of its own. Each space has its own lens, trained on as many pairs of its languages.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from benchmarks.sentences.mining import Pair, distinct_pairs
from benchmarks.support.options import REPEATED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.rotated import rotated
from benchmarks.support.sentence_sets import PIVOT, Aligned, retrieval_sets, training
from benchmarks.support.tables import header, heading, numbers, row
from muse.run.runtime import Runtime
from muse.search.retrieval import PairScore
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.retrieval import Judged, Queries, different, sentence_ranks
from muse.sentences.loading import load_encoder
from muse.sentences.mining import mine
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from muse.space import Space, load_space

HOW = {"cosine": PairScore("nn"), "margin": PairScore("margin", k=4)}
TAUGHT = 20_000  # sentences of each language that weights are learned from
PLANTED, LONELY = 1_000, 4_000  # lines of a text to mine: with a translation in the other text, and without


class Bench(NamedTuple):
    """One space, its language beside English, pairs to learn from, in random order, and those to test on."""

    space: Space
    other: str
    text: Aligned
    test: Aligned
    folder: Path

    def taught(self, count: int) -> Aligned:
        """The first pairs of the text."""
        return Aligned(str(count), self.text.other[:count], self.text.english[:count])

    def lens(self, kind: str, count: int, seed: int, **more: int) -> SentenceEncoder:
        """The small preset's lens of that kind, trained on this number of pairs."""
        request = TrainingRequest(
            self.space, self.other, self._out(kind, count, seed), parallel=(self._file(count),),
            settings={"kind": kind}, seed=seed, trainer=more,
        )  # fmt: skip
        return train_system("lens", request, Runtime()).encoder

    def untrained(self, kind: str, seed: int) -> SentenceEncoder:
        """The same before it has learned."""
        return self.lens(kind, TWIN, seed, epochs=0)

    def trained(self, system: str, count: int, seed: int) -> SentenceEncoder:
        """Another system with all its defaults."""
        out = self._out(system, count, seed)
        request = TrainingRequest(self.space, self.other, out, parallel=(self._file(count),), seed=seed)
        return train_system(system, request, Runtime()).encoder

    def weighted(self, name: str, count: int) -> SentenceEncoder:
        """An encoder whose weights, if any, are learned from both sides of this number of pairs."""
        encoder, taught = load_encoder(name, self.space), self.taught(count)
        return encoder.fit(taught.other, self.other).fit(taught.english, PIVOT)

    def rotated(self, count: int) -> SentenceEncoder:
        """An idf encoder with a rotation learned from `count` pairs."""
        taught = self.taught(count)
        return rotated(self.weighted("idf", count), taught.other, taught.english, (self.other, PIVOT))

    def _file(self, count: int) -> Path:
        path, taught = self.folder / f"{self.other}.{count}.tsv", self.taught(count)
        lines = (f"{one}\t{two}\n" for one, two in zip(taught.english, taught.other, strict=True))
        path.write_text("".join(lines), encoding="utf-8")
        return path

    def _out(self, name: str, count: int, seed: int) -> Path:
        return self.folder / f"{self.other}.{name}.{count}.{seed}"


TWIN = 100  # pairs that an untrained lens is shown, and does not look at


def open_bench(name: str, folder: Path, data: Path, work: Path) -> Bench:
    """The space of a name such as fr-en, and Tatoeba's text without a sentence of its test."""
    other = name.partition("-")[0]
    test = next(one for one in retrieval_sets(data, other) if one.name == "tatoeba test")
    text = training(data, other)
    fresh = np.flatnonzero(text.unseen(test)).tolist()
    text = Aligned(text.name, [text.other[i] for i in fresh], [text.english[i] for i in fresh])
    return Bench(load_space(folder), other, text, test, work)


def match_errors(encoder: SentenceEncoder, bench: Bench) -> list[float]:
    """The match error from the other language and into it, by cosine, then by margin."""
    sides = ((bench.other, bench.test.other), (PIVOT, bench.test.english))
    both = [_queries(encoder, *way) for way in (sides, sides[::-1])]
    return [100 * float((sentence_ranks(way, how) > 1).mean()) for how in HOW.values() for way in both]


def _queries(encoder: SentenceEncoder, *sides: tuple[str, Sequence[str]]) -> Queries:
    (source, queries), (target, translations) = sides
    targets, gold = different(translations)
    return Queries(encoder.encode(queries, source).matrix, encoder.encode(targets, target).matrix, gold)


class Row(NamedTuple):
    """The number of pairs, the name, and what makes the encoder, once for each seed."""

    pairs: str
    name: str
    makers: Sequence[Callable[[], SentenceEncoder]]


def match_rows(bench: Bench, asked: argparse.Namespace) -> Iterator[Row]:
    """The rows of the table of match errors, those that learn from no pairs first."""
    kinds, seeds = list(filter(None, asked.kinds.split(","))), numbers(asked.seeds)
    for name in ("mean", "sif"):
        yield Row("none", name, [partial(bench.weighted, name, TAUGHT)])
    for kind in kinds:
        yield Row(
            "none", f"lens, {kind}, untrained", [partial(bench.untrained, kind, seed) for seed in seeds]
        )
    for count in numbers(asked.pairs):
        pairs = f"{count:,}"
        yield Row(pairs, "idf+procrustes", [partial(bench.rotated, count)])
        for system in filter(None, asked.systems.split(",")):
            yield Row(pairs, system, [partial(bench.trained, system, count, seed) for seed in seeds])
        for kind in kinds:
            yield Row(pairs, f"lens, {kind}", [partial(bench.lens, kind, count, seed) for seed in seeds])


def match(benches: Sequence[Bench], asked: argparse.Namespace) -> None:
    """Prints the table of match errors in the first space."""
    bench = benches[0]
    heading(f"Match error, {bench.other}-{PIVOT}, {len(bench.test.other)} held-out Tatoeba pairs")
    ways = (f"{bench.other} to {PIVOT}", f"{PIVOT} to {bench.other}")
    header(("pairs", "encoder", *(f"{how}, {way}" for how in HOW for way in ways), "mean, margin", "seconds"))
    for pairs, name, makers in match_rows(bench, asked):
        began = time.perf_counter()
        found = [match_errors(make(), bench) for make in makers]
        seconds = (time.perf_counter() - began) / len(makers)
        columns = [*zip(*found, strict=True), [(each[2] + each[3]) / 2 for each in found]]
        row([pairs, name, *map(averaged, columns), round(seconds)])


def averaged(figures: Sequence[float]) -> str:
    """37.1 (36.9, 37.3)."""
    each = ", ".join(f"{figure:.1f}" for figure in figures)
    return f"{np.mean(figures):.1f}" + (f" ({each})" if len(figures) > 1 else "")


class Texts(NamedTuple):
    """A text of the other language and one of English, and which pairs of lines translate each other."""

    other: list[str]
    english: list[str]
    known: set[Pair]


def make_texts(bench: Bench, trained: int) -> tuple[Texts, Texts]:
    """The development split, planted with pairs after the trained ones, and the test, with the test pairs."""
    rng = random.Random(0)
    test = distinct_pairs(list(zip(bench.test.other, bench.test.english, strict=True)), rng)[:PLANTED]
    left = distinct_pairs(
        list(zip(bench.text.other[trained:], bench.text.english[trained:], strict=True)), rng
    )
    if len(left) < PLANTED + 2 * LONELY:
        raise SystemExit(
            f"{PLANTED + 2 * LONELY} pairs beside the trained ones are needed, {len(left)} are left"
        )
    planted, left = left[:PLANTED], left[PLANTED:]
    halves = left[:LONELY], left[LONELY : 2 * LONELY]
    # What a lonely half lacks in one split is in the other: neither has both halves of its pair.
    return planted_among(planted, *halves), planted_among(test, *halves[::-1])


def planted_among(pairs: list[Pair], one: list[Pair], two: list[Pair]) -> Texts:
    """The pairs, and the first halves of some others and the second halves of yet others."""
    return Texts([pair[0] for pair in (*pairs, *one)], [pair[1] for pair in (*pairs, *two)], set(pairs))


def mined(encoder: SentenceEncoder, texts: Texts, other: str) -> Judged:
    """What mining by the ratio margin finds."""
    found = mine(encoder.encode(texts.other, other).matrix, encoder.encode(texts.english, PIVOT).matrix)
    pairs = ((texts.other[one], texts.english[two]) for one, two in found.pairs)
    return Judged(found.scores, np.array([pair in texts.known for pair in pairs]), len(texts.known))


def threshold(benches: Sequence[Bench], asked: argparse.Namespace) -> None:
    """Prints what a threshold of the first space is worth in the second."""
    count = asked.threshold_pairs
    first, second = benches
    splits = [make_texts(bench, count) for bench in benches]
    heading(f"Mining by ratio margin, {PLANTED} of {PLANTED + LONELY} lines: the threshold carried")
    header((
        "encoder", "seed", f"threshold {first.other}-{PIVOT}", f"F1 {first.other}-{PIVOT}",
        f"own threshold {second.other}-{PIVOT}", "F1 by it", "F1 by the carried", "loss", "best F1 of all",
    ))  # fmt: skip
    kinds, seeds = asked.kinds.split(","), numbers(asked.seeds)
    makers = [(seed, methodcaller("lens", kind, count, seed)) for seed in seeds for kind in kinds]
    for seed, make in [(0, methodcaller("weighted", "mean", 0)), *makers]:
        encoders = [make(bench) for bench in benches]
        there, tested = (mined(encoders[0], texts, first.other) for texts in splits[0])
        own, other = (mined(encoders[1], texts, second.other) for texts in splits[1])
        carried, tuned = there.best().threshold, own.best().threshold
        by_own, by_carried = other.at(tuned).f1, other.at(carried).f1
        row([
            encoders[0].name, seed, f"{carried:.3f}", tested.at(carried).f1, f"{tuned:.3f}", by_own,
            by_carried, by_own - by_carried, other.best().f1,
        ])  # fmt: skip


TABLES = {"match": match, "threshold": threshold}


def main() -> None:
    """Prints the tables."""
    asked = command_line(
        __doc__, space=(REPEATED, "fr-en=FOLDER"), table=",".join(TABLES), pairs="3000,10000,30000,100000",
        threshold_pairs=30_000, seeds="0-2", kinds="simple,gated",
        systems=("x-cbow,sp", "trained beside the lenses"), threads=int, shared=SHARED,
    )  # fmt: skip
    if asked.threads:
        torch.set_num_threads(asked.threads)
    with tempfile.TemporaryDirectory() as folder:
        named = [space.partition("=")[::2] for space in asked.space]
        benches = [open_bench(name, Path(at), asked.shared / "data", Path(folder)) for name, at in named]
        for name in asked.table.split(","):
            TABLES[name](benches, asked)


if __name__ == "__main__":
    main()
