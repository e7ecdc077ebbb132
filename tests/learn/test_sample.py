"""What is learned from: all words as they are, rows in no order as a random sample."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest

from muse.learn import bilingual
from muse.learn.bilingual import sampled
from muse.learn.pair import LanguagePair
from muse.vectors import Vectors


def _rows(count: int) -> Vectors:
    rows = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    lengths = np.arange(count, dtype=np.float32)
    return Vectors("a", [f"id{row}" for row in range(count)], rows, lengths=lengths, frequency_ordered=False)


def _sampled(side: Vectors, keep: Collection[str] = ()) -> Vectors:
    return sampled(LanguagePair(side, side), np.random.default_rng(0), keep=keep).source


def test_words_are_left_in_their_order() -> None:
    words = replace(_rows(20), frequency_ordered=True)
    assert _sampled(words) is words


def test_every_row_is_there_once_with_its_id_and_length() -> None:
    found = _sampled(_rows(200))
    assert sorted(found.words) == sorted(_rows(200).words)
    assert list(found.words) != list(_rows(200).words)
    numbers = [int(name[2:]) for name in found.words]
    assert np.array_equal(found.matrix, _rows(200).matrix[numbers])
    assert found.lengths is not None
    assert found.lengths.tolist() == numbers
    assert not found.frequency_ordered


def test_of_many_rows_a_sample_from_all_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bilingual, "MOST", 100)
    found = _sampled(_rows(1_000))
    numbers = np.array([int(name[2:]) for name in found.words])
    assert len(set(numbers.tolist())) == 100
    assert 400 < numbers.mean() < 600
    assert 400 < numbers[:30].mean() < 600  # the first of them are a sample too
    again = _sampled(_rows(1_000))
    assert list(again.words) == list(found.words)


def test_rows_with_known_pairs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bilingual, "MOST", 100)
    known = {f"id{row}" for row in range(900, 960)} | {"absent"}
    found = _sampled(_rows(1_000), known)
    assert len(set(found.words)) == 100
    assert known - {"absent"} <= set(found.words)
    assert not known.issuperset(found.words[:60])  # and not first
