"""Ragged: what is taken, cut, framed and padded is what lists of lists give; batches hold each once."""

import pytest
import torch

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import ENCODED, Ragged, encoding_batches, token_batches

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
