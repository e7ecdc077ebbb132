"""The batches of every epoch: which examples they have, and whether a learner can be trained on them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.run.processes import Processes
from muse.training.learner import Learner
from muse.training.seeding import generator_for


@dataclass(frozen=True, eq=False)
class EpochBatches:
    """Batches of about `size` examples, so many `examples` an epoch, which several processes share.

    All examples are used once before any is used again, unless the learner draws its batches by language.
    """

    learner: Learner
    size: int
    examples: int
    seed: int
    processes: Processes

    def of(self, number: int) -> list[Tensor]:
        """The batches of an epoch, without those too small for the processes; BadSetting if all are."""
        fewest = self.learner.fewest(self.processes.count)
        batches = self.learner.batches(self._order(number), self.size)
        found = [rows for rows in batches if len(rows) >= fewest]
        if not found:
            raise BadSetting(
                f"a batch must have at least {fewest} examples, got at most {max(map(len, batches))}; give "
                f"more text, a larger {self.learner.sized_by} or fewer processes"
            )
        return found

    def _order(self, number: int) -> Tensor:
        """The indices (e,) of an epoch's examples, from successive passes in different random orders."""
        n, begin = self.learner.examples, (number - 1) * self.examples
        passes = range(begin // n, (begin + self.examples - 1) // n + 1)
        orders = [torch.randperm(n, generator=generator_for(self.seed, 2 * p + 3)) for p in passes]
        return torch.cat(orders)[begin - passes[0] * n :][: self.examples]
