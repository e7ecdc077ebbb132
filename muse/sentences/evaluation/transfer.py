"""Transfer: a classifier trained on sentences of one language, tested on those of others.

The protocol of Rücklé et al. (2018, sections 4.1 and 5.1): logistic regression on sentence vectors, random
subsamples, macro-F1. Sentence i is the same in every language, so a run splits sentences, not rows: no
test sentence occurs in training, not even in translation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from muse.evaluation.score import Interval, Signature
from muse.progress import Progress
from muse.sentences.evaluation import classifier
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, Parts
from muse.vectors import Matrix

Values = NDArray[np.float64]
MEASURES = {"macro_f1": classifier.macro_f1, "accuracy": classifier.accuracy}
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

    `rows` are (n, d) for each of two or more, row i the sentence with `labels[i]`; `rng` draws the runs.
    """
    codes = np.unique(np.array(labels), return_inverse=True)[1]  # (n,)
    drawn = [classifier.parts(codes, rng) for _ in range(config.runs)]
    source, *tested = rows
    # Of transfer, in the test language, in the source language, of the majority class.
    figures = np.empty((len(tested), len(MEASURES), 4, config.runs))
    with progress.stage("transfer", config.runs, "runs") as tick:
        for run, part in enumerate(drawn):
            answers = {name: _answer(Labelled(own, codes), part, config) for name, own in rows.items()}
            majority = np.full(len(part.test), np.bincount(codes[part.train]).argmax())
            home = answers[source](rows[source][part.test])
            for place, language in enumerate(tested):
                own = rows[language][part.test]
                found = (answers[source](own), answers[language](own), home, majority)
                for number, measure in enumerate(MEASURES.values()):
                    figures[place, number, :, run] = [measure(codes[part.test], one) for one in found]
            tick(run + 1)
    scores = []
    for language, of_language in zip(tested, figures, strict=True):
        for measure_name, (far, near, at_home, chance) in zip(MEASURES, of_language, strict=True):
            scores.append(TransferScore(
                language, measure_name, mean_of_runs(far), mean_of_runs(near),
                mean_of_runs(near - far, least=-100), mean_of_runs(at_home), float(chance.mean()),
                config.runs, len(labels), signatures[language],
            ))  # fmt: skip
    return scores


def _answer(task: Labelled, part: Parts, config: TransferConfig) -> classifier.Answer:
    return classifier.fitted(
        task.part(part.train), task.part(part.held_out), config.classifier, classifier.macro_f1
    )


def mean_of_runs(values: Values, *, least: float = 0) -> Figure:
    """The mean of the figures (runs,) of random subsamples, with its 95 % interval, from `least` to 100.

    Subsamples overlap, so the variance of the mean is larger than that of independent runs:
    s^2 (1 / runs + tested / trained), Student's t (the corrected resampled t, Nadeau & Bengio, 2003).
    """
    mean, error = float(values.mean()), float(values.std(ddof=1) * np.sqrt(1 / len(values) + TESTED))
    half = float(scipy.stats.t.ppf(0.975, len(values) - 1)) * error
    return Figure(mean, (max(mean - half, least), min(mean + half, 100)))
