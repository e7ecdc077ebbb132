"""Hold-out: which examples of a text in one language a learner is scored on instead of trained on."""

from __future__ import annotations

import torch
from torch import Tensor

HELD_OUT, SHARE = 200, 0.05  # the largest number and share of examples that are held out, at least one


def hold_out(examples: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The indices of the training examples (n,) and of the held-out ones (h,), both in a random order.

    >>> training, held_out = hold_out(50, torch.Generator().manual_seed(0))
    >>> len(training), len(held_out)
    (48, 2)
    """
    drawn = torch.randperm(examples, generator=generator)
    count = min(HELD_OUT, max(1, int(examples * SHARE)))
    return drawn[count:], drawn[:count]
