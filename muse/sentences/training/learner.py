"""The interface of learners: models with a loss, which the trainer trains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Learner(nn.Module, ABC):
    """A model with its loss; the optimiser updates its parameters, and checkpoints contain nothing else.

    A loss is a mean over its examples or their tokens, so that several processes can share them. Dropout is
    torch's own, active in training mode; the trainer seeds torch's own random numbers. All other random
    numbers come from the `generator` passed to `loss`.
    """

    uses_all = True  # whether every loss depends on every parameter, which DistributedDataParallel must know

    def __init__(self, sized_by: str = "--batch") -> None:
        """`sized_by` is the option or setting of the size of its batches, which errors name."""
        super().__init__()
        self.sized_by = sized_by

    @property
    @abstractmethod
    def examples(self) -> int:
        """The number n of examples to train on."""

    @abstractmethod
    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of the examples with these indices (b,); random draws come from `generator`."""

    @abstractmethod
    def score(self) -> float:
        """The score on held-out examples; higher is better."""

    def hits(self) -> int | None:
        """The number of correct held-out examples if `score` is their percentage, else None."""
        return None

    def begin(self, step: int) -> None:
        """Called before the loss of each step, counted from 1, for losses that change over time."""

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """The examples of an epoch, in random order (n,), split into batches of about `size`.

        A subclass may batch sentences of similar lengths together, or draw the batches from `generator`,
        which belongs to the epoch.
        """
        return torch.split(order, size)

    def most_batches(self, examples: int, size: int) -> int:
        """The largest number of batches that `batches` makes of this many examples."""
        return -(-examples // size)

    def check_batch(self, size: int) -> None:  # noqa: B027  # most learners take any
        """Raise BadSetting if batches of `size` examples are too small to learn from."""

    def fewest(self, processes: int) -> int:
        """The smallest batch that this many processes can share; smaller ones are skipped."""
        return 1

    def forward(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss (), under the name that DistributedDataParallel calls."""
        return self.loss(rows, generator)
