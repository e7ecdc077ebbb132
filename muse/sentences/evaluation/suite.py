"""A suite: an encoder's frozen vectors scored by the tasks of SentEval, SICK, STS-B and STS 2012-16.

The protocols of SentEval (Conneau & Kiela, 2018), as Conneau's thesis (2019, section 3.3) and the papers that
compare with it use them:

* folds: accuracy of a logistic regression, by nested cross-validation (MR, CR, SUBJ, MPQA);
* given: accuracy on the test part. The dev part chooses the strength of the regularisation (SST-2, SICK-E,
  MRPC); without one, cross-validation of the train part does (TREC);
* regression: Pearson's correlation of a regression learned from the train part (SICK-R, STS-B);
* cosine: the mean of the sets' Pearson's correlations of cosines with ratings; nothing is learned (STS).

Of a pair (u, v) a classifier sees |u - v| and u * v.

MRPC with a dev part is not by SentEval's protocol: there all 4,076 training pairs are learned from, their
cross-validation chooses, and the F1 of the class of paraphrases is reported beside the accuracy; here the
classifier learns from the train part alone and the F1 is the mean over both classes. SentEval's own files of
MRPC have no dev part: of them all is as there, but for the F1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from muse.errors import Mismatch
from muse.evaluation.ratings import FEWEST_PAIRS, Values, pearson, spearman
from muse.evaluation.score import Interval, Signature, bootstrap_interval, json_fields
from muse.progress import Progress
from muse.sentences.evaluation import classifier, sts
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, Labels, accuracy
from muse.sentences.evaluation.sts import RatedRows
from muse.sentences.files.suite_folder import COSINE, FOLDS, GIVEN, REGRESSION, SuitePart, SuiteTask
from muse.vectors import Matrix

Encode = Callable[[Sequence[str]], Matrix]
ACCURACY, PEARSON = "accuracy", "pearson"
NOTHING = Signature("", "")  # of the scores of which figures alone are taken


@dataclass(frozen=True)
class SuiteConfig:
    """The classifier, the number of folds of cross-validation, 3 or more, and the seed that draws them."""

    classifier: ClassifierConfig = ClassifierConfig()
    folds: int = 10
    seed: int = 0


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
        return {**json_fields(self, "name", "more"), **self.more}

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

    Each task draws by itself, so that its score does not depend on which others there are. Raise Mismatch as
    `check_tasks` does, before anything is encoded; and, naming the task, where all pairs are equally similar.
    """
    check_tasks(tasks, config)
    found = []
    with progress.stage("suite", len(tasks), "tasks") as tick:
        for done, task in enumerate(tasks, 1):
            rng = np.random.default_rng([config.seed, *task.name.encode()])
            try:
                found.append(_SCORED.get(task.scored, _by_parts)(task, _Encoded(task, encode), config, rng))
            except Mismatch as error:
                raise Mismatch(f"{task.name}: {error}") from error
            tick(done)
    return found


def check_tasks(tasks: Sequence[SuiteTask], config: SuiteConfig) -> None:
    """Raise Mismatch, naming the file, for a task that cannot be scored whatever the encoder is.

    That is one with a single class, or with a class of fewer sentences than folds; with too few rated pairs,
    or with the same rating for all.
    """
    least_rated = {"train": sts.FEWEST_TRAINING_PAIRS}
    for task in tasks:
        for name, part in task.parts.items():
            try:
                if task.scored not in (FOLDS, GIVEN):
                    sts.check_ratings(part.ratings, least_rated.get(name, FEWEST_PAIRS))
                elif name in ("all", "train"):
                    least = 1 if "dev" in task.parts else config.folds
                    classifier.check_classes(part.labels, least, f"{least} folds of {task.name} need")
            except Mismatch as error:
                raise Mismatch(f"{' and '.join(map(str, task.files[name]))}: {error}") from error


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
        return sides[0] if len(sides) == 1 else sts.difference_and_product(*sides)

    def empty(self, part: SuitePart) -> int:
        """The number of rows in which a sentence has no known word."""
        sides = self.sides(part)
        return sts.empty_pairs(sides[0], sides[-1])


def _by_folds(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    part = task.parts["all"]
    (truth,) = _coded(task, ["all"])
    fold = classifier.folds(truth, config.folds, rng)
    found = classifier.cross_validated(
        Labelled(rows.features(part), truth), fold, config.classifier, accuracy
    )
    trained = len(truth) - len(truth) // config.folds
    return _accuracy(task, (truth, found), (trained, rows.empty(part)), rng)


def _by_parts(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    names = [name for name in ("train", "dev", "test") if name in task.parts]
    coded = dict(zip(names, _coded(task, names), strict=True))
    parts = {name: Labelled(rows.features(task.parts[name]), coded[name]) for name in names}
    if "dev" in parts:
        answer = classifier.fitted(parts["train"], parts["dev"], config.classifier, accuracy)
    else:
        fold = classifier.folds(coded["train"], config.folds, rng)
        answer = classifier.fitted_by_folds(parts["train"], fold, config.classifier, accuracy)
    both = coded["test"], answer(parts["test"].rows)
    return _accuracy(task, both, (len(coded["train"]), rows.empty(task.parts["test"])), rng)


def _coded(task: SuiteTask, names: Sequence[str]) -> Iterator[Labels]:
    """The labels of these parts as numbers of the classes of the first."""
    classes = {label: place for place, label in enumerate(sorted(set(task.parts[names[0]].labels)))}
    for name in names:
        # A class that was not learned is never found.
        yield np.array([classes.get(label, -1) for label in task.parts[name].labels], np.int64)


def _accuracy(
    task: SuiteTask, both: tuple[Labels, Labels], counts: tuple[int, int], rng: np.random.Generator
) -> TaskScore:
    truth, found = both
    low, high = bootstrap_interval(truth == found, rng)
    majority = 100 * float(np.bincount(truth[truth >= 0], minlength=1).max()) / len(truth)
    more = {"macro_f1": classifier.macro_f1(truth, found), "majority": majority}
    return TaskScore(
        task.name, ACCURACY, accuracy(truth, found), (low, high), task.scored, len(truth), *counts, more
    )


def _regression(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    train, test = (_rated(task.parts[name], rows) for name in ("train", "test"))
    score = sts.evaluate_relatedness(train, test, NOTHING, rng=rng)
    plain = sts.evaluate_sts(*test, NOTHING, rng=rng)
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
    sets: dict[str, tuple[Values, Values]] = {}
    for name, part in task.parts.items():
        rated = _rated(part, rows)
        sets[name] = sts.cosines(rated.first, rated.second), rated.ratings
        sts.check_similarities(sets[name][0])
    pearsons = {name: 100 * pearson(*both) for name, both in sets.items()}
    low, high = sts.mean_interval(list(sets.values()), rng)
    together = [np.concatenate(side) for side in zip(*sets.values(), strict=True)]
    more = {
        "spearman": 100 * float(np.mean([spearman(*both) for both in sets.values()])),
        "all_pairs": 100 * pearson(*together),
        **{f"set_{name}": value for name, value in pearsons.items()},
    }
    empty = sum(rows.empty(part) for part in task.parts.values())
    return TaskScore(
        task.name, PEARSON, float(np.mean(list(pearsons.values()))), (100 * low, 100 * high), COSINE,
        len(together[0]), 0, empty, more,
    )  # fmt: skip


_SCORED = {FOLDS: _by_folds, REGRESSION: _regression, COSINE: _cosine}
