"""Normalisation: unit length and centring in any order, fitted once and then applied to new words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muse.errors import BadSetting
from muse.vectors import Matrix

STEPS = ("unit", "centre")
DEFAULT_STEPS = ("unit", "centre", "unit")


@dataclass(frozen=True, eq=False)
class Normalisation:
    """A sequence of steps and, in `means`, one (d,) mean for each "centre" among them, in order.

    The means are those of the words it was fitted on, so that new words are normalised alike.
    """

    steps: tuple[str, ...]
    means: tuple[Matrix, ...]

    def apply(self, matrix: Matrix) -> Matrix:
        """The normalised rows (n, d), by the steps with the fitted means, as a new array."""
        means = iter(self.means)
        rows = np.array(matrix, dtype=np.float32)
        for step in self.steps:
            _step_(rows, next(means) if step == "centre" else None)
        return rows


def normalise(matrix: Matrix, steps: Sequence[str] = DEFAULT_STEPS) -> tuple[Matrix, Normalisation]:
    """The rows of `matrix` (n, d) after the steps, as a new array, and the fitted normalisation.

    "unit" divides each row by its length (a row of zeros stays), "centre" subtracts the mean of
    all rows. Repeating unit and centre is iterative normalisation (Zhang et al., 2019).

    >>> rows, fitted = normalise(np.array([[3.0, 4.0], [0.0, 2.0]], dtype=np.float32), ["unit"])
    >>> rows.tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 1.0]]
    """
    rows = np.array(matrix, dtype=np.float32)
    return rows, normalise_(rows, steps)


def normalise_(rows: Matrix, steps: Sequence[str] = DEFAULT_STEPS) -> Normalisation:
    """The fitted normalisation, with `rows` (n, d) normalised in place; otherwise like `normalise`.

    For rows whose raw values are no longer needed: no second matrix is allocated.
    """
    check_steps(steps)
    means = []
    for step in steps:
        mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32) if step == "centre" else None  # (d,)
        if mean is not None:
            means.append(mean)
        _step_(rows, mean)
    return Normalisation(tuple(steps), tuple(means))


def check_steps(steps: Sequence[str]) -> None:
    """Raise BadSetting for an unknown step."""
    for step in steps:
        if step not in STEPS:
            raise BadSetting(f"a normalisation step must be one of {', '.join(STEPS)}; got {step!r}")


def _step_(rows: Matrix, mean: Matrix | None) -> None:
    if mean is not None:
        rows -= mean
        return
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))[:, None]  # (n, 1)
    np.divide(rows, lengths, out=rows, where=lengths > 0)
