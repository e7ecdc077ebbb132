"""Moments: weighted second moments of paired rows, all that a linear fit needs to know of the pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

FLOOR = 1e-6  # of the largest eigenvalue: whitening a flat direction would blow up noise


class Spread(NamedTuple):
    """The eigenvalues (d,) and eigenvectors (d, d) of a covariance C, double; shrinking keeps the latter."""

    values: Tensor
    vectors: Tensor

    def power(self, exponent: float, shrinkage: float = 0.0) -> Tensor:
        """The power of (1 - s) C + s I t, (d, d), where s is the shrinkage and t the mean eigenvalue of C."""
        values = (1 - shrinkage) * self.values + shrinkage * self.values.mean()
        powers = values.clamp_min(float(values.max()) * FLOOR) ** exponent
        found: Tensor = (self.vectors * powers) @ self.vectors.T
        return found


@dataclass(frozen=True, eq=False)
class CrossMoments:
    """The sum of the weights w of pairs, and X^T w X (ds, ds), Y^T w Y (dt, dt) and X^T w Y (ds, dt), double.

    Sums can be subtracted: the moments of all pairs but some need no product over the many that are left.
    """

    weight: float
    source: Tensor
    target: Tensor
    both: Tensor

    @classmethod
    def of(cls, left: Tensor, right: Tensor, weights: Tensor) -> CrossMoments:
        """Those of paired rows (p, ds) and (p, dt) with weights (p,), summed in their precision."""
        x, y = weights[:, None] * left, weights[:, None] * right
        sums = (one.double() for one in (left.T @ x, right.T @ y, left.T @ y))
        return cls(float(weights.double().sum()), *sums)

    def __sub__(self, other: CrossMoments) -> CrossMoments:
        return CrossMoments(
            self.weight - other.weight,
            self.source - other.source,
            self.target - other.target,
            self.both - other.both,
        )

    @cached_property
    def spreads(self) -> tuple[Spread, Spread]:
        """The spreads of both covariances."""
        x, y = (torch.linalg.eigh(one / self.weight) for one in (self.source, self.target))
        return Spread(*x), Spread(*y)

    @property
    def covariance(self) -> Tensor:
        """The covariance of the two sides, (ds, dt)."""
        return self.both / self.weight
