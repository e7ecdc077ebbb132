"""Model: how probable the evidence makes a candidate, by logistic regression.

log p / (1 - p) = w . x + b, with a ridge on w over standardised evidence x, and other weights for candidates
of one word than for units. Of several candidates each may be a translation: probabilities do not sum to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muse.terms.evidence import FEATURES
from muse.vectors import Doubles, Flags, Matrix, ShortRepr

STEPS = 30
_ALONE = FEATURES.index("one word")
RIDGE = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class TermModel(ShortRepr):
    """The weights (2 f,) of the evidence of units, then of that of words, and the log odds without any."""

    weights: Doubles
    intercept: float

    def probabilities(self, values: Matrix | Doubles) -> Doubles:
        """The probability (p,) of candidates with evidence (p, f)."""
        return np.asarray(1 / (1 + np.exp(-(_parted(values) @ self.weights + self.intercept))), np.float64)

    @classmethod
    def learned(cls, values: Matrix | Doubles, right: Flags) -> TermModel:
        """The model of highest penalised likelihood of which candidates (p,) are `right`: Newton's method."""
        values = _parted(values)
        mean, scale = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)
        x = np.column_stack([(values - mean) / scale, np.ones(len(values))]).astype(np.float64)
        w, ridge = np.zeros(x.shape[1]), np.append(np.full(x.shape[1] - 1, RIDGE), 0)
        for _ in range(STEPS):
            p = 1 / (1 + np.exp(-(x @ w)))
            gradient = x.T @ (right - p) - ridge * w
            step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(ridge + 1e-9), gradient)
            w += step
            if np.abs(step).max() < 1e-8:
                break
        weights = w[:-1] / scale
        return cls(weights, float(w[-1] - weights @ mean))

    @classmethod
    def shipped(cls) -> TermModel:
        """The model that benchmarks/words/units.py learned from German, French and English."""
        return cls(np.array([*_OF_UNITS, *_OF_WORDS]), _INTERCEPT)


def _parted(values: Matrix | Doubles) -> Matrix | Doubles:
    """The evidence (p, 2 f) of candidates (p, f): of units in the first columns, of words in the others."""
    alone = values[:, _ALONE, None]
    return np.concatenate([values * (1 - alone), values * alone], axis=1)


# By FEATURES; learned on half of the units of dictionaries that novels and sentences contain.
_OF_UNITS = (
    1.287, -0.681, 1.073, -0.354, -0.752, -2.548, -2.950, -0.572, -1.079, 0.000, 5.830, 11.415,
    1.367, 0.000, -0.131, -0.207, -0.062, 0.541,
)  # fmt: skip
_OF_WORDS = (
    3.375, 1.594, 0.264, 4.968, 0.312, 1.083, -3.954, -0.867, -0.274, 6.921, 2.558, 6.846, 0.871,
    -0.797, -0.015, -0.190, 0.004, -0.018,
)  # fmt: skip
_INTERCEPT = -0.372
