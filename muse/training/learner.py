"""Learners: what a trainer trains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn


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

    def hits(self) -> int | None:
        """How many held-out examples it gets right, where `score` is the percentage of those."""
        return None

    def begin(self, step: int) -> None:
        """Told before the loss of each step which it is, from 1 on: for a loss that changes as it goes."""

    def batches(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """The examples in their order (n,), which is random, parted in batches of about `size`.

        A learner of text may put sentences of like lengths together.
        """
        return torch.split(order, size)

    def most_batches(self, examples: int, size: int) -> int:
        """How many batches `batches` makes of so many examples, at most."""
        return -(-examples // size)

    def fewest(self, processes: int) -> int:
        """How many examples a batch for so many processes must have; smaller ones are left out."""
        return 1

    def forward(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss (): what several processes compute together."""
        return self.loss(rows, generator)
