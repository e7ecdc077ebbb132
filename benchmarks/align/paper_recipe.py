"""The recipe of Conneau et al. (2018) in steps: Adv, Adv-Refine, Procrustes, and what the criterion tells.

    python -m benchmarks.align.paper_recipe --train [--pairs zhang-es-en,zhang-it-en] [--seeds 0-2]
        [--steps 31250] [--slice 500] [--shared ../shared] [--kept paper-recipe-runs]
    python -m benchmarks.align.paper_recipe [--out benchmarks/results/align]

The first command trains with the settings of `muse align --recipe muse` (PAPER, raw vectors) and keeps the
mapping after every slice of steps; run again, it goes on where it stopped. The paper's rates fall after each
epoch of 31,250 steps, so that up to there a slice changes nothing but the random draws, and nothing reacts to
the criterion, as in Figure 4.2 of Conneau's thesis. The second command measures what was kept: criterion and
P@1 of every slice (paper_recipe_epochs.csv), and of each run the mapping with the highest criterion before
and after plain refinement, beside supervised Procrustes and matched moments (paper_recipe.csv).

Procrustes is fitted to three quarters of the gold words and tested on the last, in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.stats
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from benchmarks.support.kept_rows import append
from benchmarks.support.pairs import SHARED, Pair, find_pair
from benchmarks.support.tables import ROOT, commit, heading, numbers, today
from muse.alignment import Alignment
from muse.files import read_lexicon, read_vectors
from muse.learn.auto import improve
from muse.learn.criterion import MOST_FREQUENT, criterion
from muse.learn.initialise.adversarial import PAPER, Position, _Training, as_arrays, restored_position
from muse.learn.pair import normalise_in_place
from muse.learn.refine import PLAIN
from muse.learn.verdict import judge
from muse.procrustes import procrustes
from muse.run.memory import keep_freed_memory
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, best_targets
from muse.vectors import Matrix, Vectors

WHOLE = PAPER.epochs * PAPER.steps  # mapping steps of the whole recipe
FOLDS = 4
EPOCHS = (
    *("pair", "seed", "steps", "criterion", "discriminator_loss", "defect"),
    *("p_at_1_nn", "p_at_1_csls", "refined_p_at_1_csls", "refined_criterion", "cpu_seconds"),
)
RUNS = (
    *("pair", "seed", "method", "steps", "steps_of_the_recipe", "criterion", "verdict", "confidence"),
    *("p_at_1_nn", "p_at_1_csls", "p_at_1_csls_5", "p_at_1_csls_50", "words", "commit", "date"),
)


@dataclass(frozen=True, eq=False)
class Task:
    """A pair of raw languages, and the gold targets of each source row."""

    pair: Pair
    source: Vectors
    target: Vectors
    gold: Mapping[int, frozenset[int]]

    @classmethod
    def of(cls, name: str, shared: Path) -> Task:
        """The pair of a name; its gold pairs are all those that both vocabularies know."""
        pair = find_pair(name, shared)
        files = (pair.source, pair.source_file), (pair.target, pair.target_file)
        source, target = (
            normalise_in_place(read_vectors(file, language=language), ())[0] for language, file in files
        )
        gold: dict[int, set[int]] = {}
        for path in pair.gold:
            for word, other in read_lexicon(path).pairs:
                if word in source.index and other in target.index:
                    gold.setdefault(source.index[word], set()).add(target.index[other])
        return cls(pair, source, target, {row: frozenset(found) for row, found in gold.items()})

    def right(self, mapping: Matrix, retrieval: Retrieval) -> NDArray[np.bool_]:
        """Whether each gold word (q,) is translated correctly."""
        mapped = normalize(self.source.tensor() @ torch.from_numpy(mapping).T)
        best = best_targets(mapped, self.target.tensor(), retrieval).tolist()
        return np.array([best[row] in found for row, found in self.gold.items()])

    def p_at_1(self, mapping: Matrix, retrieval: Retrieval | None = None) -> float:
        """P@1 in percent."""
        return 100 * float(self.right(mapping, retrieval or Retrieval()).mean())

    def refined(self, mapping: Matrix) -> Alignment:
        """The mapping after plain refinement."""
        rng = np.random.default_rng(0)  # plain rounds draw nothing
        start = Alignment(mapping, method=PAPER.method)
        *_, last = improve(self.source, self.target, start, config=PLAIN, rng=rng, runtime=Runtime())
        return last

    def procrustes(self, retrieval: Retrieval) -> float:
        """P@1 of Procrustes on the raw rows of the other folds."""
        rows = list(self.gold)
        fold = np.random.default_rng(0).permutation(len(rows)) % FOLDS
        x, y = self.source.fitted_tensor(), self.target.fitted_tensor()
        right = np.zeros(len(rows), bool)
        for number in range(FOLDS):
            pairs = [
                (row, other)
                for row, own in zip(rows, fold, strict=True)
                if own != number
                for other in self.gold[row]
            ]
            left, others = torch.tensor(pairs).T
            mapping = procrustes(x[left], y[others]).numpy()
            right[fold == number] = self.right(mapping, retrieval)[fold == number]
        return 100 * float(right.mean())

    def moments(self) -> Matrix:
        """The rotation that matches the first two moments (Umeyama, 1988), signs by the third."""
        own, other = (_principal_axes(side.fitted()) for side in (self.source, self.target))  # (d, d)
        return np.asarray(other @ own.T, np.float32)


def _principal_axes(rows: Matrix) -> NDArray[np.float64]:
    """The principal axes (d, d) of rows (n, d), widest first, with the longer tail of each positive."""
    centred = rows.astype(np.float64) - rows.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    return np.asarray(axes * np.sign(((centred @ axes) ** 3).sum(axis=0)))


@dataclass(frozen=True, eq=False)
class Kept:
    """A run as far as it was trained: the mapping (s, d, d) and the figures (s, 5) of each slice.

    The figures are steps, criterion, loss of the discriminator, defect and seconds of the processor.
    """

    maps: Matrix
    figures: NDArray[np.float64]


def kept_file(folder: Path, pair: str, seed: int) -> Path:
    """Where a run is kept."""
    return folder / f"{pair}.{seed}.npz"


def train(task: Task, seed: int, asked: argparse.Namespace) -> None:
    """Trains a run up to the steps that are asked for, and keeps it after every slice."""
    config = replace(PAPER, steps=asked.slice, epochs=asked.steps // asked.slice, decay=1.0, shrink=1.0)
    training = _Training(task.source, task.target, config, "cpu")
    score = criterion(task.source, task.target, most_frequent=MOST_FREQUENT)
    path = kept_file(asked.kept, task.pair.name, seed)
    position, maps, figures = Position(0, seed, training.start(seed)), list[Matrix](), list[list[float]]()
    if path.exists():
        with np.load(path) as file:
            arrays = dict(file)
        maps, figures = [*arrays.pop("maps")], arrays.pop("figures").tolist()
        position = restored_position(arrays, training.start, config.epochs)
    while position.epoch < config.epochs:
        began = time.process_time()
        state, epoch = training.run_epoch(position.state, seed, position.epoch, score)
        reported = [*position.reported, [epoch.criteria[0], epoch.loss, epoch.defect]]
        position = Position(position.epoch + 1, seed, state, reported)
        maps.append(state["mapping"][0].detach().numpy().copy())  # the next slice changes it in place
        took = time.process_time() - began
        figures.append([position.epoch * asked.slice, epoch.criteria[0], epoch.loss, epoch.defect, took])
        whole = {**as_arrays(position, ""), "maps": np.array(maps), "figures": np.array(figures)}
        partial = path.with_suffix(".partial.npz")
        np.savez(partial, **whole)  # type: ignore[arg-type]
        partial.replace(path)
        print(task.pair.name, seed, *(round(one, 4) for one in figures[-1]), flush=True)


def read_kept(path: Path) -> Kept:
    """The run in a file."""
    with np.load(path) as file:
        return Kept(file["maps"], file["figures"])


def epochs(task: Task, seed: int, run: Kept) -> Iterator[dict[str, object]]:
    """Yields the row of each slice."""
    for mapping, (steps, score, loss, defect, seconds) in zip(run.maps, run.figures, strict=True):
        refined = task.refined(mapping)
        yield {
            "pair": task.pair.name, "seed": seed, "steps": int(steps), "criterion": score,
            "discriminator_loss": loss, "defect": defect,
            "p_at_1_nn": task.p_at_1(mapping, Retrieval("nn")), "p_at_1_csls": task.p_at_1(mapping),
            "refined_p_at_1_csls": task.p_at_1(refined.source_map), "refined_criterion": refined.criterion,
            "cpu_seconds": seconds,
        }  # fmt: skip


def runs(task: Task, seed: int, run: Kept) -> Iterator[dict[str, object]]:
    """Yields the rows of Adv and Adv-Refine: of the slice with the highest criterion."""
    chosen = int(run.figures[:, 1].argmax())
    adv = Alignment(run.maps[chosen], method="Adv", criterion=float(run.figures[chosen, 1]))
    refined = replace(task.refined(adv.source_map), method="Adv-Refine")
    for one in (adv, refined):
        rng = np.random.default_rng(seed)
        verdict = judge(task.source, task.target, one, rng=rng, runtime=Runtime())
        yield {
            **_figures(task, one.source_map), "seed": seed, "method": one.method,
            "steps": int(run.figures[-1, 0]), "criterion": one.criterion, "verdict": verdict.label,
            "confidence": verdict.confidence,
        }  # fmt: skip


def baselines(task: Task) -> Iterator[dict[str, object]]:
    """Yields the rows of matched moments and of supervised Procrustes."""
    moments = task.moments()
    score = criterion(task.source, task.target)(moments)
    yield {**_figures(task, moments), "method": "moments", "criterion": score}
    supervised = {name: task.procrustes(how) for name, how in RETRIEVALS.items()}
    yield {**_about(task), **supervised, "method": "Procrustes, supervised"}


RETRIEVALS = {
    "p_at_1_nn": Retrieval("nn"),
    "p_at_1_csls": Retrieval(),
    "p_at_1_csls_5": Retrieval(k=5),
    "p_at_1_csls_50": Retrieval(k=50),
}


def _figures(task: Task, mapping: Matrix) -> dict[str, object]:
    return {**_about(task), **{name: task.p_at_1(mapping, how) for name, how in RETRIEVALS.items()}}


def _about(task: Task) -> dict[str, object]:
    words = len(task.gold)
    return {
        "pair": task.pair.name, "steps_of_the_recipe": WHOLE, "words": words, "commit": commit(),
        "date": today(),
    }  # fmt: skip


def measure(task: Task, kept: Mapping[int, Kept], out: Path) -> None:
    """Writes the rows of a pair, and prints how the criterion ranks its slices."""
    rows = [row for seed, run in kept.items() for row in epochs(task, seed, run)]
    append(out / "paper_recipe_epochs.csv", rows, EPOCHS, decimals=4)
    of_runs = [row for seed, run in kept.items() for row in runs(task, seed, run)]
    append(out / "paper_recipe.csv", [*of_runs, *baselines(task)], RUNS, decimals=4)
    for score, name in (
        ("criterion", "p_at_1_csls"),
        ("criterion", "refined_p_at_1_csls"),
        ("refined_criterion", "refined_p_at_1_csls"),
    ):
        print(f"{task.pair.name}: {score} and {name}, {correlated(rows, score, name)}")


def correlated(rows: Sequence[Mapping[str, object]], one: str, other: str) -> str:
    """The rank correlation of two columns."""
    pairs = np.array([(row[one], row[other]) for row in rows], float)  # (r, 2)
    if len(pairs) < 3 or (pairs == pairs[0]).all(axis=0).any():
        return f"{len(pairs)} slices: too few, or all alike"
    found = scipy.stats.spearmanr(pairs)
    return f"{len(pairs)} slices: Spearman's rho {found.statistic:.2f} (p {found.pvalue:.2g})"


def main() -> None:
    """Trains, or measures what was trained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", default="zhang-es-en,zhang-it-en")
    parser.add_argument("--seeds", default="0-2", help="such as 0-2 or 0,3,5")
    parser.add_argument("--train", action="store_true", help="train, and measure nothing")
    parser.add_argument("--steps", type=int, default=PAPER.steps, help="mapping steps of each run")
    parser.add_argument("--slice", type=int, default=500, help="mapping steps between two mappings")
    parser.add_argument("--kept", type=Path, default=Path("paper-recipe-runs"), help="folder of the runs")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "align")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    keep_freed_memory()
    heading("The recipe of the paper")
    asked.kept.mkdir(parents=True, exist_ok=True)
    tasks = [Task.of(name, asked.shared) for name in asked.pairs.split(",")]
    for seed in numbers(asked.seeds) if asked.train else []:
        for task in tasks:
            train(task, seed, asked)
    for task in [] if asked.train else tasks:
        files = {seed: kept_file(asked.kept, task.pair.name, seed) for seed in numbers(asked.seeds)}
        measure(task, {seed: read_kept(path) for seed, path in files.items() if path.exists()}, asked.out)


if __name__ == "__main__":
    main()
