"""Binary codes of sentences: how fast and how small a search by bits is, and what it costs in P@1.

    python -m benchmarks.systems.lens_bits --space FOLDER --out FILE.csv [--encoders "mean;ENCODER-FOLDER"]
        [--codes "binary;binary[0.05]"] [--sentences 100000] [--repeat 3] [--shared ../shared]

The queries are LASER's sentences of the space's other language, the targets their translations among so many
English sentences of the training text. +binary has its means from 5,000 other sentences of that text in each
language; binary[T] is 1 above T and 0 elsewhere. Searches, one thread of faiss:
    product   inner product of unit rows of float32 (IndexFlatIP)
    hamming   the fewest bits that differ (IndexBinaryFlat)
    cosine    the 100 best by hamming, by the cosine of their bits, which needs no more than counts of them
Of +binary the last two are one order. Seconds are the least of --repeat, for all queries; ties count as
wrong. One row an encoder, code and search is appended to FILE.csv; rows that are there are not made again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import faiss
import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.support.kept_rows import append, interval_columns, read_rows, with_interval
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_search import TAUGHT
from benchmarks.support.sentence_sets import PIVOT, beside_english, training
from benchmarks.support.tables import commit, today
from benchmarks.systems.lens_text import tested
from muse.evaluation.score import Hits, bootstrap_interval
from muse.sentences.encoders.composed import Corrected
from muse.sentences.encoders.corrections import Correction
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.retrieval import different
from muse.sentences.loading import load_encoder, parsed
from muse.space import load_space
from muse.vectors import Matrix

KEY = ("encoder", "code", "search", "targets")
COLUMNS = (
    *KEY, "bits", "bytes", "on", "queries", "seconds", *interval_columns("p_at_1"), "lost", "commit", "date",
)  # fmt: skip
CANDIDATES = 100
Indices = NDArray[np.int64]
Bits = NDArray[np.uint8]


class Found(NamedTuple):
    """The best target (q,) of each query, and whether it is better than all others (q,)."""

    best: Indices
    alone: Hits


Search = Callable[[], Found]


def by_product(queries: Matrix, targets: Matrix) -> Search:
    """A search by the inner product of unit rows (q, d) and (m, d)."""
    index = faiss.IndexFlatIP(queries.shape[1])
    index.add(unit(targets))
    x = unit(queries)

    def search() -> Found:
        scores, found = index.search(x, 2)
        return Found(found[:, 0], scores[:, 0] > scores[:, 1])

    return search


def by_hamming(queries: Bits, targets: Bits) -> Search:
    """A search by the number of bits that differ, of packed rows (q, bytes) and (m, bytes)."""
    index = faiss.IndexBinaryFlat(8 * queries.shape[1])
    index.add(targets)

    def search() -> Found:
        distances, found = index.search(queries, 2)
        return Found(found[:, 0], distances[:, 0] < distances[:, 1])

    return search


def by_cosine(queries: Bits, targets: Bits) -> Search:
    """A search by the cosine of bits, 1 or 0, of the best by hamming.

    Of bits a and b that are on, and h that differ, a + b - h are twice those on in both.
    """
    index = faiss.IndexBinaryFlat(8 * queries.shape[1])
    index.add(targets)
    a, b = on(queries), on(targets)
    k = min(CANDIDATES, len(targets))

    def search() -> Found:
        distances, found = index.search(queries, k)  # (q, k)
        cosines = (a[:, None] + b[found] - distances) / np.sqrt(np.maximum(a[:, None] * b[found], 1))
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :2]
        first, second = np.take_along_axis(cosines, order, axis=1).T
        return Found(np.take_along_axis(found, order[:, :1], axis=1)[:, 0], first > second)

    return search


def unit(rows: Matrix) -> Matrix:
    """The rows (n, d) with length 1; zeros stay so."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths, lengths, 1), np.float32)


def packed(rows: Matrix) -> Bits:
    """Eight columns (n, d) a byte (n, bytes), 1 where they are above 0."""
    return np.packbits(rows > 0, axis=1)


def on(bits: Bits) -> Indices:
    """How many bits of each row (n, bytes) are on (n,)."""
    found: Indices = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    return found


def searches(code: str, queries: Matrix, targets: Matrix) -> dict[str, Search]:
    """The searches of a code by name; rows as they are have the product alone."""
    if not code:
        return {"product": by_product(queries, targets)}
    bits = packed(queries), packed(targets)
    found = {"hamming": by_hamming(*bits)}
    if "[" in code:
        found["cosine"] = by_cosine(*bits)
    return found


def timed(search: Search, repeat: int) -> tuple[Found, float]:
    """What a search finds, and the least seconds it took."""
    seconds = []
    for _ in range(repeat):
        began = time.perf_counter()
        found = search()
        seconds.append(time.perf_counter() - began)
    return found, min(seconds)


class Texts(NamedTuple):
    """The queries, the targets, the place (q,) of each query's translation, and text to learn means from."""

    language: str
    queries: list[str]
    targets: list[str]
    gold: Indices
    taught: dict[str, list[str]]


def texts(data: Path, language: str, sentences: int) -> Texts:
    """LASER's pairs, among English sentences of the training text."""
    text, test = training(data, language), tested(data, language)
    taught = {language: text.other[-TAUGHT:], PIVOT: text.english[-TAUGHT:]}
    targets, places = different([*test.english, *text.english[:-TAUGHT]])
    count = max(sentences, int(places[: len(test.english)].max()) + 1)
    return Texts(language, test.other, targets[:count], places[: len(test.english)], taught)


def rows_of(
    name: str, encoder: SentenceEncoder, known: Texts, asked: argparse.Namespace
) -> Iterator[dict[str, object]]:
    """A row for every code and search."""
    best = float("nan")
    for code in ("", *filter(None, asked.codes.split(";"))):
        made = encoder
        if code:
            made = Corrected(encoder, Correction.parse(*parsed(code)[0]))
            for language, sentences in known.taught.items():
                made = made.fit(sentences, language)
        queries = made.encode(known.queries, known.language).matrix
        targets = made.encode(known.targets, PIVOT).matrix
        for way, search in searches(code, queries, targets).items():
            found, seconds = timed(search, asked.repeat)
            hits = (found.best == known.gold) & found.alone & queries.any(axis=1)
            value = 100 * float(hits.mean())
            best = value if not code else best
            interval = bootstrap_interval(hits, np.random.default_rng(0))
            yield {
                "encoder": name, "code": code or "float32", "search": way, "targets": len(targets),
                "bits": 32 * targets.shape[1] if not code else targets.shape[1],
                "bytes": 4 * targets.shape[1] if not code else packed(targets[:1]).shape[1],
                "on": 100 * float((targets > 0).mean()), "queries": len(hits), "seconds": f"{seconds:.3f}",
                **with_interval("p_at_1", value, interval), "lost": best - value,
                "commit": commit(), "date": today(),
            }  # fmt: skip


def main() -> None:
    """Appends the rows of the encoders that the file lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--encoders", default="mean", help="names or folders, with ; between")
    parser.add_argument("--codes", default="binary;binary[0.05]", help="with ; between")
    parser.add_argument("--sentences", type=int, default=100_000, help="targets, those of the test included")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    space = load_space(asked.space)
    known = texts(asked.shared / "data", beside_english(space), asked.sentences)
    done = {tuple(one[name] for name in KEY) for one in read_rows(asked.out)}
    for name in asked.encoders.split(";"):
        encoder = load_encoder(name, space)
        for one in rows_of(encoder.name, encoder, known, asked):
            if tuple(str(one[name]) for name in KEY) not in done:
                append(asked.out, [one], COLUMNS)
                print(*one.values(), flush=True)


if __name__ == "__main__":
    main()
