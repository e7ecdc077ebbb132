"""Where words mislead: similarity of sentences that share words but no meaning, or meaning but no words.

    python -m benchmarks.sentences.sts_hard --space FOLDER --work FOLDER --out FILE.csv
        [--rows "mean;sif;..."]
        [--trained NAME=FOLDER ...] [--years] [--shared ../shared]

The splits of Wieting et al. (2020, section 4.3), made from STS-B's development and test parts in English, or
with --years from all sets of STS 2012 to 2016 that there are, as in the paper:
    alike       pairs with the lowest 20 % of symmetric word error rates, rated 0 to 1
    unlike      pairs with the highest 20 %, rated 4 to 5
    negation    pairs of which one sentence alone has not or n't
Measured is Pearson's correlation on each, as in the paper (its table 3), and on all pairs. --rows are names
of which_encoder.py, --trained the folders of other encoders. One row an encoder is appended to FILE.csv; rows
that are there are not made again.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.sentences.sentences import named
from benchmarks.sentences.senteval import YEARS
from benchmarks.sentences.which_encoder import NOTHING, Encoder, made
from benchmarks.support.kept_rows import append, interval_columns, read_rows, with_interval
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_sets import PIVOT, beside_english, training
from benchmarks.support.tables import commit, today
from muse.files.sentence_text import read_rated_sentences
from muse.files.suite_folder import read_suite
from muse.sentences.evaluation.sts import evaluate_sts
from muse.sentences.loading import load_encoder
from muse.space import load_space

SHARE = 0.2  # of all pairs, with the lowest and the highest error rates
LOW, HIGH = (0.0, 1.0), (4.0, 5.0)  # ratings
NAMES = "mean;idf;sif;power-mean;static;distilled;minilm;use"
SPLITS = ("all", "alike", "unlike", "negation")
COLUMNS = ("encoder", *interval_columns(*SPLITS), "commit", "date")
_FIRST, _SECOND = attrgetter("first"), attrgetter("second")
_WORD = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")
_NEGATION = re.compile(r"\bnot\b|n['’]t\b", re.IGNORECASE)


def error_rate(hypothesis: Sequence[str], reference: Sequence[str]) -> float:
    """The word error rate: insertions, deletions and substitutions, over the words of the reference."""
    distances = np.arange(len(reference) + 1)
    for place, word in enumerate(hypothesis, 1):
        before, distances = distances, np.empty_like(distances)
        distances[0] = place
        for column, other in enumerate(reference, 1):
            changed = before[column - 1] + (word != other)
            distances[column] = min(changed, before[column] + 1, distances[column - 1] + 1)
    return float(distances[-1]) / max(1, len(reference))


def symmetric_error_rate(one: str, other: str) -> float:
    """The mean of the word error rates both ways, lower-cased.

    >>> symmetric_error_rate("It is good.", "It is not good.")
    0.225
    """
    x, y = (_WORD.findall(sentence.lower()) for sentence in (one, other))
    return (error_rate(x, y) + error_rate(y, x)) / 2


def splits(
    first: Sequence[str], second: Sequence[str], ratings: NDArray[np.float64]
) -> dict[str, NDArray[np.bool_]]:
    """Which pairs (p,) belong to each of the splits."""
    pairs = list(zip(first, second, strict=True))
    rates = np.array([symmetric_error_rate(*pair) for pair in pairs])
    lowest, highest = np.quantile(rates, SHARE), np.quantile(rates, 1 - SHARE)
    negated = np.array([[bool(_NEGATION.search(one)) for one in pair] for pair in pairs])
    return {
        "all": np.ones(len(pairs), bool),
        "alike": (rates <= lowest) & (ratings >= LOW[0]) & (ratings <= LOW[1]),
        "unlike": (rates >= highest) & (ratings >= HIGH[0]) & (ratings <= HIGH[1]),
        "negation": negated[:, 0] != negated[:, 1],
    }


def rated(data: Path, years: bool) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """First sentences, second ones and ratings of all pairs."""
    if years:
        parts = [part for task in read_suite(data, names=YEARS) for part in task.parts.values()]
        sides = [[text for part in parts for text in side(part)] for side in (_FIRST, _SECOND)]
        return sides[0], sides[1], np.concatenate([part.ratings for part in parts])
    of_stsb = [read_rated_sentences(data / f"sts/stsb-{PIVOT}-{part}.csv") for part in ("dev", "test")]
    first, second = (sum((list(getattr(one, side)) for one in of_stsb), []) for side in ("first", "second"))
    return first, second, np.concatenate([one.ratings for one in of_stsb]).astype(float)


def main() -> None:
    """Appends the rows that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--rows", default=NAMES, help="with ; between")
    parser.add_argument("--trained", type=named, action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--years", action="store_true", help="of STS 2012 to 2016 instead of STS-B")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    space, data = load_space(asked.space), asked.shared / "data"
    text, languages = training(data, beside_english(space)), (beside_english(space), PIVOT)
    first, second, ratings = rated(data, asked.years)
    chosen = splits(first, second, ratings)
    print({name: int(which.sum()) for name, which in chosen.items()}, flush=True)
    folders = dict(asked.trained)
    done = {one["encoder"] for one in read_rows(asked.out)}
    for name in [*filter(None, asked.rows.split(";")), *folders]:
        if name in done:
            continue
        if name in folders:
            encoder = Encoder(name, "trained", languages, load_encoder(Path(folders[name]), space))
        else:
            encoder = made(name, space, text, asked)
        x, y = (encoder.rows(side, PIVOT) for side in (first, second))
        one: dict[str, object] = {"encoder": name, "commit": commit(), "date": today()}
        for split, which in chosen.items():
            score = evaluate_sts(x[which], y[which], ratings[which], NOTHING, rng=np.random.default_rng(0))
            one |= with_interval(split, score.pearson, score.pearson_ci95, times=100)
        append(asked.out, [one], COLUMNS)
        print(*one.values(), flush=True)


if __name__ == "__main__":
    main()
