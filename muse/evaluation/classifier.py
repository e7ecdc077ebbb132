"""Classifiers of sentence vectors, by scikit-learn, and their accuracy in natural language inference."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch, MissingExtra
from muse.evaluation.score import Interval, Signature, bootstrap_interval, json_fields
from muse.installation import install_packages
from muse.vectors import Matrix

Labels = NDArray[np.int64]
KINDS = ("logistic", "mlp")
HIDDEN = 100  # units of the MLP's hidden layer; SentEval tries 50, 100, 200
ROUNDS = {"logistic": 100, "mlp": 300}  # the most iterations of L-BFGS and of Adam
FEWEST = 5  # sentences of a class: one of them for testing, one for model selection


class Labelled(NamedTuple):
    """Rows (n, d) and the class (n,) of each."""

    rows: Matrix
    labels: Labels

    def part(self, places: Labels) -> Labelled:
        """The rows and labels at `places` (p,)."""
        return Labelled(self.rows[places], self.labels[places])


class Parts(NamedTuple):
    """Indices of the training, model selection and test parts."""

    train: Labels
    held_out: Labels
    test: Labels


def parts(labels: Labels, rng: np.random.Generator) -> Parts:
    """A random stratified split of the labels (n,) into 60, 20 and 20 % of each class.

    Raise Mismatch if a class is too small for one sentence in each part.
    """
    drawn: list[list[Labels]] = [[], [], []]
    for places in _by_class(labels, FEWEST, "a classifier needs", rng):
        ends = np.array([-2, -1]) * (len(places) // 5) + len(places)
        for part, chosen in zip(drawn, np.split(places, ends), strict=True):
            part.append(chosen)
    return Parts(*(np.concatenate(part) for part in drawn))


def folds(labels: Labels, count: int, rng: np.random.Generator) -> Labels:
    """The fold (n,) of each label (n,), out of `count`: random, with the same share of each class in each.

    Raise Mismatch if a class has fewer sentences than there are folds.
    """
    fold = np.empty(len(labels), np.int64)  # (n,)
    for places in _by_class(labels, count, f"{count} folds need", rng):
        fold[places] = (np.arange(len(places)) + rng.integers(count)) % count
    return fold


def _by_class(labels: Labels, least: int, needed: str, rng: np.random.Generator) -> Iterator[Labels]:
    """The places of each class, in random order; Mismatch, which begins with `needed`, for too few."""
    for name in np.unique(labels):
        places = rng.permutation(np.flatnonzero(labels == name))
        if len(places) < least:
            raise Mismatch(
                f"{needed} at least {least} sentences of each class, got {len(places)} of one; merge or "
                "remove rare classes"
            )
        yield places


@dataclass(frozen=True)
class ClassifierConfig:
    """A logistic regression or a small MLP, and the regularisation strengths to choose from.

    `strengths` are C, the inverse of the L2 penalty, for rows whose columns have a variance of 1 on average.
    """

    kind: str = "logistic"
    strengths: Sequence[float] = (0.001, 0.01, 0.1, 1.0)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadSetting(f"a classifier must be one of {', '.join(KINDS)}; got {self.kind!r}")


def fitted(
    train: Labelled, held_out: Labelled, config: ClassifierConfig, measure: Callable[[Labels, Labels], float]
) -> Callable[[Matrix], Labels]:
    """The classifier, from rows (n, d) to classes (n,), fitted to `train` that is best on `held_out`.

    Best by `measure(truth, found)`; of equal ones, the most regularised.
    """
    candidates = []
    for strength in sorted(config.strengths):
        answer = _answer(train, config, strength)
        candidates.append((measure(held_out.labels, answer(held_out.rows)), -strength, answer))
    return max(candidates, key=lambda candidate: candidate[:2])[2]


def fitted_by_folds(
    train: Labelled, fold: Labels, config: ClassifierConfig, measure: Callable[[Labels, Labels], float]
) -> Callable[[Matrix], Labels]:
    """The classifier, from rows (n, d) to classes (n,), fitted to all of `train`.

    Its strength is the best by `measure(truth, found)` on average, when each fold (n,) in turn is held out;
    of equal ones, the most regularised.
    """
    strengths = sorted(config.strengths)
    reached = np.zeros(len(strengths))
    for held_out in range(int(fold.max()) + 1):
        part, others = (train.part(np.flatnonzero(which)) for which in (fold == held_out, fold != held_out))
        for place, strength in enumerate(strengths):
            reached[place] += measure(part.labels, _answer(others, config, strength)(part.rows))
    return _answer(train, config, strengths[int(reached.argmax())])


def cross_validated(
    task: Labelled, fold: Labels, config: ClassifierConfig, measure: Callable[[Labels, Labels], float]
) -> Labels:
    """The classes (n,) found by nested cross-validation, given the fold (n,) of each row of `task`.

    The classifier that answers in a fold is fitted to all others, with the strength whose classifiers were
    best on average by `measure(truth, found)` when each of these in turn was held out from training, as in
    SentEval (Conneau & Kiela, 2018); of equal ones, the most regularised.
    """
    strengths = sorted(config.strengths)
    count = int(fold.max()) + 1
    inner = np.zeros((len(strengths), count))  # sums over the folds held out, for each fold tested
    for one, other in combinations(range(count), 2):
        # Fitted without both, a classifier serves for either as the fold tested, the other being held out.
        train = task.part(np.flatnonzero((fold != one) & (fold != other)))
        for place, strength in enumerate(strengths):
            answer = _answer(train, config, strength)
            for tested, held_out in ((one, other), (other, one)):
                part = task.part(np.flatnonzero(fold == held_out))
                inner[place, tested] += measure(part.labels, answer(part.rows))
    found = np.empty_like(task.labels)
    for tested, best in enumerate(inner.argmax(axis=0).tolist()):
        answer = _answer(task.part(np.flatnonzero(fold != tested)), config, strengths[best])
        found[fold == tested] = answer(task.rows[fold == tested])
    return found


def _answer(train: Labelled, config: ClassifierConfig, strength: float) -> Callable[[Matrix], Labels]:
    unit, model = _unit(train.rows), _model(config, strength)
    fit_quietly(model, unit(train.rows), train.labels)
    return lambda rows: np.asarray(model.predict(unit(rows)), np.int64)


def fit_quietly(model: Any, *arguments: Any) -> None:
    """Fit a model of scikit-learn; one that has not converged is judged by what it finds, as any other is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*arguments)


def accuracy(truth: Labels, found: Labels) -> float:
    """The percentage of right answers among (n,)."""
    return 100 * float((truth == found).mean())


def macro_f1(truth: Labels, found: Labels) -> float:
    """The macro-F1 of the predicted classes `found` (n,), in percent; MissingExtra without scikit-learn.

    A class that is neither predicted nor true is left out.
    """
    require_sklearn()
    from sklearn.metrics import f1_score

    return 100 * float(f1_score(truth, found, average="macro", zero_division=0))


def require_sklearn() -> tuple[Any, Any]:
    """scikit-learn's logistic regression and MLP; MissingExtra if it is not installed."""
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.neural_network import MLPClassifier
    except ImportError as error:
        raise MissingExtra(
            "classifiers of sentences need scikit-learn, which is missing; run "
            f"{install_packages('scikit-learn')}"
        ) from error
    return LogisticRegression, MLPClassifier


def _model(config: ClassifierConfig, strength: float) -> Any:
    logistic, mlp = require_sklearn()
    if config.kind == "logistic":
        return logistic(C=strength, max_iter=ROUNDS["logistic"])
    return mlp(
        (HIDDEN,), activation="logistic", alpha=0.01 / strength, learning_rate_init=0.01,
        max_iter=ROUNDS["mlp"], random_state=config.seed,
    )  # fmt: skip


def _unit(rows: Matrix) -> Callable[[Matrix], Matrix]:
    # Centred rows, divided by one scale for all columns. The scale makes the penalty comparable between
    # encoders; centring, which the intercept could do too, lets L-BFGS converge three times faster. Neither
    # changes the proportions of the columns: z-normalisation is left to the encoder.
    mean = rows.mean(axis=0)
    spread = float(np.sqrt(rows.var(axis=0, dtype=np.float64).mean()))
    return lambda other: (other - mean) / np.float32(spread or 1)


@dataclass(frozen=True)
class InferenceScore:
    """The accuracy with its 95 % interval and the share of the most frequent label, in percent.

    `unread` is the number of pairs in which a sentence has no known word: these count as wrong.
    """

    accuracy: float
    ci95: Interval
    majority: float
    pairs: int
    unread: int
    signature: Signature

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON; `queries` are the pairs."""
        return {**json_fields(self), "queries": self.pairs}

    def __str__(self) -> str:
        """The lines to print."""
        low, high = self.ci95
        return (
            f"accuracy = {self.accuracy:.1f} [{low:.1f}, {high:.1f}] | {self.signature}\n"
            f"{self.pairs} pairs, {self.unread} of them without a known word on a side; the most frequent "
            f"label has {self.majority:.1f}"
        )


def evaluate_inference(
    found: Labels, labels: Labels, signature: Signature, *, rng: np.random.Generator
) -> InferenceScore:
    """The accuracy of the labels found (p,), -1 for a pair that was not read, given the right ones (p,).

    `rng` is for the bootstrap.
    """
    if not len(labels):
        raise Mismatch("accuracy needs at least one labelled pair, got none; check the file")
    hits = found == labels
    return InferenceScore(
        accuracy=100 * float(hits.mean()),
        ci95=bootstrap_interval(hits, rng),
        majority=100 * float(np.bincount(labels).max()) / len(labels),
        pairs=len(labels),
        unread=int((found < 0).sum()),
        signature=signature,
    )
