"""Reasons: contributions of kinds of evidence sum to the lead of an answer, and say why it leads."""

from itertools import permutations

import numpy as np

from muse.ranking.features import KINDS, NAMES, places_of
from muse.ranking.reasons import reasons_of, shapley_values
from tests.ranking.test_oov import Inflected, inflected

__all__ = ["inflected"]


def test_shapley_values_are_the_mean_gains_over_all_orders() -> None:
    rng = np.random.default_rng(0)
    table = {bits: rng.normal() for bits in np.ndindex(2, 2, 2)}
    kinds = {"a": [0, 3], "b": [1], "c": [2]}

    def value(rows: np.ndarray) -> np.ndarray:
        return np.array([table[tuple(row[:3].astype(int))] for row in rows])

    found = shapley_values(np.ones(4, np.float32), np.zeros(4, np.float32), value, kinds)
    gains = dict.fromkeys(kinds, 0.0)
    for order in permutations(range(3)):
        bits = [0, 0, 0]
        for one in order:
            before = table[tuple(bits)]
            bits[one] = 1
            gains["abc"[one]] += (table[tuple(bits)] - before) / 6
    assert {name: round(one, 9) for name, one in found.items()} == {
        name: round(one, 9) for name, one in gains.items()
    }


def test_the_reasons_for_an_answer_are_its_own(inflected: Inflected) -> None:
    space = inflected.space
    table, words = space.answers("fr", "en"), space.vectors("fr").words
    assert table is not None
    told = 0
    for row in range(0, len(words), 9):
        found = reasons_of(space, ("fr", "en"), words[row])
        assert found is not None
        columns = table.columns[table.pointers[row] :][:2]
        others = space.vectors("en").words
        assert [found.first.word, found.second.word] == [others[column] for column in columns]
        assert (found.rank, found.first.rank) == (row + 1, columns[0] + 1)
        told += bool(found.contributions)
        assert set(found.contributions) in ({*KINDS}, set())
        assert not found.contributions or sum(found.contributions.values()) > 0
    assert told > 0.8 * len(range(0, len(words), 9))
    assert reasons_of(space.by_csls(), ("fr", "en"), words[0]) is None
    assert reasons_of(space, ("fr", "en"), "nowhere") is None
    assert len(NAMES) == len(places_of(*KINDS))
