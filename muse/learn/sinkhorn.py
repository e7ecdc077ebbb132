"""Sinkhorn: entropic optimal transport between two sets of rows of equal weight."""

from __future__ import annotations

import torch
from torch import Tensor


def sinkhorn(cost: Tensor, epsilon: float, rounds: int) -> Tensor:
    """The plan (n, m) of least cost . T - epsilon H(T) with uniform marginals (Cuturi, 2013).

    The first round is in the log domain, which avoids overflow in any row or column; the others are
    matrix-vector products. The marginal of the rows is exact, that of the columns in the limit.
    """
    n, m = cost.shape
    log_kernel = cost / -epsilon
    log_kernel = log_kernel - torch.logsumexp(log_kernel, dim=1, keepdim=True)
    kernel = (log_kernel - torch.logsumexp(log_kernel, dim=0, keepdim=True)).exp_()
    tiny = torch.finfo(kernel.dtype).tiny
    rows = kernel.new_ones(n)
    columns = kernel.new_ones(m)
    for _ in range(rounds):
        columns = (1 / m) / (rows @ kernel).clamp_min(tiny)
        rows = (1 / n) / (kernel @ columns).clamp_min(tiny)
    return rows[:, None] * kernel * columns
