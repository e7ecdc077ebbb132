"""Language vectors: how far apart the languages of a joint space are, before and after a lens.

    python -m benchmarks.systems.lens_language_vectors --joint FOLDER --out FILE.csv [--read fr,de]
        [--trained fr]
        [--core NAME=FOLDER] [--objectives mean,untrained,nli,ranker] [--kinds simple,gated] [--seeds 0]
        [--pairs 30000] [--inferences N] [--epochs 10] [--vectors FILE.npz] [--shared ../shared]

The vector of a language is the variance of each column of its sentences' unit rows (Kiros, 2020, 4.6), here
of LASER's Tatoeba sentences; those of English are beside --trained. Distances of two such vectors are
Euclidean, as t-SNE has them, in thousandths, and 1 less their cosine, in percent. They are also those of a
language to itself: of one random half of its sentences to the other, which is what chance makes of them. A
lens is one of lens_core.py, trained on English and --trained. One row a core, objective, kind, seed and pair
of languages is appended to FILE.csv; rows that are there are not made again. --vectors has the vectors of the
lenses that were made.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_sets import PIVOT
from benchmarks.support.sick import official
from benchmarks.support.tables import commit, today
from benchmarks.systems.lens_core import OBJECTIVES, Lessons, named, some_of, variants
from benchmarks.systems.lens_text import tested
from benchmarks.systems.lens_training import WORDS, opened, reads
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.systems.lens.lens_system import KINDS
from muse.space import load_space
from muse.vectors import Matrix

KEY = ("core", "objective", "kind", "seed", "pairs", "epochs")
COLUMNS = (*KEY, "first", "second", "sentences", "euclidean", "cosine", "commit", "date")
Numbers = NDArray[np.float64]


def language_vector(rows: Matrix) -> Numbers:
    """The variance (d,) of each column of rows (n, d) scaled to unit length; empty ones are left out."""
    full = rows[rows.any(axis=1)].astype(np.float64)
    return np.asarray((full / np.linalg.norm(full, axis=1, keepdims=True)).var(axis=0))


def distances(one: Numbers, other: Numbers) -> tuple[float, float]:
    """The Euclidean distance of two vectors (d,) x 1,000, and 1 less their cosine, x 100."""
    cosine = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
    return 1_000 * float(np.linalg.norm(one - other)), 100 * float(1 - cosine)


def halves(rows: Matrix, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Rows (n, d) in two random halves."""
    order = rng.permutation(len(rows))
    return rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]


def compared(rows: Mapping[str, Matrix]) -> Iterator[dict[str, object]]:
    """The distances of every two languages, and of each to itself by halves of its rows."""
    for first, second in combinations_with_replacement(rows, 2):
        sides = (rows[first], rows[second])
        if first == second:
            sides = halves(rows[first], np.random.default_rng(0))
        euclidean, cosine = distances(*map(language_vector, sides))
        sentences = min(map(len, sides))
        yield {
            "first": first,
            "second": second,
            "sentences": sentences,
            "euclidean": euclidean,
            "cosine": cosine,
        }


def encoded(encoder: SentenceEncoder, texts: Mapping[str, Sequence[str]]) -> dict[str, Matrix]:
    """The rows of every language's sentences."""
    return {language: encoder.encode(lines, language).matrix for language, lines in texts.items()}


def main() -> None:
    """Appends the rows that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--joint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--vectors", type=Path, metavar="FILE.npz")
    parser.add_argument("--read", type=lambda text: text.split(","), default=["fr", "de"])
    parser.add_argument("--trained", default="fr")
    parser.add_argument("--core", type=named, default=(WORDS, None))
    parser.add_argument("--objectives", type=some_of(*OBJECTIVES), default=OBJECTIVES)
    parser.add_argument("--kinds", type=some_of(*KINDS), default=KINDS)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--pairs", type=int, default=30_000)
    parser.add_argument("--inferences", type=int, default=10**9, help="of the train part, at most")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--nli", type=Path, help="SICK in its official parts by default")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    asked.nli = asked.nli or official(asked.shared / "data")
    torch.set_num_threads(1)
    space, data = load_space(asked.joint), asked.shared / "data"
    name, folder = asked.core
    core = opened(space, name, folder)
    texts = {language: tested(data, language).other for language in asked.read if reads(core, language)}
    texts[PIVOT] = tested(data, asked.trained).english
    done = {tuple(one[column] for column in KEY) for one in read_rows(asked.out)}
    kept: dict[str, Numbers] = {}
    with tempfile.TemporaryDirectory() as work:
        lessons = Lessons(Path(work), asked.trained, asked)
        for variant in variants(asked, reads_other=reads(core, asked.trained)):
            key = (name, *variant, *lessons.counts(variant))
            if tuple(map(str, key)) in done:
                continue
            rows = encoded(lessons.made(space, core, variant), texts)
            kept |= {"|".join(map(str, (*key, one))): language_vector(rows[one]) for one in rows}
            same = {**dict(zip(KEY, key, strict=True)), "commit": commit(), "date": today()}
            found = [{**same, **one} for one in compared(rows)]
            append(asked.out, found, COLUMNS, decimals=2)
            for one in found:
                print(*(one[column] for column in COLUMNS), flush=True)
    if asked.vectors is not None:
        np.savez_compressed(asked.vectors, **kept)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
