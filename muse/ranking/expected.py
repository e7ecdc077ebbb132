"""Expected precision: the share of first translations that are right, estimated without a dictionary.

The log odds of P@1 are linear in what a run knows of itself: the log odds of the mean probability of the
answers, those of the share of words that are each other's answer, and the gain of the verdict. The estimate
is about words like the FREQUENT most frequent ones of the source, whose answers a list of translations is
asked for. `benchmarks/words/expected.py` fits the constants to measured P@1, and the interval to its errors
on languages left out of the fit.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from muse.space.derived import AnswerTable

FREQUENT = 10_000
# By benchmarks/words/expected.py: what is added, and the weights of log odds and gain.
CONSTANT, OF_PROBABILITY, OF_MUTUAL, OF_GAIN = 0.0, 1.0, 0.0, 0.0
ERROR = 0.3  # of log odds: the root mean square on languages left out
WIDTH = 1.96  # of the interval, in errors
LEAST_SHARE = 0.005  # shares are clipped to it and its complement
MOST_GAIN = 3.0  # beyond, the gain rests on a handful of pairs


@dataclass(frozen=True)
class ExpectedPrecision:
    """The expected P@1 of first translations and its 95 % interval, in percent."""

    p_at_1: float
    ci95: tuple[float, float]

    @classmethod
    def of(cls, probability: float, mutual: float, gain: float) -> Self:
        """The estimate from the mean probability, the share of mutual answers and the verdict's gain."""
        found = CONSTANT + OF_PROBABILITY * log_odds_of(probability) + OF_MUTUAL * log_odds_of(mutual)
        found += OF_GAIN * min(max(gain, 0.0), MOST_GAIN)
        return cls(_percent(found), (_percent(found - WIDTH * ERROR), _percent(found + WIDTH * ERROR)))

    @classmethod
    def of_report(cls, report: Mapping[str, Any]) -> Self | None:
        """The estimate that the report of a table of answers has; None without one."""
        found = [report.get("expected_p_at_1"), *(report.get("expected_ci95") or ())]
        if len(found) != 3 or not all(isinstance(one, int | float) and 0 <= one <= 100 for one in found):
            return None
        return cls(found[0], (found[1], found[2]))

    def at_least(self, share: float) -> float:
        """The probability that P@1 is at least this share: its log odds are normal about the estimate."""
        apart = log_odds_of(share) - log_odds_of(self.p_at_1 / 100)
        return math.erfc(apart / (ERROR * math.sqrt(2))) / 2

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` shows."""
        return {"expected_p_at_1": self.p_at_1, "expected_ci95": [*self.ci95]}

    def __str__(self) -> str:
        """The line to print.

        >>> print(ExpectedPrecision(66.2, (60.4, 71.5)))
        about 66 % of first translations are right [60, 72]
        """
        low, high = self.ci95
        return f"about {self.p_at_1:.0f} % of first translations are right [{low:.0f}, {high:.0f}]"


def log_odds_of(share: float) -> float:
    """log(s / (1 - s)) of a share s, kept finite.

    >>> log_odds_of(0.5)
    0.0
    """
    share = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
    return math.log(share / (1 - share))


def _percent(log_odds: float) -> float:
    return round(100 / (1 + math.exp(-log_odds)), 1)


def frequent_shares(there: AnswerTable, back: AnswerTable) -> tuple[float, float]:
    """The mean probability of the answers to the FREQUENT most frequent words, and the mutual share."""
    first, best = there.first()[:FREQUENT], back.first()
    some, words = first >= 0, np.arange(len(first))
    shares = there.probability[there.pointers[words[some]]]
    return float(shares.sum(dtype=np.float64)) / len(first), float((some & (best[first] == words)).mean())
