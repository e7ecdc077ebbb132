"""How well the verdict tells right mappings from wrong ones, over runs whose outcome is known.

    python -m benchmarks.align.verdict [--jobs 2] [--shared ../shared] [--unlike]

Outcome: good where P@1 is above half of what Procrustes on the other half of the gold list gives, and
that is at least 5 %; failed otherwise. Where nothing corresponds (strangers, shuffled coordinates) every
run has failed. The gold lists serve only to know the outcome. The constants of muse/learn/verdict.py were
chosen with runs on the conditions of CHOSEN_ON in view ("fit"); the others are "held out". `--unlike`
makes the runs on vectors of unlike corpora and programs alone.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.align.verdict_case import Condition, Row, half_right, rotation, turned
from benchmarks.support.options import command_line
from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.tables import header, heading, row
from muse.alignment import Alignment
from muse.files import read_lexicon, read_vectors
from muse.learn.bilingual import normalise_in_place
from muse.learn.initialise.features import FeaturesConfig, features
from muse.learn.initialise.gromov import GromovConfig
from muse.learn.initialise.identical import IdenticalConfig, identical
from muse.learn.schedule import MANY_ROUNDS
from muse.learn.verdict import OF_WORDS
from muse.normalise import DEFAULT_STEPS
from muse.vectors import Vectors

MANY = replace(MANY_ROUNDS, max_rounds=30, patience=30)  # what auto makes of a start
RIGHT_EPSILON = GromovConfig(words=800).schedule
PAIRS = (
    ("zhang-es-en", 2_000), ("en-fr", 4_000), ("en-de", 4_000), ("zhang-it-en", 4_000), ("en-it", 2_000),
    ("de-fr", 4_000), ("en-fr", 1_000), ("fr-en", 2_000), ("zhang-es-en", 600), ("en-ru", 2_000),
    ("de-en", 4_000), ("fr-de", 4_000), ("it-en", 4_000), ("fr-it", 4_000),
)  # fmt: skip
UNLIKE = (
    ("web-fr-en", 4_000), ("zhang-glove-es-en", 4_000), ("zhang-glove-it-en", 4_000), ("ru-en", 4_000),
    ("en-ru", 8_000), ("web-fr-en", 10_000),
)  # fmt: skip
COPIES = (("en", 600), ("de", 2_000), ("fr", 1_500))
NOISES = (0.3, 1.0, 1.5, 4.0)  # in standard deviations of the vectors
SPECTRA: dict[str, Callable[[int], NDArray[Any]]] = {
    "isotropic": lambda d: np.ones(d), "rank^-0.5": lambda d: np.arange(1, d + 1) ** -0.5,
    "rank^-1": lambda d: np.arange(1, d + 1) ** -1.0, "0.9^rank": lambda d: 0.9 ** np.arange(d),
}  # fmt: skip
UNLIKE_STARTS: tuple[tuple[str, Callable[..., Iterator[Alignment]], object], ...] = (
    ("identical strings", identical, IdenticalConfig()),
    ("features", features, FeaturesConfig()),
)
SIZES = ((20, 600), (50, 2_000), (100, 600), (300, 2_000))
SHUFFLED = ("coordinates shuffled", "directions random")
CHOSEN_ON = ("zhang-es-en", "en-fr", "en-de", "en and its copy", "strangers")
COLUMNS = (
    "condition", "part", "run", "P@1", "supervised", "outcome", "verdict", "confidence",
    "agreement", "null", "gain",
)  # fmt: skip


def of_pair(name: str, words: int, shared: Path) -> Iterator[Row]:
    """The runs on a real pair, cut to its `words` most frequent words."""
    pair = find_pair(name, shared)
    lists = [*([pair.training] if pair.training else []), *pair.gold]
    source, target = (normalise_in_place(side, DEFAULT_STEPS)[0] for side in pair.vectors(words))
    gold = np.concatenate([read_lexicon(path).indices(source.index, target.index) for path in lists])
    case = Condition(f"{name}, {words} words", source, target, gold)
    right = case.supervised()
    supervised = case.precision(right)
    landed = case.refined(right)
    yield case.judged("dictionary", right, supervised)
    yield case.judged("dictionary, refined", landed, supervised)
    if (name, words) in UNLIKE:
        for name_of, initialise, config in UNLIKE_STARTS:
            start = case.started(initialise, config)
            yield case.judged(f"{name_of}, refined", case.refined(start), supervised)
            yield case.judged(f"{name_of}, many rounds", case.refined(start, MANY), supervised)
    lost = rotation(source.dimension)
    yield case.judged("random start, refined", case.refined(lost), supervised)
    yield case.judged("random start, many rounds", case.refined(lost, MANY), supervised)
    start = case.transported(RIGHT_EPSILON)
    yield case.judged("gromov", start, supervised)
    yield case.judged("gromov, refined", case.refined(start), supervised)
    yield case.judged("gromov, many rounds", case.refined(start, MANY), supervised)
    blurred = case.refined(case.transported(((1.0, 6),)))
    yield case.judged("gromov, wrong epsilon, refined", blurred, supervised)
    for angle in (0.6, 1.0, 1.4, 2.0):
        yield case.judged(f"turned away by {angle}", turned(landed, angle), supervised)
    for share in (0.1, 0.5):
        yield case.judged(f"right on {share:.0%} of the axes", half_right(landed, source, share), supervised)


def of_copies(language: str, words: int, shared: Path) -> Iterator[Row]:
    """The runs on a language and a copy of it: rotated, and blurred until nothing can be matched."""
    file = shared / "data" / "vectors" / f"{language}.vec.gz"
    rows = read_vectors(file, language=language, max_vocab=words).matrix
    source = _prepared(rows)
    gold = np.arange(words).repeat(2).reshape(-1, 2)
    for noise in NOISES:
        blur = np.random.default_rng(7).normal(0, noise * rows.std(), rows.shape)
        turn = rotation(rows.shape[1])
        case = Condition(
            f"{language} and its copy, noise {noise}", source, _prepared(rows @ turn.T + blur), gold
        )
        supervised = case.precision(case.supervised())
        yield case.judged("right start, refined", case.refined(turn), supervised)
        yield case.judged("random start, refined", case.refined(rotation(len(turn)).T), supervised)


def of_strangers(spectrum: str, dimension: int, words: int) -> Iterator[Row]:
    """The runs on two independent clouds of one spectrum, the same axes in both."""
    rng = np.random.default_rng(8)
    clouds = [rng.normal(size=(words, dimension)) * SPECTRA[spectrum](dimension) for _ in range(2)]
    source, target = map(_prepared, clouds)
    name = f"strangers, {spectrum}, d {dimension}, {words} words"
    case = Condition(name, source, target, np.empty((0, 2), np.int64))
    yield case.judged("random start, refined", case.refined(rotation(dimension)), float("nan"))
    identity = np.eye(dimension, dtype=np.float32)
    yield case.judged("axis to axis, refined", case.refined(identity), float("nan"))


def of_shuffled(way: str, shared: Path) -> Iterator[Row]:
    """The runs on real vectors against real vectors in which no word has kept its place."""
    rng = np.random.default_rng(9)
    files = [shared / "data" / "vectors" / f"{language}.vec.gz" for language in ("en", "fr")]
    x, y = (read_vectors(path, language="xx", max_vocab=2_000).matrix for path in files)
    lost = rng.permuted(y, axis=0) if way == SHUFFLED[0] else rng.normal(size=y.shape)
    case = Condition(f"en-fr, {way}", _prepared(x), _prepared(lost), np.empty((0, 2), np.int64))
    yield case.judged("random start, refined", case.refined(rotation(x.shape[1])), float("nan"))
    yield case.judged("gromov, refined", case.refined(case.transported(RIGHT_EPSILON)), float("nan"))


def _prepared(rows: NDArray[np.floating]) -> Vectors:
    words = [str(number) for number in range(len(rows))]
    return normalise_in_place(Vectors("xx", words, np.array(rows, np.float32)), DEFAULT_STEPS)[0]


def conditions(shared: Path, unlike: bool) -> list[Callable[[], Iterator[Row]]]:
    """Every condition as the function that makes its runs; the last ones take longest."""
    found: list[Callable[[], Iterator[Row]]] = []
    found += [partial(of_pair, name, words, shared) for name, words in UNLIKE]
    if unlike:
        return found
    found += [partial(of_pair, name, words, shared) for name, words in PAIRS]
    found += [partial(of_copies, language, words, shared) for language, words in COPIES]
    found += [partial(of_shuffled, way, shared) for way in SHUFFLED]
    found += [partial(of_strangers, spectrum, *size) for spectrum in SPECTRA for size in SIZES]
    return found


def _made(condition: Callable[[], Iterator[Row]]) -> list[Row]:
    torch.set_num_threads(1)
    return list(condition())


def confusion(title: str, rows: list[Row]) -> None:
    """Prints how good and failed runs were called, and how far both keep from the threshold."""
    print(f"\n{title}: {len(rows)} runs\n")
    header(("outcome", "runs", "aligned", "doubtful", "failed", "mean confidence", "gain"))
    for outcome, name in ((True, "good"), (False, "failed")):
        of = [found for found in rows if found.good is outcome]
        if not of:
            continue
        counts = [sum(found.label == label for found in of) for label in ("aligned", "doubtful", "failed")]
        gains = [found.gain for found in of]
        sure = f"{np.mean([found.confidence for found in of]):.3f}"
        row([name, len(of), *counts, sure, f"{min(gains):.2f} to {max(gains):.2f}"])


def calibration(rows: list[Row]) -> None:
    """Prints the share of good runs at each level of confidence."""
    print("\nConfidence against outcome\n")
    header(("confidence", "runs", "mean confidence", "good, share"))
    edges = (0.0, 0.2, 0.4, 0.6, 0.8, 1.001)
    for low, high in zip(edges, edges[1:], strict=False):
        of = [found for found in rows if low <= found.confidence < high]
        if of:
            figures = [f"{np.mean([getattr(f, key) for f in of]):.2f}" for key in ("confidence", "good")]
            row([f"{low:.1f} to {min(high, 1):.1f}", len(of), *figures])


def main() -> None:
    """Makes every run, prints one row each, the confusion tables, calibration and the margin."""
    asked = command_line(__doc__, jobs=2, shared=SHARED, unlike=(False, "unlike corpora and programs alone"))
    heading("The verdict on runs of known outcome")
    header(COLUMNS)
    parts: dict[str, list[Row]] = {"fit": [], "held out": []}
    with ProcessPoolExecutor(asked.jobs) as pool:
        for rows in pool.map(_made, conditions(asked.shared, asked.unlike)):
            part = "fit" if rows[0].condition.startswith(CHOSEN_ON) else "held out"
            parts[part] += rows
            for found in rows:
                outcome = "good" if found.good else "failed"
                scores = (found.found, found.supervised, outcome, found.label)
                row([found.condition, part, found.run, *scores, *(f"{value:.2f}" for value in found[6:10])])
    everything = [found for rows in parts.values() for found in rows]
    for part, rows in (*parts.items(), ("all", everything)):
        if rows:
            confusion(part, rows)
    calibration(everything)
    aligned = OF_WORDS.middle + np.log(4) / OF_WORDS.slope
    worst = max(found.gain for found in everything if not found.good)
    called = [found.gain for found in everything if found.good and found.gain >= aligned]
    print(f"\naligned from a gain of {aligned:.2f}; highest of a failed run {worst:.2f},", end=" ")
    print(f"lowest of a good run called aligned {min(called):.2f}: margin {aligned - worst:.2f} below")
    print(f"seconds of a verdict: median {np.median([found.seconds for found in everything]):.1f}")


if __name__ == "__main__":
    main()
