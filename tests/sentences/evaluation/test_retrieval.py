"""Sentence retrieval and mining: ranks by sorting all scores, ties, planted pairs, no vector."""

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.evaluation.score import Signature
from muse.search.retrieval import PAIR_METHODS, PairScore
from muse.sentences.evaluation import retrieval
from muse.sentences.evaluation.retrieval import Judged, Queries, evaluate_sentences, sentence_ranks
from muse.sentences.mining import MiningConfig, mine
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


def texts(planted: int, others: int, noise: float = 0.2) -> tuple[Matrix, Matrix]:
    """Rows of two texts that share the first `planted` sentences, at the target's end and in reverse."""
    rng = np.random.default_rng(0)
    source = rng.normal(size=(planted + others, 24)).astype(np.float32)
    target = rng.normal(size=(planted + others, 24)).astype(np.float32)
    error = rng.normal(0, noise, (planted, 24)).astype(np.float32)
    target[others:] = (source[:planted] + error)[::-1] * 3  # lengths say nothing
    return source, target


@pytest.mark.parametrize("backend", ["torch", "faiss"])
@pytest.mark.parametrize("method", ["margin", "csls", "nn"])
def test_planted_pairs_come_first(method: str, backend: str) -> None:
    source, target = texts(30, 40)
    found = mine(source, target, config=MiningConfig(PairScore(method), backend=backend))
    wanted = {(row, 69 - row) for row in range(30)}
    assert set(map(tuple, found.pairs[:30].tolist())) == wanted
    assert (np.diff(found.scores) <= 0).all()
    for side in (0, 1):
        assert len(set(found.pairs[:, side].tolist())) == len(found.scores)  # no sentence in two pairs


def brute_force(source: Matrix, target: Matrix, method: str, k: int) -> dict[tuple[int, int], float]:
    x, y = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (source, target))
    cosines = (x @ y.T).astype(np.float64)
    own = np.sort(cosines, axis=1)[:, -k:].mean(axis=1)[:, None]
    other = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    scores = {"nn": cosines, "csls": 2 * cosines - own - other, "margin": 2 * cosines / (own + other)}[method]
    near = cosines >= np.sort(cosines, axis=1)[:, -k][:, None]
    near |= cosines >= np.sort(cosines, axis=0)[-k]
    scores = np.where(near, scores, -np.inf)
    best = (scores == scores.max(axis=1, keepdims=True)) & (scores == scores.max(axis=0))
    return {(int(row), int(column)): float(scores[row, column]) for row, column in np.argwhere(best)}


@pytest.mark.parametrize("method", ["margin", "csls", "nn"])
def test_pairs_are_those_of_all_scores_written_out(method: str) -> None:
    rng = np.random.default_rng(3)
    source, target = (rng.normal(0.5, 1, (count, 8)).astype(np.float32) for count in (60, 45))
    found = mine(source, target, config=MiningConfig(PairScore(method, k=3)))
    wanted = brute_force(source, target, method, 3)
    assert set(map(tuple, found.pairs.tolist())) == set(wanted)
    scores = [wanted[row, column] for row, column in found.pairs.tolist()]
    np.testing.assert_allclose(found.scores, scores, atol=1e-5)


def test_a_threshold_drops_what_is_below_it() -> None:
    source, target = texts(30, 40)
    everything = mine(source, target)
    limit = float(everything.scores[20])
    kept = mine(source, target, config=MiningConfig(threshold=limit))
    assert kept.pairs.tolist() == everything.pairs[:21].tolist()
    assert not len(mine(source, target, config=MiningConfig(threshold=1e6)).scores)


def test_rows_of_zeros_are_in_no_pair() -> None:
    source, target = texts(10, 0)
    source[4] = target[0] = 0
    found = mine(source, target)
    rows, columns = found.pairs.T.tolist()
    assert 4 not in rows
    assert 0 not in columns
    assert len(found.scores) == 8
    assert not len(mine(np.zeros_like(source), target).scores)
    assert np.isfinite(found.scores).all()


def test_of_equal_rows_one_is_taken() -> None:
    source, target = texts(5, 5)
    found = mine(np.concatenate([source, source]), target)
    matched = {column: row % 10 for row, column in found.pairs.tolist()}
    assert all(matched[column] == 9 - column for column in range(5, 10))
    assert len({column for _, column in found.pairs.tolist()}) == len(found.scores)


def test_fewer_sentences_than_neighbours() -> None:
    rows = np.eye(2, dtype=np.float32)
    assert mine(rows, rows).pairs.tolist() == [[0, 0], [1, 1]]


def test_rows_of_two_spaces() -> None:
    with pytest.raises(Mismatch, match="rows of 3 and 2 numbers"):
        mine(np.ones((4, 3), np.float32), np.ones((4, 2), np.float32))
