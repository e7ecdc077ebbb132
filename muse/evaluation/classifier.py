"""Classifiers of sentence vectors, by scikit-learn, and their accuracy in natural language inference."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch, MissingExtra
from muse.evaluation.score import Interval, Signature, bootstrap_interval, json_fields
from muse.installation import install_packages
from muse.vectors import Matrix

Labels = NDArray[np.int64]
KINDS = ("logistic", "mlp")
HIDDEN = 100  # units of the MLP's hidden layer; SentEval tries 50, 100, 200
ROUNDS = {"logistic": 100, "mlp": 300}  # the most iterations of L-BFGS and of Adam
_FLAT = 1e-5  # the greatest part of a gradient of the mean loss at which L-BFGS ends
_MEMORY = 8  # steps that it remembers
_TINY = 1e-20
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
    binary = config.kind == "logistic" and len(np.unique(task.labels)) == 2
    without = _Together(task, fold).without if binary else partial(_one_by_one, task, fold, config)
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
        tested_ones = np.flatnonzero(best == place).tolist()
        answers = without([(tested,) for tested in tested_ones], strengths[place])
        for column, tested in enumerate(tested_ones):
            found[fold == tested] = answers[fold == tested, column]
    return found


def _one_by_one(
    task: Labelled, fold: Labels, config: ClassifierConfig, lacking: Sequence[Sequence[int]], strength: float
) -> Labels:
    """The classes (n, k) of the rows that classifier k, fitted without the folds `lacking[k]`, finds.

    -1 for the rows that it was fitted to.
    """
    found = np.full((len(fold), len(lacking)), -1, np.int64)
    for place, folds_out in enumerate(lacking):
        out = np.isin(fold, folds_out)
        answer = _answer(task.part(np.flatnonzero(~out)), config, strength)
        found[out, place] = answer(task.rows[out])
    return found


class _Together:
    """Logistic regressions of two classes, each fitted without some of the folds, all at once.

    They have nearly the same rows, so the principal axes of all rows make one preconditioner for all: a few
    iterations of L-BFGS with products of matrices take the place of hundreds of fits of a hundred.
    """

    def __init__(self, task: Labelled, fold: Labels) -> None:
        self.fold, self.classes = fold, np.unique(task.labels)
        rows = torch.from_numpy(_unit(task.rows)(task.rows).astype(np.float32))  # (n, d)
        values, axes = torch.linalg.eigh(rows.T @ rows / len(rows))
        self.values = values.clamp_min(0)
        self.rows = rows @ axes  # (n, d): a rotation leaves the penalty as it is
        self.truth = torch.from_numpy((task.labels == self.classes[1]).astype(np.float32))[:, None]

    def without(self, lacking: Sequence[Sequence[int]], strength: float) -> Labels:
        """The classes (n, k) that classifier k, fitted without the folds `lacking[k]`, finds for all rows."""
        used = np.stack([~np.isin(self.fold, folds_out) for folds_out in lacking], axis=1)
        counts = torch.from_numpy(used.sum(axis=0)).float()  # (k,)
        shares = torch.from_numpy(used).float() / counts  # (n, k)
        # Each has the scale of its own training rows, as a classifier fitted alone.
        means = shares.T @ self.rows  # (k, d)
        spread = (shares.T @ self.rows.square() - means.square()).mean(dim=1)
        penalty = torch.zeros(self.rows.shape[1] + 1, len(lacking))  # the intercept has none
        penalty[:-1] = spread / (strength * counts)
        answers = self._scores(shares, penalty) > 0
        found: Labels = self.classes[answers.long().numpy()]
        return found

    def _scores(self, shares: torch.Tensor, penalty: torch.Tensor) -> torch.Tensor:
        """The log odds (n, k) of the second class where the gradients of the mean losses vanish."""
        weights = torch.zeros_like(penalty)  # (d + 1, k)
        scores = torch.zeros_like(shares)
        # The curvature of the loss is at most a quarter of the rows'.
        inverse = 1 / (torch.cat([self.values, torch.ones(1)])[:, None] / 4 + penalty)
        gradient = self._gradient(scores, shares, penalty * weights)
        past: list[_Step] = []
        for _ in range(ROUNDS["logistic"]):
            if float(gradient.abs().max()) <= _FLAT:
                break
            down = -_inverted(gradient, past, inverse)
            slope = self.rows @ down[:-1] + down[-1]  # (n, k): of the scores
            size = self._size(scores, slope, shares, penalty, weights, down)
            weights, scores = weights + size * down, scores + size * slope
            new = self._gradient(scores, shares, penalty * weights)
            past = [*past, _Step.of(size * down, new - gradient)][-_MEMORY:]
            gradient = new
        return scores

    def _gradient(self, scores: torch.Tensor, shares: torch.Tensor, pull: torch.Tensor) -> torch.Tensor:
        residuals = (torch.sigmoid(scores) - self.truth) * shares
        return torch.cat([self.rows.T @ residuals, residuals.sum(0, keepdim=True)]) + pull

    def _size(
        self, scores: torch.Tensor, slope: torch.Tensor, shares: torch.Tensor, penalty: torch.Tensor,
        weights: torch.Tensor, down: torch.Tensor,
    ) -> torch.Tensor:  # fmt: skip
        """How far (k,) to go in each direction: two of Newton's steps along it, which cost no product."""
        first, second = ((penalty * one * down).sum(0) for one in (weights, down))
        size, part = torch.ones(len(first)), shares * slope
        for _ in range(2):
            odds = torch.sigmoid(scores + size * slope)
            rise = ((odds - self.truth) * part).sum(0) + first + size * second
            bend = (odds * (1 - odds) * part * slope).sum(0) + second
            size = (size - rise / bend.clamp_min(_TINY)).clamp(0.05, 4)
        return size


class _Step(NamedTuple):
    """A step (d + 1, k) of L-BFGS, how it changed the gradient (d + 1, k), and 1 over their products (k,)."""

    step: torch.Tensor
    change: torch.Tensor
    factor: torch.Tensor

    @classmethod
    def of(cls, step: torch.Tensor, change: torch.Tensor) -> _Step:
        """With a factor of 0 where a problem has converged and no longer moves."""
        product = (step * change).sum(0)
        return cls(step, change, torch.where(product > _TINY, 1 / product.clamp_min(_TINY), 0.0))


def _inverted(gradient: torch.Tensor, past: Sequence[_Step], inverse: torch.Tensor) -> torch.Tensor:
    """The gradient (d + 1, k) times the inverse curvature: that of past steps, and `inverse` before them."""
    found, sizes = gradient.clone(), []
    for one in reversed(past):
        sizes.append(one.factor * (one.step * found).sum(0))
        found -= sizes[-1] * one.change
    found *= inverse
    for one, size in zip(past, reversed(sizes), strict=True):
        found += (size - one.factor * (one.change * found).sum(0)) * one.step
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
