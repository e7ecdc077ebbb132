"""Classifiers: parts without overlap, nested cross-validation; transfer between languages."""

from typing import Literal

import numpy as np
import pytest
import scipy.stats
from sklearn import linear_model

from muse.errors import Mismatch
from muse.evaluation.score import Signature
from muse.progress import Progress
from muse.sentences.evaluation.classifier import (
    ClassifierConfig,
    Labelled,
    accuracy,
    cross_validated,
    evaluate_inference,
    fitted,
    folds,
    macro_f1,
    parts,
)
from muse.sentences.evaluation.transfer import TransferConfig, TransferScore, evaluate_transfer, mean_of_runs
from muse.vectors import Matrix


def blobs(seed: int, count: int = 200, gap: float = 4.0) -> Labelled:
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    centres = gap * np.eye(3, 8)
    return Labelled((centres[labels] + rng.normal(size=(count, 8))).astype(np.float32), labels)


def test_parts_hold_every_place_once_and_every_class() -> None:
    labels = np.array([0] * 50 + [1] * 5 + [2] * 33)
    part = parts(labels, np.random.default_rng(0))
    assert sorted(np.concatenate(part).tolist()) == list(range(88))
    assert [len(places) for places in part] == [88 - 2 * 17, 17, 17]
    for places in part:
        assert set(labels[places]) == {0, 1, 2}
    with pytest.raises(Mismatch, match="got 4 of 1"):
        parts(np.array([0] * 9 + [1] * 4), np.random.default_rng(0))
    with pytest.raises(Mismatch, match="got 4 of 1"):
        folds(np.repeat([0, 1], [20, 4]), 5, np.random.default_rng(0))


@pytest.mark.parametrize("kind", ["logistic", "mlp"])
def test_what_can_be_told_apart_is_learned(kind: Literal["logistic", "mlp"]) -> None:
    config = ClassifierConfig(kind)
    answer = fitted(blobs(0), blobs(1), config, accuracy)
    test = blobs(2)
    assert accuracy(test.labels, answer(test.rows)) > 90
    again = fitted(blobs(0), blobs(1), config, accuracy)
    assert (again(test.rows) == answer(test.rows)).all()


def test_the_unit_of_the_rows_changes_nothing() -> None:
    train, held_out, test = blobs(0, gap=1), blobs(1, gap=1), blobs(2, gap=1)
    plain = fitted(train, held_out, ClassifierConfig(), macro_f1)(test.rows)
    small = [Labelled(one.rows * np.float32(1e-3), one.labels) for one in (train, held_out)]
    scaled = fitted(small[0], small[1], ClassifierConfig(), macro_f1)(test.rows * np.float32(1e-3))
    assert (plain == scaled).mean() > 0.98


def test_what_is_best_held_out_is_chosen_and_of_equals_the_most_regularised() -> None:
    """Too regularised, a model names the most frequent class; else it reads the row."""
    rows = np.array([[-1.0]] * 30 + [[1.0]] * 20, np.float32)
    train = Labelled(rows, np.repeat([0, 1], [30, 20]))
    config = ClassifierConfig(strengths=(1e-3, 10.0))
    for held_out, chosen in (
        (Labelled(rows[30:], np.zeros(20, np.int64)), 0),  # the most frequent class is right
        (Labelled(rows[30:], np.ones(20, np.int64)), 1),  # the row says it
        (Labelled(rows[:30], np.zeros(30, np.int64)), 0),  # both are right
    ):
        answer = fitted(train, held_out, config, accuracy)
        assert answer(rows[30:]).tolist() == [chosen] * 20


def test_folds_have_the_same_share_of_each_class() -> None:
    labels = np.repeat([0, 1, 2], [23, 10, 17])
    fold = folds(labels, 5, np.random.default_rng(0))
    assert set(fold.tolist()) == set(range(5))
    for one in range(5):
        shares = np.bincount(labels[fold == one])
        assert np.all(np.abs(shares - np.array([23, 10, 17]) / 5) < 1)


def best_of_inner_folds(task: Labelled, fold: np.ndarray, strengths: tuple[float, ...]) -> np.ndarray:
    """Nested cross-validation in SentEval's two loops, without sharing a model between outer folds."""

    def answers(train: np.ndarray, test: np.ndarray, strength: float) -> np.ndarray:
        x, scale = task.rows[train], np.sqrt(task.rows[train].var(axis=0).mean())
        model = linear_model.LogisticRegression(C=strength).fit(
            (x - x.mean(axis=0)) / scale, task.labels[train]
        )
        return np.asarray(model.predict((task.rows[test] - x.mean(axis=0)) / scale))

    found = np.empty_like(task.labels)
    for outer in np.unique(fold):
        right = []
        for strength in strengths:
            shares = []
            for dev in set(fold.tolist()) - {outer}:
                answered = answers((fold != outer) & (fold != dev), fold == dev, strength)
                shares.append((answered == task.labels[fold == dev]).mean())
            right.append(np.mean(shares))
        found[fold == outer] = answers(fold != outer, fold == outer, strengths[int(np.argmax(right))])
    return found


@pytest.mark.parametrize("classes", [2, 3])
def test_cross_validation_is_nested(classes: int) -> None:
    task = blobs(3, count=90, gap=1.2)
    task = task._replace(labels=task.labels % classes)
    fold = folds(task.labels, 4, np.random.default_rng(0))
    strengths = (1e-4, 0.03, 1.0)
    found = cross_validated(task, fold, ClassifierConfig(strengths=strengths[::-1]), accuracy)
    expected = best_of_inner_folds(task, fold, strengths)
    assert found.tolist() == expected.tolist()
    assert 60 < accuracy(task.labels, found) < 90
    for one in strengths:  # and the choice matters
        assert (found != best_of_inner_folds(task, fold, (one,))).any()


def test_columns_of_zeros_change_no_answer() -> None:
    """LAPACK's eigenvectors of these columns did not converge in single precision."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((300, 320)).astype(np.float32)
    rows[:, 160:] = 0
    task = Labelled(rows[:, rng.permutation(320)], (rows[:, 0] > rows[:, 1]).astype(int))
    fold = folds(task.labels, 3, np.random.default_rng(0))
    # Half as many columns have half the scale, and so twice the penalty.
    padded = cross_validated(task, fold, ClassifierConfig(strengths=(0.05,)), accuracy)
    plain = cross_validated(
        task._replace(rows=rows[:, :160]), fold, ClassifierConfig(strengths=(0.1,)), accuracy
    )
    assert (padded == plain).mean() > 0.98


def test_the_fold_that_is_tested_teaches_nothing() -> None:
    task = blobs(4, count=60, gap=1)
    fold = folds(task.labels, 3, np.random.default_rng(0))
    labels = np.where(fold == 1, (task.labels + 1) % 3, task.labels)
    one, other = (
        cross_validated(t, fold, ClassifierConfig(), accuracy) for t in (task, Labelled(task.rows, labels))
    )
    assert (one == other)[fold == 1].all()
    assert (one != other)[fold != 1].any()


def test_accuracy_its_interval_and_the_most_frequent_label() -> None:
    labels = np.array([0, 1, 1, 2] * 25)
    found = labels.copy()
    found[:10], found[10:20] = -1, (labels[10:20] + 1) % 3
    score = evaluate_inference(found, labels, Signature("classifier", "fr-fr"), rng=np.random.default_rng(0))
    assert (score.accuracy, score.majority, score.pairs, score.unread) == (80, 50, 100, 10)
    low, high = score.ci95
    spread = 1.96 * 100 * np.sqrt(0.8 * 0.2 / 100)
    assert abs((high - low) / 2 - spread) < 1.5
    assert low < 80 < high
    assert str(score).startswith("accuracy = 80.0 [")
    assert "10 of them without a known word" in str(score)
    assert score.as_json()["ci95"] == [low, high]


CONFIG = TransferConfig(4, ClassifierConfig(strengths=(0.1,)))


def sides(count: int = 150) -> tuple[dict[str, Matrix], list[str]]:
    """en; fr, which is en with noise; and xx, in which the classes have changed places."""
    rng = np.random.default_rng(0)
    labels = np.arange(count) % 2
    rows = rng.normal(size=(count, 6)).astype(np.float32)
    rows[:, 0] += 4 * labels
    noise = rng.normal(0, 0.3, rows.shape).astype(np.float32)
    turned = rows.copy()
    turned[:, 0] = 4 - turned[:, 0]
    return {"en": rows, "fr": rows + noise, "xx": turned}, [f"class {label}" for label in labels]


def scored(rows: dict[str, Matrix], labels: list[str], seed: int = 0) -> dict[tuple[str, str], TransferScore]:
    signatures = {language: Signature("logistic", f"en-{language}") for language in rows}
    found = evaluate_transfer(
        rows, labels, signatures, config=CONFIG, rng=np.random.default_rng(seed),
        progress=Progress(quiet=True),
    )  # fmt: skip
    return {(score.language, score.measure): score for score in found}


def test_what_is_shared_carries_over() -> None:
    found = scored(*sides())
    assert set(found) == {(name, measure) for name in ("fr", "xx") for measure in ("macro_f1", "accuracy")}
    near, far = found["fr", "accuracy"], found["xx", "accuracy"]
    assert near.transfer.value > 90
    assert abs(near.drop.value) < 5
    assert far.transfer.value < 10  # all wrong: the classes changed places
    assert far.in_language.value > 90
    for score in found.values():
        assert score.drop.value == pytest.approx(score.in_language.value - score.transfer.value)
        assert score.transfer.ci95[0] <= score.transfer.value <= score.transfer.ci95[1]
        assert (score.runs, score.sentences) == (4, 150)
    assert near.source.value > 90
    assert near.majority == pytest.approx(50)
    assert near.as_json()["drop_ci95"] == list(near.drop.ci95)


def test_majority_and_source_are_what_they_say() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [120, 40])
    clear = (6 * np.eye(2)[labels] + rng.normal(size=(160, 2))).astype(np.float32)
    rows = {"en": clear, "xx": rng.normal(size=clear.shape).astype(np.float32)}
    found = evaluate_transfer(
        rows, [str(label) for label in labels], {name: Signature("", name) for name in rows},
        config=CONFIG, rng=rng, progress=Progress(quiet=True),
    )  # fmt: skip
    (score,) = (one for one in found if one.measure == "accuracy")
    assert score.majority == pytest.approx(75)
    assert score.source.value > 95 > 85 > score.in_language.value


def test_the_seed_draws_the_runs() -> None:
    rows, labels = sides()
    key = ("fr", "macro_f1")
    assert scored(rows, labels)[key] == scored(rows, labels)[key]
    assert scored(rows, labels)[key] != scored(rows, labels, seed=1)[key]


def test_a_sentence_that_is_tested_was_not_learned_in_translation() -> None:
    # Labels without any reason, and rows that name the sentence: only one that was learned can be known.
    rng = np.random.default_rng(0)
    rows = np.eye(120, dtype=np.float32)
    labels = [str(label) for label in rng.permutation(np.arange(120) % 2)]
    found = scored({"en": rows, "fr": rows}, labels)["fr", "accuracy"]
    assert 25 < found.transfer.value < 75


def test_the_interval_is_wider_than_that_of_independent_runs() -> None:
    values = np.array([60.0, 62, 61, 65, 59])
    figure = mean_of_runs(values)
    plain = scipy.stats.t.interval(0.95, 4, values.mean(), scipy.stats.sem(values))
    assert figure.value == pytest.approx(values.mean())
    widening = np.sqrt(1 + 5 / 3)  # 1/5 + 1/3 instead of 1/5
    half = (figure.ci95[1] - figure.ci95[0]) / 2
    assert half == pytest.approx(widening * (plain[1] - plain[0]) / 2)


def test_the_interval_stays_within_what_a_figure_can_be() -> None:
    assert mean_of_runs(np.array([30.0, 80])).ci95 == (0, 100)
    assert mean_of_runs(np.array([-30.0, 80]), least=-100).ci95 == (-100, 100)  # of a difference
