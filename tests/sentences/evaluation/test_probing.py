"""Probes: their tasks are what they say, and a sum of words knows the words and not their order."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.evaluation.score import Signature
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, folds
from muse.sentences.evaluation.probing import (
    Probe,
    ProbeScore,
    content_probe,
    evaluate_probe,
    language_probe,
    length_probe,
    order_probe,
)
from muse.text.tokens import Tokeniser

CONTENT = [
    f"{first}{last}"
    for first in ("ba", "do", "ki", "lu", "me")
    for last in ("ron", "tal", "fen", "sip", "gu")
]


def text(count: int = 900, seed: int = 0) -> list[str]:
    """Sentences of 4 to 15 words of a small language, some of its words rarer than others."""
    rng = np.random.default_rng(seed)
    common = [f"w{chr(97 + place)}" for place in range(20)]
    lines = []
    for _ in range(count):
        words = list(rng.choice(common, size=int(rng.integers(3, 15))))
        words.insert(int(rng.integers(len(words))), str(rng.choice(CONTENT)))
        lines.append(" ".join(words).capitalize() + ".")
    return lines


def bags(probe: Probe) -> np.ndarray:
    """The sum (n, d) of random rows of the words: what knows words and no order."""
    rng = np.random.default_rng(0)
    known: dict[str, np.ndarray] = {}
    tokens = [Tokeniser("en").tokens(sentence.lower()) for sentence in probe.sentences]
    for name in sorted({token for line in tokens for token in line}):
        known[name] = rng.normal(size=64)
    return np.array([np.sum([known[token] for token in line], axis=0) for line in tokens], np.float32)


def scored(probe: Probe, rows: np.ndarray) -> ProbeScore:
    return evaluate_probe(
        probe.name, Labelled(rows, np.array(probe.labels)), Signature("logistic", "en-en"),
        config=ClassifierConfig(strengths=(0.1, 1.0)), rng=np.random.default_rng(0),
    )  # fmt: skip


def test_length_classes_are_lengths() -> None:
    probe = length_probe(text(), "en", 600, np.random.default_rng(0))
    lengths = [len(Tokeniser("en").tokens(sentence)) for sentence in probe.sentences]
    spans: dict[int, list[int]] = {}
    for label, length in zip(probe.labels, lengths, strict=True):
        spans.setdefault(label, []).append(length)
    ends = [(min(span), max(span)) for _, span in sorted(spans.items())]
    assert all(one[1] < other[0] for one, other in zip(ends, ends[1:], strict=False))
    counts = set(Counter(probe.labels).values())  # as many of each as the rarest has
    assert len(counts) == 1
    assert 50 < max(counts) <= 600 // len(ends)
    score = scored(probe, bags(probe))
    assert score.accuracy > 2 * score.chance
    assert score.chance == pytest.approx(100 / len(ends))


def test_content_is_a_word_that_is_there_alone() -> None:
    probe = content_probe(text(), "en", 600, np.random.default_rng(0))
    word_of: dict[int, set[str]] = {}
    for label, sentence in zip(probe.labels, probe.sentences, strict=True):
        found = set(sentence.lower().rstrip(".").split()) & set(CONTENT)
        assert len(found) == 1
        word_of.setdefault(label, set()).update(found)
    assert all(len(words) == 1 for words in word_of.values())
    assert len(word_of) == len(set.union(*word_of.values())) > 10
    score = scored(probe, bags(probe))
    assert score.accuracy > 60 > 5 * score.chance


def test_order_swaps_two_neighbours_and_a_sum_cannot_tell() -> None:
    lines = text(800)
    probe = order_probe(lines, "en", 800, np.random.default_rng(0))
    assert Counter(probe.labels)[0] == Counter(probe.labels)[1]
    whole = {" ".join(Tokeniser("en").tokens(line)): line for line in lines}
    sorted_whole = {tuple(sorted(line.lower().split())) for line in whole}
    for label, sentence in zip(probe.labels, probe.sentences, strict=True):
        assert (sentence in whole) == (label == 0)
        assert tuple(sorted(sentence.lower().split())) in sorted_whole  # the same words
    score = scored(probe, bags(probe))
    assert score.ci95[0] - 3 < 50 < score.ci95[1] + 3
    assert score.chance == 50


def test_languages_are_told_by_their_words() -> None:
    other = [line.replace("w", "v") for line in text(400, seed=1)]
    probe = language_probe(
        {"en": [*text(500), "Same."], "fr": [*other, "Same.", ""]}, 600, np.random.default_rng(0)
    )
    assert Counter(probe.languages) == {"en": 300, "fr": 300}
    assert "Same." not in probe.sentences
    assert scored(probe, bags(probe)).accuracy > 95


def test_every_fold_is_tested_and_all_hits_count_together() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [60, 40])
    rows = (8 * np.eye(2)[labels] + rng.normal(size=(100, 2))).astype(np.float32)
    fold = folds(labels, 5, rng)
    rows[fold == 3] = rows[fold == 3][:, ::-1]  # of one fold the classes have changed places
    found = evaluate_probe(
        "x", Labelled(rows, labels), Signature("logistic", "en-en"),
        config=ClassifierConfig(strengths=(1.0,)), rng=rng, split=fold,
    )  # fmt: skip
    assert (found.tested, found.trained, found.classes, found.chance) == (100, 80, 2, 60)
    assert found.accuracy == pytest.approx(80, abs=2)


def test_a_sentence_stands_in_a_probe_once() -> None:
    lines = text(400)
    for make in (length_probe, content_probe, order_probe):
        probe = make(lines * 2, "en", 10_000, np.random.default_rng(0))
        assert len(set(probe.sentences)) == len(probe.sentences)


@pytest.mark.parametrize("make", [length_probe, content_probe, order_probe])
def test_too_little_text(make: object) -> None:
    with pytest.raises(Mismatch, match="give more text"):
        make(["One line.", "Another line."], "en", 100, np.random.default_rng(0))  # type: ignore[operator]
    with pytest.raises(Mismatch, match="give more text"):
        make(["", " "], "en", 100, np.random.default_rng(0))  # type: ignore[operator]
