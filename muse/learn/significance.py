"""Significance: whether one alignment gets more cases right than another, in standard errors."""

from __future__ import annotations

import math

from torch import Tensor

SIGNIFICANT = 2.0  # standard errors that a gain must exceed


def standard_errors(before: Tensor, after: Tensor) -> float:
    """The gain in right cases from `before` to `after`, in standard errors (McNemar, 1947).

    `before` and `after` (p,) say for each case whether it is right. With b cases gained and c lost:
    (b - c) / sqrt(b + c), 0 if none changed.

    >>> import torch
    >>> standard_errors(torch.tensor([True, False]), torch.tensor([True, True]))
    1.0
    """
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    return (gained - lost) / math.sqrt(gained + lost) if gained + lost else 0.0
