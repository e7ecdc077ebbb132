"""Transfer: what is shared carries over, what is turned away does not, and parts are of sentences."""

import numpy as np
import pytest
import scipy.stats

from muse.evaluation.score import Signature
from muse.progress import Progress
from muse.sentences.evaluation.classifier import ClassifierConfig
from muse.sentences.evaluation.transfer import TransferConfig, TransferScore, evaluate_transfer, mean_of_runs
from muse.vectors import Matrix

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
