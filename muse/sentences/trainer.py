"""The trainer: Adam on batches of row numbers, whatever a learner makes of them, and an early stop.

It knows nothing of encoders, pairs or losses. A learner is a torch module that has so many examples, makes a
loss of a batch of their numbers, and scores itself on examples it never trains on.
"""

from __future__ import annotations

import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from muse.errors import BadSetting, NotConverged
from muse.progress import Tick
from muse.runtime import Runtime

log = logging.getLogger(__name__)

Arrays = dict[str, NDArray[Any]]
STATE, BEST = "training", "best"  # the stages of the checkpoint


@dataclass(frozen=True)
class TrainerConfig:
    """How to train: the most epochs, pairs a step, Adam's learning rate, and when to stop sooner."""

    epochs: int = 20
    batch: int = 256
    rate: float = 1e-3
    patience: int = 3  # epochs without a better held-out score after which training ends

    def __post_init__(self) -> None:
        for name in ("epochs", "patience"):
            if getattr(self, name) < 1:
                raise BadSetting(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.batch < 2:
            raise BadSetting(f"a batch needs a wrong translation for each pair: 2 or more, got {self.batch}")
        if not 0 < self.rate < math.inf:
            raise BadSetting(f"the learning rate must be a number above 0, got {self.rate}")


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
    """What is trained: its parameters are what Adam moves, and all that a checkpoint keeps."""

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


def train(learner: Learner, config: TrainerConfig, *, seed: int, runtime: Runtime) -> tuple[Epoch, ...]:
    """Trains `learner` in place, leaves it as it was at its best epoch, and returns all epochs.

    A killed run goes on from `runtime.checkpoint` and ends as if it had never stopped, to the bit.
    NotConverged where the loss is no finite number.
    """
    run = _Run(learner, config, _optimisers(learner, config.rate), seed, runtime)
    epochs = _resume(run) or [_untrained(run)]
    kept = runtime.checkpoint.load(BEST) or _parameters(learner)
    with runtime.progress.stage("training", config.epochs * learner.examples) as tick:
        while len(epochs) <= config.epochs and len(epochs) - 1 - best_epoch(epochs).number < config.patience:
            epochs.append(_epoch(run, len(epochs), tick))
            log.info("%s", epochs[-1])
            if best_epoch(epochs) is epochs[-1]:
                kept = _parameters(learner)
                runtime.checkpoint.save(BEST, kept)
            _save(run, epochs)
    _restore(learner, kept)
    return tuple(epochs)


def best_epoch(epochs: Sequence[Epoch]) -> Epoch:
    """The epoch of the highest held-out score, the first of equal ones."""
    return max(epochs, key=lambda epoch: epoch.score)


def generator_for(seed: int, stream: int, device: str = "cpu") -> torch.Generator:
    """The source of all that is random in one epoch, so that a resumed run needs no generator's state."""
    mixed = np.random.SeedSequence([seed, stream]).generate_state(1)
    return torch.Generator(device).manual_seed(int(mixed[0]))


@dataclass(frozen=True, eq=False)
class _Run:
    """What every epoch needs."""

    learner: Learner
    config: TrainerConfig
    optimisers: Sequence[torch.optim.Optimizer]
    seed: int
    runtime: Runtime


def _untrained(run: _Run) -> Epoch:
    run.learner.eval()
    epoch = Epoch(0, math.nan, run.learner.score(), 0.0)
    run.runtime.checkpoint.save(BEST, _parameters(run.learner))
    _save(run, [epoch])
    return epoch


def _epoch(run: _Run, number: int, tick: Tick) -> Epoch:
    """One epoch: every example once, in an order of its own; a last batch of one example is left out."""
    learner, config, began = run.learner, run.config, time.perf_counter()
    generator = generator_for(run.seed, 2 * number, run.runtime.device)
    order = torch.randperm(learner.examples, generator=generator_for(run.seed, 2 * number + 1))  # (n,)
    batches = [rows for rows in torch.split(order, config.batch) if len(rows) > 1]
    learner.train()
    total = 0.0
    for step, rows in enumerate(batches, 1):
        loss = learner.loss(rows.to(run.runtime.device), generator)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise NotConverged(
                f"the loss must be a finite number, got {value} at step {step} of epoch {number}; "
                f"lower the learning rate, which is {config.rate:g}"
            )
        loss.backward()  # type: ignore[no-untyped-call]
        for optimiser in run.optimisers:
            optimiser.step()
            optimiser.zero_grad()
        total += value
        tick((number - 1) * learner.examples + step * config.batch, loss=total / step)
    learner.eval()
    return Epoch(number, total / len(batches), learner.score(), time.perf_counter() - began)


def _optimisers(learner: Learner, rate: float) -> list[torch.optim.Optimizer]:
    """Adam; for tables of words the kind that looks only at the rows that a batch touched."""
    tables = [module for module in learner.modules() if isinstance(module, nn.Embedding | nn.EmbeddingBag)]
    sparse = [table.weight for table in tables if table.sparse and table.weight.requires_grad]
    touched = {id(weight) for weight in sparse}
    dense = [p for p in learner.parameters() if p.requires_grad and id(p) not in touched]
    made: list[torch.optim.Optimizer] = []
    if sparse:
        made.append(torch.optim.SparseAdam(sparse, lr=rate))
    if dense:
        made.append(torch.optim.Adam(dense, lr=rate))
    return made


def _parameters(learner: Learner) -> Arrays:
    """A copy of all that training moves."""
    moved = [(name, p) for name, p in learner.named_parameters() if p.requires_grad]
    return {name: p.detach().cpu().numpy().copy() for name, p in moved}


def _restore(learner: Learner, arrays: Arrays) -> None:
    with torch.no_grad():
        for name, parameter in learner.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(torch.from_numpy(arrays[name]))


def _save(run: _Run, epochs: Sequence[Epoch]) -> None:
    """Keeps what the next epoch starts from: parameters, the optimisers' moments, the figures so far."""
    arrays = {f"parameter/{name}": array for name, array in _parameters(run.learner).items()}
    for number, optimiser in enumerate(run.optimisers):
        for place, state in optimiser.state_dict()["state"].items():
            for name, value in state.items():
                kept = value.cpu().numpy() if isinstance(value, Tensor) else np.array(value)
                arrays[f"optimiser/{number}/{place}/{name}"] = kept
    arrays["epochs"] = np.array([astuple(epoch) for epoch in epochs])  # (e, 4) float64
    run.runtime.checkpoint.save(STATE, arrays)


def _resume(run: _Run) -> list[Epoch]:
    """The epochs behind a killed run, its learner and optimisers as it left them; none where it is new."""
    saved = run.runtime.checkpoint.load(STATE)
    if saved is None:
        return []
    moved = {name.partition("/")[2]: array for name, array in saved.items() if name.startswith("parameter/")}
    _restore(run.learner, moved)
    for number, optimiser in enumerate(run.optimisers):
        states: dict[int, dict[str, Any]] = {}
        for name, array in saved.items():
            part, *rest = name.split("/")
            if part == "optimiser" and int(rest[0]) == number:
                # torch.tensor copies to aligned memory: the same kernels run, to the same last bit.
                value = int(array) if array.ndim == 0 and array.dtype.kind == "i" else torch.tensor(array)
                states.setdefault(int(rest[1]), {})[rest[2]] = value
        optimiser.load_state_dict({**optimiser.state_dict(), "state": states})
    return [Epoch(int(row[0]), *map(float, row[1:])) for row in saved["epochs"].astype(np.float64)]
