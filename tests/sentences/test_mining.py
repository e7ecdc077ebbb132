"""Mining: planted pairs come back, by the definition of each score, and what has no vector does not."""

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.search.retrieval import PairScore
from muse.sentences.mining import MiningConfig, mine
from muse.vectors import Matrix


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
