"""Mining by its threshold: the figures written out, and the best of all thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from muse.sentences.evaluation.retrieval import Judged


def f1(judged: Judged, threshold: float) -> float:
    kept = judged.scores >= threshold
    precision, recall = (
        judged.right[kept].mean() if kept.any() else 0,
        judged.right[kept].sum() / judged.known,
    )
    return 100 * 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize("seed", range(5))
def test_the_best_threshold_is_the_best_of_all_that_are_tried(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.integers(20, size=60) / 10)[::-1]  # with ties, which no threshold parts
    judged = Judged(scores, rng.random(60) < scores / 3, known=40)
    best = judged.best()
    tried = {float(threshold): f1(judged, threshold) for threshold in scores}
    assert best.f1 == pytest.approx(max(tried.values()))
    assert best.threshold == max(t for t, figure in tried.items() if figure == pytest.approx(best.f1))
    for threshold in (0.05, 1.0, 5.0):
        assert judged.at(threshold).f1 == pytest.approx(f1(judged, threshold))


@pytest.mark.parametrize("seed", range(5))
def test_the_printed_threshold_keeps_the_pairs_of_the_figures_beside_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.normal(1, 1e-3, size=200).astype(np.float32))[::-1]
    best = Judged(scores, np.arange(200) < 80, known=100).best()
    printed = float(str(best).split(" at ")[1].split()[0])
    assert int((scores >= printed).sum()) == int((scores >= best.threshold).sum()) == 80


def test_nothing_mined() -> None:
    nothing = np.zeros(0)
    assert Judged(nothing, nothing.astype(bool), known=3).best().f1 == 0
