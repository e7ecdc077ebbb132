"""A suite: an encoder's frozen vectors scored by the tasks of SentEval, SICK, STS-B and STS 2012-16.

The protocols of SentEval (Conneau & Kiela, 2018), as Conneau's thesis (2019, section 3.3) and the papers that
compare with it use them:

* folds: accuracy of a logistic regression, by nested cross-validation (MR, CR, SUBJ, MPQA);
* given: accuracy on the test part. The dev part chooses the strength of the regularisation (SST-2, MRPC,
  SICK-E); without one, cross-validation of the train part does (TREC);
* regression: Pearson's correlation of a regression learned from the train part (SICK-R, STS-B);
* cosine: the mean of the sets' Pearson's correlations of cosines with ratings; nothing is learned (STS).

Of a pair (u, v) a classifier sees |u - v| and u * v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch
from muse.evaluation.classifier import (
    ClassifierConfig,
    Labelled,
    Labels,
    accuracy,
    cross_validated,
    fitted,
    fitted_by_folds,
    folds,
    macro_f1,
)
from muse.evaluation.ratings import RatedRows, cosines, empty_pairs, evaluate_relatedness, evaluate_sts
from muse.evaluation.score import Interval, Signature, bootstrap_interval
from muse.files.suite_folder import COSINE, FOLDS, REGRESSION, SuitePart, SuiteTask
from muse.progress import Progress
from muse.vectors import Matrix

Encode = Callable[[Sequence[str]], Matrix]
ACCURACY, PEARSON = "accuracy", "pearson"
NOTHING = Signature("", "")  # of the scores of which figures alone are taken


@dataclass(frozen=True)
class SuiteConfig:
    """The classifier, the number of folds of cross-validation, and the seed that draws them."""

    classifier: ClassifierConfig = ClassifierConfig()
    folds: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.folds < 3:
            raise BadSetting(f"nested cross-validation needs at least 3 folds, got {self.folds}")


@dataclass(frozen=True)
class TaskScore:
    """One figure x 100 with its 95 % interval; `more` are further figures, such as Spearman's correlation.

    `tested` and `trained` are numbers of sentences or pairs; `empty` of the tested have no known word.
    """

    name: str
    measure: str
    value: float
    ci95: Interval
    scored: str
    tested: int
    trained: int
    empty: int
    more: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """All fields but the name, for JSON."""
        fields = {name: value for name, value in vars(self).items() if name not in ("name", "more")}
        return {**fields, "ci95": list(self.ci95), **self.more}

    def __str__(self) -> str:
        """The line to print."""
        low, high = self.ci95
        by = {FOLDS: "cross-validation", COSINE: "cosine"}.get(self.scored, f"learned from {self.trained:,}")
        return (
            f"{self.name:7} {self.measure:8} {self.value:5.1f} [{low:.1f}, {high:.1f}]  {self.tested:,} "
            f"tested, {by}"
        )


def evaluate_suite(
    tasks: Sequence[SuiteTask], encode: Encode, config: SuiteConfig, progress: Progress
) -> list[TaskScore]:
    """The score of each task; `encode` makes the rows (s, d) of sentences.

    Each task draws by itself, so that its score does not depend on which others there are.
    """
    found = []
    with progress.stage("suite", len(tasks), "tasks") as tick:
        for done, task in enumerate(tasks, 1):
            rng = np.random.default_rng([config.seed, *task.name.encode()])
            found.append(_SCORED.get(task.scored, _given)(task, _Encoded(task, encode), config, rng))
            tick(done)
    return found


def means(scores: Sequence[TaskScore]) -> dict[str, float]:
    """The mean of the accuracies, and that of the correlations, where there are any.

    >>> one = TaskScore("MR", "accuracy", 70.0, (69.0, 71.0), "folds", 9, 9, 0)
    >>> means([one, one])
    {'accuracy': 70.0}
    """
    by = {name: [one.value for one in scores if one.measure == name] for name in (ACCURACY, PEARSON)}
    return {name: float(np.mean(values)) for name, values in by.items() if values}


class _Encoded:
    """The rows of a task's parts; equal sentences are encoded once."""

    def __init__(self, task: SuiteTask, encode: Encode) -> None:
        sentences = (text for part in task.parts.values() for text in (*part.first, *part.second))
        self._places = {text: place for place, text in enumerate(dict.fromkeys(sentences))}
        self._rows = encode(list(self._places))

    def sides(self, part: SuitePart) -> list[Matrix]:
        """The rows (p, d) of the first sentences, and of the second ones if there are any."""
        return [self._rows[[self._places[text] for text in side]] for side in part[:2] if side]

    def features(self, part: SuitePart) -> Matrix:
        """The rows (p, d) of sentences, or |u - v| and u * v of pairs, one beside the other (p, 2 d)."""
        sides = self.sides(part)
        if len(sides) == 1:
            return sides[0]
        u, v = sides
        found: Matrix = np.hstack([np.abs(u - v), u * v])
        return found

    def empty(self, part: SuitePart) -> int:
        """The number of rows in which a sentence has no known word."""
        sides = self.sides(part)
        return empty_pairs(sides[0], sides[-1])


def _by_folds(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    part = task.parts["all"]
    (truth,) = _coded(task, ["all"])
    fold = folds(truth, config.folds, rng)
    found = cross_validated(Labelled(rows.features(part), truth), fold, config.classifier, accuracy)
    trained = len(truth) - len(truth) // config.folds
    return _accuracy(task, (truth, found), (trained, rows.empty(part)), rng)


def _given(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    names = [name for name in ("train", "dev", "test") if name in task.parts]
    coded = dict(zip(names, _coded(task, names), strict=True))
    parts = {name: Labelled(rows.features(task.parts[name]), coded[name]) for name in names}
    if "dev" in parts:
        answer = fitted(parts["train"], parts["dev"], config.classifier, accuracy)
    else:
        fold = folds(coded["train"], config.folds, rng)
        answer = fitted_by_folds(parts["train"], fold, config.classifier, accuracy)
    both = coded["test"], answer(parts["test"].rows)
    return _accuracy(task, both, (len(coded["train"]), rows.empty(task.parts["test"])), rng)


def _coded(task: SuiteTask, names: Sequence[str]) -> Iterator[Labels]:
    """The labels of these parts as numbers; Mismatch if there is one class alone."""
    classes = {label: place for place, label in enumerate(sorted(set(task.parts[names[0]].labels)))}
    if len(classes) < 2:
        raise Mismatch(f"{task.files[0]}: a classifier needs at least two classes, got {len(classes)}")
    for name in names:
        # A class that was not learned is never found.
        yield np.array([classes.get(label, -1) for label in task.parts[name].labels], np.int64)


def _accuracy(
    task: SuiteTask, both: tuple[Labels, Labels], counts: tuple[int, int], rng: np.random.Generator
) -> TaskScore:
    truth, found = both
    low, high = bootstrap_interval(truth == found, rng)
    majority = 100 * float(np.bincount(truth[truth >= 0], minlength=1).max()) / len(truth)
    more = {"macro_f1": macro_f1(truth, found), "majority": majority}
    return TaskScore(
        task.name, ACCURACY, accuracy(truth, found), (low, high), task.scored, len(truth), *counts, more
    )


def _regression(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    train, test = (_rated(task.parts[name], rows) for name in ("train", "test"))
    score = evaluate_relatedness(train, test, NOTHING, rng=rng)
    plain = evaluate_sts(*test, NOTHING, rng=rng)
    more = {
        "spearman": 100 * score.spearman, "cosine_pearson": 100 * plain.pearson,
        "cosine_spearman": 100 * plain.spearman,
    }  # fmt: skip
    low, high = score.pearson_ci95
    return TaskScore(
        task.name, PEARSON, 100 * score.pearson, (100 * low, 100 * high), REGRESSION, score.pairs,
        len(train.ratings), score.empty, more,
    )  # fmt: skip


def _rated(part: SuitePart, rows: _Encoded) -> RatedRows:
    first, second = rows.sides(part)
    return RatedRows(first, second, np.array(part.ratings))


def _cosine(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    sets = {name: _rated(part, rows) for name, part in task.parts.items()}
    scores = {name: evaluate_sts(*rated, NOTHING, rng=rng) for name, rated in sets.items()}
    pearsons = np.array([one.pearson for one in scores.values()])
    # The sets are independent: the variance of their mean is the sum of theirs over their number squared.
    halves = np.array([np.subtract(*one.pearson_ci95[::-1]) / 2 for one in scores.values()])
    value, half = float(pearsons.mean()), float(np.sqrt(np.square(halves).sum()) / len(halves))
    together = np.concatenate([cosines(one.first, one.second) for one in sets.values()])
    more = {
        "spearman": 100 * float(np.mean([one.spearman for one in scores.values()])),
        "all_pairs": 100 * _correlation(together, np.concatenate([one.ratings for one in sets.values()])),
        **{f"set_{name}": 100 * one.pearson for name, one in scores.items()},
    }
    tested, empty = (
        sum(values) for values in zip(*((one.pairs, one.empty) for one in scores.values()), strict=True)
    )
    return TaskScore(
        task.name, PEARSON, 100 * value, (100 * (value - half), 100 * (value + half)), COSINE, tested, 0,
        empty, more,
    )  # fmt: skip


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(np.corrcoef(x, y)[0, 1])


_SCORED = {FOLDS: _by_folds, REGRESSION: _regression, COSINE: _cosine}
