"""The trainer's settings: schedule, clip, precision, shrinking rate, and short epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from muse.errors import BadFile, NotConverged
from muse.run.checkpoint import Checkpoint
from muse.run.runtime import Runtime
from muse.sentences.training.optimising import Schedule
from muse.sentences.training.trainer import HeldOutScore, Learner, TrainerConfig, best_epoch, train

PLAIN = TrainerConfig(epochs=2, batch=8, rate=0.1, optimiser="sgd", patience=9)


class Line(Learner):
    """A map of 29 rows to targets, whose batches and precisions are kept."""

    def __init__(self, scores: Sequence[float] = (), dropout: float = 0.0) -> None:
        super().__init__()
        rng = np.random.default_rng(0)
        self.map = nn.Linear(4, 3)
        with torch.no_grad():
            self.map.weight.copy_(torch.from_numpy(rng.normal(size=(3, 4))))
            self.map.bias.zero_()
        self.dropout = nn.Dropout(dropout)
        self.x, self.y = (torch.from_numpy(rng.normal(size=(29, n)).astype(np.float32)) for n in (4, 3))
        self.scores, self.seen, self.kinds = list(scores), list[Tensor](), set[torch.dtype]()
        self.broken_at, self.scale = -1, 1.0

    examples = 29

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        self.seen.append(rows)
        found = self.map(self.dropout(self.x[rows]))
        self.kinds.add(found.dtype)
        loss: Tensor = (found - self.y[rows]).square().mean() * self.scale
        return loss * torch.nan if len(self.seen) == self.broken_at else loss

    @torch.no_grad()
    def held_out(self) -> HeldOutScore:
        error = float((self.map(self.x) - self.y).square().mean())
        return HeldOutScore(len(self.y), self.scores.pop(0) if self.scores else -error)

    @property
    def learned(self) -> Tensor:
        return torch.cat([self.map.weight.detach().flatten(), self.map.bias.detach()])


def run(learner: Line, config: TrainerConfig, store: Checkpoint | None = None) -> Line:
    train(learner, config, seed=3, runtime=Runtime(checkpoint=store or Checkpoint()))
    return learner


def by_hand(config: TrainerConfig, rates: Sequence[float], clip: float = 0.0) -> Tensor:
    """Gradient descent written again, over the batches that the trainer draws."""
    batches = run(Line(), config).seen
    twin = Line()
    for rows, rate in zip(batches, rates, strict=True):
        twin.zero_grad()
        ((twin.map(twin.x[rows]) - twin.y[rows]) ** 2).mean().backward()
        gradients = [p.grad for p in twin.parameters() if p.grad is not None]
        norm = float(torch.cat([g.flatten() for g in gradients]).norm())
        with torch.no_grad():
            for p, g in zip(twin.parameters(), gradients, strict=True):
                p.sub_(rate * g * (min(1, clip / norm) if clip else 1))
    return twin.learned


def test_the_rate_follows_the_schedule_over_epochs() -> None:
    config = replace(PLAIN, schedule=Schedule("inverse-sqrt", warmup=3))
    rates = [0.1 * min(t / 3, (3 / t) ** 0.5) for t in range(1, 9)]
    torch.testing.assert_close(run(Line(), config).learned, by_hand(config, rates))


def test_the_gradient_is_clipped_by_its_norm() -> None:
    config = replace(PLAIN, clip=0.05)
    torch.testing.assert_close(run(Line(), config).learned, by_hand(config, [0.1] * 8, clip=0.05))


def test_the_rate_shrinks_after_an_epoch_that_is_no_better() -> None:
    config = replace(PLAIN, epochs=4, shrink=0.2)
    found = run(Line([1, 2, 1.5, 1.7, 9]), config).learned
    torch.testing.assert_close(
        found, by_hand(config, [0.1] * 8 + [0.02] * 4 + [0.004] * 4), rtol=1e-3, atol=1e-4
    )


def test_the_rate_decays_by_epoch_and_ends_training_when_it_is_low() -> None:
    config = replace(PLAIN, epochs=3, decay=0.9, shrink=0.2)
    rates = [0.1] * 4 + [0.09] * 4 + [0.0162] * 4
    found = run(Line([1, 2, 1.5, 9]), config).learned
    torch.testing.assert_close(found, by_hand(config, rates), rtol=1e-3, atol=1e-4)
    assert len(run(Line([1, 2, 1.5, 9]), replace(config, lowest=0.02)).seen) == 8


def test_a_short_epoch_and_no_epoch() -> None:
    assert [len(rows) for rows in run(Line(), replace(PLAIN, steps=2)).seen] == [8] * 4
    # 11 epochs of 8 examples: every one of the 29 comes three times before any comes a fourth time.
    short = [rows.tolist() for rows in run(Line(), replace(PLAIN, epochs=11, steps=1, patience=99)).seen]
    drawn = [row for rows in short for row in rows]
    for begin in (0, 29, 58):
        assert sorted(drawn[begin : begin + 29]) == list(range(29))
    assert len(set(map(tuple, (drawn[:29], drawn[29:58], drawn[58:87])))) == 3
    learner = Line()
    epochs = train(learner, replace(PLAIN, epochs=0), seed=3, runtime=Runtime())
    assert [epoch.number for epoch in epochs] == [0]
    assert torch.equal(learner.learned, Line().learned)


def test_bf16_is_of_the_loss_alone() -> None:
    learner = run(Line(), replace(PLAIN, precision="bf16"))
    assert learner.kinds == {torch.bfloat16}
    assert learner.learned.dtype == torch.float32
    torch.testing.assert_close(learner.learned, run(Line(), PLAIN).learned, rtol=0.1, atol=0.02)


def test_dropout_of_torch_comes_from_the_seed_and_resumes_to_the_bit(tmp_path: Path) -> None:
    whole = run(Line(dropout=0.5), PLAIN).learned
    torch.rand(3)  # whatever is drawn elsewhere changes nothing
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    run(Line(dropout=0.5), replace(PLAIN, epochs=1), store)
    assert torch.equal(run(Line(dropout=0.5), PLAIN, store).learned, whole)


@pytest.mark.parametrize("broken_at", [2, 6])
def test_a_run_that_broke_down_goes_on_from_the_last_good_epoch(tmp_path: Path, broken_at: int) -> None:
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    broken = Line()
    broken.broken_at = broken_at
    with pytest.raises(
        NotConverged, match="loss must be a finite number, got nan at step . of epoch .; lower"
    ):
        run(broken, PLAIN, store)
    learner = Line()
    epochs = train(learner, replace(PLAIN, rate=0.05), seed=3, runtime=Runtime(checkpoint=store))
    assert len(learner.seen) == 8 - 4 * (broken_at // 4)
    assert best_epoch(epochs).number == 2


@pytest.mark.parametrize("lacking", ["best.npz", "parameter/map.bias", "epochs"])
def test_a_checkpoint_that_is_not_whole_is_refused(tmp_path: Path, lacking: str) -> None:
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    run(Line(), PLAIN, store)
    if lacking.endswith(".npz"):
        (tmp_path / "c" / lacking).unlink()
    else:
        kept = store.load("training")
        assert kept is not None
        store.save("training", {name: array for name, array in kept.items() if name != lacking})
    with pytest.raises(BadFile, match="checkpoint must be a complete one.*run without --resume"):
        run(Line(), PLAIN, store)


def test_the_memory_for_squares_is_that_of_the_settings() -> None:
    slow, fast = (run(Line(), replace(PLAIN, optimiser="adam", beta2=b)).learned for b in (0.999, 0.5))
    assert not torch.allclose(slow, fast, atol=1e-4)
    twin = Line()
    optimiser = torch.optim.Adam(twin.parameters(), lr=0.1, betas=(0.9, 0.5))
    for rows in run(Line(), PLAIN).seen:
        optimiser.zero_grad()
        (twin.map(twin.x[rows]) - twin.y[rows]).square().mean().backward()
        optimiser.step()
    torch.testing.assert_close(fast, twin.learned)


def test_what_is_no_finite_number_is_not_kept(tmp_path: Path) -> None:
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    learner = Line()
    learner.scale = 1e12
    with pytest.raises(NotConverged, match=r"finite numbers, got others in map.* after epoch 1"):
        run(learner, replace(PLAIN, batch=29, rate=1e30), store)
    kept = store.load("training")
    assert kept is not None
    assert all(np.isfinite(kept[name]).all() for name in kept if name.startswith("parameter"))
