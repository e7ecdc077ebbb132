"""Starts for unlike vectors: what each idea finds, and how many right pairs refinement needs.

    python -m benchmarks.align.unlike_starts --shared SHARED --out FILE.csv [--pairs en-ru,ru-en] [--seed 0]
        [--ideas "partial transport,GOAT"] [--basin]

A row is an idea on a pair: the share of right pairs among those whose source word is in the list `0-5000`,
and P@1 on that list after refinement with rotations and after self-learning with canonical maps. Both are
among the 10,000 most frequent words. No idea uses the list, which makes it held-out data; "strings" keeps
its pairs during self-learning (`p_at_1_unseen` is without the words of the start's own pairs). --basin
begins from the list instead: a share of the pairs of its frequent words is right, the others have exchanged
their targets; "supervised" is Procrustes fitted to half of the list and tested on the other half.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.align.unlike_ideas import IDEAS, OTHER_WORDS, STRINGS, WORDS
from benchmarks.support.pairs import SHARED, find_pair
from muse.alignment import Alignment
from muse.files import read_lexicon, read_vectors
from muse.learn.bilingual import normalise_in_place
from muse.learn.refine import RefineConfig, refine
from muse.learn.supervise.induced import SelfLearningConfig, self_learning
from muse.learn.supervise.linear import CanonicalConfig, canonical
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.normalise import DEFAULT_STEPS
from muse.procrustes import procrustes
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval
from muse.vectors import Vectors

PAIRS = "en-ru,ru-en,web-fr-en"
SEARCHED = 10_000  # the most frequent words of either side
LISTED = 3_000
REFINED = RefineConfig(cutoffs=(2_000,), max_rounds=10)
LEARNED = SelfLearningConfig(cutoffs=(2_000,), rounds=(10,))
SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
COLUMNS = (
    "pair", "idea", "seed", "pairs", "listed", "right_percent", "p_at_1_start", "p_at_1_refined",
    "p_at_1_self_learning", "p_at_1_unseen", "seconds_start",
)  # fmt: skip


@dataclass(frozen=True)
class Task:
    """A pair of languages: normalised vectors, and the right translations of each source row."""

    name: str
    x: Vectors
    y: Vectors
    gold: dict[int, set[int]]

    @classmethod
    def of(cls, name: str, shared: Path) -> Task:
        """The task of a name such as "en-ru", with its list `0-5000`."""
        pair = find_pair(name, shared)
        files = ((pair.source, pair.source_file), (pair.target, pair.target_file))
        sides = [read_vectors(file, language=language, lowercase=pair.lower) for language, file in files]
        x, y = (normalise_in_place(side, DEFAULT_STEPS)[0].most_frequent(SEARCHED) for side in sides)
        if pair.training is None:
            raise SystemExit(f"{name} has no list 0-5000")
        gold: dict[int, set[int]] = {}
        for source, target in read_lexicon(pair.training).pairs:
            if source in x.index and target in y.index:
                gold.setdefault(x.index[source], set()).add(y.index[target])
        return cls(name, x, y, gold)

    def right(self, pairs: Tensor) -> list[bool]:
        """Whether each of the pairs (p, 2) whose source word is in the list is right."""
        return [j in self.gold[i] for i, j in pairs.tolist() if i in self.gold]

    def p_at_1(self, maps: Maps, queries: list[int] | None = None) -> float:
        """P@1 by CSLS, in percent, of `queries` (None: all of the list)."""
        rows = queries or sorted(self.gold)
        mapped, keys = maps.of_source(self.x.tensor()), maps.of_target(self.y.tensor())
        csls = Retrieval()
        found = csls.translate(mapped[rows], keys, 1, bias=csls.bias(mapped, keys)).indices[:, 0]
        hits = [j in self.gold[i] for i, j in zip(rows, found.tolist(), strict=True)]
        return 100 * sum(hits) / len(hits)

    def rotation(self, pairs: Tensor) -> Maps:
        """Procrustes on the pairs (p, 2)."""
        return Maps.of_mapping(procrustes(self.x.tensor()[pairs[:, 0]], self.y.tensor()[pairs[:, 1]]))

    def refined(self, maps: Maps, seed: int) -> Maps:
        """The maps after rounds of mutual neighbours and Procrustes."""
        rng, start = np.random.default_rng(seed), Alignment(maps.source.numpy())
        *_, last = refine(self.x, self.y, start, config=REFINED, rng=rng, runtime=Runtime())
        return Maps.of_mapping(torch.from_numpy(last.source_map))

    def self_learned(self, pairs: Tensor, seed: int, *, keep: bool) -> Maps:
        """The maps after self-learning with canonical maps, from the pairs, which are kept or not."""
        words = len(self.x), len(self.y)
        given = TrainingPairs(self.x.tensor(), self.y.tensor(), pairs, torch.ones(len(pairs)), words)
        first = canonical(given, CanonicalConfig())
        kept = given if keep else given.only(torch.zeros(len(pairs), dtype=torch.bool))
        return canonical(self_learning(kept, first, LEARNED, np.random.default_rng(seed)), CanonicalConfig())

    def list_pairs(self) -> Tensor:
        """One-to-one pairs (p, 2) of the list among the most frequent words, frequent ones first."""
        known = [(i, j) for i, found in self.gold.items() for j in found if max(i, j) < LISTED]
        taken: dict[int, int] = {}
        for i, j in sorted(known, key=sum):
            if i not in taken and j not in taken.values():
                taken[i] = j
        return torch.tensor(list(taken.items()))


def measured(task: Task, idea: str, pairs: Tensor, seed: int, seconds: float) -> dict[str, object]:
    """The row of a start that found `pairs` (p, 2)."""
    right, start = task.right(pairs), task.rotation(pairs)
    learned = task.self_learned(pairs, seed, keep=idea == STRINGS)
    used = set(pairs[:, 0].tolist())
    unseen = [word for word in sorted(task.gold) if word not in used]
    figures = (
        100 * sum(right) / max(1, len(right)), task.p_at_1(start), task.p_at_1(task.refined(start, seed)),
        task.p_at_1(learned), task.p_at_1(learned, unseen), seconds,
    )  # fmt: skip
    values = (task.name, idea, seed, len(pairs), len(right), *(round(one, 2) for one in figures))
    return dict(zip(COLUMNS, values, strict=True))


def started(task: Task, idea: str, seed: int) -> dict[str, object]:
    """The row of an idea."""
    rng, began = np.random.default_rng(seed), time.perf_counter()
    words = WORDS.get(idea, OTHER_WORDS)
    pairs = IDEAS[idea](task.x.most_frequent(words), task.y.most_frequent(words), rng)
    return measured(task, idea, pairs, seed, time.perf_counter() - began)


def basin(task: Task, share: float, seed: int) -> dict[str, object]:
    """The row of a start of which a share is right: the others have exchanged their targets."""
    pairs, rng = task.list_pairs(), np.random.default_rng(seed)
    wrong = torch.from_numpy(rng.permutation(len(pairs))[round(share * len(pairs)) :])
    pairs[wrong, 1] = pairs[wrong.roll(1), 1]
    return measured(task, f"list, {share:.0%} right", pairs, seed, 0.0)


def supervised(task: Task, seed: int) -> dict[str, object]:
    """The row of Procrustes, learned from half of the list and tested on the other half."""
    words = np.random.default_rng(seed).permutation(sorted(task.gold)).tolist()
    train, test = words[::2], words[1::2]
    pairs = torch.tensor([(i, j) for i in train for j in task.gold[i]])
    score = task.p_at_1(task.rotation(pairs), test)
    values = (task.name, "supervised", seed, len(pairs), len(test), 100.0, round(score, 2))
    return dict(zip(COLUMNS, values, strict=False))


def rows(task: Task, ideas: list[str], seed: int) -> Iterator[dict[str, object]]:
    """Yields the rows of the ideas; without ideas, those of the list itself."""
    if not ideas:
        yield supervised(task, seed)
        yield from (basin(task, share, seed) for share in SHARES)
    yield from (started(task, idea, seed) for idea in ideas)


def main() -> None:
    """Writes the rows, each as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pairs", default=PAIRS)
    parser.add_argument("--ideas", default=",".join(IDEAS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--basin", action="store_true")
    options = parser.parse_args()
    torch.set_flush_denormal(True)  # plans of small epsilon have many entries close to zero
    fresh = not options.out.exists()
    with options.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if fresh:
            writer.writeheader()
        for name in options.pairs.split(","):
            task = Task.of(name, options.shared)
            ideas = [] if options.basin else options.ideas.split(",")
            for found in rows(task, ideas, options.seed):
                writer.writerow(found)
                file.flush()
                print(found, flush=True)


if __name__ == "__main__":
    main()
