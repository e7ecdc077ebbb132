"""Scores of rows against a brute-force count in numpy: ranks, cosines, ties, ids, missing pairs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation import ranks as module
from muse.evaluation.rows import RowsScore, evaluate_rows
from muse.lexicon import Lexicon
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.vectors import Matrix, Vectors
from tests.evaluation.test_words import scores
from tests.support.spaces import RETRIEVALS, plain_space


def _space(count: int = 50, more: int = 10, noise: float = 0.8) -> AlignedSpace:
    rng = np.random.default_rng(0)
    target = rng.normal(size=(count + more, 6)).astype(np.float32)
    source = (target[:count] + noise * rng.normal(size=(count, 6))).astype(np.float32)
    return plain_space(
        source, target, [f"s{i}" for i in range(count)], [f"t{i}" for i in range(count + more)]
    )


def _sides(space: AlignedSpace) -> tuple[Vectors, Vectors]:
    return space.vectors("fr"), space.vectors("en")


def _evaluate(
    space: AlignedSpace, pairs: Lexicon | None, retrieval: Retrieval = RETRIEVALS[2], seed: int = 0
) -> RowsScore:
    rng = np.random.default_rng(seed)
    return evaluate_rows(space, _sides(space), pairs, retrieval=retrieval, rng=rng, gold="ids.tsv@1234")


def _ranks(x: Matrix, y: Matrix, retrieval: Retrieval, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """One and how many others score at least as high: the inverted softmax by its formula."""
    table = scores(x, y, retrieval)
    own = table[pairs[:, 0], pairs[:, 1]]
    return np.array([(table[row] >= score - 1e-9).sum() for (row, _), score in zip(pairs, own, strict=True)])


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
def test_every_figure_is_the_brute_force_one(retrieval: Retrieval) -> None:
    space = _space()
    numbers = np.array([(i, j) for i in range(0, 50, 2) for j in (i, (7 * i) % 60)[: 1 + i % 3]])
    lexicon = Lexicon(tuple((f"s{i}", f"t{j}") for i, j in numbers))
    found = _evaluate(space, lexicon, retrieval)
    x, y = (side.matrix for side in _sides(space))
    rows = list(dict.fromkeys(numbers[:, 0].tolist()))
    best = [numbers[:, 0] == row for row in rows]  # of several counterparts the nearest counts
    of_pairs = _ranks(x, y, retrieval, numbers)
    ranks = np.array([of_pairs[own].min() for own in best])
    assert (found.p_at_1, found.p_at_5, found.p_at_10) == tuple(
        round(float(100 * (ranks <= depth).mean()), 2) for depth in (1, 5, 10)
    )
    assert found.mean_rank == round(float(ranks.mean()), 2)
    of_pairs = (x[numbers[:, 0]] * y[numbers[:, 1]]).sum(axis=1)
    cosines = np.array([of_pairs[own].max() for own in best])
    assert found.mean_cosine == pytest.approx(float(cosines.mean()), abs=1e-4)
    assert (found.queries, found.targets, found.missing) == (len(rows), 60, 0)
    for value, (low, high) in (
        (found.p_at_1, found.ci95), (found.mean_rank, found.mean_rank_ci95),
        (found.mean_cosine, found.mean_cosine_ci95),
    ):  # fmt: skip
        assert low < value < high
    half = 1.96 * float(ranks.std() / np.sqrt(len(ranks)))  # by the normal distribution
    assert found.mean_rank_ci95 == pytest.approx((found.mean_rank - half, found.mean_rank + half), rel=0.35)
    assert f"{retrieval} | fr-en" in str(found.signature)
    assert "ids.tsv@1234" in str(found.signature)
    assert "rows:50/60" in str(found.signature)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    space = _space(50, 0)
    whole = _evaluate(space, None)
    monkeypatch.setattr(module, "tile_sizes", lambda _: (28, 64))
    found = _evaluate(space, None)
    assert found.mean_cosine_ci95 == pytest.approx(whole.mean_cosine_ci95)  # but for rounding of products
    assert replace(found, mean_cosine_ci95=whole.mean_cosine_ci95) == whole


def test_without_pairs_row_i_belongs_to_row_i() -> None:
    space = _space(40, 0)
    pairs = Lexicon(tuple((f"s{i}", f"t{i}") for i in range(40)))
    assert _evaluate(space, None).as_json() == _evaluate(space, pairs).as_json()


def test_a_tie_counts_as_ahead_of_the_counterpart() -> None:
    axes = np.eye(4, dtype=np.float32)
    target = axes[[0, 0, 0, 1]]
    space = plain_space(axes[:2], target, ["a", "b"], ["w", "x", "y", "z"])
    found = _evaluate(space, Lexicon((("a", "x"), ("b", "z"))))
    assert (found.mean_rank, found.p_at_1, found.p_at_5, found.mean_cosine) == (2.0, 50.0, 100.0, 1.0)


def test_a_perfect_space() -> None:
    found = _evaluate(_space(40, 5, noise=0.0), Lexicon(tuple((f"s{i}", f"t{i}") for i in range(40))))
    assert (found.p_at_1, found.ci95, found.mean_rank, found.mean_cosine) == (100.0, (91.2, 100.0), 1.0, 1.0)


def test_pairs_that_name_no_row_are_left_out_and_counted() -> None:
    space = _space()
    known = (("s1", "t1"), ("s2", "t2"))
    found = _evaluate(space, Lexicon((*known, ("s3", "absent"), ("absent", "t3"), ("x", "y"))))
    assert (found.queries, found.missing) == (2, 3)
    assert "3 pairs left out: a row is missing" in str(found)
    alone = _evaluate(space, Lexicon(known))
    assert replace(found, missing=0).as_json() == alone.as_json()
    assert "left out" not in str(alone)


def test_the_same_seed_gives_the_same_intervals() -> None:
    space = _space(50, 0)
    assert _evaluate(space, None).as_json() == _evaluate(space, None).as_json()
    assert _evaluate(space, None).mean_rank_ci95 != _evaluate(space, None, seed=4).mean_rank_ci95


def test_what_is_printed_and_what_json_has() -> None:
    found = _evaluate(_space(50, 0), None)
    fields = json.loads(json.dumps(found.as_json()))
    assert fields["mean_rank_ci95"] == list(found.mean_rank_ci95)
    assert fields["signature"] == str(found.signature)
    first, second = str(found).splitlines()
    assert first.startswith(f"P@1 = {found.p_at_1:.1f}")
    assert str(found.signature) in first
    assert f"mean rank {found.mean_rank:.1f} [" in second
    assert "50 rows looked up among 50" in second


def test_what_cannot_be_paired_is_refused() -> None:
    with pytest.raises(Mismatch, match=r"row i of fr must belong to row i of en, got 50 and 60 rows; say"):
        _evaluate(_space(), None)
    with pytest.raises(
        Mismatch, match=r"none of 1 \(such as 'x', 'y'\); ids of fr are like 's0', of en like"
    ):
        _evaluate(_space(), Lexicon((("x", "y"),)))
    with pytest.raises(Mismatch, match="got none of 0; ids of"):
        _evaluate(_space(), Lexicon(()))
    space = _space(50, 0)
    own, other = _sides(space)
    with pytest.raises(Mismatch, match="needs an id of its own where .*, got 2 repeated"):
        evaluate_rows(
            space, (own, replace(other, repeated=2)), None, retrieval=Retrieval(),
            rng=np.random.default_rng(0),
        )  # fmt: skip


def test_rows_with_one_id_belong_together_in_their_order() -> None:
    rows = np.eye(5, dtype=np.float32)
    source, target = ["a", "a #2", "b", "b #2", "c"], ["A", "B", "A #2", "C", "D"]
    space = plain_space(rows, rows[[0, 2, 1, 4, 3]], source, target)
    found = _evaluate(space, Lexicon((("a", "A"), ("b", "B"), ("c", "C"))))
    # Of b there are two rows and of B one: nobody knows which of them is meant.
    assert (found.queries, found.missing, found.p_at_1) == (3, 1, 100.0)
