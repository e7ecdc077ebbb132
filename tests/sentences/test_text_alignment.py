"""Texts in order: against every sequence of blocks, and on texts whose blocks are known."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch
from muse.sentences import text_alignment as texts
from muse.sentences.text_alignment import (
    Block,
    Model,
    TextRows,
    align_texts,
    best_blocks,
    first_model,
    sides_of,
    text_vectors,
)
from muse.vectors import Matrix

Kinds = list[tuple[int, int]]
Lengths = tuple[NDArray[np.float64], NDArray[np.float64]]
Paragraphs = tuple[NDArray[np.int64], NDArray[np.int64]]


def sequences(n: int, m: int, largest: int) -> Iterator[Kinds]:
    """Every sequence of blocks of n and m sentences."""
    if not n and not m:
        yield []
    kinds = [(1, 0), (0, 1), *((h, k) for h in range(1, largest + 1) for k in range(1, largest + 1))]
    for h, k in kinds:
        if h <= n and k <= m:
            yield from ([(h, k), *rest] for rest in sequences(n - h, m - k, largest))


def odds_of(kinds: Kinds, rows: tuple[Matrix, Matrix], lengths: Lengths, model: Model) -> float:
    """The log odds of a sequence, block by block, as the module has them in its docstring."""
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in rows]
    total, i, j = 0.0, 0, 0
    for h, k in kinds:
        total += model.shares[h, k]
        if h and k:
            x, y = rows[0][i : i + h].sum(axis=0), rows[1][j : j + k].sum(axis=0)
            x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
            z = (1 - x @ y) / np.mean([np.mean(1 - units[1] @ x), np.mean(1 - units[0] @ y)])
            u = (z - model.centre) / model.deviation
            a, b = model.ratio * lengths[0][i : i + h].sum(), lengths[1][j : j + k].sum()
            squared = min((b - a) ** 2 / (model.variance * (a + b) / 2), 25)
            g = np.log((a + b) / 2 / 50)
            total += model.weights @ [1, u, g, u * g, squared, np.sqrt(squared)]
        i, j = i + h, j + k
    return float(total)


def crosses(blocks: Iterable[tuple[int, ...]], paragraphs: Paragraphs) -> bool:
    """Whether a block of both sides has sentences of several paragraphs."""
    return any(
        len({*paragraphs[0][i:n].tolist(), *paragraphs[1][j:m].tolist()}) > 1
        for i, n, j, m in blocks
        if i < n and j < m
    )


@pytest.mark.parametrize("largest", [1, 2, 3])
@pytest.mark.parametrize("paragraphs", [([0] * 4, [0] * 5), ([0, 0, 1, 2], [0, 1, 1, 1, 2])])
def test_blocks_and_their_probabilities_are_those_of_all_sequences(
    paragraphs: tuple[list[int], list[int]], largest: int
) -> None:
    seed, whole = paragraphs[0][-1], (np.array(paragraphs[0]), np.array(paragraphs[1]))
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(4, 4)).astype(np.float32), rng.normal(size=(5, 4)).astype(np.float32)
    lengths = rng.uniform(5, 90, 4), rng.uniform(5, 90, 5)
    pair = [TextRows(*side, np.arange(9)) for side in zip(rows, lengths, whole, strict=True)]
    sides = sides_of(pair, largest)
    model = first_model(pair, sides)
    band = np.zeros(5, np.int64), np.full(5, 5)
    borders, odds = best_blocks(sides, band, model)
    every = [
        kinds
        for kinds in sequences(4, 5, largest)
        if not crosses(steps(np.cumsum([(0, 0), *kinds], axis=0)), whole)
    ]
    totals = np.array([odds_of(kinds, rows, lengths, model) for kinds in every])
    assert [tuple(kind) for kind in np.diff(borders, axis=0).tolist()] == every[totals.argmax()]
    assert odds.sum() == pytest.approx(totals.max(), abs=1e-4)
    shares = np.exp(totals - np.logaddexp.reduce(totals))
    expected = dict.fromkeys(steps(borders), 0.0)
    for kinds, share in zip(every, shares, strict=True):
        for step in steps(np.cumsum([(0, 0), *kinds], axis=0)):
            if step in expected:
                expected[step] += share
    found = texts.probabilities_of(sides, band, model, borders, odds)
    assert found == pytest.approx([*expected.values()], abs=1e-4)


def steps(borders: NDArray[np.int64]) -> list[tuple[int, ...]]:
    """The blocks between borders, each as the four places where its sides begin and end."""
    return [(i, n, j, m) for (i, j), (n, m) in pairwise(borders.tolist())]


def made_up(seed: int, count: int, gap: int = 0) -> tuple[Matrix, Matrix, Lengths, set[tuple[int, ...]]]:
    """Texts with noise, their lengths, and the blocks of both sides; the target lacks `gap` in the middle."""
    rng = np.random.default_rng(seed)
    known = [(1, 1), (1, 2), (2, 1), (1, 0), (0, 1)]
    kinds = [known[place] for place in rng.choice(5, count, p=[0.8, 0.06, 0.06, 0.04, 0.04])]
    kinds[count // 2 : count // 2] = [(1, 0)] * gap
    sides, sizes = (list[Matrix](), list[Matrix]()), (list[float](), list[float]())
    for kind in kinds:
        parts, lengths = rng.normal(size=(max(kind), 30)), rng.uniform(20, 120, max(kind))
        for side, size, number in zip(sides, sizes, kind, strict=True):
            places = np.minimum(np.arange(max(kind)), number - 1)  # the last sentence has the rest
            for place in range(number):
                side.append(parts[places == place].sum(axis=0) + rng.normal(0, 0.6, 30))
                size.append(lengths[places == place].sum() * rng.uniform(0.9, 1.1))
    blocks: set[tuple[int, ...]] = {
        (i, n, j, m) for i, n, j, m in steps(np.cumsum([(0, 0), *kinds], axis=0)) if i < n and j < m
    }
    source, target = (np.array(side, np.float32) for side in sides)
    return source, target, (np.array(sizes[0], float), np.array(sizes[1], float)), blocks


def right(found: list[Block], blocks: set[tuple[int, ...]]) -> float:
    """The share of the blocks, of both sides, that were found."""
    return len({one.source + one.target for one in found} & blocks) / len(blocks)


@pytest.mark.parametrize("gap", [0, 90])
def test_known_blocks_are_found_from_coarse_to_fine(gap: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, lengths, blocks = made_up(1, 200, gap)
    whole = align_texts(source, target, lengths)
    monkeypatch.setattr(texts, "_WHOLE", 1 << 13)
    monkeypatch.setattr(texts, "_COARSE", 30)
    monkeypatch.setattr(texts, "_SAMPLE", 150)
    coarse = align_texts(source, target, lengths)
    cuts = np.array(sorted(blocks)[5::5])  # borders of paragraphs
    paragraphs = [
        np.searchsorted(cuts[:, 2 * side], np.arange(len(lengths[side])), side="right") for side in (0, 1)
    ]
    bordered = align_texts(source, target, lengths, (paragraphs[0].tolist(), paragraphs[1].tolist()))
    assert not crosses([one.source + one.target for one in bordered], (paragraphs[0], paragraphs[1]))
    for found in (whole, coarse, bordered):
        assert right(found, blocks) > 0.97
        check_whole(found, len(source), len(target))
        shares = [
            one.probability
            for one in found
            if one.source[0] < one.source[1] and one.target[0] < one.target[1]
        ]
        assert np.mean(shares) == pytest.approx(right(found, blocks), abs=0.05)


def check_whole(found: list[Block], n: int, m: int) -> None:
    """Every sentence is in one block, in order, and no block is empty."""
    for sides, count in (([one.source for one in found], n), ([one.target for one in found], m)):
        assert [place for side in sides for place in range(*side)] == [*range(count)]
    assert all(block.source[0] < block.source[1] or block.target[0] < block.target[1] for block in found)
    assert all(0 <= block.probability <= 1 for block in found)


def test_swapped_texts_give_the_mirrored_blocks() -> None:
    source, target, lengths, _ = made_up(2, 80)
    found, mirrored = align_texts(source, target, lengths), align_texts(target, source, lengths[::-1])
    assert [(one.target, one.source) for one in mirrored] == [one[:2] for one in found]
    shares = [one.probability for one in found]
    assert [one.probability for one in mirrored] == pytest.approx(shares, abs=1e-3)


def test_twice_the_length_is_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_WHOLE", 1 << 13)
    monkeypatch.setattr(texts, "_COARSE", 30)
    monkeypatch.setattr(texts, "_ROUNDS", 0)
    scored, plain = list[int](), Model.odds

    def counted(self: Model, kind: tuple[int, int], z: Matrix, *lengths: Matrix) -> Matrix:
        scored.append(z.size)
        return plain(self, kind, z, *lengths)

    monkeypatch.setattr(Model, "odds", counted)
    work = []
    for count in (300, 600):
        scored.clear()
        source, target, lengths, _ = made_up(3, count)
        align_texts(source, target, lengths)
        work.append(sum(scored))
    assert work[1] < 2.4 * work[0]


@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 2), (2, 0), (1, 1), (1, 3)])
def test_the_shortest_texts_have_blocks(n: int, m: int) -> None:
    rng = np.random.default_rng(0)
    source, target = (rng.normal(size=(count, 3)).astype(np.float32) for count in (n, m))
    found = align_texts(source, target, (np.ones(n), np.ones(m)))
    check_whole(found, n, m)


def test_names_and_numbers_of_both_texts_are_seen_where_no_word_is_known() -> None:
    source = [f"alpha {number} beta" for number in range(100, 140)]
    target = [f"gamma {number} delta" for number in (*range(100, 120), *range(125, 140))]
    unknown = np.zeros((40, 4), np.float32), np.zeros((35, 4), np.float32)
    vectors, lengths = text_vectors(unknown, (source, target))
    found = align_texts(*vectors, lengths, largest=1)
    pairs = {(i, j) for (i, n), (j, m), _ in found if i < n and j < m}
    assert pairs == {*((i, i) for i in range(20)), *((i + 5, i) for i in range(20, 35))}


def test_other_shapes_and_sizes_are_refused() -> None:
    rows, sizes = np.ones((3, 2), np.float32), (np.ones(3), np.ones(3))
    with pytest.raises(Mismatch, match="vectors"):
        align_texts(rows, rows[:, :1], sizes)
    with pytest.raises(Mismatch, match="lengths"):
        align_texts(rows, rows[:2], sizes)
    with pytest.raises(BadSetting, match="at least 1"):
        align_texts(rows, rows, sizes, largest=0)
