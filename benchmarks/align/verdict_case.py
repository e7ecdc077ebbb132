"""A condition of benchmarks/align/verdict.py: two languages, and what a mapping between them is worth."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg
import torch
from numpy.typing import NDArray

from muse.alignment import Alignment
from muse.learn.initialise.gromov import GromovConfig, gromov
from muse.learn.pair import LanguagePair
from muse.learn.refine import FIRST_ROUNDS, RefineConfig, refine
from muse.learn.verdict import NullRate, judge, null_agreement
from muse.procrustes import procrustes
from muse.search.retrieval import Retrieval, best_targets
from muse.vectors import Matrix, Vectors


class Row(NamedTuple):
    """One run: what was made of which condition, how it ended, and the verdict."""

    condition: str
    run: str
    found: float
    supervised: float
    good: bool
    label: str
    confidence: float
    agreement: float
    null: float
    gain: float
    seconds: float  # of the verdict


@dataclass(frozen=True, eq=False)
class Condition:
    """Two prepared languages and the pairs of rows (p, 2) known to translate each other, perhaps none."""

    name: str
    source: Vectors
    target: Vectors
    gold: NDArray[np.int64]

    def supervised(self) -> Matrix:
        """Procrustes on every second source word of the gold list."""
        known = self.gold[self.gold[:, 0] % 2 == 0]
        x, y = self.source.tensor(), self.target.tensor()
        return np.asarray(procrustes(x[known[:, 0]], y[known[:, 1]]).numpy())

    def precision(self, mapping: Matrix) -> float:
        """P@1 in percent on the other source words of the gold list."""
        mapped = self.source.tensor() @ torch.from_numpy(mapping).T
        best = best_targets(mapped, self.target.tensor(), Retrieval()).numpy()
        right: dict[int, bool] = {}
        for word, translation in self.gold[self.gold[:, 0] % 2 == 1].tolist():
            right[word] = right.get(word, False) or best[word] == translation
        return 100 * float(np.mean(list(right.values())))

    @property
    def pair(self) -> LanguagePair:
        """Both languages, as learning takes them."""
        return LanguagePair(self.source, self.target)

    def refined(self, start: Matrix, *rounds: RefineConfig) -> Matrix:
        """What refinement makes of a start: the first rounds, and those that are asked for."""
        rng, last = np.random.default_rng(0), Alignment(start)
        for config in (FIRST_ROUNDS, *rounds):
            *_, last = refine(self.pair, last, config=config, rng=rng)
        return last.source_map

    def transported(self, schedule: tuple[tuple[float, int], ...]) -> Matrix:
        """The Gromov-Wasserstein start at the epsilons of a schedule."""
        return self.started(gromov, GromovConfig(words=800, priors=("rank",), schedule=schedule))

    def started(self, initialise: Callable[..., Iterator[Alignment]], config: object) -> Matrix:
        """The mapping of an initialisation."""
        made = initialise(self.pair, lambda _: 0.0, np.random.default_rng(0), config=config)
        return next(made).source_map

    @cached_property
    def null(self) -> NullRate:
        """What a wrong mapping finds again, the same for every run, as in one muse align."""
        return null_agreement(self.pair, np.random.default_rng(2))

    def judged(self, run: str, mapping: Matrix, supervised: float) -> Row:
        """The row of a run that ended in `mapping`; `supervised` is nan where nothing corresponds."""
        began = time.perf_counter()
        verdict = judge(self.pair, Alignment(mapping), np.random.default_rng(1), self.null)
        seconds = time.perf_counter() - began
        found = self.precision(mapping) if len(self.gold) else float("nan")
        good = supervised >= 5 and found > supervised / 2
        figures = (verdict.confidence, verdict.agreement, verdict.null, verdict.gain)
        return Row(self.name, run, found, supervised, good, verdict.label, *figures, seconds)


def rotation(dimension: int) -> Matrix:
    """A random orthogonal (d, d)."""
    q, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(dimension, dimension)))
    return np.asarray(q, dtype=np.float32)


def turned(mapping: Matrix, angle: float) -> Matrix:
    """The mapping (d, d) turned away by `angle` along a random geodesic of the rotation group."""
    noise = np.random.default_rng(6).normal(size=mapping.shape)
    step = angle * (noise - noise.T) / np.sqrt(2 * len(mapping))
    return np.asarray(mapping @ scipy.linalg.expm(step), dtype=np.float32)


def half_right(mapping: Matrix, source: Vectors, share: float) -> Matrix:
    """The mapping (d, d) kept on a share of the source's widest principal axes, random on the others."""
    _, axes = np.linalg.eigh(source.matrix.T @ source.matrix)
    kept = int(share * len(axes))
    inner = np.eye(len(axes))
    inner[:-kept, :-kept] = rotation(len(axes) - kept)  # eigh puts the widest last
    return np.asarray(mapping @ axes @ inner @ axes.T, dtype=np.float32)
