"""Normalisation: unit length and centring in any order, fitted once and then applied to new words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting
from muse.vectors import Matrix, ShortRepr

STEPS = ("unit", "centre")
DEFAULT_STEPS = ("unit", "centre", "unit")
SMALL = 1e-15  # of a length: the squares of smaller numbers have lost digits


@dataclass(frozen=True, eq=False, repr=False)
class Normalisation(ShortRepr):
    """A sequence of steps and, in `means`, one (d,) mean for each "centre" among them, in order.

    The means come from the words it was fitted on, so that new words are normalised in the same way.
    """

    steps: tuple[str, ...]
    means: tuple[Matrix, ...]

    def apply(self, matrix: Matrix) -> Matrix:
        """The normalised rows (n, d), by the steps with the fitted means, as a new array."""
        means = iter(self.means)
        rows = np.array(matrix, dtype=np.float32)
        known = np.asarray(rows.any(axis=1))
        for step in self.steps:
            _step_(rows, next(means) if step == "centre" else None, known)
        return rows


def normalise(matrix: Matrix, steps: Sequence[str] = DEFAULT_STEPS) -> tuple[Matrix, Normalisation]:
    """The rows of `matrix` (n, d) after the steps, as a new array, and the fitted normalisation.

    "unit" divides each row by its length, "centre" subtracts the mean of all rows. A row of zeros, which
    points nowhere, stays one and is not in the mean. Repeating unit and centre is iterative normalisation
    (Zhang et al., 2019).

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
    means, known = list[Matrix](), np.asarray(rows.any(axis=1))
    count = max(1, np.count_nonzero(known))
    for step in steps:
        mean = None
        if step == "centre":
            mean = (rows.sum(axis=0, dtype=np.float64) / count).astype(np.float32)  # (d,)
            means.append(mean)
        _step_(rows, mean, known)
    return Normalisation(tuple(steps), tuple(means))


def check_steps(steps: Sequence[str]) -> None:
    """Raise BadSetting for an unknown step."""
    for step in steps:
        if step not in STEPS:
            raise BadSetting(f"a normalisation step must be one of {', '.join(STEPS)}; got {step!r}")


def _step_(rows: Matrix, mean: Matrix | None, known: NDArray[np.bool_]) -> None:
    # Of the rows (n, d) those that are not `known` (n,) are zeros, and stay.
    if mean is not None:
        if known.all():
            rows -= mean
        else:
            np.subtract(rows, mean, out=rows, where=known[:, None])
        return
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))[:, None]  # (n, 1)
    extreme = known & ~((lengths > SMALL) & (lengths < np.inf))[:, 0]  # their squares leave float32
    if extreme.any():
        lengths[extreme] = 1.0
        wide = rows[extreme].astype(np.float64)
        own = np.linalg.norm(wide, axis=1, keepdims=True)  # (n, 1)
        with np.errstate(invalid="ignore"):  # of numbers that are not finite, which stay so
            rows[extreme] = np.divide(wide, own, out=wide, where=own > 0).astype(np.float32)
    np.divide(rows, lengths, out=rows, where=lengths > 0)


def unit(rows: NDArray[np.floating[Any]]) -> Matrix:
    """The rows (n, k) scaled to unit length; those of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-9), np.float32)
