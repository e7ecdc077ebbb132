"""Ragged: what is taken, cut, framed and padded is what lists of lists give."""

from __future__ import annotations

import pytest
import torch

from muse.sentences.encoders.ragged import Ragged

SEQUENCES = [[5, 6, 7], [], [8], [9, 5, 6, 7, 8]]
ROWS = [[0, 1, 2, 3], [3, 0], [2, 2], [1], []]


def lists(ragged: Ragged) -> list[list[int]]:
    """The sequences."""
    assert int(ragged.offsets[-1]) == len(ragged.ids)
    return [part.tolist() for part in torch.split(ragged.ids, ragged.lengths.tolist())]


@pytest.mark.parametrize("rows", ROWS)
def test_what_is_taken_is_in_the_order_asked_for(rows: list[int]) -> None:
    taken = Ragged.of(SEQUENCES).take(torch.tensor(rows, dtype=torch.long))
    assert len(taken) == len(rows)
    assert lists(taken) == [SEQUENCES[row] for row in rows]


@pytest.mark.parametrize("rows", ROWS)
def test_padding_is_all_that_is_added(rows: list[int]) -> None:
    padded = Ragged.of([SEQUENCES[row] for row in rows]).padded()
    assert padded.ids.shape == padded.mask.shape == (len(rows), max([len(SEQUENCES[r]) for r in rows] or [0]))
    for row, ids, mask in zip(rows, padded.ids, padded.mask, strict=True):
        assert ids[mask].tolist() == SEQUENCES[row]
        assert not ids[~mask].any()
        assert mask.tolist() == sorted(mask.tolist(), reverse=True)


@pytest.mark.parametrize("longest", [0, 1, 2, 4, 5, 6])
def test_a_cut_keeps_the_first(longest: int) -> None:
    assert lists(Ragged.of(SEQUENCES).cut(longest)) == [ids[:longest] for ids in SEQUENCES]


def test_keeping_and_joining() -> None:
    ragged = Ragged.of(SEQUENCES)
    odd = [[id for id in ids if id % 2] for ids in SEQUENCES]
    assert lists(ragged.keep(ragged.ids % 2 == 1)) == odd
    assert lists(Ragged.joined([ragged, Ragged.of(odd), Ragged.of([])])) == SEQUENCES + odd


def test_a_sequence_that_would_lose_all_stays_whole() -> None:
    ragged = Ragged.of([[1, 2, 3], [2, 4], [], [5], [6]])
    assert lists(ragged.keep_some(ragged.ids % 2 == 1)) == [[1, 3], [2, 4], [], [5], [6]]


@pytest.mark.parametrize("sequences", [SEQUENCES, [[]], [[], [4]], []])
def test_frames_are_around_all_but_empty_sequences(sequences: list[list[int]]) -> None:
    assert lists(Ragged.of(sequences).framed(2, 3)) == [[2, *ids, 3] if ids else [] for ids in sequences]
