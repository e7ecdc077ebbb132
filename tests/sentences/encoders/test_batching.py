"""Batches: every sequence once, no batch too large."""

from __future__ import annotations

import pytest
import torch

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import ENCODED, encoding_batches, token_batches


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


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
    with pytest.raises(BadSetting, match="11 tokens, got a limit of 10"):
        token_batches(torch.tensor([3, 11]), 10, generator())


def test_sentences_are_encoded_once_the_longest_first_and_few_tokens_at_a_time() -> None:
    lengths = torch.randint(0, 5_000, (300,), generator=generator())
    batches = list(encoding_batches(lengths))
    assert torch.cat(batches).sort().values.tolist() == lengths.nonzero()[:, 0].tolist()
    longest = [int(lengths[batch].max()) for batch in batches]
    assert longest == sorted(longest, reverse=True)
    assert all(len(batch) * width <= ENCODED for batch, width in zip(batches, longest, strict=True))
    assert len(batches) < 2 + int(lengths.sum()) // (ENCODED // 2)
    assert [batch.tolist() for batch in encoding_batches(torch.tensor([0, ENCODED + 1]))] == [[1]]
