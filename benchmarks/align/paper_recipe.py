"""The recipe of Conneau et al. (2018) in steps: Adv, Adv-Refine, Procrustes, and what the criterion tells.

    python -m benchmarks.align.paper_recipe --train [--pairs zhang-es-en,zhang-it-en] [--seeds 0-2]
        [--steps 156250] [--slice 31250] [--device cpu] [--tf32] [--kept paper-recipe-runs]
        [--shared ../shared]
    python -m benchmarks.align.paper_recipe [--out benchmarks/results/align]
        [--pairs zhang-es-en --checkpoints "FILE;FILE"]

The first command trains with the settings of `muse align --recipe muse` (PAPER, raw vectors), runs of vectors
of the same dimension side by side, and keeps the mapping after every slice of steps: an epoch of the paper,
after which its rates fall. Run again, it goes on where it stopped. With smaller slices the rates stay as they
are and nothing reacts to the criterion, as within the paper's first epoch. The second command measures what
was kept: criterion and P@1 of every slice (paper_recipe_epochs.csv), and of each run the mapping with the
highest criterion before and after plain refinement, beside supervised Procrustes and matched moments
(paper_recipe.csv).

With --checkpoints it measures a run of `muse align --recipe muse` instead: copies of its adversarial.npz, one
after each epoch, or of fewer, which have the best mapping before them. Its rows are of PAIR, muse align.

Procrustes is fitted to three quarters of the gold words and tested on the last, in turn.
"""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.stats
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pad_sequence

from benchmarks.support.kept_rows import append
from benchmarks.support.options import command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair, known_targets
from benchmarks.support.tables import ROOT, commit, heading, numbers, today
from muse.alignment import Alignment
from muse.files import read_lexicon
from muse.learn.auto import improve
from muse.learn.bilingual import normalise_in_place
from muse.learn.initialise.adversarial import (
    PAPER,
    AdversarialConfig,
    Position,
    State,
    _Training,
    restored_position,
)
from muse.learn.pair import Criterion, LanguagePair
from muse.learn.refine import PLAIN
from muse.learn.verdict import judge
from muse.lexicon import Lexicon
from muse.procrustes import procrustes
from muse.run.memory import keep_freed_memory
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, best_targets
from muse.vectors import Matrix, Vectors

WHOLE = PAPER.epochs * PAPER.steps  # mapping steps of the whole recipe
FOLDS = 4
EPOCHS = (
    *("pair", "seed", "steps", "criterion", "discriminator_loss", "defect"),
    *("p_at_1_nn", "p_at_1_csls", "refined_p_at_1_csls", "refined_criterion", "seconds"),
)
RUNS = (
    *("pair", "seed", "method", "steps", "steps_of_the_recipe", "criterion", "verdict", "confidence"),
    *("p_at_1_nn", "p_at_1_csls", "p_at_1_csls_5", "p_at_1_csls_50", "words", "commit", "date"),
)


@dataclass(frozen=True, eq=False)
class Task:
    """A pair of languages, and the gold targets of each source row."""

    pair: Pair
    source: Vectors
    target: Vectors
    gold: Mapping[int, frozenset[int]]

    @classmethod
    def of(cls, name: str, shared: Path, steps: Sequence[str] = ()) -> "Task":
        """The pair of a name, normalised so; its gold pairs are all those that both vocabularies know."""
        pair = find_pair(name, shared)
        source, target = (normalise_in_place(side, steps)[0] for side in pair.vectors())
        pairs = [one for path in pair.gold for one in read_lexicon(path).pairs]
        gold = known_targets(Lexicon(tuple(pairs)), source, target)
        return cls(pair, source, target, {row: frozenset(found) for row, found in gold.items()})

    def sides(self, device: str = "cpu") -> LanguagePair:
        """Both languages, as learning takes them."""
        return LanguagePair(self.source, self.target, Runtime(device))

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
        *_, last = improve(self.sides(), start, config=PLAIN, rng=rng)
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

    The figures are steps, criterion, loss of the discriminator, defect and seconds. Runs side by side share
    the loss, the worst defect and the seconds.
    """

    maps: Matrix
    figures: NDArray[np.float64]


def kept_file(folder: Path, pair: str, seed: int) -> Path:
    """Where a run is kept."""
    return folder / f"{pair}.{seed}.npz"


class SideBySide(_Training):
    """Runs of the recipe as one batch, which a GPU trains in little more time than one.

    Each run starts with the discriminator of its seed and draws its own words of its own pair; the input
    that is dropped is the same for all.
    """

    def __init__(self, runs: Sequence[tuple[Task, int]], config: AdversarialConfig, device: str) -> None:
        tasks = [task for task, _ in runs]
        count, first = len(runs), tasks[0]
        together = replace(config, restarts=count, survivors=count)
        super().__init__(first.sides(device), together)
        self.seeds = [seed for _, seed in runs]
        self.single = _Training(first.sides(), config)
        self.x, self.y = (
            pad_sequence([side.most_frequent(config.most_frequent).fitted_tensor() for side in sides], True)
            for sides in ([task.source for task in tasks], [task.target for task in tasks])
        )  # (r, n, d)
        self.x, self.y = self.x.to(device), self.y.to(device)
        self.words = [rows.any(2).sum(1, keepdim=True) for rows in (self.x, self.y)]  # (r, 1) each
        self.runs = torch.arange(count, device=device)[:, None]

    def start(self, seed: int) -> State:
        """The state before the first epoch; the seeds are those of the runs."""
        parts = [self.single.start(one) for one in self.seeds]
        return {name: torch.cat([part[name] for part in parts]).to(self.device) for name in parts[0]}

    def _sample(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        share = torch.rand(len(self.seeds), self.config.batch, generator=generator, device=self.device)
        words = self.words[0 if rows is self.x else 1]
        return rows[self.runs, (share * words).long()]  # (r, b, d)


def train(runs: Sequence[tuple[Task, int]], asked: argparse.Namespace) -> None:
    """Trains runs up to the steps that are asked for, and keeps each after every slice."""
    config = replace(PAPER, steps=asked.slice, epochs=asked.steps // asked.slice)
    if asked.slice != PAPER.steps:
        config = replace(config, decay=1.0, shrink=1.0)
    training = SideBySide(runs, config, asked.device)
    scores = [task.sides(asked.device).criterion() for task, _ in runs]
    names = [(task.pair.name, seed) for task, seed in runs]
    whole = asked.kept / f"{'+'.join(f'{name}.{seed}' for name, seed in names)}.position.npz"
    position = Position(0, training.start(0), [])
    if whole.exists():
        with np.load(whole) as file:
            position = restored_position(dict(file), training.start, config.epochs)
    while (done := len(position.reported)) < config.epochs:
        began = time.perf_counter()
        state, reported = training.run_epoch(position.state, 0, done, in_turn(scores))
        if len(state["last"]) < len(runs):
            raise SystemExit("a run diverged: train it alone")
        position = Position(0, state, [*position.reported, reported])
        took, steps = time.perf_counter() - began, (done + 1) * asked.slice
        for place, (name, seed) in enumerate(names):
            # The next slice changes the mapping in place.
            mapping = state["mapping"][place].detach().cpu().numpy().copy()
            figures = [steps, float(state["last"][place]), *reported[1:], took / len(runs)]
            keep(kept_file(asked.kept, name, seed), mapping, figures)
            print(name, seed, *(round(one, 4) for one in figures), flush=True)
        _replaced(whole, position.as_arrays(""))


def in_turn(scores: Sequence[Criterion]) -> Criterion:
    """The criterion that is the first for the first mapping it is asked about, and so on."""
    turn = iter(scores)
    return lambda mapping: next(turn)(mapping)


def keep(path: Path, mapping: Matrix, figures: Sequence[float]) -> None:
    """Adds a slice to a run; those of as many steps or more are dropped."""
    maps, rows = [mapping], [[*figures]]
    if path.exists():
        before = read_kept(path)
        earlier = before.figures[:, 0] < figures[0]
        maps, rows = [*before.maps[earlier], mapping], [*before.figures[earlier].tolist(), [*figures]]
    _replaced(path, {"maps": np.array(maps), "figures": np.array(rows)})


def _replaced(path: Path, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, **arrays)  # type: ignore[arg-type]
    partial.replace(path)


def read_kept(path: Path) -> Kept:
    """The run in a file."""
    with np.load(path) as file:
        return Kept(file["maps"], file["figures"])


def of_checkpoints(paths: Sequence[Path], steps: int = PAPER.steps) -> Kept:
    """The run whose checkpoint was copied after some of its epochs: those whose mapping a copy has."""
    found = dict[int, tuple[Matrix, list[float]]]()
    for path in paths:
        with np.load(path) as file:
            reported = file["reported"]  # (e, 3): criterion, loss and defect
            best = int(reported[:, 0].argmax())
            for epoch, mapping in ((best, file["best_mapping"]), (len(reported) - 1, file["mapping"])):
                found[epoch] = mapping[0], [(epoch + 1) * steps, *reported[epoch], np.nan]
    maps, figures = zip(*(found[epoch] for epoch in sorted(found)), strict=True)
    return Kept(np.array(maps), np.array(figures))


def epochs(task: Task, seed: int, run: Kept) -> Iterator[dict[str, object]]:
    """Yields the row of each slice."""
    for mapping, (steps, score, loss, defect, seconds) in zip(run.maps, run.figures, strict=True):
        refined = task.refined(mapping)
        yield {
            "pair": task.pair.name, "seed": seed, "steps": int(steps), "criterion": score,
            "discriminator_loss": loss, "defect": defect,
            "p_at_1_nn": task.p_at_1(mapping, Retrieval("nn")), "p_at_1_csls": task.p_at_1(mapping),
            "refined_p_at_1_csls": task.p_at_1(refined.source_map), "refined_criterion": refined.criterion,
            "seconds": "" if np.isnan(seconds) else seconds,
        }  # fmt: skip


def runs(task: Task, seed: int, run: Kept) -> Iterator[dict[str, object]]:
    """Yields the rows of Adv and Adv-Refine: of the slice with the highest criterion."""
    chosen = int(run.figures[:, 1].argmax())
    adv = Alignment(run.maps[chosen], method="Adv", criterion=float(run.figures[chosen, 1]))
    refined = replace(task.refined(adv.source_map), method="Adv-Refine")
    for one in (adv, refined):
        rng = np.random.default_rng(seed)
        verdict = judge(task.sides(), one, rng=rng)
        yield {
            **_figures(task, one.source_map), "seed": seed, "method": one.method,
            "steps": int(run.figures[-1, 0]), "criterion": one.criterion, "verdict": verdict.label,
            "confidence": verdict.confidence,
        }  # fmt: skip


def baselines(task: Task) -> Iterator[dict[str, object]]:
    """Yields the rows of matched moments and of supervised Procrustes."""
    moments = task.moments()
    score = task.sides().criterion()(moments)
    yield {**_figures(task, moments), "method": "moments", "criterion": score}
    supervised = {name: task.procrustes(how) for name, how in RETRIEVALS.items()}
    yield {**_about(task), **supervised, "method": "Procrustes, supervised"}


RETRIEVALS = {
    "p_at_1_nn": Retrieval("nn"), "p_at_1_csls": Retrieval(), "p_at_1_csls_5": Retrieval(k=5),
    "p_at_1_csls_50": Retrieval(k=50),
}  # fmt: skip


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


def _by_dimension(tasks: Sequence[Task]) -> list[list[Task]]:
    sizes = sorted({task.source.dimension for task in tasks})
    return [[task for task in tasks if task.source.dimension == size] for size in sizes]


def main() -> None:
    """Trains, or measures what was trained."""
    asked = command_line(
        __doc__, pairs="zhang-es-en,zhang-it-en", seeds="0-2", train=(False, "train, and measure nothing"),
        steps=(WHOLE, "mapping steps of each run"),
        slice=(PAPER.steps, "mapping steps between two mappings"), device=("cpu", "on which to train"),
        tf32=(False, "products of a GPU have mantissas of 10 bits"),
        kept=(Path("paper-recipe-runs"), "folder of the runs"),
        checkpoints=("", "of a run of muse align, with ; between"),
        out=ROOT / "benchmarks" / "results" / "align", shared=SHARED,
    )  # fmt: skip
    keep_freed_memory()
    torch.backends.cuda.matmul.allow_tf32 = asked.tf32
    heading("The recipe of the paper")
    asked.kept.mkdir(parents=True, exist_ok=True)
    tasks = [Task.of(name, asked.shared) for name in asked.pairs.split(",")]
    if asked.train:
        for tasks_of in _by_dimension(tasks):
            train([(task, seed) for seed in numbers(asked.seeds) for task in tasks_of], asked)
    elif asked.checkpoints:
        pair, run = tasks[0].pair, of_checkpoints([Path(one) for one in asked.checkpoints.split(";")])
        task = replace(tasks[0], pair=pair._replace(name=f"{pair.name}, muse align"))
        measure(task, {numbers(asked.seeds)[0]: run}, asked.out)
    else:
        for task in tasks:
            files = {seed: kept_file(asked.kept, task.pair.name, seed) for seed in numbers(asked.seeds)}
            known = {seed: read_kept(path) for seed, path in files.items() if path.exists()}
            measure(task, known, asked.out)


if __name__ == "__main__":
    main()
