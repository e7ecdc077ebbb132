"""Sentence retrieval: ranks by sorting all scores, ties, doubled targets and empty queries; mining."""

import numpy as np
import pytest

from muse.evaluation.score import Signature
from muse.search.retrieval import PAIR_METHODS, PairScore
from muse.sentences.evaluation import retrieval
from muse.sentences.evaluation.retrieval import Judged, Queries, evaluate_sentences, sentence_ranks
from muse.vectors import Matrix

SIGNATURE = Signature("nn", "fr-en")


def queries(noise: float = 1.0, count: int = 80) -> Queries:
    rng = np.random.default_rng(0)
    target = rng.normal(0.3, 1, (count, 10)).astype(np.float32)
    gold = rng.permutation(count)[:60]
    source = target[gold] + rng.normal(0, noise, (60, 10)).astype(np.float32)
    return Queries(source, target, gold)


def sorted_ranks(asked: Queries, method: str, k: int) -> list[int]:
    x, y = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (asked.source, asked.target))
    cosines = (x @ y.T).astype(np.float64)
    own = np.sort(cosines, axis=1)[:, -k:].mean(axis=1)[:, None]
    other = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    scores = {
        "nn": cosines,
        "csls": 2 * cosines - own - other,
        "margin": 2 * cosines / (own + other),
        "isf": np.exp(30 * cosines) / np.exp(30 * cosines).sum(axis=0),
    }[method]
    order = np.argsort(-scores, axis=1)
    return [int(np.flatnonzero(order[row] == answer)[0]) + 1 for row, answer in enumerate(asked.gold)]


@pytest.mark.parametrize("method", PAIR_METHODS)
def test_ranks_are_those_of_sorting(method: str) -> None:
    asked = queries()
    wanted = sorted_ranks(asked, method, 4)
    assert sentence_ranks(asked, PairScore(method, k=4)).tolist() == wanted
    score = evaluate_sentences(asked, PairScore(method), SIGNATURE, rng=np.random.default_rng(0))
    for value, k in ((score.p_at_1, 1), (score.p_at_5, 5), (score.p_at_10, 10)):
        assert value == pytest.approx(100 * np.mean([rank <= k for rank in wanted]))
    assert score.ci95[0] <= score.p_at_1 <= score.ci95[1]
    assert (score.queries, score.targets, score.empty) == (60, 80, 0)


@pytest.mark.parametrize("method", PAIR_METHODS)
def test_blocks_of_queries_change_no_rank(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, how = queries(), PairScore(method)
    whole = sentence_ranks(asked, how)
    monkeypatch.setattr(retrieval, "BLOCK", 7 * len(asked.target))
    assert sentence_ranks(asked, how).tolist() == whole.tolist()


def test_turning_both_sides_changes_nothing() -> None:
    asked = queries()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(10, 10)))[0].astype(np.float32)
    turned = Queries(5 * asked.source @ turn, asked.target @ turn, asked.gold)
    how = PairScore("margin")
    assert sentence_ranks(turned, how).tolist() == sentence_ranks(asked, how).tolist()


def test_where_all_targets_tie_nothing_is_found() -> None:
    rows: Matrix = np.ones((12, 4), np.float32)
    score = evaluate_sentences(
        Queries(rows, rows, np.arange(12)), PairScore("nn"), SIGNATURE, rng=np.random.default_rng(0)
    )
    assert (score.p_at_1, score.p_at_10) == (0, 0)


@pytest.mark.parametrize("method", PAIR_METHODS)
def test_an_empty_query_is_wrong(method: str) -> None:
    asked = queries(noise=0)
    source = asked.source.copy()
    source[7] = 0
    score = evaluate_sentences(
        Queries(source, asked.target, asked.gold), PairScore(method), SIGNATURE, rng=np.random.default_rng(0)
    )
    assert score.empty == 1
    ranks = sentence_ranks(Queries(source, asked.target, asked.gold), PairScore(method))
    assert np.flatnonzero(ranks > 1).tolist() == [7]


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
