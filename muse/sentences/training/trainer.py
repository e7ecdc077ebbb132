"""The trainer: optimises any learner on batches of its examples, with early stopping.

Several processes may share every batch: each computes the loss of its share of the examples, and all end up
with the gradients of the whole batch, as a single process would. If a loss is a mean over tokens, each share
counts by its examples, however many tokens they have.
"""

import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from muse.errors import BadSetting, NotConverged
from muse.progress import Tick
from muse.run.processes import Processes
from muse.run.runtime import Runtime
from muse.run.seeds import generator_for, of_batches, of_epoch, pass_stream, torch_seeded
from muse.sentences.training.optimising import OPTIMISER_NAMES, Arrays, Optimisers, Schedule, sparse_tables
from muse.sentences.training.settings import Settings, Unused, setting

log = logging.getLogger(__name__)

STATE, BEST, PREFIX = "training", "best", "parameter/"  # stages of the checkpoint, and of names in it
PRECISIONS = ("float32", "bf16")
_LARGEST = 1_000_000_000


class HeldOutScore(NamedTuple):
    """How held-out cases are predicted: their number, a score (higher is better), and its hits.

    `hits` are the correct ones, if the score is their percentage.
    """

    cases: int
    score: float
    hits: int | None = None

    @classmethod
    def of(cls, hits: int, cases: int) -> "HeldOutScore":
        """The percentage of correct cases as the score."""
        return cls(cases, 100 * hits / cases, hits)


class Learner(nn.Module, ABC):
    """A model with its loss; the optimiser updates its parameters, and checkpoints contain nothing else.

    A loss is a mean over its examples or their tokens, so that several processes can share them. Dropout is
    torch's own, active in training mode; the trainer seeds torch's own random numbers. All other random
    numbers come from the `generator` passed to `loss`.
    """

    examples: int  # the number n of examples to train on
    fewest = 1  # the smallest batch that can be learned from
    metric = "P@1"  # what its score is

    @abstractmethod
    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of the examples with these indices (b,); random draws come from `generator`."""

    @abstractmethod
    def held_out(self) -> HeldOutScore:
        """How the held-out cases are predicted now, in evaluation mode."""

    def begin(self, step: int) -> None:
        """Called before the loss of each step, counted from 1, for losses that change over time."""

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """The examples of an epoch, in random order (n,), split into batches of about `size`.

        A subclass may batch sentences of similar lengths together, or draw the batches from `generator`,
        which belongs to the epoch.
        """
        return torch.split(order, size)


@dataclass(frozen=True)
class TrainerConfig(Settings):
    """Settings of training: the maximum number of epochs, the batch size, the rate, and when to stop early.

    With 0 epochs the learner stays untrained. With `steps` above 0 an epoch has at most that many steps, and
    the next one continues where it ended: every example is used once before any is used again, unless the
    learner draws its batches by language. With `precision` bf16 the loss is computed in bfloat16 where torch
    considers it safe.
    """

    epochs: int = setting(20, "the most passes, or parts of `steps` batches", least=0, most=_LARGEST)
    batch: int = setting(256, "examples in a batch", least=1, most=_LARGEST)
    rate: float = setting(1e-3, "the highest learning rate", above=0, most=1e30)  # beyond, no float32 step
    patience: int = setting(
        3, "passes without a better held-out score after which training ends", least=1, most=_LARGEST
    )
    schedule: Schedule = Schedule()
    optimiser: str = setting("adam", "adam, lamb, or sgd", choices=OPTIMISER_NAMES)
    decay: float = setting(1.0, "factor of the rate after each pass", above=0, most=1)
    shrink: float = setting(1.0, "factor of the rate after a pass without gain", above=0, most=1)
    lowest: float = setting(0.0, "the rate below which training ends", least=0, most=_LARGEST)
    clip: float = setting(0.0, "the largest norm of the gradients; 0: any", least=0, most=_LARGEST)
    precision: str = setting("float32", "float32, or bf16: half the memory, on a GPU", choices=PRECISIONS)
    steps: int = setting(0, "batches in a pass; 0: all examples", least=0, most=_LARGEST)
    beta2: float = setting(0.999, "how slowly Adam and LAMB forget squared gradients", least=0, below=1)

    def unused(self) -> tuple[Unused | None, ...]:
        """Settings of Adam beside another optimiser, and of a rate that never falls."""
        never_falls = self.decay == self.shrink == 1 and self.lowest <= self.rate
        return (
            Unused("beta2", "optimiser") if self.optimiser == "sgd" else None,
            Unused("shrink", "patience") if self.patience == 1 else None,  # it would end training
            Unused("lowest", "decay shrink") if never_falls else None,
        )

    def with_warmup(self, steps: int) -> "TrainerConfig":
        """These settings with a rate that rises for this number of steps, then falls by sqrt(t)."""
        return replace(self, schedule=Schedule("inverse-sqrt", steps))

    def examples_in_epoch(self, examples: int) -> int:
        """The number of examples in an epoch, out of `examples`."""
        return min(examples, self.steps * self.batch) if self.steps else examples


@dataclass(frozen=True)
class EpochResult:
    """The results of an epoch; number 0 is the learner before training, which has no loss.

    `steps` is the number of all steps since training began.
    """

    number: int
    loss: float
    score: float
    seconds: float
    steps: int = 0

    def __str__(self) -> str:
        return f"epoch {self.number}: loss {self.loss:.4f}, held-out {self.score:.2f}, {self.seconds:.1f} s"


def train(learner: Learner, config: TrainerConfig, *, seed: int, runtime: Runtime) -> tuple[EpochResult, ...]:
    """The results of all epochs, after training `learner` in place and restoring its best epoch.

    An interrupted run resumes from `runtime.checkpoint` and gives the same result to the last bit. Raises
    NotConverged if the loss is not finite; the checkpoint then holds the last good epoch.
    """
    check_batches(learner, config, seed=seed, runtime=runtime)
    run = Training(learner, config, seed, runtime)
    kept, epochs = run.begun()
    most, done = config.epochs * run.size, (len(epochs) - 1) * run.size
    with runtime.progress.stage("training", most, "examples", first=done, may_end_early=True) as tick:
        while len(epochs) <= config.epochs:
            stalled = len(epochs) - 1 - best_epoch(epochs).number >= config.patience
            if stalled or run.rate(epochs) < config.lowest:
                break
            epochs.append(run.epoch(epochs, tick))
            if runtime.processes.first:
                log.info("%s", epochs[-1])
            kept = run.saved(epochs) or kept
    run.restore(kept)
    return tuple(epochs)


def check_batches(learner: Learner, config: TrainerConfig, *, seed: int, runtime: Runtime) -> None:
    """Raise BadSetting if `train` would, for batches that are too small; before stages that come first."""
    if config.batch < learner.fewest:
        raise BadSetting(
            f"a batch must have at least {learner.fewest} pairs, negatives of each other, got {config.batch}"
        )
    if config.epochs:
        Training(learner, config, seed, runtime).batches(1)


def best_epoch(epochs: Sequence[EpochResult]) -> EpochResult:
    """The epoch with the highest held-out score, the first one in case of a tie."""
    return max(epochs, key=lambda epoch: epoch.score)


@dataclass(frozen=True, eq=False)
class Training:
    """A learner in training: the batches of every epoch, its steps, and what its checkpoint holds.

    All examples are used once before any is used again, unless the learner draws its batches by language.
    """

    learner: Learner
    config: TrainerConfig
    seed: int
    runtime: Runtime

    @cached_property
    def parameters(self) -> dict[str, nn.Parameter]:
        """The trained parameters by name."""
        return {name: p for name, p in self.learner.named_parameters() if p.requires_grad}

    @cached_property
    def optimisers(self) -> Optimisers:
        """The optimisers of these."""
        return Optimisers(self.learner, self.config.optimiser, self.config.rate, self.config.beta2)

    @property
    def size(self) -> int:
        """The number of examples in an epoch."""
        return self.config.examples_in_epoch(self.learner.examples)

    def batches(self, number: int) -> list[Tensor]:
        """The batches of an epoch, without those too small for the processes; BadSetting if all are."""
        # Of pairs, which are negatives of each other, every process must have one.
        fewest = max(self.learner.fewest, self.runtime.processes.count) if self.learner.fewest > 1 else 1
        generator = generator_for(self.seed, *of_batches(number))
        batches = self.learner.batches(self.order(number), self.config.batch, generator)
        found = [rows for rows in batches if len(rows) >= fewest]
        if not found:
            raise BadSetting(
                f"a batch must have at least {fewest} examples, got at most {max(map(len, batches))}; give "
                "more text, a larger batch or fewer processes"
            )
        return found

    def order(self, number: int) -> Tensor:
        """The indices (e,) of an epoch's examples, from successive passes in different random orders."""
        n, begin = self.learner.examples, (number - 1) * self.size
        passes = range(begin // n, (begin + self.size - 1) // n + 1)
        orders = [torch.randperm(n, generator=generator_for(self.seed, *pass_stream(p))) for p in passes]
        return torch.cat(orders)[begin - passes[0] * n :][: self.size]

    def rate(self, behind: Sequence[EpochResult]) -> float:
        """The rate of the next epoch: decayed with each epoch, shrunk after each without improvement."""
        best = accumulate((epoch.score for epoch in behind), max)
        setbacks = sum(epoch.score <= before for epoch, before in zip(behind[1:], best, strict=False))
        config = self.config
        return config.rate * config.decay ** (len(behind) - 1) * config.shrink**setbacks

    def epoch(self, behind: Sequence[EpochResult], tick: Tick) -> EpochResult:
        """The result of the epoch after those `behind` it; NotConverged for a loss that is not finite."""
        number, began, config = len(behind), time.perf_counter(), self.config
        batches, before, device = self.batches(number), behind[-1].steps, self.runtime.device
        stream = of_epoch(number, self.runtime.processes.rank)
        generator, rate, total = generator_for(self.seed, *stream, device=device), self.rate(behind), 0.0
        self.learner.train()
        with torch_seeded(self.seed, *stream, device=device):
            for step, rows in enumerate(batches, 1):
                self.learner.begin(before + step)
                value = shared_backward(self, rows, generator)
                norm = self.optimisers.step(rate * config.schedule(before + step), config.clip)
                for name, figure in (("loss", value), ("norm of the gradient", norm)):
                    if not math.isfinite(figure):
                        raise NotConverged(
                            f"the {name} must be a finite number, got {figure} at step {step} of epoch "
                            f"{number}; lower the learning rate, now {rate:g}"
                        )
                total += value
                tick((number - 1) * self.size + min(step * config.batch, self.size), loss=total / step)
        score, seconds = self.score(), time.perf_counter() - began
        return EpochResult(number, total / len(batches), score, seconds, before + len(batches))

    def score(self) -> float:
        """The held-out score, computed by the first process for all."""
        self.learner.eval()
        processes = self.runtime.processes
        return processes.sum(self.learner.held_out().score if processes.first else 0.0)

    def saved(self, epochs: Sequence[EpochResult]) -> Arrays | None:
        """The parameters now if the last epoch is the best; the checkpoint gets what the next starts from.

        Raises NotConverged if any is not finite.
        """
        arrays = {name: p.detach().cpu().numpy().copy() for name, p in self.parameters.items()}
        for name, array in arrays.items():
            if not np.isfinite(array).all():
                raise NotConverged(
                    f"parameters must be finite numbers, got others in {name} after epoch "
                    f"{epochs[-1].number}; lower the learning rate, now {self.config.rate:g}"
                )
        best, checkpoint = best_epoch(epochs) is epochs[-1], self.runtime.checkpoint
        if self.runtime.processes.first:
            if best:
                checkpoint.save(BEST, arrays)
            state = {f"{PREFIX}{name}": array for name, array in arrays.items()}
            figures = np.array([astuple(epoch) for epoch in epochs])  # (e, 5) float64
            checkpoint.save(STATE, {**state, **self.optimisers.state(), "epochs": figures})
        return arrays if best else None

    @torch.no_grad()
    def restore(self, arrays: Arrays) -> None:
        """Gives the learner these parameters."""
        for name, parameter in self.parameters.items():
            parameter.copy_(torch.from_numpy(arrays[name]))

    def begun(self) -> tuple[Arrays, list[EpochResult]]:
        """The best parameters and the epochs so far, of an interrupted run, which is restored, or of none.

        Raises BadFile if its checkpoint is incomplete.
        """
        processes, checkpoint = self.runtime.processes, self.runtime.checkpoint
        processes.wait()  # until the first process has written earlier results
        saved, kept = (checkpoint.load(stage) for stage in (STATE, BEST))
        processes.wait()  # until all processes have read the checkpoint
        if saved is None:
            processes.copy_first_(self.parameters.values())
            epochs = [EpochResult(0, math.nan, self.score(), 0.0)]
            return self.saved(epochs) or {}, epochs
        with checkpoint.complete():
            self.restore(kept or {})  # fails now, not after training, if it is incomplete
            self.restore({name.removeprefix(PREFIX): array for name, array in saved.items()})
            self.optimisers.restore(saved)
            rows = saved["epochs"].astype(np.float64).tolist()
            epochs = [EpochResult(int(row[0]), row[1], row[2], row[3], int(row[4])) for row in rows]
            if not epochs:
                raise ValueError("no epochs")
        return dict(kept or {}), epochs


def shared_backward(run: Training, rows: Tensor, generator: torch.Generator) -> float:
    """The loss of a batch (b,), after adding its gradients, which all processes then have alike."""
    processes, device = run.runtime.processes, run.runtime.device
    share = processes.share(rows)
    # Every process must take part in collective operations: one without a share computes the first row,
    # which then counts with weight 0.
    part = share if len(share) else rows[:1]
    with torch.autocast(device, torch.bfloat16, enabled=run.config.precision == "bf16"):
        loss = run.learner.loss(part.to(device), generator)
    # Gradients are averaged over processes, so each mean is weighted by the size of its share.
    loss = loss * (processes.count * len(share) / len(rows))
    loss.backward()  # type: ignore[no-untyped-call]
    if processes.count > 1:
        tables = sparse_tables(run.learner)
        sparse = {id(table) for table in tables}
        processes.average_gradients_([p for p in run.parameters.values() if id(p) not in sparse])
        for table in tables:
            _average_sparse_(table, processes)
    return processes.sum(float(loss.detach())) / processes.count


def _average_sparse_(table: Tensor, processes: Processes) -> None:
    """Averages the sparse gradient of a word table over the processes: NCCL does not add sparse tensors."""
    found = torch.zeros_like(table, layout=torch.sparse_coo) if table.grad is None else table.grad
    found = found.coalesce()
    rows, values = processes.gather(found.indices()[0], found.values())
    # An optimiser counts steps by gradients, and alone an unused table has none.
    table.grad = (
        torch.sparse_coo_tensor(rows[None], values / processes.count, table.shape).coalesce()
        if len(rows)
        else None
    )
