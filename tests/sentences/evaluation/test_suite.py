"""A suite: each figure against scikit-learn and scipy, from vectors that are made up."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from muse.errors import Mismatch
from muse.progress import Progress
from muse.sentences.evaluation.classifier import ClassifierConfig, folds
from muse.sentences.evaluation.suite import SuiteConfig, TaskScore, check_tasks, evaluate_suite, means
from muse.sentences.files.suite_folder import COSINE, FOLDS, GIVEN, REGRESSION, SuitePart, SuiteTask
from muse.vectors import Matrix

D = 4
STRENGTHS = (0.001, 1.0)
CONFIG = SuiteConfig(ClassifierConfig(strengths=STRENGTHS), folds=3)


def encode(sentences: Sequence[str]) -> Matrix:
    """A row for each sentence, drawn by its text; of an empty one, zeros."""
    rows = [np.random.default_rng([*text.encode()]).normal(size=D) * bool(text) for text in sentences]
    return np.array(rows, np.float32)


def sentences(start: str, count: int) -> tuple[str, ...]:
    return tuple(f"{start} {place}" for place in range(count))


def labelled(start: str, count: int, *, pairs: bool = False) -> SuitePart:
    """Sentences with the sign of their first column, mostly, as the label."""
    first, second = sentences(start, count), sentences(f"other {start}", count) if pairs else ()
    rows = encode(first)[:, 0] - (encode(second)[:, 0] if pairs else 0)
    noise = np.random.default_rng(count).normal(size=count)
    score = np.abs(rows) - 1 if pairs else rows
    return SuitePart(first, second, tuple("yes" if s > 0 else "no" for s in score + noise / 2), ())


def rated(start: str, count: int) -> SuitePart:
    first, second = sentences(start, count), sentences(f"other {start}", count)
    near = np.exp(-np.abs(encode(first)[:, 0] - encode(second)[:, 0]))
    return SuitePart(first, second, (), tuple((5 * near).tolist()))


def task(scored_by: str, **parts: SuitePart) -> SuiteTask:
    return SuiteTask("X", scored_by, parts, {name: (Path(f"X.{name}.tsv"),) for name in parts})


def scored(scored_by: str, **parts: SuitePart) -> TaskScore:
    (score,) = evaluate_suite([task(scored_by, **parts)], encode, CONFIG, Progress(quiet=True))
    return score


def unit(x: Matrix, like: Matrix) -> Matrix:
    found: Matrix = (x - like.mean(axis=0)) / np.sqrt(like.var(axis=0).mean())
    return found


def features(part: SuitePart) -> Matrix:
    if not part.second:
        return encode(part.first)
    u, v = encode(part.first), encode(part.second)
    return np.hstack([abs(u - v), u * v])


def searched(x: Matrix, y: np.ndarray, fold: np.ndarray) -> GridSearchCV:
    """scikit-learn's own search by these folds, of rows that are scaled once."""
    model = LogisticRegression(max_iter=1_000)
    return GridSearchCV(model, {"C": STRENGTHS}, cv=PredefinedSplit(fold)).fit(x, y)


@pytest.mark.slow
def test_nested_cross_validation_is_that_of_scikit_learn() -> None:
    part = labelled("a", 150)
    score = scored(FOLDS, all=part)
    y = (np.array(part.labels) == "yes").astype(int)
    fold = folds(y, 3, np.random.default_rng([0, *b"X"]))
    x, hits = features(part), np.empty(150, bool)
    for tested in range(3):
        train = fold != tested
        scaled = unit(x, x[train])
        inner = np.unique(fold[train], return_inverse=True)[1]
        hits[~train] = searched(scaled[train], y[train], inner).predict(scaled[~train]) == y[~train]
    assert score.value == pytest.approx(100 * hits.mean(), abs=100 / 150)  # inner folds scale by themselves
    assert score.value > 70
    assert score.ci95[0] < score.value < score.ci95[1]
    assert (score.measure, score.tested, score.trained, score.empty) == ("accuracy", 150, 100, 0)
    assert score.more["majority"] == 100 * max(y.mean(), 1 - y.mean())


@pytest.mark.parametrize("pairs", [False, True])
def test_given_parts_choose_by_dev_and_are_tested_once(pairs: bool) -> None:
    parts = {
        name: labelled(name, count, pairs=pairs)
        for name, count in (("train", 200), ("dev", 80), ("test", 90))
    }
    score = scored(GIVEN, **parts)
    x, y = (
        {name: value(part) for name, part in parts.items()}
        for value in (features, lambda p: np.array(p.labels))
    )
    answers = []
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=1_000).fit(unit(x["train"], x["train"]), y["train"])
        dev, test = (model.score(unit(x[name], x["train"]), y[name]) for name in ("dev", "test"))
        answers.append((dev, -strength, test))
    assert score.value == pytest.approx(100 * max(answers)[2])
    assert (score.tested, score.trained) == (90, 200)


def test_without_dev_folds_of_the_train_part_choose() -> None:
    train, test = labelled("train", 120), labelled("test", 60)
    score = scored(GIVEN, train=train, test=test)
    y = np.array(train.labels)
    fold = folds((y == "yes").astype(int), 3, np.random.default_rng([0, *b"X"]))
    x = features(train)
    model = searched(unit(x, x), y, fold)
    assert score.value == pytest.approx(100 * model.score(unit(features(test), x), np.array(test.labels)))


def test_a_class_that_was_not_learned_is_wrong() -> None:
    train, test = labelled("train", 60), labelled("test", 40)
    other = test._replace(labels=("maybe",) * 10 + test.labels[10:])
    assert scored(GIVEN, train=train, test=other).value <= 75
    none = scored(GIVEN, train=train, test=test._replace(labels=("maybe",) * 40))
    assert (none.value, none.more["majority"]) == (0, 0)


@pytest.mark.slow
def test_relatedness_is_learned_and_has_the_cosine_beside_it() -> None:
    train, test = rated("train", 300), rated("test", 100)
    score = scored(REGRESSION, train=train, test=test)
    assert score.measure == "pearson" and score.value > 60
    u, v = encode(test.first), encode(test.second)
    cosine = (u * v).sum(axis=1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
    assert score.more["cosine_pearson"] == pytest.approx(100 * scipy.stats.pearsonr(cosine, test.ratings)[0])
    assert score.more["cosine_spearman"] == pytest.approx(
        100 * scipy.stats.spearmanr(cosine, test.ratings)[0]
    )


def test_cosines_are_averaged_over_the_sets() -> None:
    sets = {name: rated(name, count) for name, count in (("a", 30), ("b", 90))}
    sets["a"] = sets["a"]._replace(first=("", *sets["a"].first[1:]))
    score = scored(COSINE, **sets)
    found = {}
    for name, part in sets.items():
        u, v = encode(part.first).astype(float), encode(part.second).astype(float)
        lengths = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
        cosine = (u * v).sum(axis=1) / np.where(lengths, lengths, 1)
        found[name] = [
            100 * way(cosine, part.ratings)[0] for way in (scipy.stats.pearsonr, scipy.stats.spearmanr)
        ]
    pearson, spearman = np.mean(list(found.values()), axis=0)
    assert score.value == pytest.approx(pearson)
    assert score.more["spearman"] == pytest.approx(spearman)
    assert score.more["set_b"] == pytest.approx(found["b"][0])
    assert (score.tested, score.trained, score.empty) == (120, 0, 1)
    low, high = score.ci95
    assert low < score.value < high and high - low < 60


def test_the_interval_of_a_mean_over_sets_resamples_each_and_stays_in_range() -> None:
    sets = {name: rated(name, count) for name, count in (("a", 4), ("b", 5))}
    for name, part in sets.items():
        u, v = encode(part.first).astype(float), encode(part.second).astype(float)
        cosine = (u * v).sum(axis=1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
        noise = np.random.default_rng(len(u)).normal(size=len(u)) / 10
        sets[name] = part._replace(ratings=tuple((cosine + noise).tolist()))
    score = scored(COSINE, **sets)
    low, high = score.ci95
    assert score.value > 90
    assert -100 <= low < score.value < high <= 100
    assert score.value - low > 2 * (high - score.value)  # near 100 they are not symmetric


def test_what_cannot_be_scored_is_told_before_anything_is_encoded() -> None:
    def refuse(sentences: Sequence[str]) -> Matrix:
        raise AssertionError(sentences)

    good, rare = labelled("good", 30), labelled("rare", 6)._replace(labels=("no",) * 4 + ("yes",) * 2)
    alone = good._replace(labels=("no",) * 30)
    pairs, few = rated("a", 30), rated("b", 2)
    same = pairs._replace(ratings=(2.0,) * 30)
    for bad, message in (
        (task(FOLDS, all=rare), "X.all.tsv: 3 folds of X need at least 3 .* of each class, got 2 of yes"),
        (task(FOLDS, all=alone), "X.all.tsv: a classifier needs at least two classes, got 1"),
        (task(GIVEN, train=rare, test=good), "X.train.tsv: 3 folds of X need at least 3"),
        (task(GIVEN, train=alone, dev=good, test=good), "X.train.tsv: a classifier needs at least two"),
        (task(COSINE, a=pairs, b=few), "X.b.tsv: a correlation needs at least 3 rated pairs here, got 2"),
        (task(COSINE, a=pairs, b=same), "X.b.tsv: a correlation needs ratings that differ, got 2 for all"),
        (task(REGRESSION, train=rated("c", 24), test=pairs), "X.train.tsv: a correlation needs at least 25"),
        (task(REGRESSION, train=pairs, test=same), "X.test.tsv: a correlation needs ratings that differ"),
    ):  # fmt: skip
        with pytest.raises(Mismatch, match=message):
            evaluate_suite([task(FOLDS, all=good), bad], refuse, CONFIG, Progress(quiet=True))
    with pytest.raises(Mismatch, match="X: a correlation needs similarities that differ"):
        scored(COSINE, a=pairs._replace(second=pairs.first))
    check_tasks([task(GIVEN, train=rare, dev=good, test=good)], CONFIG)


@pytest.mark.slow
def test_a_task_does_not_depend_on_the_others() -> None:
    tasks = [task(FOLDS, all=labelled(name, 60))._replace(name=name) for name in ("A", "B")]
    progress = Progress(quiet=True)
    both, (last,) = (evaluate_suite(some, encode, CONFIG, progress) for some in (tasks, tasks[1:]))
    assert both[1] == last
    assert means(both) == {"accuracy": (both[0].value + both[1].value) / 2}
