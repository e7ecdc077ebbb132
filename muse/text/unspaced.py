"""Unspaced text: whether words stand without spaces between them, as Chinese and Thai are usually written."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Runs of letters by script, with an average length that words of it do not have.
_SCRIPTS = (
    (re.compile("[\u3040-\u30ff\u3400-\u9fff]+"), 5),  # kana and Han
    (re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]+"), 10),  # Thai, Lao, Tibetan, Burmese, Khmer
)


def unspaced_advice(lines: Sequence[str]) -> str | None:
    """What to do with text whose words stand without spaces between them; None for any other text."""
    letters = unspaced_letters(lines)
    if letters is None:
        return None
    return (
        f"{letters:.0f} letters stand between two spaces on average: separate the words by spaces first, "
        "as jieba (Chinese), fugashi (Japanese) and pythainlp (Thai) do"
    )


def unspaced_letters(lines: Sequence[str]) -> float | None:
    """The average number of letters between spaces, if it is too high for words; None otherwise.

    Only of text in a script that is usually written without spaces.
    """
    for script, too_long in _SCRIPTS:
        runs = [run for line in lines for run in script.findall(line)]
        mean = sum(map(len, runs)) / max(1, len(runs))
        if len(runs) >= len(lines) / 2 and mean >= too_long:  # not of a few quotations
            return mean
    return None
