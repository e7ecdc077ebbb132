"""Answers: the share of those shown as trustworthy, likely and weak, and how many of each are right.

    python -m benchmarks.words.answers --space SPACE --src fr --tgt en --gold FILE [--gold FILE ...]

One row for each list: P@1 of the first answer by CSLS alone and by all the evidence; of the
answers of each grade, how many there are and how many of them are right. Every word of the list that the
space has is asked, with 95 % bootstrap intervals for P@1. The limits of the grades and the prior of a word's
own spelling were chosen on lists for training, `0-5000`, of en-fr, fr-en and en-de.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.support.tables import header, heading, row
from muse.files import read_lexicon
from muse.ranking.probability import find_calibration
from muse.ranking.ranker import translate_words
from muse.ranking.translations import Translations
from muse.space import Space, load_space

COLUMNS = (
    "gold",
    "words",
    "P@1 without",
    "P@1",
    "95 %",
    "trusted",
    "right",
    "likely",
    "right",
    "weak",
    "right",
)
GRADES = ("trusted", "likely", "weak")
SAMPLES = 1_000


def gold(path: Path) -> dict[str, set[str]]:
    """The translations of each word of a list."""
    found: dict[str, set[str]] = {}
    for source, target in read_lexicon(path).pairs:
        found.setdefault(source, set()).add(target)
    return found


def interval(right: Sequence[bool]) -> str:
    """The 95 % bootstrap interval of a share, in percent."""
    rng, hits = np.random.default_rng(0), np.array(right, float)
    means = [float(hits[rng.integers(len(hits), size=len(hits))].mean()) for _ in range(SAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{100 * low:.1f}-{100 * high:.1f}"


def measure(space: Space, source: str, target: str, path: Path) -> None:
    """Prints the row of a list."""
    right = gold(path)
    words = [word for word in right if word in space.vectors(source).index]
    plain = translate_words(space.by_csls(), words, source=source, target=target, top=1)
    answers = translate_words(space, words, source=source, target=target, top=1)
    before = [one[0].target in right[one.word] for one in plain]
    after = {one.word: one[0].target in right[one.word] for one in answers}
    cells = [f"{100 * np.mean(before):.1f}", f"{100 * np.mean(list(after.values())):.1f}"]
    cells += [interval(list(after.values())), *_by_grade(answers, after)]
    row([path.name, len(words), *cells])


def _by_grade(answers: Sequence[Translations], right: dict[str, bool]) -> list[str]:
    cells = []
    for grade in GRADES:
        hits = [right[one.word] for one in answers if one.grade == grade]
        cells += [str(len(hits)), f"{100 * np.mean(hits):.1f} %" if hits else ""]
    return cells


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--src", required=True)
    parser.add_argument("--tgt", required=True)
    parser.add_argument("--gold", type=Path, required=True, action="append")
    asked = parser.parse_args()
    heading("Are trusted answers right?")
    space = load_space(asked.space)
    find_calibration(space, asked.src, asked.tgt)
    header(COLUMNS)
    for path in asked.gold:
        measure(space, asked.src, asked.tgt, path)


if __name__ == "__main__":
    main()
