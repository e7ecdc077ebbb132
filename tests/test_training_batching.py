"""Batches: padding that loses and adds nothing, every sequence once, no batch too large."""

from __future__ import annotations

import pytest
import torch

from muse.errors import BadSetting
from muse.training.batching import Ragged, token_batches

SEQUENCES = [[5, 6, 7], [], [8], [9, 5, 6, 7, 8]]


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 0], [2, 2], [1], []])
def test_padding_is_all_that_is_added(rows: list[int]) -> None:
    padded = Ragged.of(SEQUENCES).padded(torch.tensor(rows, dtype=torch.long))
    assert padded.ids.shape == padded.mask.shape == (len(rows), max([len(SEQUENCES[r]) for r in rows] or [0]))
    for row, ids, mask in zip(rows, padded.ids, padded.mask, strict=True):
        assert ids[mask].tolist() == SEQUENCES[row]
        assert not ids[~mask].any()
        assert mask.tolist() == sorted(mask.tolist(), reverse=True)


def test_cut_keeps_the_first_and_counts() -> None:
    ragged, cut = Ragged.of(SEQUENCES).cut(2)
    assert [ragged.padded(torch.tensor([r])).ids[0].tolist() for r in range(4)] == [[5, 6], [], [8], [9, 5]]
    assert cut == 2
    whole, none = Ragged.of(SEQUENCES).cut(5)
    assert torch.equal(whole.ids, Ragged.of(SEQUENCES).ids)
    assert none == 0


def test_batches_hold_every_sequence_once_and_no_more_than_their_tokens() -> None:
    lengths = torch.randint(1, 60, (500,), generator=generator())
    batches = token_batches(lengths, 240, generator())
    assert sorted(torch.cat(batches).tolist()) == list(range(500))
    sizes = [len(rows) * int(lengths[rows].max()) for rows in batches]
    assert max(sizes) <= 240
    # Similar lengths: little is padding, and batches are nearly full.
    assert int(lengths.sum()) > 0.9 * sum(sizes)
    assert sum(sizes) > 0.8 * 240 * len(batches)
    # Neither batches nor equal lengths come in a fixed order.
    assert [int(lengths[rows].max()) for rows in batches] != sorted(
        int(lengths[rows].max()) for rows in batches
    )
    again, other = (token_batches(lengths, 240, generator(seed)) for seed in (0, 1))
    assert all(torch.equal(a, b) for a, b in zip(batches, again, strict=True))
    assert {tuple(sorted(rows.tolist())) for rows in batches} != {tuple(sorted(r.tolist())) for r in other}


def test_no_sequences_and_one_too_long() -> None:
    assert token_batches(torch.zeros(0, dtype=torch.long), 10, generator()) == []
    assert [rows.tolist() for rows in token_batches(torch.tensor([10]), 10, generator())] == [[0]]
    with pytest.raises(BadSetting, match="10 tokens a batch for one of 11"):
        token_batches(torch.tensor([3, 11]), 10, generator())
