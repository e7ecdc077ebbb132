"""Mining: precision, recall and F1 of mined pairs at a threshold, and the threshold with the best F1.

A threshold of the ratio margin usually transfers between pairs of languages (Kiros, 2020, table 5), so it can
be chosen on a pair with known translations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation.score import Hits


@dataclass(frozen=True)
class MiningScore:
    """Percentages of the pairs that reach a threshold; `f1` is the harmonic mean of the other two.

    `precision` is over those pairs, `recall` over the `known` ones.
    """

    threshold: float
    precision: float
    recall: float
    f1: float
    known: int

    def as_json(self) -> Mapping[str, Any]:
        """All fields."""
        return asdict(self)

    def __str__(self) -> str:
        """The line to print, with a threshold that keeps the same pairs when it is given again."""
        threshold = np.format_float_positional(np.float32(self.threshold), trim="-")  # scores are float32
        return (
            f"F1 = {self.f1:.1f} at {threshold} (precision {self.precision:.1f}, "
            f"recall {self.recall:.1f} of {self.known} known pairs)"
        )


@dataclass(frozen=True, eq=False)
class Judged:
    """The scores (p,) of mined pairs, best first, whether each is right (p,), and the number of known pairs.

    >>> judged = Judged(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]), known=4)
    >>> print(judged.best())
    F1 = 57.1 at 1 (precision 66.7, recall 50.0 of 4 known pairs)
    >>> print(judged.at(2.5))
    F1 = 40.0 at 2.5 (precision 100.0, recall 25.0 of 4 known pairs)
    """

    scores: NDArray[np.floating[Any]]
    right: Hits
    known: int

    def __post_init__(self) -> None:
        if self.known < 1:
            raise Mismatch("mining needs known pairs to evaluate it, got none; give pairs of both texts")

    def at(self, threshold: float) -> MiningScore:
        """The figures at a threshold; all are 0 if no pair reaches it."""
        right = self.right[self.scores >= threshold]
        hits, kept = int(right.sum()), len(right)
        precision, recall, f1 = hits / max(kept, 1), hits / self.known, 2 * hits / (kept + self.known)
        return MiningScore(threshold, 100 * precision, 100 * recall, 100 * f1, self.known)

    def best(self) -> MiningScore:
        """The figures at the threshold with the highest F1; of equal ones, the highest threshold."""
        if not len(self.scores):
            return self.at(0.0)
        f1 = 2 * self.right.cumsum() / (np.arange(1, len(self.right) + 1) + self.known)  # (p,)
        # No threshold separates pairs of equal score: only the last of them is a candidate.
        last = np.append(self.scores[1:] != self.scores[:-1], True)
        return self.at(float(self.scores[np.where(last, f1, -1).argmax()]))
