"""Classifiers of sentence vectors, by scikit-learn, and their accuracy in natural language inference."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits

from muse.errors import Mismatch
from muse.evaluation.score import Interval, JsonScore, Score, Signature, bootstrap_interval
from muse.procrustes import eigenpairs, gram
from muse.vectors import Matrix

Labels = NDArray[np.int64]
HIDDEN = 100  # units of the MLP's hidden layer; SentEval tries 50, 100, 200
ROUNDS = 300  # the most iterations of Adam
_FLAT = 1e-4  # the greatest part of a gradient, all being scaled alike, at which L-BFGS ends
_MEMORY = 8  # steps that it remembers
_MOST_STEPS = 200  # of L-BFGS
_MOST_AXES = 2_500  # columns; of more, the axes cost more than they save
FEWEST_OF_CLASS = 5  # sentences of a class: one of them for testing, one for model selection


class Labelled(NamedTuple):
    """Rows (n, d) and the class (n,) of each."""

    rows: Matrix
    labels: Labels

    def part(self, places: Labels) -> "Labelled":
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
    regressions = Regressions(_unit(task.rows)(task.rows), task.labels[:, None] == classes)

    def together(lacking: Sequence[Sequence[int]], strength: float) -> Labels:
        out = np.stack([np.isin(fold, folds_out) for folds_out in lacking], axis=1)  # (n, k)
        counts = torch.from_numpy((~out).sum(axis=0)).float()  # (k,)
        shares = torch.from_numpy(~out).float() / counts
        # Each has the scale of its own training rows, as a classifier fitted alone.
        penalty = regressions.spread(shares) / (strength * counts)
        best = regressions.shares(regressions.fitted(shares, penalty)).argmax(dim=2)
        return np.where(out, classes[best.numpy()], -1)

    return together


class Regressions:
    """Logistic regressions on the same centred rows (n, d), with other weights of rows, all fitted at once.

    `targets` (n, c) are the shares of the classes in each row; of two classes the second alone has weights.
    The principal axes of the rows make one preconditioner for all: a few iterations of L-BFGS with products
    of matrices take the place of many fits of a hundred iterations by scikit-learn.
    """

    def __init__(self, rows: Matrix, targets: NDArray[Any]) -> None:
        self.rows = torch.from_numpy(rows.astype(np.float32))
        targets = targets[:, 1:] if targets.shape[1] == 2 else targets
        self.targets = torch.from_numpy(targets.astype(np.float32))[:, None]  # (n, 1, c)
        self.axes: torch.Tensor | None = None
        if rows.shape[1] <= _MOST_AXES:
            values, axes = eigenpairs(gram(self.rows) / len(rows))
            self.values, self.axes = values.clamp_min(0).float(), axes.float()
            self.rows = self.rows @ self.axes  # a rotation leaves the penalty as it is
        else:
            self.values = self.rows.square().mean(dim=0)

    def spread(self, shares: torch.Tensor) -> torch.Tensor:
        """The mean variance (k,) of the columns, each row with its share (n, k)."""
        return (shares.T @ self.rows.square() - (shares.T @ self.rows).square()).mean(dim=1)

    def scores(self, weights: torch.Tensor, rows: torch.Tensor | None = None) -> torch.Tensor:
        """The log odds (m, k, c) by weights (d + 1, k, c) in rows (m, d) on the axes, or those fitted to."""
        rows = self.rows if rows is None else rows
        return (rows @ weights[:-1].flatten(1)).view(-1, *weights.shape[1:]) + weights[-1]

    def shares(self, weights: torch.Tensor, rows: Matrix | None = None) -> torch.Tensor:
        """The shares (m, k, c) of all classes by weights (d + 1, k, c), in other rows (m, d) if given."""
        other = None if rows is None else torch.from_numpy(rows.astype(np.float32))
        scores = self.scores(weights, other if other is None or self.axes is None else other @ self.axes)
        if scores.shape[2] > 1:
            return torch.softmax(scores, 2)
        return torch.cat([torch.sigmoid(-scores), torch.sigmoid(scores)], 2)

    def fitted(self, shares: torch.Tensor, strengths: torch.Tensor) -> torch.Tensor:
        """The weights (d + 1, k, c), the intercept last, that make the losses least.

        Each row has its share (n, k), and w^2 `strengths` (k,) / 2.
        """
        penalty = torch.zeros(self.rows.shape[1] + 1, shares.shape[1], 1)  # the intercept has none
        penalty[:-1] = strengths[:, None]
        # The curvature of the loss is at most a quarter of the rows', with many classes nearly so.
        scale = (torch.cat([self.values, torch.ones(1)])[:, None, None] / 4 + penalty).rsqrt()
        steps = torch.zeros(*penalty.shape[:2], self.targets.shape[2], requires_grad=True)
        optimiser = torch.optim.LBFGS(
            [steps], max_iter=_MOST_STEPS, history_size=_MEMORY, tolerance_grad=_FLAT, tolerance_change=0,
            line_search_fn="strong_wolfe",
        )  # fmt: skip

        def loss() -> float:
            optimiser.zero_grad()
            weights = scale * steps
            scores = self.scores(weights)
            if scores.shape[2] == 1:
                targets = self.targets.expand_as(scores)
                fit = binary_cross_entropy_with_logits(scores, targets, shares[:, :, None], reduction="sum")
            else:
                fit = -(shares * (self.targets * scores.log_softmax(2)).sum(2)).sum()
            found = fit + (penalty * weights.square()).sum() / 2
            found.backward()  # type: ignore[no-untyped-call]
            return found.item()

        optimiser.step(loss)  # type: ignore[no-untyped-call]
        return scale * steps.detach()


def _answer(train: Labelled, config: ClassifierConfig, strength: float) -> Answer:
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    unit = _unit(train.rows)
    model = LogisticRegression(C=strength, max_iter=100)
    if config.kind == "mlp":
        model = MLPClassifier(
            (HIDDEN,), activation="logistic", alpha=0.01 / strength, learning_rate_init=0.01,
            max_iter=ROUNDS, random_state=config.seed,
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
    majority = 100 * float(np.bincount(labels).max()) / len(labels)
    return InferenceScore(
        100 * float(hits.mean()), bootstrap_interval(hits, rng), majority, len(labels), len(labels),
        int((found < 0).sum()), signature,
    )  # fmt: skip
