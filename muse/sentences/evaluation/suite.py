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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from muse.errors import Mismatch
from muse.evaluation.ratings import FEWEST_PAIRS, Values, pearson, spearman
from muse.evaluation.score import Interval, Signature, bootstrap_interval, json_fields
from muse.progress import Progress, printable
from muse.sentences.evaluation import classifier, sts
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, Labels, accuracy
from muse.sentences.evaluation.sts import RatedRows
from muse.sentences.files.suite_folder import COSINE, FOLDS, GIVEN, REGRESSION, SuitePart, SuiteTask
from muse.vectors import Matrix

Encode = Callable[[Sequence[str]], Matrix]
ACCURACY, PEARSON = "accuracy", "pearson"
_LEFT, _WIDE, _LINE, _TOP = 84, 420, 26, 54  # of a picture: pixels
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
                found.append(_SCORED.get(task.scored, _accuracy)(task, _Encoded(task, encode), config, rng))
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

    def labelled(self, part: SuitePart, labels: Labels) -> Labelled:
        """The rows (p, d) of sentences, or |u - v| and u * v of pairs (p, 2 d), with these labels (p,)."""
        sides = self.sides(part)
        return Labelled(sides[0] if len(sides) == 1 else sts.difference_and_product(*sides), labels)

    def rated(self, part: SuitePart) -> RatedRows:
        """The rows of both sides with the ratings."""
        first, second = self.sides(part)
        return RatedRows(first, second, np.array(part.ratings))

    def empty(self, part: SuitePart) -> int:
        """The number of rows in which a sentence has no known word."""
        sides = self.sides(part)
        return sts.empty_pairs(sides[0], sides[-1])


def _accuracy(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    learned = task.parts["all" if task.scored == FOLDS else "train"]
    classes = {label: place for place, label in enumerate(sorted(set(learned.labels)))}
    parts = {
        # A class that was not learned is never found.
        name: rows.labelled(part, np.array([classes.get(label, -1) for label in part.labels], np.int64))
        for name, part in task.parts.items()
    }
    if task.scored == FOLDS:
        own = parts["all"]
        truth, fold = own.labels, classifier.folds(own.labels, config.folds, rng)
        found = classifier.cross_validated(own, fold, config.classifier, accuracy)
        trained, tested = len(truth) - len(truth) // config.folds, task.parts["all"]
    else:
        own, truth, tested = parts["train"], parts["test"].labels, task.parts["test"]
        if "dev" in parts:
            answer = classifier.fitted(own, parts["dev"], config.classifier, accuracy)
        else:
            fold = classifier.folds(own.labels, config.folds, rng)
            answer = classifier.fitted_by_folds(own, fold, config.classifier, accuracy)
        found, trained = answer(parts["test"].rows), len(own.labels)
    majority = 100 * float(np.bincount(truth[truth >= 0], minlength=1).max()) / len(truth)
    return TaskScore(
        task.name, ACCURACY, accuracy(truth, found), bootstrap_interval(truth == found, rng), task.scored,
        len(truth), trained, rows.empty(tested),
        {"macro_f1": classifier.macro_f1(truth, found), "majority": majority},
    )  # fmt: skip


def _regression(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    train, test = (rows.rated(task.parts[name]) for name in ("train", "test"))
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


def _cosine(task: SuiteTask, rows: _Encoded, config: SuiteConfig, rng: np.random.Generator) -> TaskScore:
    sets: dict[str, tuple[Values, Values]] = {}
    for name, part in task.parts.items():
        rated = rows.rated(part)
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
    empty = sum(map(rows.empty, task.parts.values()))
    return TaskScore(
        task.name, PEARSON, float(np.mean(list(pearsons.values()))), (100 * low, 100 * high), COSINE,
        len(together[0]), 0, empty, more,
    )  # fmt: skip


_SCORED = {REGRESSION: _regression, COSINE: _cosine}


def drawn(scores: Sequence[TaskScore], title: str) -> str:
    """A picture in SVG: a bar a task from 0 to 100, with its interval and its figure."""
    base, parts = _TOP + _LINE * len(scores), []
    for place, score in enumerate(scores):
        top, (low, high) = _TOP + _LINE * place, score.ci95
        middle, colour = top + _LINE / 2, "#2b6cb0" if score.measure == ACCURACY else "#2f855a"
        parts.append(f"""<text x="{_LEFT - 8}" y="{middle + 4:.1f}" text-anchor="end">{_plain(score.name)}\
</text>
<rect x="{_LEFT}" y="{top + 4}" width="{_x(score.value) - _LEFT:.1f}" height="{_LINE - 8}" fill="{colour}" \
fill-opacity=".75"/>
<line x1="{_x(low):.1f}" x2="{_x(high):.1f}" y1="{middle:.1f}" y2="{middle:.1f}" stroke="#111" \
stroke-width="2"/>
<text x="{_x(100) + 12:.1f}" y="{middle + 4:.1f}">{score.value:.1f} [{low:.1f}, {high:.1f}]</text>""")
    for tick in range(0, 101, 25):
        x = f"{_x(tick):.1f}"
        parts.append(
            f'<text x="{x}" y="{base + 18}" fill="#555" text-anchor="middle">{tick}</text>'
            f'<line x1="{x}" x2="{x}" y1="{_TOP}" y2="{base}" stroke="#0002"/>'
        )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {base + 30}" \
font-family="sans-serif" font-size="13" role="img">
<title>{_plain(", ".join(f"{one.name} {one.value:.1f}" for one in scores))}</title>
<rect width="640" height="{base + 30}" fill="#fff"/>
<text x="12" y="22" font-size="10" textLength="616" lengthAdjust="spacingAndGlyphs">{_plain(title)}</text>
<text x="12" y="42" fill="#555">accuracy (blue) and Pearson’s correlation (green), × 100, with 95 % \
intervals</text>
{"".join(f"{part}{chr(10)}" for part in parts)}</svg>
"""


def _x(value: float) -> float:
    return _LEFT + _WIDE * min(max(value, 0.0), 100.0) / 100


def _plain(text: str) -> str:
    return escape(printable(text))
