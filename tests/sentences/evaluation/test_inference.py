"""Inference: accuracy by its definition, and what is not read counts as wrong."""

from __future__ import annotations

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.evaluation.score import Signature
from muse.sentences.evaluation.classifier import evaluate_inference


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


def test_no_pairs() -> None:
    none = np.zeros(0, np.int64)
    with pytest.raises(Mismatch, match="at least one labelled pair"):
        evaluate_inference(none, none, Signature("", ""), rng=np.random.default_rng(0))
