"""Bands and parts: who belongs where, and that they add up to the whole."""

from __future__ import annotations

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.evaluation.words import by_band, by_part

RNG = np.random.default_rng(0)


def test_bands_hold_their_ranks() -> None:
    rows = np.array([0, 999, 1_000, 4_999, 5_000, 29_999])
    hits = np.array([True, False, True, True, False, False])
    found = {group.name: group for group in by_band(rows, hits, RNG, words=30_000)}
    assert {name: (group.queries, group.p_at_1) for name, group in found.items()} == {
        "1-1000": (2, 50), "1001-5000": (2, 100), "5001-20000": (1, 0), "20001-30000": (1, 0),
    }  # fmt: skip
    assert found["1001-5000"].ci95 == (34.2, 100)


@pytest.mark.parametrize(("edges", "name"), [((1_000, 5_000), "1001-2500"), ((), "1-2500")])
def test_bands_end_with_the_vocabulary(edges: tuple[int, ...], name: str) -> None:
    found = by_band(np.array([1_200]), np.array([True]), RNG, words=2_500, edges=edges)
    assert [group.name for group in found] == [name]


@pytest.mark.parametrize("edges", [(5, 2), (0, 4), (3, 3)])
def test_bands_must_ascend(edges: tuple[int, ...]) -> None:
    with pytest.raises(BadSetting, match="positive and ascending"):
        by_band(np.array([1]), np.array([True]), RNG, words=9, edges=edges)


def test_parts() -> None:
    words = ["Paris", "chat", "1984", "radio", "Rome"]
    gold = [["paris"], ["cat", "tom"], ["1984"], ["wireless", "Radio"], ["rome2"]]
    hits = np.array([True, False, True, False, False])
    found = {group.name: (group.queries, group.p_at_1) for group in by_part(words, gold, hits, RNG)}
    assert found == {
        "identical": (3, pytest.approx(200 / 3)),
        "different": (2, 0),
        "number": (1, 100),
        "capitalised": (2, 50),
        "plain": (2, 0),
    }


def test_groups_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(1)
    rows, hits = rng.integers(40_000, size=900), rng.random(900) < 0.4
    words = [["w", "W", "3"][row % 3] for row in rows]
    bands = by_band(rows, hits, rng, words=40_000)
    parts = by_part(words, [["w"]] * 900, hits, rng)
    for groups in (bands, parts[:2], parts[2:]):
        assert sum(group.queries for group in groups) == 900
        assert sum(group.queries * group.p_at_1 for group in groups) == pytest.approx(100 * hits.sum())
