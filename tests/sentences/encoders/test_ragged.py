"""Ragged: what lists of lists give; reading: each token counted once, sentences in their places."""

from dataclasses import replace

import pytest
import torch

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import ENCODED, Ragged, encoding_batches, token_batches
from muse.sentences.encoders.reading import PIECE, WORD, Limited, Reading, Vocabulary

SEQUENCES = [[5, 6, 7], [], [8], [9, 5, 6, 7, 8]]
ROWS = [[0, 1, 2, 3], [3, 0], [2, 2], [1], []]


def lists(ragged: Ragged) -> list[list[int]]:
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


def sentences(reading: Reading) -> list[list[int]]:
    found = reading.sentences
    return [part.tolist() for part in torch.split(found.ids, found.lengths.tolist())]


def test_sentences_keep_their_places() -> None:
    reading = Vocabulary("fr", {"le": 0, "chat": 1, "noir": 2}).read(["", "Le chat noir.", "xyz", "chat"])
    assert len(reading) == 4
    assert sentences(reading) == [[], [0, 1, 2], [], [1]]
    assert (reading.unknown, reading.tokens, reading.empty) == (2, 6, 2)  # the full stop and xyz


def test_a_word_as_it_is_comes_before_its_lower_case() -> None:
    reading = Vocabulary("en", {"may": 0, "May": 1}).read(["May may MAY"])
    assert sentences(reading) == [[1, 0, 0]]


def test_ids_may_begin_later() -> None:
    reader = Vocabulary("en", {"a": 0, "b": 1}, lambda token: 7 if token == "c" else None, first=5)
    assert sentences(reader.read(["a b c d"])) == [[5, 6, 12]]


def test_a_limit_cuts_sentences_and_counts_them() -> None:
    reader = Limited(Vocabulary("en", {"a": 0, "b": 1}), 2)
    reading = reader.read(["a b a b", "b", "a x b b"])
    assert sentences(reading) == [[0, 1], [1], [0, 1]]
    assert (reading.truncated, reading.unknown) == (2, 1)
    assert reader.read(["a b"]).truncated == 0


def test_an_id_for_the_unknown_is_left_out_or_marked_and_counted_either_way() -> None:
    reading = Reading.of([[9, 3, 9], [9], [3]])
    out, marked = reading.without(9), reading.marking(9)
    assert sentences(out) == [[3], [], [3]]
    assert sentences(marked) == [[9, 3, 9], [9], [3]]
    assert (out.unknown, marked.unknown) == (3, 3)
    assert out.tokens == marked.tokens == 5
    cut = replace(marked.cut(1), sentences=marked.cut(1).sentences.framed(0, 1))
    assert (cut.tokens, cut.unknown, cut.truncated) == (5, 3, 1)  # of what was read, not of what was kept


def test_joined_readings_add_up() -> None:
    first, second = Reading(Ragged.of([[1, 2], []]), 3, 1, 1), Reading(Ragged.of([[3, 9]]), 2, 1)
    both = Reading.joined([first, second])
    assert sentences(both) == [[1, 2], [], [3, 9]]
    assert (both.unknown, both.truncated, both.tokens, both.unit) == (2, 1, 5, WORD)
    assert Reading.joined([replace(first, unit=PIECE), replace(second, unit=PIECE)]).unit == PIECE
