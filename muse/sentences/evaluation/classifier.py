"""Classifiers of sentence vectors, by scikit-learn, and their accuracy in natural language inference."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation.score import Interval, JsonScore, Score, Signature, bootstrap_interval
from muse.vectors import Matrix

Labels = NDArray[np.int64]
HIDDEN = 100  # units of the MLP's hidden layer; SentEval tries 50, 100, 200
ROUNDS = {"logistic": 100, "mlp": 300}  # the most iterations of L-BFGS and of Adam
_FLAT = 1e-4  # the greatest part of a gradient of the mean loss at which L-BFGS ends
_MEMORY = 8  # steps that it remembers
_MOST_STEPS = 100
_MOST_AXES = 2_500  # columns; of more, the axes cost more than they save
_TINY = 1e-20
FEWEST_OF_CLASS = 5  # sentences of a class: one of them for testing, one for model selection


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

    Raise Mismatch for a single class, and for one that is too small for one sentence in each part.
    """
    check_classes(labels.tolist(), FEWEST_OF_CLASS)
    drawn: list[list[Labels]] = [[], [], []]
    for places in _by_class(labels, rng):
        ends = np.array([-2, -1]) * (len(places) // 5) + len(places)
        for part, chosen in zip(drawn, np.split(places, ends), strict=True):
            part.append(chosen)
    return Parts(*(np.concatenate(part) for part in drawn))


def folds(labels: Labels, count: int, rng: np.random.Generator) -> Labels:
    """The fold (n,) of each label (n,), out of `count`: random, with the same share of each class in each.

    Raise Mismatch for a single class, and for one of fewer sentences than there are folds.
    """
    check_classes(labels.tolist(), count, f"{count} folds need")
    fold = np.empty(len(labels), np.int64)  # (n,)
    for places in _by_class(labels, rng):
        fold[places] = (np.arange(len(places)) + rng.integers(count)) % count
    return fold


def check_classes(labels: Sequence[object], least: int, needed: str = "a classifier needs") -> None:
    """Raise Mismatch, whose message begins with `needed`, for a single class or too few sentences of one."""
    counts = Counter(labels)
    if len(counts) < 2:
        raise Mismatch(f"a classifier needs at least two classes, got {len(counts)}; check the labels")
    label, fewest = min(counts.items(), key=lambda one: one[1])
    if fewest < least:
        raise Mismatch(
            f"{needed} at least {least} sentences of each class, got {fewest} of {label}; merge or remove "
            "rare classes, or give more"
        )


def _by_class(labels: Labels, rng: np.random.Generator) -> Iterator[Labels]:
    # The places of each class, in random order.
    for name in np.unique(labels):
        yield rng.permutation(np.flatnonzero(labels == name))


@dataclass(frozen=True)
class ClassifierConfig:
    """A logistic regression or a small MLP, and the regularisation strengths to choose from.

    `strengths` are C, the inverse of the L2 penalty, for rows whose columns have a variance of 1 on average.
    """

    kind: Literal["logistic", "mlp"] = "logistic"
    strengths: Sequence[float] = (0.001, 0.01, 0.1, 1.0)
    seed: int = 0


Answer = Callable[[Matrix], Labels]  # a fitted classifier: from rows (n, d) to classes (n,)
Measure = Callable[[Labels, Labels], float]  # of the truth and what was found, such as accuracy


def fitted(train: Labelled, held_out: Labelled, config: ClassifierConfig, measure: Measure) -> Answer:
    """The classifier fitted to `train` that is best on `held_out`; of equal ones, the most regularised."""
    answers = [_answer(train, config, strength) for strength in sorted(config.strengths)]
    return max(answers, key=lambda answer: measure(held_out.labels, answer(held_out.rows)))


def fitted_by_folds(train: Labelled, fold: Labels, config: ClassifierConfig, measure: Measure) -> Answer:
    """The classifier fitted to all of `train` with the strength that is best when a fold is held out.

    That is on average by `measure`, each fold (n,) in turn; of equal ones, the most regularised.
    """
    strengths, without = sorted(config.strengths), _without(train, fold, config)
    held_out = [(one,) for one in range(int(fold.max()) + 1)]
    reached = np.zeros(len(strengths))
    for place, strength in enumerate(strengths):
        for (one,), answers in zip(held_out, without(held_out, strength).T, strict=True):
            reached[place] += measure(train.labels[fold == one], answers[fold == one])
    return _answer(train, config, strengths[int(reached.argmax())])


def cross_validated(task: Labelled, fold: Labels, config: ClassifierConfig, measure: Measure) -> Labels:
    """The classes (n,) found by nested cross-validation, given the fold (n,) of each row of `task`.

    The classifier that answers in a fold is fitted to all others, with the strength whose classifiers were
    best on average by `measure` when each of these in turn was held out from training, as in SentEval
    (Conneau & Kiela, 2018); of equal ones, the most regularised.
    """
    strengths, without = sorted(config.strengths), _without(task, fold, config)
    count = int(fold.max()) + 1
    # Fitted without both folds, a classifier serves for either as the fold tested, the other being held out.
    both = list(combinations(range(count), 2))
    inner = np.zeros((len(strengths), count))  # sums over the folds held out, for each fold tested
    for place, strength in enumerate(strengths):
        for pair, answers in zip(both, without(both, strength).T, strict=True):
            for tested, held_out in (pair, pair[::-1]):
                part = fold == held_out
                inner[place, tested] += measure(task.labels[part], answers[part])
    found, best = np.empty_like(task.labels), inner.argmax(axis=0)
    for place in np.unique(best).tolist():
        chosen = np.flatnonzero(best == place).tolist()
        answers = without([(tested,) for tested in chosen], strengths[place])
        for column, tested in enumerate(chosen):
            found[fold == tested] = answers[fold == tested, column]
    return found


# Of lists of folds and a strength: the classes (n, k) by k classifiers fitted without them, -1 for a row that
# a classifier was fitted to.
Without = Callable[[Sequence[Sequence[int]], float], Labels]


def _without(task: Labelled, fold: Labels, config: ClassifierConfig) -> Without:
    def one_by_one(lacking: Sequence[Sequence[int]], strength: float) -> Labels:
        found = np.full((len(fold), len(lacking)), -1, np.int64)
        for place, folds_out in enumerate(lacking):
            out = np.isin(fold, folds_out)
            answer = _answer(task.part(np.flatnonzero(~out)), config, strength)
            found[out, place] = answer(task.rows[out])
        return found

    if config.kind != "logistic":
        return one_by_one
    classes = np.unique(task.labels)
    regressions = Regressions(_unit(task.rows)(task.rows), one_hot(task.labels, classes))

    def together(lacking: Sequence[Sequence[int]], strength: float) -> Labels:
        out = np.stack([np.isin(fold, folds_out) for folds_out in lacking], axis=1)  # (n, k)
        counts = torch.from_numpy((~out).sum(axis=0)).float()  # (k,)
        shares = torch.from_numpy(~out).float() / counts
        # Each has the scale of its own training rows, as a classifier fitted alone.
        penalty = regressions.spread(shares) / (strength * counts)
        scores = regressions.fitted(shares, penalty).scores
        best = scores.argmax(dim=2) if scores.shape[2] > 1 else (scores[:, :, 0] > 0).long()
        return np.where(out, classes[best.numpy()], -1)

    return together


def one_hot(labels: Labels, classes: Labels) -> Matrix:
    """The shares (n, c) of the classes (c,) in each label (n,); of two classes, that of the second (n, 1)."""
    found: Matrix = (labels[:, None] == classes).astype(np.float32)
    second: Matrix = found[:, 1:]
    return second if len(classes) == 2 else found


# A step (d + 1, k, c) of L-BFGS, how it changed the gradient, and 1 over their products (k, 1).
Step = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class FittedRegressions(NamedTuple):
    """Weights (d + 1, k, c), the intercept last, and the log odds (n, k, c) of the rows fitted to."""

    weights: torch.Tensor
    scores: torch.Tensor


class Regressions:
    """Logistic regressions on the same centred rows (n, d), with other weights of rows, all fitted at once.

    `targets` (n, c) are the shares of the classes in each row, of two classes that of the second alone. The
    principal axes of the rows make one preconditioner for all: a few iterations of L-BFGS with products of
    matrices take the place of many fits of a hundred iterations by scikit-learn, and come closer to the
    minimum.
    """

    def __init__(self, rows: Matrix, targets: Matrix) -> None:
        self.rows = torch.from_numpy(rows.astype(np.float32))
        self.targets = torch.from_numpy(targets)[:, None]  # (n, 1, c)
        self.axes: torch.Tensor | None = None
        if rows.shape[1] <= _MOST_AXES:
            values, self.axes = torch.linalg.eigh(self.rows.T @ self.rows / len(rows))
            self.values = values.clamp_min(0)
            self.rows = self.rows @ self.axes  # a rotation leaves the penalty as it is
        else:
            self.values = self.rows.square().mean(dim=0)

    def spread(self, shares: torch.Tensor) -> torch.Tensor:
        """The mean variance (k,) of the columns, each row with its share (n, k)."""
        return (shares.T @ self.rows.square() - (shares.T @ self.rows).square()).mean(dim=1)

    def predicted(self, fit: FittedRegressions, rows: Matrix) -> torch.Tensor:
        """The shares (m, k, c) of the classes in other rows (m, d)."""
        other = torch.from_numpy(rows.astype(np.float32))
        return _shares_of(_scores(other if self.axes is None else other @ self.axes, fit.weights))

    def fitted(self, shares: torch.Tensor, strengths: torch.Tensor) -> FittedRegressions:
        """The minima of the losses, each row with its share (n, k), and `strengths` (k,) / 2 times w^2."""
        columns, (n, k), classes = self.rows.shape[1], shares.shape, self.targets.shape[2]
        penalty = torch.zeros(columns + 1, k, 1)  # the intercept has none
        penalty[:-1] = strengths[:, None]
        shares = shares[:, :, None]
        weights, scores = torch.zeros(columns + 1, k, classes), torch.zeros(n, k, classes)
        # The curvature of the loss is at most a quarter of the rows', with many classes nearly so.
        inverse = 1 / (torch.cat([self.values, torch.ones(1)])[:, None, None] / 4 + penalty)
        gradient, past = self._gradient(scores, shares) + penalty * weights, list[Step]()
        for _ in range(_MOST_STEPS):
            # Each ends by itself, whatever the others.
            moving = (gradient.abs().amax((0, 2)) > _FLAT)[:, None]
            if not moving.any():
                break
            down = -_inverted(gradient, past, inverse)
            slope = _scores(self.rows, down)
            along = [(penalty * one * down).sum((0, 2)) for one in (weights, down)]
            size = moving * self._size(scores, slope, shares, along)
            weights, scores = weights + size * down, scores + size * slope
            new = self._gradient(scores, shares) + penalty * weights
            step, change = size * down, new - gradient
            product = _dot(step, change)
            # The factor is 0 where a problem has converged and no longer moves.
            factor = torch.where(product > _TINY, 1 / product.clamp_min(_TINY), 0.0)
            past = [*past, (step, change, factor)][-_MEMORY:]
            gradient = new
        return FittedRegressions(weights, scores)

    def _gradient(self, scores: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        # How the losses without their penalty change with the weights (d + 1, k, c).
        left = (_shares_of(scores) - self.targets) * shares
        found = (self.rows.T @ left.flatten(1)).view(-1, *left.shape[1:])
        return torch.cat([found, left.sum(0, keepdim=True)])

    def _size(
        self, scores: torch.Tensor, slope: torch.Tensor, shares: torch.Tensor, along: list[torch.Tensor]
    ) -> torch.Tensor:
        # How far (k, 1) to go in each direction: two of Newton's steps along it, which cost no product.
        first, second = along  # of the penalty
        size, part = torch.ones(len(first)), shares * slope
        for _ in range(2):
            odds = _shares_of(scores + size[:, None] * slope)
            rise = ((odds - self.targets) * part).sum((0, 2)) + first + size * second
            mean = (odds * slope).sum(2, keepdim=True)
            bend = (odds * part * (slope - mean)).sum((0, 2)) + second
            size = (size - rise / bend.clamp_min(_TINY)).clamp(0.05, 4)
        return size[:, None]


def _scores(rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    # The scores (n, k, c) of rows (n, d) by weights (d + 1, k, c).
    return (rows @ weights[:-1].flatten(1)).view(-1, *weights.shape[1:]) + weights[-1]


def _shares_of(scores: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scores, 2) if scores.shape[2] > 1 else torch.sigmoid(scores)


def _dot(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return (one * other).sum((0, 2))[:, None]


def _inverted(gradient: torch.Tensor, past: Sequence[Step], inverse: torch.Tensor) -> torch.Tensor:
    # The gradient times the inverse curvature: that of past steps, and `inverse` before them.
    found, sizes = gradient.clone(), list[torch.Tensor]()
    for step, change, factor in reversed(past):
        sizes.append(factor * _dot(step, found))
        found -= sizes[-1] * change
    found *= inverse
    for (step, change, factor), size in zip(past, reversed(sizes), strict=True):
        found += (size - factor * _dot(change, found)) * step
    return found


def _answer(train: Labelled, config: ClassifierConfig, strength: float) -> Answer:
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    unit = _unit(train.rows)
    model = LogisticRegression(C=strength, max_iter=ROUNDS["logistic"])
    if config.kind == "mlp":
        model = MLPClassifier(
            (HIDDEN,), activation="logistic", alpha=0.01 / strength, learning_rate_init=0.01,
            max_iter=ROUNDS["mlp"], random_state=config.seed,
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what has not converged is judged by what it finds, as any other is
        model.fit(unit(train.rows), train.labels)
    return lambda rows: np.asarray(model.predict(unit(rows)), np.int64)


def accuracy(truth: Labels, found: Labels) -> float:
    """The percentage of right answers among (n,)."""
    return 100 * float((truth == found).mean())


def macro_f1(truth: Labels, found: Labels) -> float:
    """The macro-F1 of the predicted classes `found` (n,), in percent, over those predicted or true."""
    from sklearn.metrics import f1_score

    return 100 * float(f1_score(truth, found, average="macro", zero_division=0))


def _unit(rows: Matrix) -> Callable[[Matrix], Matrix]:
    # Centred rows, divided by one scale for all columns. The scale makes the penalty comparable between
    # encoders; centring, which the intercept could do too, lets L-BFGS converge three times faster. Neither
    # changes the proportions of the columns: z-normalisation is left to the encoder.
    mean = rows.mean(axis=0)
    spread = float(np.sqrt(rows.var(axis=0, dtype=np.float64).mean()))
    return lambda other: (other - mean) / np.float32(spread or 1)


@dataclass(frozen=True)
class InferenceScore(JsonScore):
    """The accuracy with its 95 % interval and the share of the most frequent label, in percent.

    `unread` is the number of pairs in which a sentence has no known word: these count as wrong.
    """

    accuracy: float
    ci95: Interval
    majority: float
    pairs: int
    queries: int
    unread: int
    signature: Signature

    def __str__(self) -> str:
        """The lines to print."""
        return (
            f"{Score('accuracy', self.accuracy, self.ci95, self.signature)}\n{self.pairs} pairs, "
            f"{self.unread} of them without a known word on a side; the most frequent label has "
            f"{self.majority:.1f}"
        )


def evaluate_inference(
    found: Labels, labels: Labels, signature: Signature, *, rng: np.random.Generator
) -> InferenceScore:
    """The accuracy of the labels found (p,), -1 for a pair that was not read, given the right ones (p,).

    `rng` is for the bootstrap.
    """
    hits = found == labels
    return InferenceScore(
        accuracy=100 * float(hits.mean()),
        ci95=bootstrap_interval(hits, rng),
        majority=100 * float(np.bincount(labels).max()) / len(labels),
        pairs=len(labels),
        queries=len(labels),
        unread=int((found < 0).sum()),
        signature=signature,
    )
