"""Expected precision: the share of first translations that are right, estimated without a dictionary.

A list of translations asks for words that have one; of all words, names and foreign words among them, many
have none in the other vocabulary, and their answers are those of other words too. The estimate is therefore
the mean probability over the FREQUENT most frequent words of the source without those whose answer is more
probable for another word. The log odds of measured P@1 differ from its own by ERROR
(`benchmarks/words/expected.py`). The mean over all these words was farther off, and so were regressions on
the share of mutual answers and the verdict's gain, with languages left out of them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from muse.space.derived import AnswerTable

FREQUENT = 20_000
ERROR = 0.25  # the root mean square, in log odds
# Where pairs were given: that of French, German, Italian and Spanish with 500 and 5,000, .45, and of Russian
# with 500, .42. Held-out pairs are of words that are easier than others; by how much differs.
ERROR_WITH_PAIRS = 0.45
WIDTH = 1.96  # of the interval, in errors
LEAST_SHARE = 0.005  # shares are clipped to it and its complement


@dataclass(frozen=True)
class ExpectedPrecision:
    """The expected P@1 of first translations and its 95 % interval, in percent."""

    p_at_1: float
    ci95: tuple[float, float]

    @classmethod
    def of(cls, probability: float, held_out: float | None = None, tested: int = 0) -> Self:
        """The estimate from the mean probability of frequent words.

        Where pairs were given, `held_out` is the share of `tested` words that were answered right without
        theirs. Both log odds are then averaged, weighted by their precision; the probabilities are trusted
        less the more they promise beyond that share.
        """
        found, error = log_odds_of(probability), ERROR
        if held_out is not None and tested:
            measured = log_odds_of((held_out * tested + 1) / (tested + 2))
            sure = 1 / (ERROR**2 + max(0.0, found - measured) ** 2)
            sure_measured = 1 / (ERROR**2 + 4 / tested)  # 4 / n: the variance of the log odds of one half
            found = (sure * found + sure_measured * measured) / (sure + sure_measured)
            error = ERROR_WITH_PAIRS
        return cls(_percent(found), (_percent(found - WIDTH * error), _percent(found + WIDTH * error)))

    @classmethod
    def of_report(cls, report: Mapping[str, Any]) -> Self | None:
        """The estimate that the report of a table of answers has; None without one."""
        found = [report.get("expected_p_at_1"), *(report.get("expected_ci95") or ())]
        if len(found) != 3 or not all(isinstance(one, int | float) and 0 <= one <= 100 for one in found):
            return None
        return cls(found[0], (found[1], found[2]))

    def at_least(self, share: float) -> float:
        """The probability that P@1 is at least this share: its log odds are normal about the estimate."""
        middle, low, high = (log_odds_of(one / 100) for one in (self.p_at_1, *self.ci95))
        errors = 2 * WIDTH * (log_odds_of(share) - middle) / (high - low)
        return math.erfc(errors / math.sqrt(2)) / 2

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


def frequent_probability(table: AnswerTable) -> float:
    """The mean probability of the answers to the FREQUENT most frequent words that no other word wants more.

    Of words (n,) with the same answer the one it is most probable for counts; 0 where no word has an answer.
    """
    answers = table.first()
    asking = np.flatnonzero(answers >= 0)
    if not len(asking):
        return 0.0
    answers, probability = answers[asking], table.probability[table.pointers[asking]]
    most = np.zeros(answers.max() + 1, np.float32)
    np.maximum.at(most, answers, probability)
    counted = (asking < FREQUENT) & (probability == most[answers])
    return float(probability[counted].mean(dtype=np.float64)) if counted.any() else 0.0
