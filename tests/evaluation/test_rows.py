"""Scores of rows against a brute-force count in numpy: ranks, cosines, ties, ids, missing pairs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from muse.errors import Mismatch
from muse.evaluation import ranks as module
from muse.evaluation.rows import RowsScore, evaluate_rows, evaluate_store
from muse.files.vectors.table import items_table
from muse.lexicon import Lexicon
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.store_projection import map_into_store
from muse.vectors import Matrix, Vectors
from tests.evaluation.test_words import scores
from tests.support.command import Command
from tests.support.spaces import RETRIEVALS, plain_space, raw_rows, saved, saved_with_store_map


def _space(count: int = 50, more: int = 10, noise: float = 0.8) -> Space:
    rng = np.random.default_rng(0)
    target = rng.normal(size=(count + more, 6)).astype(np.float32)
    source = (target[:count] + noise * rng.normal(size=(count, 6))).astype(np.float32)
    return plain_space(
        source, target, [f"s{i}" for i in range(count)], [f"t{i}" for i in range(count + more)]
    )


def _sides(space: Space) -> tuple[Vectors, Vectors]:
    return space.vectors("fr"), space.vectors("en")


def _evaluate(
    space: Space, pairs: Lexicon | None, retrieval: Retrieval = RETRIEVALS[2], seed: int = 0
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


def test_pairs_that_name_no_row_are_left_out_and_counted() -> None:
    space = _space()
    known = (("s1", "t1"), ("s2", "t2"))
    found = _evaluate(space, Lexicon((*known, ("s3", "absent"), ("absent", "t3"), ("x", "y"))))
    assert (found.queries, found.missing) == (2, 3)
    assert "3 pairs left out: a row is missing" in str(found)
    alone = _evaluate(space, Lexicon(known))
    assert replace(found, missing=0).as_json() == alone.as_json()
    assert "left out" not in str(alone)


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
    with pytest.raises(Mismatch, match=r"got 50 and 60 rows"):
        _evaluate(_space(), None)
    with pytest.raises(
        Mismatch, match=r"none of 1 \(such as 'x', 'y'\); ids of fr are like 's0', of en like"
    ):
        _evaluate(_space(), Lexicon((("x", "y"),)))
    with pytest.raises(Mismatch, match="got none of 0"):
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


def _ten_nearest(queries: Matrix, store: Matrix, own: list[int] | None = None) -> list[list[int]]:
    lengths = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(store, axis=1)
    cosines = queries.astype(float) @ store.T / lengths
    if own is not None:
        cosines[np.arange(len(own)), own] = -2
    return [row[:10].tolist() for row in np.argsort(-cosines, axis=1)]


def _kept(ours: list[list[int]], theirs: list[list[int]]) -> NDArray[np.int64]:
    """How many of ten rows are in both lists of each query."""
    return np.array([len(set(one) & set(other)) for one, other in zip(ours, theirs, strict=True)])


def _store(count: int = 60) -> tuple[Space, Matrix, Matrix, Matrix]:
    """A space whose sides are in one space already, a store, queries, and the same queries natively."""
    rng = np.random.default_rng(3)
    store, native = (rng.normal(size=(rows, 6)).astype(np.float32) for rows in (count, 25))
    return _space(), store, (native + 0.5 * rng.normal(size=native.shape)).astype(np.float32), native


def _rows_of(language: str, rows: Matrix, first: str) -> Vectors:
    return Vectors(language, [f"{first}{row}" for row in range(len(rows))], rows, frequency_ordered=False)


def test_what_a_store_loses_is_the_brute_force_count() -> None:
    space, store, queries, native = _store()
    texts = ["of a row without a vector", *(f"text {row}" for row in range(60))]
    table = replace(items_table(Path("s.npy"), store), texts=texts)
    table.dropped.add_row(table.path, 0)
    found = evaluate_store(
        space, _rows_of("fr", queries, "q"), _rows_of("en", native, "q"), ("en", table),
        rng=np.random.default_rng(0), gold="s.npy@1234",
    )  # fmt: skip
    ours, theirs = _ten_nearest(queries, store), _ten_nearest(native, store)
    both = _kept(ours, theirs)
    first = np.array([one[0] == other[0] for one, other in zip(ours, theirs, strict=True)])
    assert found.recall_at_1 == pytest.approx(100 * first.mean(), abs=0.01)
    assert found.recall_at_10 == pytest.approx(10 * both.mean(), abs=0.01)
    assert found.overlap == pytest.approx(100 * (both / (20 - both)).mean(), abs=0.01)
    assert found.recall_at_10_ci95[0] < found.recall_at_10 < found.recall_at_10_ci95[1]
    assert (found.queries, found.rows, found.learned) == (25, 60, 0)
    worst = found.worst[0]
    place = int(worst.query.removeprefix("q"))
    assert 10 * both[place] == worst.recall_at_10 == 10 * both.min()
    assert worst.native == (str(theirs[place][0]), f"text {theirs[place][0]}")
    assert worst.mapped[0] == str(ours[place][0])
    assert f"natively {theirs[place][0]} (text {theirs[place][0]})" in str(found)
    assert json.loads(json.dumps(found.as_json()))["worst"][0]["query"] == worst.query


def test_queries_that_are_in_the_store_do_not_find_themselves() -> None:
    space, store, queries, _ = _store()
    place = list(range(10, 35))
    queries = store[place] + 0.5 * queries
    named = Vectors("fr", [f"d{row}" for row in place], queries, frequency_ordered=False)
    table = items_table(Path("s.npy"), store, [f"d{row}" for row in range(60)])
    found = evaluate_store(space, named, None, ("en", table), rng=np.random.default_rng(0))
    ours, theirs = _ten_nearest(queries, store, place), _ten_nearest(store[place], store, place)
    assert found.recall_at_10 == pytest.approx(10 * _kept(ours, theirs).mean(), abs=0.01)


def test_queries_that_were_learned_from_are_left_out() -> None:
    space, store, queries, native = _store()
    queries[:4] = 3 * space.vectors("fr").matrix[7:11]
    table = items_table(Path("s.npy"), store)
    given = _rows_of("fr", queries, "q"), _rows_of("en", native, "q")
    found = evaluate_store(space, *given, ("en", table), rng=np.random.default_rng(0))
    assert (found.queries, found.learned) == (21, 4)
    assert "4 left out: the map learned from them" in str(found)
    ours, theirs = _ten_nearest(queries[4:], store), _ten_nearest(native[4:], store)
    assert found.recall_at_10 == pytest.approx(10 * _kept(ours, theirs).mean(), abs=0.01)
    table = items_table(Path("s.npy"), store)
    one = _rows_of("fr", queries[:4], "q"), _rows_of("en", native[:4], "q")
    with pytest.raises(Mismatch, match="got 4 queries, 4 known, 4 learned from"):
        evaluate_store(space, *one, ("en", table), rng=np.random.default_rng(0))
    with pytest.raises(Mismatch, match="a store needs more than 10 rows .* got 9 rows"):
        table = items_table(Path("s.npy"), store[:9])
        evaluate_store(space, *given, ("en", table), rng=np.random.default_rng(0))


def test_what_is_measured_is_the_map_of_queries(tmp_path: Path) -> None:
    space = saved_with_store_map(tmp_path / "space")
    queries, native, store = raw_rows(6, 20), raw_rows(7, 20), raw_rows(5, 60)
    given = _rows_of("fr", queries, "q"), _rows_of("en", native, "q")
    table = items_table(Path("s.npy"), store)
    found = evaluate_store(space, *given, ("en", table), rng=np.random.default_rng(0))
    ours, theirs = (
        _ten_nearest(rows, store) for rows in (map_into_store(space, "fr", queries, "en"), native)
    )
    assert found.recall_at_10 == pytest.approx(10 * _kept(ours, theirs).mean(), abs=0.01)


def test_a_store_by_command(muse: Command, tmp_path: Path) -> None:
    saved(tmp_path / "space")
    for name, seed, count in (("store", 5, 60), ("queries", 6, 20), ("native", 7, 20), ("short", 7, 19)):
        np.save(tmp_path / f"{name}.npy", raw_rows(seed, count))
    given = [
        "evaluate", "rows", tmp_path / "space", "--src", "fr", "--store", tmp_path / "store.npy",
        "--source", tmp_path / "queries.npy",
    ]  # fmt: skip
    native = "--target", tmp_path / "native.npy"
    fields = json.loads(muse(*given, *native, "--json").out)
    assert fields["recall_at_10"] < 90 and (fields["queries"], fields["rows"]) == (20, 60)
    short = muse(*given, *native, "--at-least", ".9")
    assert short.code == 3
    assert short.out.splitlines()[-1] == "not reached: recall@10 of at least 90"
    assert json.loads(muse(*given, *native, "--at-least", "0", "--json").out)["passed"] is True
    wrong = muse(*given, "--target", tmp_path / "short.npy")
    assert wrong.code == 1
    assert "row i must be query i of" in wrong.err and "got 19 rows for 20 queries" in wrong.err
    assert "without --target, queries and rows of the store need ids" in muse(*given).err
    assert "--at-least is for --store" in muse(*given[:3], "--at-least", ".9").err
    assert "--column is for --store" in muse(*given[:3], "--column", "v").err
    assert "--src-column is for --source" in muse(*given[:3], "--src-column", "v").err


def test_columns_of_a_store_and_of_its_queries(muse: Command, tmp_path: Path) -> None:
    saved(tmp_path / "space")
    for name, seed, count in (("store", 5, 60), ("queries", 6, 20), ("native", 7, 20)):
        np.save(tmp_path / f"{name}.npy", rows := raw_rows(seed, count))
        points = [
            {"id": row, "vector": {"own": one, "other": [1.0]}} for row, one in enumerate(rows.tolist())
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in points))
    given = "evaluate", "rows", tmp_path / "space", "--src", "fr", "--json"

    def measured(ending: str, *more: str) -> dict[str, object]:
        files = zip(("--store", "--source", "--target"), ("store", "queries", "native"), strict=True)
        options = [part for option, name in files for part in (option, tmp_path / f"{name}{ending}")]
        ended = muse(*given, *options, *more)
        found: dict[str, object] = json.loads(ended.out) if ended.code == 0 else {"err": ended.err}
        return found

    named = measured(".jsonl", "--column", "own", "--src-column", "own", "--tgt-column", "own")
    assert named["recall_at_10"] == measured(".npy")["recall_at_10"]
    assert "must be one of its columns of vectors (own, other), got none" in str(measured(".jsonl")["err"])
