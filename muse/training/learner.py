"""The contract of learners, which the trainer trains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Learner(nn.Module, ABC):
    """A model with its loss: its parameters are what the optimiser moves, and all that a checkpoint keeps.

    A loss is a mean over its examples, so that several processes may share them. Dropout is torch's own, on
    in training mode, and the trainer seeds what torch draws by itself. All else that is random comes from
    the `generator` of a loss.
    """

    uses_all = True  # whether every loss depends on every parameter; several processes must know

    @property
    @abstractmethod
    def examples(self) -> int:
        """The number n of examples to train on."""

    @abstractmethod
    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of the examples with these numbers (b,), drawing from `generator`."""

    @abstractmethod
    def score(self) -> float:
        """The score of held-out examples: the higher the better."""

    def hits(self) -> int | None:
        """How many held-out examples it gets right, where `score` is the percentage of those."""
        return None

    def begin(self, step: int) -> None:
        """Called with the number of each step, from 1, before its loss: for a loss that changes over time."""

    def batches(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """The examples in their random order (n,), split into batches of about `size`.

        A learner of text may put sentences of similar lengths together.
        """
        return torch.split(order, size)

    def most_batches(self, examples: int, size: int) -> int:
        """The most batches that `batches` makes of so many examples."""
        return -(-examples // size)

    def check_batch(self, size: int) -> None:  # noqa: B027  # most learners take any
        """Raises BadSetting where batches of `size` examples are too small to learn from."""

    def fewest(self, processes: int) -> int:
        """The fewest examples of a batch that so many processes share; smaller ones are left out."""
        return 1

    def forward(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss (), by the name that DistributedDataParallel calls."""
        return self.loss(rows, generator)
