"""The trainer: stops, keeps the best, breaks down aloud, repeats itself, and goes on where it was killed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from muse.run.checkpoint import Checkpoint
from muse.run.runtime import Runtime
from muse.sentences.training.trainer import (
    EpochResult,
    HeldOutScore,
    Learner,
    TrainerConfig,
    best_epoch,
    train,
)

CONFIG = TrainerConfig(epochs=6, batch=8, rate=0.05, patience=6)


class Regression(Learner):
    """Rows of a sparse table and a dense map are to give targets; words 15 and up are in no example."""

    def __init__(self, scores: Sequence[float] = (), broken_at: int = -1) -> None:
        super().__init__()
        rng = np.random.default_rng(0)
        self.table = nn.EmbeddingBag(20, 4, mode="sum", sparse=True, _weight=_random(rng, 20, 4))
        self.map = nn.Linear(4, 3)
        with torch.no_grad():
            self.map.weight.copy_(_random(rng, 3, 4))
            self.map.bias.zero_()
        self.words, self.targets = torch.from_numpy(rng.integers(15, size=30)), _random(rng, 30, 3)
        self.scores, self.scored, self.broken_at, self.seen = list(scores), 0, broken_at, list[Tensor]()

    examples = 30

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        self.seen.append(rows)
        noise = torch.randn(len(rows), 3, generator=generator) / 100
        found = self.map(self.table(self.words[rows], torch.arange(len(rows)))) + noise
        loss: Tensor = (found - self.targets[rows]).square().mean()
        return loss * (math.nan if len(self.seen) == self.broken_at else 1)

    @torch.no_grad()
    def held_out(self) -> HeldOutScore:
        self.scored += 1
        found = self.map(self.table(self.words, torch.arange(30)))
        error = float((found - self.targets).square().mean())
        return HeldOutScore(30, self.scores[self.scored - 1] if self.scores else -error)

    def state(self) -> dict[str, NDArray[np.float32]]:
        return {name: p.detach().numpy().copy() for name, p in self.named_parameters()}


def _random(rng: np.random.Generator, *shape: int) -> Tensor:
    return torch.from_numpy(rng.normal(size=shape).astype(np.float32))


def run(
    learner: Learner, config: TrainerConfig = CONFIG, seed: int = 0, store: Checkpoint | None = None
) -> tuple[EpochResult, ...]:
    return train(learner, config, seed=seed, runtime=Runtime(checkpoint=store or Checkpoint()))


def same(a: Regression, b: Regression) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a.state().values(), b.state().values(), strict=True))


def test_it_learns_and_tells_each_epoch() -> None:
    learner = Regression()
    epochs = run(learner)
    assert [epoch.number for epoch in epochs] == list(range(7))
    assert math.isnan(epochs[0].loss)
    assert epochs[-1].score > epochs[0].score / 2  # scores are negative: half the error is gone
    assert epochs[-1].loss < epochs[1].loss


def test_every_example_comes_once_an_epoch_in_another_order() -> None:
    learner = Regression()
    run(learner, TrainerConfig(epochs=2, batch=29))
    assert [len(rows) for rows in learner.seen] == [29, 1, 29, 1]
    learner = Regression()
    run(learner, TrainerConfig(epochs=2, batch=8))
    orders = [torch.cat(learner.seen[:4]).tolist(), torch.cat(learner.seen[4:]).tolist()]
    assert [sorted(order) for order in orders] == [list(range(30))] * 2
    assert orders[0] != orders[1] != sorted(orders[1])


def test_rows_of_words_that_no_batch_touched_stay_to_the_bit() -> None:
    learner = Regression()
    before = learner.state()["table.weight"]
    run(learner)
    after = learner.state()["table.weight"]
    met = np.unique(learner.words.numpy())
    assert np.array_equal(np.delete(before, met, 0), np.delete(after, met, 0))
    assert (before[met] != after[met]).any(axis=1).all()


def test_it_stops_when_the_score_has_stalled_and_keeps_the_best() -> None:
    learner = Regression([1, 2, 5, 4, 5, 3, 9])
    epochs = run(learner, TrainerConfig(epochs=20, batch=8, patience=3))
    assert [epoch.score for epoch in epochs] == [1, 2, 5, 4, 5, 3]
    assert best_epoch(epochs).number == 2
    short = Regression()
    run(short, TrainerConfig(epochs=2, batch=8, patience=3))
    assert same(learner, short)


def test_training_that_only_harms_leaves_the_start() -> None:
    learner = Regression([9, 1, 1, 1])
    run(learner, TrainerConfig(epochs=20, batch=8, patience=3))
    assert same(learner, Regression())


def test_the_same_seed_gives_the_same_bits_and_another_another() -> None:
    learners = [Regression() for _ in range(3)]
    for learner, seed in zip(learners, (3, 3, 4), strict=True):
        run(learner, seed=seed)
    assert same(learners[0], learners[1])
    assert not same(learners[0], learners[2])


class Killed(Exception):
    """The process is gone."""


@pytest.mark.parametrize("place", ["in an epoch", "between two files", "at the very start"])
def test_a_killed_run_goes_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    whole = Regression()
    expected = run(whole)
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    killed = Regression()
    saved, count = Checkpoint.save, 0

    def save(self: Checkpoint, stage: str, arrays: dict[str, NDArray[np.generic]]) -> None:
        nonlocal count
        count += 1
        # Two files before training, then two for every epoch that is the best so far.
        if count == {"in an epoch": 7, "between two files": 6, "at the very start": 2}[place]:
            raise Killed
        saved(self, stage, arrays)

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(Checkpoint, "save", save)
        run(killed, store=store)
    resumed = Regression()
    found = run(resumed, store=Checkpoint.open(tmp_path / "c", ["x"], resume=True))
    assert same(resumed, whole)
    assert [(e.number, e.score) for e in found] == [(e.number, e.score) for e in expected]
    assert len(resumed.seen) < len(whole.seen) or place == "at the very start"


def test_a_run_killed_after_its_best_epoch_keeps_that(tmp_path: Path) -> None:
    scores = [1.0, 5.0, 4.0, 3.0, 2.0]
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    run(Regression(scores), TrainerConfig(epochs=3, batch=8, patience=3), store=store)  # as if it were killed
    resumed = Regression(scores[4:])
    epochs = run(resumed, TrainerConfig(epochs=9, batch=8, patience=3), store=store)
    assert [epoch.score for epoch in epochs] == scores
    short = Regression()
    run(short, TrainerConfig(epochs=1, batch=8, patience=3))
    assert same(resumed, short)
