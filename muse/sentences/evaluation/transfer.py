"""Transfer: a classifier trained on sentences of one language, tested on those of others.

The protocol of Rücklé et al. (2018, sections 4.1 and 5.1): logistic regression on sentence vectors, random
subsamples, macro-F1. Sentence i is the same in every language, so a run splits sentences, not rows: no
test sentence occurs in training, not even in translation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation.score import Interval, Signature
from muse.progress import Progress
from muse.sentences.evaluation import classifier
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, Labels, Parts
from muse.vectors import Matrix

Values = NDArray[np.float64]
MEASURES = {"macro_f1": classifier.macro_f1, "accuracy": classifier.accuracy}
# Of transfer, in the test language, in the source language, of the majority class.
Figures = tuple[float, ...]
TESTED = 1 / 3  # test rows for each training row, by the split of muse.sentences.evaluation.classifier


@dataclass(frozen=True)
class TransferConfig:
    """The number of random subsamples, two or more, and the classifier."""

    runs: int = 20
    classifier: ClassifierConfig = ClassifierConfig()


class Figure(NamedTuple):
    """The mean over the runs, in percent, and its 95 % interval."""

    value: float
    ci95: Interval

    def __str__(self) -> str:
        """63.1 [60.0, 66.2]."""
        low, high = self.ci95
        return f"{self.value:.1f} [{low:.1f}, {high:.1f}]"


@dataclass(frozen=True)
class TransferScore:
    """One measure on one test language.

    `transfer` was trained on the source language, `in_language` on the test language itself, `drop` is the
    difference of the two, run by run; `source` was trained and tested on the source language, and `majority`
    always predicts the most frequent class.
    """

    language: str
    measure: str
    transfer: Figure
    in_language: Figure
    drop: Figure
    source: Figure
    majority: float
    runs: int
    sentences: int
    signature: Signature

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON: each figure as its value and its interval."""
        fields = {name: value for name, value in vars(self).items() if not isinstance(value, Figure)}
        for name in ("transfer", "in_language", "drop", "source"):
            figure = getattr(self, name)
            fields |= {name: figure.value, f"{name}_ci95": list(figure.ci95)}
        return {**fields, "signature": str(self.signature)}

    def __str__(self) -> str:
        """The line to print."""
        return (
            f"{self.measure} = {self.transfer} | {self.signature}\n"
            f"  trained in {self.language} itself {self.in_language}, drop {self.drop}, in the source "
            f"language {self.source}, majority {self.majority:.1f}"
        )


def evaluate_transfer(
    rows: Mapping[str, Matrix],
    labels: Sequence[str],
    signatures: Mapping[str, Signature],
    *,
    config: TransferConfig,
    rng: np.random.Generator,
    progress: Progress,
) -> list[TransferScore]:
    """The scores of each language of `rows` except the first, the training language.

    `rows` are (n, d) for each language, row i the sentence with `labels[i]`; `rng` draws the runs.
    """
    if len(rows) < 2:
        raise Mismatch(f"transfer needs a training and a test language, got {', '.join(rows) or 'none'}")
    codes = np.unique(np.array(labels), return_inverse=True)[1]  # (n,)
    drawn = [classifier.parts(codes, rng) for _ in range(config.runs)]
    tables: dict[tuple[str, str], list[Figures]] = {}
    with progress.stage("transfer", config.runs, "runs") as tick:
        for done, part in enumerate(drawn, 1):
            for which, figures in _figures(rows, codes, part, config.classifier):
                tables.setdefault(which, []).append(figures)
            tick(done)
    found = []
    for (language, measure), table in tables.items():
        far, near, source, majority = np.array(table).T  # (runs,) each
        drop = mean_of_runs(near - far, least=-100)
        found.append(
            TransferScore(
                language, measure, mean_of_runs(far), mean_of_runs(near), drop, mean_of_runs(source),
                float(majority.mean()), len(table), len(labels), signatures[language],
            )
        )  # fmt: skip
    return found


def _figures(
    rows: Mapping[str, Matrix], codes: Labels, part: Parts, config: ClassifierConfig
) -> Iterator[tuple[tuple[str, str], Figures]]:
    """Yields the figures of a subsample by tested language and measure; the first of `rows` is the source."""
    truth, source = codes[part.test], next(iter(rows))
    majority = np.full(len(truth), np.bincount(codes[part.train]).argmax())

    def trained_on(language: str) -> dict[str, Labels]:
        own = Labelled(rows[language], codes)
        held_out, measure = own.part(part.held_out), MEASURES["macro_f1"]
        answer = classifier.fitted(own.part(part.train), held_out, config, measure)
        return {name: answer(others[part.test]) for name, others in rows.items()}

    far = trained_on(source)
    for language in list(rows)[1:]:
        near = trained_on(language)[language]
        for name, measure in MEASURES.items():
            answers = (far[language], near, far[source], majority)
            yield (language, name), tuple(measure(truth, answer) for answer in answers)


def mean_of_runs(values: Values, *, least: float = 0) -> Figure:
    """The mean of the figures (runs,) of random subsamples, with its 95 % interval, from `least` to 100.

    Subsamples overlap, so the variance of the mean is larger than that of independent runs:
    s^2 (1 / runs + tested / trained), Student's t (the corrected resampled t, Nadeau & Bengio, 2003).
    """
    mean, error = float(values.mean()), float(values.std(ddof=1) * np.sqrt(1 / len(values) + TESTED))
    half = float(scipy.stats.t.ppf(0.975, len(values) - 1)) * error
    return Figure(mean, (max(mean - half, least), min(mean + half, 100)))
