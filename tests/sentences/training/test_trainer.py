"""The trainer: stops, keeps the best, breaks down aloud, repeats itself and goes on; its settings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from muse.errors import BadFile, BadSetting, NotConverged
from muse.run.checkpoint import Checkpoint
from muse.run.runtime import Runtime
from muse.sentences.training.optimising import Schedule
from muse.sentences.training.settings import Settings, Unused, setting
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


def after(learner: Line, config: TrainerConfig, store: Checkpoint | None = None) -> Line:
    train(learner, config, seed=3, runtime=Runtime(checkpoint=store or Checkpoint()))
    return learner


def by_hand(config: TrainerConfig, rates: Sequence[float], clip: float = 0.0) -> Tensor:
    """Gradient descent written again, over the batches that the trainer draws."""
    batches = after(Line(), config).seen
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
    torch.testing.assert_close(after(Line(), config).learned, by_hand(config, rates))


def test_the_gradient_is_clipped_by_its_norm() -> None:
    config = replace(PLAIN, clip=0.05)
    torch.testing.assert_close(after(Line(), config).learned, by_hand(config, [0.1] * 8, clip=0.05))


def test_the_rate_shrinks_after_an_epoch_that_is_no_better() -> None:
    config = replace(PLAIN, epochs=4, shrink=0.2)
    found = after(Line([1, 2, 1.5, 1.7, 9]), config).learned
    torch.testing.assert_close(
        found, by_hand(config, [0.1] * 8 + [0.02] * 4 + [0.004] * 4), rtol=1e-3, atol=1e-4
    )


def test_the_rate_decays_by_epoch_and_ends_training_when_it_is_low() -> None:
    config = replace(PLAIN, epochs=3, decay=0.9, shrink=0.2)
    rates = [0.1] * 4 + [0.09] * 4 + [0.0162] * 4
    found = after(Line([1, 2, 1.5, 9]), config).learned
    torch.testing.assert_close(found, by_hand(config, rates), rtol=1e-3, atol=1e-4)
    assert len(after(Line([1, 2, 1.5, 9]), replace(config, lowest=0.02)).seen) == 8


def test_a_short_epoch_and_no_epoch() -> None:
    assert [len(rows) for rows in after(Line(), replace(PLAIN, steps=2)).seen] == [8] * 4
    # 11 epochs of 8 examples: every one of the 29 comes three times before any comes a fourth time.
    short = [rows.tolist() for rows in after(Line(), replace(PLAIN, epochs=11, steps=1, patience=99)).seen]
    drawn = [row for rows in short for row in rows]
    for begin in (0, 29, 58):
        assert sorted(drawn[begin : begin + 29]) == list(range(29))
    assert len(set(map(tuple, (drawn[:29], drawn[29:58], drawn[58:87])))) == 3
    learner = Line()
    epochs = train(learner, replace(PLAIN, epochs=0), seed=3, runtime=Runtime())
    assert [epoch.number for epoch in epochs] == [0]
    assert torch.equal(learner.learned, Line().learned)


def test_bf16_is_of_the_loss_alone() -> None:
    learner = after(Line(), replace(PLAIN, precision="bf16"))
    assert learner.kinds == {torch.bfloat16}
    assert learner.learned.dtype == torch.float32
    torch.testing.assert_close(learner.learned, after(Line(), PLAIN).learned, rtol=0.1, atol=0.02)


def test_dropout_of_torch_comes_from_the_seed_and_resumes_to_the_bit(tmp_path: Path) -> None:
    whole = after(Line(dropout=0.5), PLAIN).learned
    torch.rand(3)  # whatever is drawn elsewhere changes nothing
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    after(Line(dropout=0.5), replace(PLAIN, epochs=1), store)
    assert torch.equal(after(Line(dropout=0.5), PLAIN, store).learned, whole)


@pytest.mark.parametrize("broken_at", [2, 6])
def test_a_run_that_broke_down_goes_on_from_the_last_good_epoch(tmp_path: Path, broken_at: int) -> None:
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    broken = Line()
    broken.broken_at = broken_at
    with pytest.raises(NotConverged, match="loss must be a finite number, got nan at step . of epoch ."):
        after(broken, PLAIN, store)
    learner = Line()
    epochs = train(learner, replace(PLAIN, rate=0.05), seed=3, runtime=Runtime(checkpoint=store))
    assert len(learner.seen) == 8 - 4 * (broken_at // 4)
    assert best_epoch(epochs).number == 2


@pytest.mark.parametrize("lacking", ["best.npz", "parameter/map.bias", "epochs"])
def test_a_checkpoint_that_is_not_whole_is_refused(tmp_path: Path, lacking: str) -> None:
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    after(Line(), PLAIN, store)
    if lacking.endswith(".npz"):
        (tmp_path / "c" / lacking).unlink()
    else:
        kept = store.load("training")
        assert kept is not None
        store.save("training", {name: array for name, array in kept.items() if name != lacking})
    with pytest.raises(BadFile, match="checkpoint must be a complete one.*run without --resume"):
        after(Line(), PLAIN, store)


def test_the_memory_for_squares_is_that_of_the_settings() -> None:
    slow, fast = (after(Line(), replace(PLAIN, optimiser="adam", beta2=b)).learned for b in (0.999, 0.5))
    assert not torch.allclose(slow, fast, atol=1e-4)
    twin = Line()
    optimiser = torch.optim.Adam(twin.parameters(), lr=0.1, betas=(0.9, 0.5))
    for rows in after(Line(), PLAIN).seen:
        optimiser.zero_grad()
        (twin.map(twin.x[rows]) - twin.y[rows]).square().mean().backward()
        optimiser.step()
    torch.testing.assert_close(fast, twin.learned)


def test_what_is_no_finite_number_is_not_kept(tmp_path: Path) -> None:
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    learner = Line()
    learner.scale = 1e12
    with pytest.raises(NotConverged, match=r"finite numbers, got others in map.* after epoch 1"):
        after(learner, replace(PLAIN, batch=29, rate=1e30), store)
    kept = store.load("training")
    assert kept is not None
    assert all(np.isfinite(kept[name]).all() for name in kept if name.startswith("parameter"))


@dataclass(frozen=True)
class Some(Settings):
    """One setting of each kind."""

    layers: int = setting(2, "layers", least=1)
    drop: float = setting(0.0, "share left out", least=0, below=1)
    rate: float = setting(1.0, "rate", above=0, most=2)
    network: str = setting("", "network", choices=("", "gru"), needs="nli")
    english: str = setting("", "folder", folder_unless=("", "space"))
    plain: int = 7

    def unused(self) -> tuple[Unused | None, ...]:
        return (Unused("drop rate", "layers plain") if self.layers == 1 else None,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(({"layers": n}, f"^layers must be .* at least 1, got {n}$") for n in (0, -5)),
        *(
            ({"drop": x}, f"^drop must be .* at least 0 and below 1, got {x}$")
            for x in (-1e-9, 1.0, math.nan, math.inf)
        ),
        *(
            ({"rate": x}, f"^rate must be .* above 0 and at most 2, got {x}$")
            for x in (0.0, 2.5, -math.inf, math.nan)
        ),
        ({"network": "lstm"}, "^network must be one of gru, got 'lstm'$"),
    ],
)
def test_values_outside_a_limit(given: dict[str, float], message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        Some(**given)  # type: ignore[arg-type]


def test_values_within_the_limits() -> None:
    assert Some(1, 1 - 1e-9, 2.0, "gru").rate == 2.0
    assert Some(drop=0.0, rate=1e-9).network == ""


def test_what_has_no_effect_and_which_folders_are_read() -> None:
    reason = "with layers=1 and plain=7; leave it out, or change layers or plain"
    assert Some(1).ineffective_settings() == {"drop": reason, "rate": reason}
    assert Some().ineffective_settings() == {}
    assert Some().without_texts(["nli"]) == {}
    assert Some().without_texts([]) == {"network": "without --nli; leave it out, or give --nli"}
    assert [Some(english=name).folders() for name in ("", "space")] == [{}, {}]
    assert Some(english="x/y").folders() == {"english": Path("x/y")}
