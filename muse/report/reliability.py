"""Reliability: whether answers given a probability of p are right in a share p of all cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muse.evaluation.groups import GroupScore, group_score
from muse.evaluation.score import Hits
from muse.report.measured import GoldAnswer
from muse.translate.answers import Grade, grade_of

BINS = 10
GRADES: tuple[Grade, ...] = ("trusted", "likely", "weak")


@dataclass(frozen=True)
class Bin:
    """Answers of similar probability: its mean in percent, and how many of them are right."""

    predicted: float
    found: GroupScore


@dataclass(frozen=True)
class Reliability:
    """Predicted probability against the share that is right, of all answers, by bin, and by grade.

    `error` is the expected calibration error in percentage points, the mean distance of predicted and found
    over all answers (Naeini, Cooper and Hauskrecht, 2015).
    """

    predicted: float
    found: GroupScore
    error: float
    bins: tuple[Bin, ...]
    grades: tuple[GroupScore, ...]

    @property
    def lean(self) -> str:
        """Whether the probabilities are too high or too low on the whole; empty if neither is certain."""
        low, high = self.found.ci95
        return "sure" if self.predicted > high else "modest" if self.predicted < low else ""


def reliability_of(answers: Sequence[GoldAnswer], rng: np.random.Generator) -> Reliability | None:
    """The reliability of the answers to a gold list; None if the space is too small for probabilities."""
    known = [(one.answer.probability, one.right) for one in answers if one.answer.probability is not None]
    if not known:
        return None
    probabilities, right = zip(*known, strict=True)
    return reliability(np.array(probabilities), np.array(right), rng)


def reliability(
    probabilities: NDArray[np.float64], right: Hits, rng: np.random.Generator, *, bins: int = BINS
) -> Reliability:
    """The reliability of `probabilities` (q,), by whether each answer is `right` (q,); `rng` for intervals.

    The bins are of equal width; empty ones are left out, as are empty grades.

    >>> rng = np.random.default_rng(0)
    >>> found = reliability(np.array([0.9, 0.7, 0.2]), np.array([True, True, False]), rng)
    >>> [(round(one.predicted), one.found.p_at_1) for one in found.bins], round(found.error)
    ([(20, 0.0), (70, 100.0), (90, 100.0)], 20)
    """
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    of_bins = tuple(
        _bin(f"{100 * place // bins}-{100 * (place + 1) // bins}", probabilities[of], right[of], rng)
        for place, of in ((place, places == place) for place in np.unique(places).tolist())
    )
    error = sum(abs(one.predicted - one.found.p_at_1) * one.found.queries for one in of_bins) / len(right)
    grades = np.array([grade_of(one) for one in probabilities.tolist()])
    return Reliability(
        100 * float(probabilities.mean()), group_score("all", right, rng), error, of_bins,
        tuple(group_score(name, right[grades == name], rng) for name in GRADES if (grades == name).any()),
    )  # fmt: skip


def _bin(name: str, probabilities: NDArray[np.float64], right: Hits, rng: np.random.Generator) -> Bin:
    return Bin(100 * float(probabilities.mean()), group_score(name, right, rng))
