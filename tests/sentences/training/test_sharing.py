"""Several processes learn what one does: means, in-batch negatives, sparse tables, very small batches."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.errors import BadSetting
from muse.run.checkpoint import Checkpoint
from muse.run.processes import ALONE, Processes
from muse.run.runtime import Runtime
from muse.sentences.systems.word_encoders import ProjectedTables, Tables, WordTables
from muse.sentences.training.losses import Hinge, Loss, Softmax
from muse.sentences.training.pair_learner import PairLearner
from muse.sentences.training.trainer import Learner, TrainerConfig, Training, train
from tests.sentences.systems.test_word_tables import encoder, toy_pairs
from tests.sentences.training.test_trainer import PLAIN, Line
from tests.support.processes import run_together

COUNT = 3
CLIPPED = replace(PLAIN, clip=0.5)
TEXT = TrainerConfig(epochs=2, batch=32, rate=0.5, optimiser="sgd", patience=9)  # 32 = 11 + 11 + 10
PAIRS: dict[str, tuple[Callable[..., Tables], Loss]] = {
    "tables, softmax": (WordTables, Softmax()),
    "tables, hardest": (WordTables, Hinge(0.3, "cosine", "hardest")),
    "maps, softmax": (ProjectedTables, Softmax()),
    "maps, hardest": (ProjectedTables, Hinge(0.3, "euclid", "hardest")),
}


def pair_learner(name: str, processes: Processes = ALONE) -> PairLearner:
    kind, loss = PAIRS[name]
    return PairLearner(encoder(kind), loss, toy_pairs(), processes)


def learned(learner: Learner) -> NDArray[np.float32]:
    return np.concatenate([p.detach().numpy().ravel() for p in learner.parameters()])


def work(out: Path) -> None:
    """What each of several processes does: trains the same learners, and keeps what came of it."""
    from muse.run.processes import joined

    torch.set_num_threads(1)
    with joined("cpu") as processes:
        store = Checkpoint.open(out / "c", ["x"], resume=False) if processes.first else Checkpoint(out / "c")
        processes.wait()
        for epochs in (1, 2):  # the second time the run goes on
            line = Line()
            runtime = Runtime(checkpoint=store, processes=processes)
            train(line, replace(CLIPPED, epochs=epochs), seed=3, runtime=runtime)
        np.save(out / f"line.{processes.rank}.npy", learned(line))
        np.save(out / f"seen.{processes.rank}.npy", torch.cat(line.seen).numpy())
        small = Line()
        train(small, replace(CLIPPED, batch=2), seed=3, runtime=Runtime(processes=processes))
        np.save(out / f"small.{processes.rank}.npy", learned(small))
        own = torch.Generator().manual_seed(processes.rank)
        np.save(out / f"alike.{processes.rank}.npy", torch.rand(5, generator=processes.alike(own)).numpy())
        for name in PAIRS:
            learner = pair_learner(name, processes)
            epochs_ = train(learner, TEXT, seed=3, runtime=Runtime(processes=processes))
            np.save(out / f"{name}.{processes.rank}.npy", learned(learner))
            np.save(out / f"{name}.loss.{processes.rank}.npy", [epoch.loss for epoch in epochs_[1:]])


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("processes")
    run_together(work, folder, COUNT)
    return folder


def together(out: Path, name: str) -> NDArray[np.float32]:
    found = [np.load(out / f"{name}.{rank}.npy") for rank in range(COUNT)]
    assert all(np.array_equal(found[0], other) for other in found)
    first: NDArray[np.float32] = found[0]
    return first


def alone(learner: Learner, config: TrainerConfig) -> NDArray[np.float32]:
    train(learner, config, seed=3, runtime=Runtime())
    return learned(learner)


@pytest.mark.slow
def test_a_mean_is_shared_and_a_killed_run_goes_on(out: Path) -> None:
    line = Line()
    expected = alone(line, CLIPPED)
    np.testing.assert_allclose(together(out, "line"), expected, rtol=1e-5, atol=1e-6)
    shares = [np.load(out / f"seen.{rank}.npy") for rank in range(COUNT)]  # of the resumed epoch
    assert sorted(np.concatenate(shares)) == sorted(torch.cat(line.seen[4:]).tolist())


@pytest.mark.slow
def test_batches_of_fewer_examples_than_processes_are_learned_from(out: Path) -> None:
    expected = alone(Line(), replace(CLIPPED, batch=2))
    np.testing.assert_allclose(together(out, "small"), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_what_concerns_the_whole_batch_is_drawn_alike(out: Path) -> None:
    drawn = together(out, "alike")
    assert len(set(drawn.tolist())) == len(drawn)
    generator = torch.Generator().manual_seed(0)
    assert ALONE.alike(generator) is generator


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_wrong_translations_come_from_the_whole_batch(out: Path, name: str) -> None:
    learner = pair_learner(name)
    before = learned(learner)
    epochs = train(learner, TEXT, seed=3, runtime=Runtime())
    expected = learned(learner)
    assert np.abs(expected - before).max() > 1e-2
    np.testing.assert_allclose(together(out, name), expected, rtol=1e-4, atol=1e-5)
    losses = [epoch.loss for epoch in epochs[1:]]
    np.testing.assert_allclose(together(out, f"{name}.loss"), losses, rtol=1e-5)


def test_batches_are_drawn_anew_by_the_seed_and_the_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def noted(self: Line, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        drawn.append(int(torch.randint(1 << 40, (), generator=generator)))
        return torch.split(order, size)

    monkeypatch.setattr(Line, "batches", noted)
    # All orders are alike: what learners draw must not hang on them.
    monkeypatch.setattr(Training, "order", lambda self, number: torch.arange(29))
    for seed in (0, 1, 0):
        training = Training(Line(), PLAIN, seed, Runtime())
        for epoch in range(1, 21):
            training.batches(epoch)
    assert drawn[:20] == drawn[40:]
    assert len({*drawn}) == 40


def test_batches_too_small_for_a_loss_are_left_out_but_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = pair_learner("maps, softmax")
    assert learner.fewest == 2
    line = Line()
    line.fewest = 2
    monkeypatch.setattr(Line, "batches", lambda self, order, size, generator: torch.split(order, 1))
    with pytest.raises(BadSetting, match="must have at least 2 examples, got at most 1"):
        train(line, PLAIN, seed=0, runtime=Runtime())
