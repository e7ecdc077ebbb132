"""Table 4.4 of Conneau's thesis: word similarity by Adv, Adv-Refine and supervised Procrustes.

    python -m benchmarks.align.paper_similarity --ratings wordsim353.tsv,simlex999.txt [--pair zhang-es-en]
        [--seeds 0] [--kept paper-recipe-runs] [--shared ../shared] [--out benchmarks/results/align]

The mappings are those of the recipe of the paper, as paper_recipe.py --train kept them. SemEval-2017's pairs
are not at hand: a list of English ratings (which gensim's package has among its test data) is translated, one
word of each pair at a time, into the most frequent word that the gold list pairs with it. Procrustes
is fitted to the gold pairs without these words. Pearson's correlation of cosines with people's ratings;
beside it that within English, which no mapping changes, and the difference to Procrustes on the same pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.align.paper_recipe import Task, kept_file, read_kept
from benchmarks.support.kept_rows import append
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import ROOT, commit, header, heading, numbers, row, today
from benchmarks.words.word_similarity import rated_pairs, translated
from muse.evaluation.ratings import SAMPLES, correlation_interval, pearson
from muse.procrustes import procrustes
from muse.vectors import Matrix, Vectors

COLUMNS = (
    *("pair", "seed", "ratings", "method", "pearson", "ci95_low", "ci95_high", "minus_procrustes"),
    *("difference_low", "difference_high", "pairs", "commit", "date"),
)
Rated = Sequence[tuple[str, str, float]]  # an English word, a word of either language, and the rating


def first_translations(task: Task) -> dict[str, str]:
    """The most frequent source word of each target word, by the gold list."""
    found: dict[str, str] = {}
    for own in sorted(task.gold):
        for other in task.gold[own]:
            found.setdefault(task.target.words[other], task.source.words[own])
    return found


def supervised(task: Task, barred: set[str]) -> Matrix:
    """Procrustes on the gold pairs whose target word is not barred."""
    pairs = [(own, other) for own, others in task.gold.items() for other in others
             if task.target.words[other] not in barred]  # fmt: skip
    left, right = torch.tensor(pairs).T
    mapping = procrustes(task.source.fitted_tensor()[left], task.target.fitted_tensor()[right])
    return np.asarray(mapping.numpy(), np.float32)


def cosines(rated: Rated, target: Vectors, other: Mapping[str, Matrix]) -> NDArray[np.float64]:
    """The cosine (p,) of each pair; `other` has the row (d,) of each second word."""
    rows = [(target.matrix[target.index[one]], other[two]) for one, two, _ in rated]
    return np.array([x @ y / (np.linalg.norm(x) * np.linalg.norm(y)) for x, y in rows], np.float64)


def measured(task: Task, maps: Mapping[str, Matrix], ratings: Path) -> Iterator[dict[str, object]]:
    """Yields the row of each method, and of English alone."""
    known = task.target.index
    rated = [one for one in rated_pairs(ratings) if one[0] in known and one[1] in known]
    first = first_translations(task)
    across = translated(rated, first)
    words = {one for one, *_ in rated} | {other for _, other, _ in rated}
    maps = {**maps, "Procrustes, supervised": supervised(task, words)}
    found = {
        name: cosines(across, task.target, _rows(task.source, across, mapping))
        for name, mapping in maps.items()
    }
    judged = np.array([rating for *_, rating in across])
    drawn = np.random.default_rng(0).integers(len(judged), size=(SAMPLES, len(judged)))
    base = found["Procrustes, supervised"]
    for name, mine in found.items():
        low, high = correlation_interval(mine, judged, drawn, ranks=False)
        more = [pearson(mine[some], judged[some]) - pearson(base[some], judged[some]) for some in drawn]
        least, most = np.percentile(more, [2.5, 97.5])
        yield {
            "method": name, "pearson": pearson(mine, judged), "ci95_low": low, "ci95_high": high,
            "minus_procrustes": pearson(mine, judged) - pearson(base, judged), "difference_low": float(least),
            "difference_high": float(most), "pairs": len(judged),
        }  # fmt: skip
    english = cosines(rated, task.target, {two: task.target.matrix[known[two]] for _, two, _ in rated})
    judged = np.array([rating for *_, rating in rated])
    drawn = np.random.default_rng(0).integers(len(judged), size=(SAMPLES, len(judged)))
    low, high = correlation_interval(english, judged, drawn, ranks=False)
    within = {"pearson": pearson(english, judged), "ci95_low": low, "ci95_high": high, "pairs": len(judged)}
    yield {"method": "English alone", **within}


def _rows(source: Vectors, across: Rated, mapping: Matrix) -> dict[str, Matrix]:
    return {two: source.matrix[source.index[two]] @ mapping.T for _, two, _ in across}


def mappings(task: Task, seed: int, kept: Path) -> dict[str, Matrix]:
    """The mapping of a run with the highest criterion, before and after plain refinement."""
    run = read_kept(kept_file(kept, task.pair.name, seed))
    adv = run.maps[int(run.figures[:, 1].argmax())]
    return {"Adv": adv, "Adv-Refine": np.asarray(task.refined(adv).source_map, np.float32)}


def main() -> None:
    """Appends the rows of every seed and list, and prints them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ratings", required=True, help="files, with commas between them")
    parser.add_argument("--pair", default="zhang-es-en")
    parser.add_argument("--seeds", default="0", help="of the runs that have aligned")
    parser.add_argument("--kept", type=Path, default=Path("paper-recipe-runs"), help="folder of the runs")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "align")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    heading("Word similarity across languages by the recipe of the paper")
    task = Task.of(asked.pair, asked.shared)
    header(COLUMNS[:-2])
    for seed in numbers(asked.seeds):
        maps = mappings(task, seed, asked.kept)
        for ratings in map(Path, asked.ratings.split(",")):
            about = {"pair": asked.pair, "seed": seed, "ratings": ratings.stem, "commit": commit()}
            rows = [{**about, **found, "date": today()} for found in measured(task, maps, ratings)]
            append(asked.out / "paper_similarity.csv", rows, COLUMNS, decimals=3)
            for found in rows:
                cells = (found.get(name, "") for name in COLUMNS[:-2])
                row([f"{cell:.3f}" if isinstance(cell, float) else cell for cell in cells])


if __name__ == "__main__":
    main()
