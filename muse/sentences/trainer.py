"""The trainer: an optimiser on batches of row numbers, whatever a learner makes of them, and an early stop.

It knows nothing of encoders, pairs or losses. A learner is a torch module that has so many examples, makes a
loss of a batch of their numbers, and scores itself on examples it never trains on. Several processes each
take a share of every batch and move by the mean of their gradients (DistributedDataParallel).
"""

from __future__ import annotations

import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from muse.errors import BadSetting, NotConverged
from muse.networks.schedule import Schedule
from muse.progress import Tick
from muse.runtime import Runtime
from muse.sentences.optimising import NAMES, Arrays, Optimisers
from muse.sentences.seeding import generator_for, torch_seeded

log = logging.getLogger(__name__)

STATE, BEST = "training", "best"  # the stages of the checkpoint
PRECISIONS = ("float32", "bf16")


@dataclass(frozen=True)
class TrainerConfig:
    """How to train: the most epochs, examples a step, the learning rate, and when to stop sooner.

    No epochs leave the learner untrained. An epoch has at most so many `steps` where they are above 0.
    `decay` multiplies the rate after each epoch, and `shrink` after each without a better held-out score;
    below the rate `lowest` training ends. `clip` is the greatest norm of a gradient, 0 for any. With the
    `precision` bf16 the loss is computed in it where torch thinks it safe.
    """

    epochs: int = 20
    batch: int = 256
    rate: float = 1e-3
    patience: int = 3  # epochs without a better held-out score after which training ends
    schedule: Schedule = Schedule()
    optimiser: str = "adam"
    decay: float = 1.0
    shrink: float = 1.0
    lowest: float = 0.0
    clip: float = 0.0
    precision: str = "float32"
    steps: int = 0

    def __post_init__(self) -> None:
        for name, least in (("epochs", 0), ("patience", 1), ("steps", 0), ("clip", 0), ("lowest", 0)):
            if not least <= getattr(self, name) < math.inf:
                raise BadSetting(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.batch < 2:
            raise BadSetting(f"a batch needs a wrong translation for each pair: 2 or more, got {self.batch}")
        if not 0 < self.rate <= 1e30:  # beyond, a step does not fit into float32
            raise BadSetting(f"the learning rate must be above 0 and 1e30 at most, got {self.rate}")
        for name in ("decay", "shrink"):
            if not 0 < getattr(self, name) <= 1:
                raise BadSetting(f"{name} must lie above 0 and be 1 at most, got {getattr(self, name)}")
        for name, choices in (("optimiser", NAMES), ("precision", PRECISIONS)):
            if getattr(self, name) not in choices:
                raise BadSetting(f"{name} must be one of {', '.join(choices)}; got {getattr(self, name)!r}")

    def examples_in_epoch(self, examples: int) -> int:
        """How many of so many examples an epoch goes through."""
        return min(examples, self.steps * self.batch) if self.steps else examples


@dataclass(frozen=True)
class Epoch:
    """The figures after an epoch; number 0 is the learner before training, which has no loss."""

    number: int
    loss: float
    score: float
    seconds: float

    def __str__(self) -> str:
        return f"epoch {self.number}: loss {self.loss:.4f}, held-out {self.score:.2f}, {self.seconds:.1f} s"


class Learner(nn.Module, ABC):
    """What is trained: its parameters are what the optimiser moves, and all that a checkpoint keeps.

    A loss is a mean over its examples, so that several processes may share them. What torch draws by itself,
    for dropout, comes from the seed too.
    """

    uses_all = True  # whether every loss is of every parameter; several processes must know

    @property
    @abstractmethod
    def examples(self) -> int:
        """The number n of examples to train on."""

    @abstractmethod
    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of the examples with these numbers (b,); all that is random comes from `generator`."""

    @abstractmethod
    def score(self) -> float:
        """How good it is on held-out examples: the higher the better."""

    def begin(self, step: int) -> None:
        """Told before the loss of each step which it is, from 1 on: for a loss that changes as it goes."""

    def batches(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """The examples in their order (n,), which is random, parted in batches of about `size`.

        A learner of text may put sentences of like lengths together.
        """
        return torch.split(order, size)

    def forward(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss (): what several processes compute together."""
        return self.loss(rows, generator)


def train(learner: Learner, config: TrainerConfig, *, seed: int, runtime: Runtime) -> tuple[Epoch, ...]:
    """Trains `learner` in place, leaves it as it was at its best epoch, and returns all epochs.

    A killed run goes on from `runtime.checkpoint` and ends as if it had never stopped, to the bit.
    NotConverged where the loss is no finite number; the checkpoint is that of the last good epoch then.
    """
    run = _Run(learner, config, Optimisers(learner, config.optimiser, config.rate), seed, runtime)
    epochs = _resume(run) or [_untrained(run)]
    kept = runtime.checkpoint.load(BEST) or _parameters(learner)
    with runtime.progress.stage("training", config.epochs * run.examples) as tick:
        while _goes_on(config, epochs):
            epochs.append(_epoch(run, epochs, tick))
            if runtime.processes.first:
                log.info("%s", epochs[-1])
            if best_epoch(epochs) is epochs[-1]:
                kept = _finite(run, epochs[-1])
                _keep(run, BEST, kept)
            _save(run, epochs)
    _restore(learner, kept)
    return tuple(epochs)


def best_epoch(epochs: Sequence[Epoch]) -> Epoch:
    """The epoch of the highest held-out score, the first of equal ones."""
    return max(epochs, key=lambda epoch: epoch.score)


@dataclass(frozen=True, eq=False)
class _Run:
    """What every epoch needs."""

    learner: Learner
    config: TrainerConfig
    optimisers: Optimisers
    seed: int
    runtime: Runtime

    @cached_property
    def module(self) -> nn.Module:
        """What makes the loss: the learner, or what averages its gradients over all processes."""
        if self.runtime.processes.count == 1:
            return self.learner
        return DistributedDataParallel(self.learner, find_unused_parameters=not self.learner.uses_all)

    @property
    def examples(self) -> int:
        """Those of an epoch."""
        return self.config.examples_in_epoch(self.learner.examples)

    def batches(self, number: int) -> list[Tensor]:
        """The batches of an epoch, in an order of its own; those too small for every process are left out."""
        order = torch.randperm(self.learner.examples, generator=generator_for(self.seed, 2 * number + 1))
        parted = self.learner.batches(order[: self.examples], self.config.batch)
        return [rows for rows in parted if len(rows) > 2 * self.runtime.processes.count - 1]


def _untrained(run: _Run) -> Epoch:
    epoch = Epoch(0, math.nan, _score(run), 0.0)
    _keep(run, BEST, _parameters(run.learner))
    _save(run, [epoch])
    return epoch


def _epoch(run: _Run, behind: Sequence[Epoch], tick: Tick) -> Epoch:
    """One epoch: every example once, or so many as its steps take."""
    number, began = len(behind), time.perf_counter()
    batches, device, rank = run.batches(number), run.runtime.device, run.runtime.processes.rank
    stream = (2 * number, rank) if rank else (2 * number,)
    generator = generator_for(run.seed, *stream, device=device)
    rate = _rate(run.config, behind)
    run.learner.train()
    total, before = 0.0, (number - 1) * len(batches)
    with torch_seeded(run.seed, *stream, device=device):
        for step, rows in enumerate(batches, 1):
            run.learner.begin(before + step)
            value = _loss_of_step(run, rows, generator)
            norm = run.optimisers.step(rate * run.config.schedule(before + step), run.config.clip)
            for name, figure in (("loss", value), ("norm of the gradient", norm)):
                if not math.isfinite(figure):
                    raise NotConverged(
                        f"the {name} must be a finite number, got {figure} at step {step} of epoch {number}; "
                        f"lower the learning rate, which is {rate:g}"
                    )
            total += value
            tick((number - 1) * run.examples + step * run.config.batch, loss=total / step)
    return Epoch(number, total / len(batches), _score(run), time.perf_counter() - began)


def _loss_of_step(run: _Run, rows: Tensor, generator: torch.Generator) -> float:
    """The loss of a batch (b,), after its gradients were added to those of the parameters."""
    processes, device = run.runtime.processes, run.runtime.device
    share = processes.share(rows).to(device)
    with torch.autocast(device, torch.bfloat16, enabled=run.config.precision == "bf16"):
        loss = run.module(share, generator)
    if len(share) * processes.count != len(rows):
        # Gradients are averaged: a mean over shares becomes one over the batch by the size of each.
        loss = loss * (processes.count * len(share) / len(rows))
    loss.backward()
    return processes.sum(float(loss.detach())) / processes.count


def _score(run: _Run) -> float:
    """The held-out score, which the first process tells the others."""
    run.learner.eval()
    processes = run.runtime.processes
    return processes.sum(run.learner.score() if processes.first else 0.0)


def _goes_on(config: TrainerConfig, behind: Sequence[Epoch]) -> bool:
    """Whether there is another epoch after these."""
    in_vain = len(behind) - 1 - best_epoch(behind).number
    return (
        len(behind) <= config.epochs and in_vain < config.patience and _rate(config, behind) >= config.lowest
    )


def _rate(config: TrainerConfig, behind: Sequence[Epoch]) -> float:
    """The rate of the epoch after these, some of which may have been no better than the best before them."""
    best = accumulate((epoch.score for epoch in behind), max)
    setbacks = sum(epoch.score <= before for epoch, before in zip(behind[1:], best, strict=False))
    return config.rate * config.decay ** (len(behind) - 1) * config.shrink**setbacks


def _parameters(learner: Learner) -> Arrays:
    """A copy of all that training moves."""
    moved = [(name, p) for name, p in learner.named_parameters() if p.requires_grad]
    return {name: p.detach().cpu().numpy().copy() for name, p in moved}


def _finite(run: _Run, epoch: Epoch) -> Arrays:
    """The same; NotConverged where it is not worth keeping, since the epoch before was the last good one."""
    arrays = _parameters(run.learner)
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise NotConverged(
                f"what is learned must be finite numbers, got others in {name} after epoch {epoch.number}; "
                f"lower the learning rate, which is {run.config.rate:g}"
            )
    return arrays


def _restore(learner: Learner, arrays: Arrays) -> None:
    with torch.no_grad():
        for name, parameter in learner.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(torch.from_numpy(arrays[name]))


def _keep(run: _Run, stage: str, arrays: Arrays) -> None:
    if run.runtime.processes.first:
        run.runtime.checkpoint.save(stage, arrays)


def _save(run: _Run, epochs: Sequence[Epoch]) -> None:
    """Keeps what the next epoch starts from: parameters, the optimisers' state, the figures so far."""
    arrays = {f"parameter/{name}": array for name, array in _finite(run, epochs[-1]).items()}
    figures = np.array([astuple(epoch) for epoch in epochs])  # (e, 4) float64
    _keep(run, STATE, {**arrays, **run.optimisers.state(), "epochs": figures})


def _resume(run: _Run) -> list[Epoch]:
    """The epochs behind a killed run, its learner and optimisers as it left them; none where it is new."""
    run.runtime.processes.wait()  # until the first one has written what went before
    saved = run.runtime.checkpoint.load(STATE)
    run.runtime.processes.wait()  # until all have read it
    if saved is None:
        return []
    moved = {name.partition("/")[2]: array for name, array in saved.items() if name.startswith("parameter/")}
    _restore(run.learner, moved)
    run.optimisers.restore(saved)
    return [Epoch(int(row[0]), *map(float, row[1:])) for row in saved["epochs"].astype(np.float64)]
