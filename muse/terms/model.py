"""Model: how probable the evidence makes a candidate, by logistic regression.

log p / (1 - p) = w . x + b over evidence x, with other weights for candidates of one word than for units. Of
several candidates each may be a translation: probabilities do not sum to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muse.terms.evidence import FEATURES
from muse.vectors import Doubles, Matrix, ShortRepr

_ALONE = FEATURES.index("one word")


@dataclass(frozen=True, eq=False, repr=False)
class TermModel(ShortRepr):
    """The weights (2 f,) of the evidence of units, then of that of words, and the log odds without any."""

    weights: Doubles
    intercept: float

    def probabilities(self, values: Matrix | Doubles) -> Doubles:
        """The probability (p,) of candidates with evidence (p, f)."""
        return np.asarray(1 / (1 + np.exp(-(parted(values) @ self.weights + self.intercept))), np.float64)

    @classmethod
    def shipped(cls) -> TermModel:
        """The model that benchmarks/words/units.py learned from German, French and English."""
        return cls(np.array([*_OF_UNITS, *_OF_WORDS]), _INTERCEPT)


def parted(values: Matrix | Doubles) -> Matrix | Doubles:
    """The evidence (p, 2 f) of candidates (p, f): of units in the first columns, of words in the others."""
    alone = values[:, _ALONE, None]
    return np.concatenate([values * (1 - alone), values * alone], axis=1)


# By FEATURES; learned on half of the units of dictionaries that are found in novels and sentences, among all.
_OF_UNITS = (
    1.118, -1.193, 1.283, 0.360, -1.207, -2.010, -3.589, -0.230, -0.988, 0.000, 6.784,
    8.652, 2.198, 0.000, -0.129, -0.253, -0.104, 0.307,
)  # fmt: skip
_OF_WORDS = (
    2.103, 1.073, 0.083, 3.647, -0.942, -0.108, -6.534, -1.250, -0.398, 7.173, 4.790,
    8.439, 0.813, 0.113, -0.022, -0.252, 0.159, 0.104,
)  # fmt: skip
_INTERCEPT = 0.445
